"""Tokens of a model as llama.cpp has them."""

import ctypes
import re
from collections.abc import Sequence
from typing import Final

import llama_cpp  # noqa: TID253 - this module is imported in the model's process only
from llama_cpp import Llama  # noqa: TID253

from cloxy_hookspecs import ModelError

_PIECE: Final = 512


class Vocabulary:
    """Turns text into tokens and tokens into bytes.

    Attributes:
        controls: texts of the tokens that order a conversation.
        bos_text: text of the token that begins one; empty without.
        eos_text: text of the token that ends one; empty without.
    """

    def __init__(self, llama: Llama) -> None:
        """Read it from a loaded model."""
        self._llama = llama
        vocab = llama_cpp.llama_model_get_vocab(llama.model)
        if vocab is None:
            raise ModelError("the model has no vocabulary", hint="choose another model")
        self._vocab = vocab
        self.bos_text = self._text(llama.token_bos())
        self.eos_text = self._text(llama.token_eos())
        self._adds_bos = bool(llama_cpp.llama_vocab_get_add_bos(vocab)) and bool(self.bos_text)
        self.controls = frozenset(self._controls())
        longest_first = sorted(filter(None, self.controls), key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._longest = max(map(self._size, range(llama.n_vocab())), default=1)
        self._buffer = ctypes.create_string_buffer(_PIECE)

    def _text(self, token: int) -> str:
        if token < 0:
            return ""
        return bytes(llama_cpp.llama_vocab_get_text(self._vocab, token)).decode("utf-8", "replace")

    def _size(self, token: int) -> int:
        """Bytes of a token as the file has it, which are never fewer than those of its text."""
        return len(llama_cpp.llama_vocab_get_text(self._vocab, token))

    def _controls(self) -> list[str]:
        control = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL
        return [
            self._text(token)
            for token in range(self._llama.n_vocab())
            if llama_cpp.llama_vocab_get_attr(self._vocab, token) & control
        ]

    def tokens(self, parts: Sequence[str]) -> list[int]:
        """Tokens of a rendered conversation; a control token never spans two parts."""
        adds_bos = self._adds_bos and not parts[0].startswith(self.bos_text)
        found: list[int] = []
        for number, part in enumerate(parts):
            data = part.encode("utf-8", "replace")
            first = adds_bos and number == 0
            found += self._llama.tokenize(data, add_bos=first, special=True)
        return found

    def least(self, parts: Sequence[str]) -> int:
        """Tokens that a rendered conversation has at least.

        llama.cpp needs the square of the number of control tokens in time to find them, and cannot
        be stopped meanwhile; this is told at once.
        """
        controls = [text for part in parts for text in self._control.findall(part)]
        size = sum(len(part.encode("utf-8", "replace")) for part in parts)
        size -= sum(len(text.encode("utf-8", "replace")) for text in controls)
        return len(controls) + size // self._longest

    def is_end(self, token: int) -> bool:
        """Whether a token ends an answer."""
        return bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))

    def piece(self, token: int, *, special: bool) -> bytes:
        """Bytes of a token; those of one that orders the conversation only when `special`."""
        size = llama_cpp.llama_token_to_piece(
            self._vocab, token, self._buffer, len(self._buffer), 0, special
        )
        if size < 0:
            self._buffer = ctypes.create_string_buffer(-size)
            return self.piece(token, special=special)
        return self._buffer.raw[:size]

    def takes_grammar(self, grammar: str) -> bool:
        """Whether llama.cpp can read a grammar; one that it cannot would end the process."""
        sampler = llama_cpp.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
        if not sampler:
            return False
        llama_cpp.llama_sampler_free(sampler)
        return True
