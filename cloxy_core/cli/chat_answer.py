"""One answer of the model: asked for, shown while it comes, and what is told of it."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cloxy_core.cli import fields, output
from cloxy_core.cli.chat_sources import memory_ids
from cloxy_core.cli.chat_text import StreamEscaper
from cloxy_core.client.streaming import EventStream, streamed
from cloxy_core.client_config import ClientConfig

PATH = "/v1/chat/completions"
Turn = dict[str, str]


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for at the command line.

    Attributes:
        memory: whether the model is given memories.
        project: only memories of this project; None for the one of the working directory.
        all_projects: memories of all projects.
        top_k: memories for a question at most; None leaves it to the server.
        store: whether the conversation is remembered.
        model: one of the server's models; None for the one that is set.
        max_tokens: longest answer.
    """

    memory: bool = True
    project: str | None = None
    all_projects: bool = False
    top_k: int | None = None
    store: bool = False
    model: str | None = None
    max_tokens: int = 2048


@dataclass(slots=True)
class Answer:
    """An answer, as far as it came.

    Attributes:
        text: what the model said, as it said it.
        finish: why it ended; empty when it was stopped.
        model: who answered.
        memory: ids of the memories that it was given.
        left_machine: whether the conversation left this machine.
        note: what the server notes of the memories; empty for nothing.
        stopped: whether a person stopped it.
    """

    text: str = ""
    finish: str = ""
    model: str = ""
    memory: tuple[int, ...] = ()
    left_machine: bool = False
    note: str = ""
    stopped: bool = False
    meta: Mapping[str, object] = field(default_factory=dict[str, object])


def request_body(
    options: Options, turns: Sequence[Turn], session: str, project: str | None, *, stream: bool
) -> dict[str, object]:
    """The request for the next answer.

    Args:
        options: what was asked for.
        turns: the conversation, the new question last.
        session: name under which it is remembered, if it is.
        project: project of the memories; None for all.
        stream: whether the answer comes in pieces.
    """
    body: dict[str, object] = {
        "model": options.model or "default",
        "messages": list(turns),
        "stream": stream,
        "max_completion_tokens": options.max_tokens,
        "memory": options.memory,
        "memory_store": options.store,
    }
    if options.store:
        body["memory_session"] = session
    if options.memory and project is not None:
        body["memory_project"] = project
    if options.memory and options.top_k is not None:
        body["memory_top_k"] = options.top_k
    return body


def stream_answer(config: ClientConfig, body: Mapping[str, object]) -> Answer:
    """Ask, and print the answer on standard output while it comes; Ctrl-C ends it.

    Raises:
        ClientError: the server cannot be reached, refused, or broke off.
    """
    answer = Answer()
    escaper = StreamEscaper()
    try:
        with streamed(config, PATH, body) as stream:
            answer.memory = memory_ids({}, stream.headers.get("x-cloxy-memories", ""))
            answer.left_machine = stream.headers.get("x-cloxy-left-machine") == "1"
            _read(stream, answer, escaper)
    except KeyboardInterrupt:
        answer.stopped = True
    finally:
        rest = escaper.end()
        if rest or answer.text:
            _show(rest if (answer.text + rest).endswith("\n") else f"{rest}\n")
    return answer


def _read(stream: EventStream, answer: Answer, escaper: StreamEscaper) -> None:
    pieces: list[str] = []
    try:
        for event in stream.events:
            answer.model = fields.text(event, "model") or answer.model
            meta = fields.record(event, "cloxy_meta")
            if meta:
                take_meta(answer, meta)
            for choice in fields.records(event, "choices"):
                piece = fields.text(fields.record(choice, "delta"), "content")
                answer.finish = fields.text(choice, "finish_reason") or answer.finish
                if piece:
                    pieces.append(piece)
                    _show(escaper.feed(piece))
    finally:
        # It goes back to the server with the next question: as text that it can read.
        whole = "".join(pieces).encode("utf-16-le", "surrogatepass")
        answer.text = whole.decode("utf-16-le", "replace")


def take_meta(answer: Answer, meta: Mapping[str, object]) -> None:
    """Note what the server tells of an answer."""
    answer.meta = meta
    answer.memory = memory_ids(meta, "") or answer.memory
    answer.left_machine = meta.get("left_machine") is True or answer.left_machine
    answer.note = fields.text(meta, "memory_note")


def _show(text: str) -> None:
    if sys.stdout is not None and text:
        sys.stdout.write(text)
        sys.stdout.flush()


def remarks(answer: Answer) -> list[str]:
    """What a person should know of an answer; not escaped."""
    found = []
    if answer.stopped:
        found.append("stopped")
    if answer.finish == "length":
        found.append("cut off, since it reached the longest answer; see --max-tokens")
    if answer.finish == "content_filter":
        found.append("the model's server held a part back")
    if answer.note:
        found.append(answer.note)
    if answer.left_machine:
        found.append("this conversation left your machine")
    return found


def tell_remarks(answer: Answer) -> None:
    """Print them to standard error."""
    for remark in remarks(answer):
        output.print_line(output.dim(f"({output.escape(remark)})"), error=True)
