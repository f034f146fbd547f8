"""Log lines as JSON objects, one a line, on standard error."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("sufficit.service")
"""Of the service and all below it."""


class JsonLines(logging.Formatter):
    """`time`, `level` and `message` of every record, and whatever it carries as `fields`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; what is no Unicode is escaped."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        return json.dumps(line, default=str)


def write_json_lines() -> None:
    """Let the service's log go to standard error, from `info` on."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
