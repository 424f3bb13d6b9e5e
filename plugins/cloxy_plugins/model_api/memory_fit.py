"""Making memories smaller until the conversation fits into the model's context."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from cloxy_hookspecs import ChatRequest, ModelError
from cloxy_plugins.model_api.memory_cache import Block
from cloxy_plugins.model_api.memory_text import Remembered, estimate, estimate_request

COUNT_SECONDS = 2.0
"""What exact counting may take; a model that is busy or not loaded is not waited for."""
MOST_ROUNDS = 6

Blocks = dict[int, Block]


@dataclass(frozen=True, slots=True)
class Fitting:
    """What is needed to make memories fit.

    Attributes:
        place: the conversation with these blocks.
        count: tokens of a conversation.
        block: a block of memories.
        limit: tokens of conversation and answer together; None when that is not known.
    """

    place: Callable[[Blocks], ChatRequest]
    count: Callable[[ChatRequest], Awaitable[int]]
    block: Callable[[Sequence[Remembered]], Block]
    limit: int | None


async def fitted(fitting: Fitting, blocks: Blocks) -> tuple[Blocks, str | None]:
    """The blocks, without as many memories as do not fit; and a note when some had to go.

    Those of earlier turns go first, the oldest before the others; then the last lines of the
    newest block.
    """
    found = sum(len(block.memories) for block in blocks.values())
    if fitting.limit is None or not found:
        return blocks, None
    for _round in range(MOST_ROUNDS):
        over = await _excess(fitting, blocks)
        if over <= 0:
            break
        blocks = _smaller(fitting, blocks, over)
        if not any(block.text for block in blocks.values()):
            break
    else:
        blocks = dict.fromkeys(blocks, Block())
    left = sum(len(block.memories) for block in blocks.values())
    if left == found:
        return blocks, None
    return blocks, (
        f"{found - left} of {found} memories were left out: with them the conversation would not "
        f"fit into the model's context of {fitting.limit} tokens"
    )


async def _excess(fitting: Fitting, blocks: Blocks) -> int:
    """Tokens by which the conversation is too long; 0 or less when it fits."""
    request = fitting.place(blocks)
    limit = fitting.limit or 0
    # Many clients ask for answers longer than the whole context; back-ends cut such a wish down.
    room = limit - min(request.max_tokens, limit // 2)
    guess = estimate_request(request)
    if guess <= room:
        return guess - room
    try:
        async with asyncio.timeout(COUNT_SECONDS):
            return await fitting.count(request) - room
    except (TimeoutError, ModelError):
        return guess - room


def _smaller(fitting: Fitting, blocks: Blocks, over: int) -> Blocks:
    """The blocks with at least one memory less, and about so many tokens."""
    smaller, last = dict(blocks), max(blocks)
    for turn in sorted(blocks):
        if over <= 0:
            return smaller
        if turn != last and blocks[turn].text:
            over -= estimate(blocks[turn].text)
            smaller[turn] = Block()
    kept = list(blocks[last].memories)
    while kept and over > 0:
        over -= estimate(kept.pop().line(len(kept)))
    smaller[last] = blocks[last] if len(kept) == len(blocks[last].memories) else fitting.block(kept)
    return smaller
