"""A model for tests of the process around it: what it does is written in the last message.

`say WORDS` says them one by one; `slow N WORD` says a word N times with a pause between; `stuck`
says one word and then sleeps inside one piece; `die` ends the process; `fail`, `long` and `tools`
raise; `print` writes to standard output; `threads` and `settings` tell what it was loaded with.
"""

import os
import sys
import time
from pathlib import Path

from cloxy_hookspecs import ChatDelta, ModelInfo, TokenUsage, ToolCallDelta


class ContextTooLongError(Exception):
    pass


class TooManyToolsError(Exception):
    pass


class UnsupportedModelError(Exception):
    pass


class Parrot:
    def __init__(self, options):
        self.options = options
        self.info = ModelInfo(
            id=options.choice.name, backend="", context_tokens=99, tools=True, alternates=True
        )
        self.notes = Path(options.settings.get("parrot.notes", os.devnull))

    def _note(self, text):
        with self.notes.open("a") as notes:
            notes.write(f"{text}\n")

    def count(self, request):
        return sum(len(message.text.split()) for message in request.messages)

    def generate(self, request):
        verb, _, rest = request.messages[-1].text.partition(" ")
        said = 0
        try:
            for text in self._words(verb, rest, request):
                said += 1
                yield ChatDelta(text=text)
        finally:
            self._note(f"closed after {said}")
        calls = () if verb != "call" else (ToolCallDelta(0, "c1", rest, "{}"),)
        usage = TokenUsage(prompt=self.count(request), completion=said)
        yield ChatDelta(tool_calls=calls, finish="tool_calls" if calls else "stop", usage=usage)

    def _words(self, verb, rest, request):
        if verb == "say":
            yield from (f"{word} " for word in rest.split())
        elif verb == "slow":
            count, word = rest.split()
            for _ in range(int(count)):
                yield word
                time.sleep(0.01)
        elif verb == "stuck":
            yield "one"
            self._note("inside")
            time.sleep(600)
        elif verb == "spin":
            yield "one"
            self._note("inside")
            while True:
                pass
        elif verb == "die":
            yield "one"
            os._exit(9)
        elif verb == "fail":
            raise ValueError(f"cannot say {rest}")
        elif verb == "long":
            raise ContextTooLongError("1,000 tokens do not fit into 99")
        elif verb == "tools":
            raise UnsupportedModelError("this one takes no tools")
        elif verb == "print":
            print("noise on standard output", flush=True)
            os.write(1, b"more noise")
            os.write(2, b"and more")
            yield "quiet"
        elif verb == "threads":
            yield f"{self.options.threads} {os.environ.get('OMP_NUM_THREADS')}"
        elif verb == "settings":
            yield repr(dict(self.options.settings))
        elif verb == "environment":
            yield " ".join(sorted(os.environ))
        elif verb == "request":
            yield repr(request)
        elif verb == "pid":
            descriptors = len(list(Path("/proc/self/fd").iterdir()))
            yield f"{os.getpid()} {os.nice(0)} {os.getsid(0)} {descriptors}"


def load(options):
    path = options.choice.path
    if path == "broken":
        raise ValueError("no such kind of file")
    if path == "crash":
        os._exit(7)
    if path == "hang":
        time.sleep(600)
    if path == "slow":
        time.sleep(0.3)
    print("loading", file=sys.stdout, flush=True)
    return Parrot(options)
