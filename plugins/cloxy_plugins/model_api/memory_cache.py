"""Blocks of memories that conversations were given, so that the next request finds the same."""

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from cloxy_hookspecs import ChatMessage
from cloxy_plugins.model_api.memory_text import Remembered
from cloxy_plugins.model_api.memory_wish import MemoryWish

MOST_BLOCKS = 2_000
MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Block:
    """What a turn was given.

    Attributes:
        memories: in the order of their lines; empty when nothing was relevant.
        text: the fenced lines, exactly as the model got them.
    """

    memories: tuple[Remembered, ...] = ()
    text: str = ""

    @property
    def size(self) -> int:
        """Bytes that it holds, about."""
        return 200 + 2 * len(self.text.encode("utf-8", "replace"))


class BlockCache:
    """Blocks by conversation; the ones that were not used for longest go first."""

    def __init__(self, most_blocks: int = MOST_BLOCKS, most_bytes: int = MOST_BYTES) -> None:
        self._blocks: OrderedDict[str, Block] = OrderedDict()
        self._most_blocks = most_blocks
        self._most_bytes = most_bytes
        self._bytes = 0

    def get(self, key: str) -> Block | None:
        """The block of a turn; None when it never had one, or too long ago."""
        block = self._blocks.get(key)
        if block is not None:
            self._blocks.move_to_end(key)
        return block

    def put(self, key: str, block: Block) -> None:
        """Keep the block of a turn."""
        before = self._blocks.pop(key, None)
        self._bytes += block.size - (before.size if before else 0)
        self._blocks[key] = block
        while len(self._blocks) > self._most_blocks or self._bytes > self._most_bytes:
            _, oldest = self._blocks.popitem(last=False)
            self._bytes -= oldest.size

    def __len__(self) -> int:
        """How many there are."""
        return len(self._blocks)


def turn_keys(
    messages: Sequence[ChatMessage], turns: Sequence[int], wish: MemoryWish
) -> dict[int, str]:
    """Names of turns of persons: the same whenever a conversation begins in the same way.

    System messages do not count: many clients write the time into theirs.

    Args:
        messages: the conversation, as the client sent it.
        turns: indices of the turns, ascending.
        wish: what is wanted of the memory; another wish makes another block.
    """
    digest = sha256(json.dumps([wish.top_k, wish.project, wish.tokens]).encode())
    wanted, keys = set(turns), dict[int, str]()
    for index, message in enumerate(messages):
        if message.role == "system":
            continue
        calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
        said = [message.role, message.text, calls, message.tool_call_id]
        digest.update(json.dumps(said).encode())
        if index in wanted:
            keys[index] = digest.hexdigest()
    return keys
