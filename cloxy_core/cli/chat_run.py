"""`cloxy chat`, once its options are read: one question, or a conversation."""

import contextlib
import secrets

from cloxy_core.cli import fields, output
from cloxy_core.cli.chat_answer import (
    PATH,
    Answer,
    Options,
    Turn,
    request_body,
    stream_answer,
    take_meta,
    tell_remarks,
)
from cloxy_core.cli.chat_sources import project_here, source_lines, sources_of
from cloxy_core.client import Client, UnreachableError
from cloxy_core.client_config import ClientConfig, ClientError

__all__ = ["Options", "ask_once", "ask_once_as_json", "converse"]

_WHOLE_SECONDS = 1800.0
_MODELS_SECONDS = 15.0
_HELP = """\
/sources   show the memories that the last answer was given, with their text
/clear     begin a new conversation
/quit      end; so does Ctrl-D
Ctrl-C     stop the answer
Anything else is a question. One that begins with / is written with two: //etc is what?"""
_START = "run `cloxy start`, then try again"


def ask_once(config: ClientConfig, options: Options, question: str) -> int:
    """Ask one question and print its answer.

    Raises:
        ClientError: there is no answer.
    """
    chat = _Chat(config, options)
    answer = chat.ask(question)
    if answer.stopped:
        raise KeyboardInterrupt
    chat.tell(answer)
    return 0


def ask_once_as_json(config: ClientConfig, options: Options, question: str) -> int:
    """Ask one question and print its answer, with its sources, as JSON.

    Raises:
        ClientError: there is no answer.
    """
    chat = _Chat(config, options)
    output.print_json(chat.whole(question))
    return 0


def converse(config: ClientConfig, options: Options) -> int:
    """Let a person talk to the model until the end of input.

    Raises:
        UnreachableError: no server runs.
        ClientError: the server cannot be asked, or has no model.
    """
    chat = _Chat(config, options)
    output.print_line(output.dim(chat.greeting()), error=True)
    # The line editor of the terminal, where Python has one.
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401
    while True:
        try:
            line = input("> ").strip()
        except EOFError:
            output.print_line(error=True)
            return 0
        except KeyboardInterrupt:
            output.print_line("\n/quit or Ctrl-D ends.", error=True)
            continue
        line = line.encode("utf-8", "replace").decode("utf-8")
        if line in {"/quit", "/exit"}:
            return 0
        if line.startswith("/") and not line.startswith("//"):
            chat.command(line)
        elif line:
            _turn(chat, line.removeprefix("/") if line.startswith("//") else line)


def _turn(chat: "_Chat", question: str) -> None:
    """Ask, and go on whatever happens."""
    try:
        chat.tell(chat.ask(question))
    except KeyboardInterrupt:
        output.print_line(output.dim("(stopped)"), error=True)
    except ClientError as error:
        output.fail(error)


class _Chat:
    """A conversation."""

    def __init__(self, config: ClientConfig, options: Options) -> None:
        self._config = config
        self._client = Client(config)
        self._options = options
        self._turns: list[Turn] = []
        self._session = _new_session()
        self._last: Answer | None = None
        self._project: str | None = options.project
        if options.memory and options.project is None and not options.all_projects:
            self._project = self._here()

    def _here(self) -> str | None:
        try:
            return project_here(self._client)
        except UnreachableError as error:
            raise UnreachableError(error.message, code=error.code, hint=_START) from error

    def greeting(self) -> str:
        """Who answers, and with what; escaped.

        Raises:
            ClientError: the server cannot be asked, or has no model.
        """
        try:
            answer = self._client.request("GET", "/v1/models", seconds=_MODELS_SECONDS)
        except UnreachableError as error:
            raise UnreachableError(error.message, code=error.code, hint=_START) from error
        names = [fields.text(each, "id") for each in fields.records(answer, "data")]
        if not names:
            raise ClientError(
                "the server has no language model",
                code="model_missing",
                hint="`cloxy init` sets one up; `cloxy show` tells what is wrong with one",
            )
        parts = [self._options.model or names[0], self._memory_words(), "/help"]
        return " · ".join(output.escape(part) for part in parts)

    def _memory_words(self) -> str:
        if not self._options.memory:
            return "without memory"
        return "memory of all projects" if self._project is None else f"memory of {self._project}"

    def ask(self, question: str) -> Answer:
        """Ask and show the answer; a question without one is not kept in the conversation.

        Raises:
            ClientError: there is no answer.
        """
        turns = [*self._turns, {"role": "user", "content": question}]
        body = request_body(self._options, turns, self._session, self._project, stream=True)
        answer = stream_answer(self._config, body)
        if answer.text:
            self._turns = [*turns, {"role": "assistant", "content": answer.text}]
        self._last = answer
        return answer

    def whole(self, question: str) -> dict[str, object]:
        """Ask and give answer and sources as an object.

        Raises:
            ClientError: there is no answer.
        """
        turns = [{"role": "user", "content": question}]
        body = request_body(self._options, turns, self._session, self._project, stream=False)
        told = self._client.request("POST", PATH, body, seconds=_WHOLE_SECONDS)
        answer = Answer(model=fields.text(told, "model"))
        take_meta(answer, fields.record(told, "cloxy_meta"))
        choice = next(fields.records(told, "choices"), {})
        return {
            "answer": fields.text(fields.record(choice, "message"), "content"),
            "finish_reason": choice.get("finish_reason"),
            "model": answer.model,
            "project": self._project,
            "sources": [each.as_object() for each in sources_of(self._client, answer.memory)],
            "left_machine": answer.left_machine,
            "note": answer.note or None,
            "usage": told.get("usage"),
        }

    def tell(self, answer: Answer) -> None:
        """Print to standard error what the answer was made of."""
        if not answer.text and not answer.stopped:
            output.print_line("The model said nothing.", error=True)
        tell_remarks(answer)
        if answer.memory:
            sources = sources_of(self._client, answer.memory)
            output.print_line(output.dim("sources:"), error=True)
            for line in source_lines(sources):
                output.print_line(line, error=True)

    def command(self, line: str) -> None:
        """Do what a line that begins with a slash says."""
        if line == "/help":
            output.print_line(_HELP, error=True)
        elif line == "/clear":
            self._turns, self._session, self._last = [], _new_session(), None
            output.print_line("A new conversation.", error=True)
        elif line == "/sources":
            self._show_sources()
        else:
            output.print_line(f"There is no {output.escape(line)}; /help shows all.", error=True)

    def _show_sources(self) -> None:
        ids = () if self._last is None else self._last.memory
        if not ids:
            output.print_line("The last answer was given no memories.", error=True)
        for source in sources_of(self._client, ids):
            for line in source_lines([source]):
                output.print_line(line, error=True)
            try:
                found = self._client.request("GET", f"/memory/{source.id}")
            except ClientError as error:
                output.fail(error)
                continue
            # The indent is what tells stored lines from ours.
            for text in output.escape(fields.text(found, "content"), lines=True).split("\n"):
                output.print_line(f"    {text}".rstrip(), error=True)


def _new_session() -> str:
    return f"chat-{secrets.token_hex(8)}"
