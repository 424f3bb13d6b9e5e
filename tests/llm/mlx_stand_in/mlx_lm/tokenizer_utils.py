"""Stands in for the tokenizer of a model, and for the library's wrapper around it."""

import codecs
import itertools
import json

SPECIAL = ("<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")


def _parse(text, tools=None):
    return json.loads(text.strip())


class StreamingDetokenizer:
    """Text of tokens as they come; half a character waits."""

    def __init__(self):
        self.reset()

    def reset(self):
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.offset, self.tokens = "", 0, []

    def add_token(self, token):
        self.tokens.append(token)
        if token < 256:
            self.text += self._decoder.decode(bytes([token]))
        else:
            self.text += SPECIAL[token - 256]

    def finalize(self):
        self.text += self._decoder.decode(b"", True)

    @property
    def last_segment(self):
        segment, self.offset = self.text[self.offset :], len(self.text)
        return segment


class TokenizerWrapper:
    """As the library's; `chat_template` and what it is able to do come from the config."""

    ANSWER = 256 + SPECIAL.index("<|assistant|>")

    def __init__(self, config):
        self.chat_template = config.get("template", "plain")
        self.has_chat_template = self.chat_template is not None
        self.has_thinking = config.get("thinks", False)
        self.has_tool_calling = config.get("calls", False)
        self.tool_call_start = "<tool_call>" if self.has_tool_calling else None
        self.tool_call_end = "</tool_call>" if self.has_tool_calling else None
        self.tool_parser = _parse if self.has_tool_calling else None
        self.all_special_tokens = list(SPECIAL)
        self.eos_token_id = 256
        self.eos_token_ids = {256}

    @property
    def detokenizer(self):
        return StreamingDetokenizer()

    def apply_chat_template(self, messages, tools=None, *, tokenize=True, **kwargs):
        thinking = kwargs.pop("enable_thinking", self.has_thinking)
        assert kwargs == {"add_generation_prompt": True}
        roles = [message["role"] for message in messages]
        twice = any(a == b for a, b in itertools.pairwise(roles))
        if twice and "must alternate" in self.chat_template:
            raise ValueError("Conversation roles must alternate")
        text = json.dumps(tools) if tools else ""
        for message in messages:
            text += f"<|{message['role']}|>" + message["content"]
            for call in message.get("tool_calls", ()):
                text += json.dumps(call["function"])
            text += "<|end|>"
        text += "<|assistant|>" + ("<think>" if thinking else "")
        return self.encode(text, add_special_tokens=False) if tokenize else text

    def encode(self, text, add_special_tokens=True):
        found = [ord("^")] if add_special_tokens else []
        while text:
            special = next((s for s in SPECIAL if text.startswith(s)), None)
            if special is not None:
                found.append(256 + SPECIAL.index(special))
                text = text[len(special) :]
            else:
                found += text[0].encode()
                text = text[1:]
        return found

    def decode(self, tokens):
        detokenizer = self.detokenizer
        for token in tokens:
            detokenizer.add_token(token)
        detokenizer.finalize()
        return detokenizer.text
