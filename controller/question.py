"""What a question must be before anything is done with it."""

from ..tools.errors import InputError


def checked_question(question: str, limit: int) -> str:
    """The question as it is asked: stripped, at most `limit` characters, and Unicode all through.

    Raises InputError for an empty or overlong one.
    """
    # What is no Unicode, such as an argument's undecodable byte, becomes a question mark.
    question = question.encode("utf-8", "replace").decode().strip()
    if not question:
        raise InputError("the question is empty; ask one")
    if len(question) > limit:
        raise InputError(
            f"the question has {len(question):,} characters, at most {limit:,} are read "
            "(setting question_characters); put long material into the corpus"
        )
    return question
