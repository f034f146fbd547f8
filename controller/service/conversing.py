"""From the messages of a conversation to its question, and to a service that answers it in that conversation.

Retrieval, sufficiency and pruning see the question alone, made to stand on its own; what was said before it,
and the system's instructions, reach the prompts that write and judge the answers.
"""

from dataclasses import dataclass, replace

from ...policies.conversation import Conversation, Speaker, Turn, in_conversation, standalone
from ...tools.errors import InputError
from ..question import checked_question
from ..settings import Settings
from .chat_models import ChatMessage, ChatRequest
from .errors import Refused
from .service import Service

STOPS = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that stands on its own, the service to ask it of, and how many earlier turns it reads."""

    question: str
    service: Service
    turns_read: int


def asked(service: Service, body: ChatRequest) -> Asked:
    """What a request asks. Raises Refused 422 naming the field that is in the way."""
    most = service.settings.service.history
    if len(body.messages) > most:
        raise Refused(422, "invalid_value", f"{len(body.messages)} messages, at most {most}", "messages")
    if len(body.stops) > STOPS:
        raise Refused(422, "invalid_value", f"stop: at most {STOPS} strings", "stop")
    last, conversation = _read(body.messages)
    limit = service.settings.question_characters
    try:
        alone = checked_question(body.messages[last].text, limit)
    except InputError as error:
        raise Refused(422, "invalid_value", str(error), f"messages.{last}.content") from error
    settings, turns_read = _settings(service, body, conversation)
    if settings != service.settings:
        service = replace(service, controller=service.under(settings))
    return Asked(standalone(alone, conversation.turns, limit), service, turns_read)


def _read(messages: list[ChatMessage]) -> tuple[int, Conversation]:
    """The index of the question's message, and all that stands around it."""
    spoken = [place for place, message in enumerate(messages) if message.role in ("user", "assistant")]
    if not spoken or messages[spoken[-1]].role != "user":
        place = f"messages.{spoken[-1]}.role" if spoken else "messages"
        message = "the last message that is not the system's must be the user's: it is the question"
        raise Refused(422, "invalid_value", f"{place}: {message}", place)
    system = [message.text for message in messages if message.role in ("system", "developer")]
    turns = [
        Turn(_speaker(messages[place]), messages[place].text)
        for place in spoken[:-1]
        if messages[place].text.strip()
    ]
    return spoken[-1], Conversation("\n".join(system), tuple(turns))


def _speaker(message: ChatMessage) -> Speaker:
    return "assistant" if message.role == "assistant" else "user"


def _settings(service: Service, body: ChatRequest, conversation: Conversation) -> tuple[Settings, int]:
    """The settings under which this request is answered, and how many turns their prompts show."""
    settings = service.settings
    try:
        prompts, shown = in_conversation(
            settings.prompts, conversation, service.generator, settings.service.conversation
        )
    except InputError as error:
        place = next(n for n, m in enumerate(body.messages) if m.role in ("system", "developer"))
        raise Refused(422, "invalid_value", str(error), f"messages.{place}.content") from error
    if body.stops:
        prompts = prompts.model_copy(update={"stop": (*prompts.stop, *body.stops)})
    tokens = settings.generator.answer_tokens
    generator = settings.generator.model_copy(update={"answer_tokens": min(tokens, body.longest or tokens)})
    return settings.model_copy(update={"prompts": prompts, "generator": generator}), shown
