"""Where memories stand in the conversation that a model gets; the client's own stays as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cloxy_hookspecs import ChatMessage
from cloxy_plugins.model_api.turn_words import spoken


def human_turns(messages: Sequence[ChatMessage]) -> Sequence[int]:
    """Indices of the turns in which a person speaks, as far as the roles tell."""
    return [
        index
        for index, message in enumerate(messages)
        if message.role == "user" and spoken(message.text).strip()
    ]


def as_turns(messages: Sequence[ChatMessage], blocks: Mapping[int, str]) -> tuple[ChatMessage, ...]:
    """Each block in a turn of its own, right ahead of a turn of a person.

    Args:
        messages: the conversation.
        blocks: fenced text by index of the turn that it belongs to.
    """
    ahead: dict[int, list[ChatMessage]] = {}
    for index, text in sorted(blocks.items()):
        ahead.setdefault(_outside_calls(messages, index), []).append(ChatMessage("user", text))
    placed: list[ChatMessage] = []
    for index, message in enumerate(messages):
        placed.extend(ahead.get(index, ()))
        placed.append(message)
    return tuple(placed)


def in_questions(
    messages: Sequence[ChatMessage], blocks: Mapping[int, str]
) -> tuple[ChatMessage, ...]:
    """Each block as a paragraph ahead of the question, inside the same turn."""
    return tuple(
        replace(message, text=f"{blocks[index]}\n\n{message.text}") if index in blocks else message
        for index, message in enumerate(messages)
    )


def in_system(messages: Sequence[ChatMessage], text: str) -> tuple[ChatMessage, ...]:
    """A block at the end of the first system message, or as one of its own in front."""
    for index, message in enumerate(messages):
        if message.role == "system":
            longer = replace(message, text=f"{message.text}\n\n{text}".lstrip())
            return (*messages[:index], longer, *messages[index + 1 :])
    return (ChatMessage("system", text), *messages)


def _outside_calls(messages: Sequence[ChatMessage], index: int) -> int:
    """The index, or that of the turn before it whose calls are answered only after it."""
    earlier = range(index - 1, -1, -1)
    caller = next((at for at in earlier if messages[at].role == "assistant"), None)
    if caller is None:
        return index
    calls = {call.id for call in messages[caller].tool_calls}
    for later in messages[index:]:
        if later.role == "assistant":
            break
        if later.tool_call_id in calls:
            return caller
    return index
