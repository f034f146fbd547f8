"""Types of fields that requests and responses share."""

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)

NUL_FREE = r"^[^\x00]*$"
SAYS_SOMETHING = r"^[^\x00]*[^\x00\s][^\x00]*$"


class In(BaseModel):
    """Part of a request: closed to unknown fields, and no type stands in for another."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Out(BaseModel):
    """Part of a response, made from the dataclass whose fields it documents."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


def _clean(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not hold a null character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not hold half a surrogate pair") from None
    return text


def _says_something(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return _clean(text)


# Python's own expressions decide, so that the pattern means the same to whoever reads the OpenAPI.
Text = Annotated[str, AfterValidator(_clean), Field(json_schema_extra={"pattern": NUL_FREE})]
"""Any Unicode text without null characters."""

Wording = Annotated[
    str, AfterValidator(_says_something), Field(json_schema_extra={"pattern": SAYS_SOMETHING})
]
"""Text that holds more than white space."""


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


# The limit stands before the validator, or OpenAPI would not show it.
Whole = Annotated[int, BeforeValidator(_whole)]
"""A whole number of a request; JSON's 3.0 is one."""

Count = Annotated[int, Field(ge=0), BeforeValidator(_whole)]
"""A whole number from 0 on."""

Positive = Annotated[int, Field(ge=1), BeforeValidator(_whole)]
"""A whole number from 1 on."""


def _plain(value: float) -> float | str:
    return value if value - value == 0 else {True: "Infinity", False: "-Infinity"}[value > 0]


Real = Annotated[
    float,
    PlainSerializer(_plain),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity"]}]}),
]
"""A number; JSON has no infinity, which is a text here."""
