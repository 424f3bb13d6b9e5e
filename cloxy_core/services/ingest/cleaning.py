"""Taking secrets, private parts and our own recalled text out of what a parser found."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cloxy_core.services.echo import strip_echo
from cloxy_core.services.redaction import clean
from cloxy_core.services.write.sessions import FIRST_WORDS
from cloxy_hookspecs import BadLine, Message, ParseResult, SessionFacts

_TITLE = 80


@dataclass(frozen=True, slots=True)
class CleanRun:
    """What may be stored of a run of lines.

    Attributes:
        messages: those of which something is left.
        facts: what is said of sessions, by key.
        bad_lines: damaged lines, with those that could not be cleaned.
        redactions: secrets replaced, by kind.
    """

    messages: Sequence[Message]
    facts: Mapping[str, SessionFacts]
    bad_lines: Sequence[BadLine]
    redactions: Mapping[str, int]


def clean_run(result: ParseResult) -> CleanRun:
    """Clean everything of a run that would be stored."""
    return _Cleaner().run(result)


def clean_state(state: Mapping[str, object]) -> Mapping[str, object]:
    """A parser's own notes, clean; they should hold no words of the log, but may."""
    return {
        key: clean(value).text if isinstance(value, str) else value for key, value in state.items()
    }


class _Cleaner:
    """One run; a place that was cleaned once is not cleaned again."""

    def __init__(self) -> None:
        self._redactions: Counter[str] = Counter()
        self._places: dict[str, str | None] = {}
        self._changed: dict[str, list[tuple[str, str]]] = {}

    def run(self, result: ParseResult) -> CleanRun:
        messages: list[Message] = []
        bad_lines = list(result.bad_lines)
        for message in result.messages:
            try:
                cleaned = self._message(message)
            except Exception as error:
                # What cannot be cleaned must not be stored, and must not stop the file either.
                reason = f"could not be cleaned ({type(error).__name__})"
                bad_lines.append(BadLine(message.start, message.end, reason))
                self._changed.setdefault(message.session, []).append((message.text, ""))
                continue
            if cleaned is not None:
                messages.append(cleaned)
        facts = {key: self._facts(value) for key, value in result.sessions.items()}
        return CleanRun(messages, facts, bad_lines, self._redactions)

    def _message(self, message: Message) -> Message | None:
        text, _echoes = strip_echo(message.text)
        cleaned = clean(text)
        if cleaned.counts:
            self._redactions.update(cleaned.counts)
        text = cleaned.text
        if text is not message.text:
            self._changed.setdefault(message.session, []).append((message.text, text))
        if not text.strip():
            return None
        branch = self._place(message.branch)
        model = self._place(message.model)
        same = (branch, model) == (message.branch or None, message.model or None)
        if text is message.text and same:
            return message
        return replace(message, text=text, branch=branch, model=model)

    def _facts(self, facts: SessionFacts) -> SessionFacts:
        return replace(
            facts,
            cwd=self._place(facts.cwd),
            branch=self._place(facts.branch),
            title=self._title(facts),
        )

    def _place(self, value: str | None) -> str | None:
        """A directory, branch or model, which stands on nearly every line."""
        if not value:
            return None
        if value not in self._places:
            result = clean(value)
            self._redactions.update(result.counts)
            self._places[value] = result.text if result.text.strip() else None
        return self._places[value]

    def _title(self, facts: SessionFacts) -> str | None:
        """The title; one of first words is made anew when those words were not kept as they were.

        A secret that the title cuts in two would not be recognised in it.
        """
        title = facts.title
        if title and facts.title_rank <= FIRST_WORDS:
            stem = title.rstrip("…").rstrip()
            for said, kept in self._changed.get(facts.key, ()):
                if _one_line(said).startswith(stem):
                    title = _shortened(_one_line(kept))
                    break
        if not title:
            return None
        text, _echoes = strip_echo(title)
        result = clean(text)
        self._redactions.update(result.counts)
        return result.text.strip() or None


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shortened(line: str) -> str:
    if len(line) <= _TITLE:
        return line
    cut = line[:_TITLE]
    return (cut.rpartition(" ")[0] or cut) + "…"
