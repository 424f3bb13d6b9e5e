"""Memories for a conversation: recalled for the last turn of a person, fenced, and made to fit.

A turn is given its memories once. They are kept by the conversation up to that turn, so that the
steps of a tool loop and all later requests carry the very same block at the very same place, and
what a back-end computed for that beginning stays good.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from cloxy_hookspecs import (
    ChatRequest,
    CloxyError,
    DateReader,
    Fence,
    FilterError,
    Filters,
    HostContext,
    InputError,
    LLMRouter,
    ModelInfo,
    Query,
    Recaller,
)
from cloxy_hookspecs.tables import memories as memory_rows
from cloxy_plugins.model_api.errors import told
from cloxy_plugins.model_api.fields import FieldError
from cloxy_plugins.model_api.memory_cache import Block, BlockCache, turn_keys
from cloxy_plugins.model_api.memory_fit import Fitting, fitted
from cloxy_plugins.model_api.memory_place import as_turns, human_turns, in_questions, in_system
from cloxy_plugins.model_api.memory_text import Remembered, block_text, remembered, within
from cloxy_plugins.model_api.memory_wish import MemoryWish
from cloxy_plugins.model_api.settings import CHAT_MEMORY_PLACE
from cloxy_plugins.model_api.turn_words import spoken

SECONDS = 2.0
"""What the memory may take; a person waits for the answer, not for it."""
QUESTION = 2_000
"""Characters of a turn that are searched for; of a longer one, its beginning and its end."""
UNAVAILABLE = "no memories were given: the memory could not be asked"
SLOW = "no memories were given: the memory took too long"

Blocks = dict[int, Block]


@dataclass(frozen=True, slots=True)
class Given:
    """A conversation with its memories.

    Attributes:
        request: the copy for the model.
        ids: memories in it, in order, each once.
        note: why there are fewer than were found, or none.
        keys: names of the turns whose blocks are in it.
    """

    request: ChatRequest
    ids: tuple[int, ...] = ()
    note: str | None = None
    keys: tuple[str, ...] = ()


class ChatMemory:
    """Gives conversations their memories."""

    def __init__(
        self, context: HostContext, *, cache: BlockCache | None = None, seconds: float = SECONDS
    ) -> None:
        """Take what it needs of the host.

        Args:
            context: the host.
            cache: what was given before.
            seconds: what the memory may take.
        """
        self._router = context.service(LLMRouter)
        self._recaller = context.service(Recaller)
        self._fence = context.service(Fence)
        self._dates = context.service(DateReader)
        self._store, self._clock, self._log = context.store, context.clock, context.log
        self._place = context.settings[CHAT_MEMORY_PLACE]
        # `or` would pass an empty one over.
        self._cache = BlockCache() if cache is None else cache
        self._seconds = seconds

    async def given(
        self,
        request: ChatRequest,
        model: ModelInfo,
        wish: MemoryWish,
        humans: Sequence[int] | None = None,
    ) -> Given:
        """The conversation with the memories that it is to have.

        Args:
            request: the conversation as the client sent it.
            model: who will answer.
            wish: what is wanted.
            humans: indices of the turns in which a person speaks; every user's turn when None.

        Raises:
            FieldError: the project cannot be read.
        """
        turns = human_turns(request.messages) if humans is None else sorted(humans)
        if not wish.wanted or not turns:
            return Given(request)
        keys = turn_keys(request.messages, turns, wish)
        try:
            async with asyncio.timeout(self._seconds):
                blocks = await self._blocks(request, keys, wish)
        except TimeoutError:
            self._log.warning("the memory took longer than %g s for a chat", self._seconds)
            return Given(request, note=SLOW)
        except FilterError as error:
            raise FieldError("memory_project", error.message, hint=error.hint) from error
        except CloxyError as error:
            self._log.warning("the memory could not be asked for a chat: %s", error.code)
            return Given(request, note=UNAVAILABLE)
        except Exception as error:
            # A memory that fails must not cost the answer; the log names the place.
            self._log.error("the memory failed for a chat: %s", told(error))
            return Given(request, note=UNAVAILABLE)
        return await self._placed(request, model, blocks, keys)

    def leave_out(self, given: Given) -> None:
        """Let the turns of a conversation have no memories from now on: it was too long with them.

        Args:
            given: what was too long.
        """
        for key in given.keys:
            self._cache.put(key, Block())

    async def _blocks(
        self, request: ChatRequest, keys: Mapping[int, str], wish: MemoryWish
    ) -> Blocks:
        """Blocks by turn: those of before, and one for the last turn of a person."""
        *before, last = keys
        blocks = {turn: self._cache.get(keys[turn]) or Block() for turn in before}
        known = self._cache.get(keys[last])
        is_asked_now = last == len(request.messages) - 1
        if known is not None and not is_asked_now:
            blocks[last] = known
            return await self._still_there(blocks)
        blocks = await self._still_there(blocks)
        there = {memory.id for block in blocks.values() for memory in block.memories}
        found = await self._recalled(spoken(request.messages[last].text), wish)
        chosen = tuple(within([memory for memory in found if memory.id not in there], wish.tokens))
        # The same memories once more are the very same text, mark included.
        same = known is not None and known.memories == chosen
        blocks[last] = known if known is not None and same else self._block(chosen)
        return blocks

    async def _recalled(self, question: str, wish: MemoryWish) -> Sequence[Remembered]:
        """What answers the question; nothing when there is nothing to search for."""
        zone = self._dates.zone(None)
        query = Query(
            text=_searchable(question),
            top_k=wish.top_k,
            now=self._clock.now_ms(),
            filters=Filters(project=wish.project),
            zone=zone,
            group="passage",
        )
        try:
            answer = await self._recaller.recall(query)
        except FilterError:
            raise
        except InputError:
            return ()
        return remembered(answer.hits, zone)

    async def _still_there(self, blocks: Blocks) -> Blocks:
        """The blocks without what was forgotten since."""
        ids = {memory.id for block in blocks.values() for memory in block.memories}
        if not ids:
            return blocks

        def active(connection: Connection) -> set[int]:
            wanted = (memory_rows.c.id.in_(ids), memory_rows.c.state == "active")
            return set(connection.scalars(select(memory_rows.c.id).where(*wanted)))

        alive = await self._store.read(active)
        if alive == ids:
            return blocks
        return {turn: self._without(block, ids - alive) for turn, block in blocks.items()}

    def _without(self, block: Block, gone: set[int]) -> Block:
        kept = tuple(memory for memory in block.memories if memory.id not in gone)
        return block if kept == block.memories else self._block(kept)

    def _block(self, memories: Sequence[Remembered]) -> Block:
        if not memories:
            return Block()
        return Block(tuple(memories), self._fence.fence(block_text(memories)))

    async def _placed(
        self, request: ChatRequest, model: ModelInfo, blocks: Blocks, keys: Mapping[int, str]
    ) -> Given:
        if self._place == "system":
            # One place for all turns: it holds what the last one needs.
            last = max(blocks)
            blocks = {last: blocks[last]}
        fitting = Fitting(
            place=lambda chosen: self._with(request, model, chosen),
            count=self._router.count,
            block=self._block,
            limit=model.context_tokens,
        )
        blocks, note = await fitted(fitting, blocks)
        for turn, block in blocks.items():
            self._cache.put(keys[turn], block)
        ids = dict.fromkeys(m.id for turn in sorted(blocks) for m in blocks[turn].memories)
        used = tuple(keys[turn] for turn, block in blocks.items() if block.text)
        return Given(self._with(request, model, blocks), tuple(ids), note, used)

    def _with(self, request: ChatRequest, model: ModelInfo, blocks: Blocks) -> ChatRequest:
        """The copy for the model."""
        texts = {turn: block.text for turn, block in blocks.items() if block.text}
        if not texts:
            return request
        if self._place == "system":
            placed = in_system(request.messages, texts[max(texts)])
        elif self._place == "question" or model.alternates:
            placed = in_questions(request.messages, texts)
        else:
            placed = as_turns(request.messages, texts)
        return replace(request, messages=placed)


def _searchable(text: str) -> str:
    if len(text) <= QUESTION:
        return text
    half = QUESTION // 2
    return f"{text[:half]}\n{text[-half:]}"
