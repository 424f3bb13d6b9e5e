"""What the demonstration asks, and what it shows."""

from dataclasses import dataclass
from typing import Final

from cloxy_hookspecs import Recall


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the demonstration, and what it is there to show."""

    shows: str
    text: str


QUESTIONS: Final = (
    Question("a flag, exactly as it was typed", "why do we deploy with --max-surge=0"),
    Question("a date in words", "what did we decide about webhook retries last week"),
    Question("other words, the same meaning", "customers could not complete their purchase"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A question and what was found."""

    question: Question
    recall: Recall


@dataclass(frozen=True, slots=True)
class Demonstration:
    """All that the command shows.

    Attributes:
        files: session files that were read.
        memories: memories made of them.
        messages: passages in these, which is what a search looks for.
        projects: folders that the sessions were about.
        model: the embedding model; empty without one.
        embedded: passages that have a vector.
        trouble: why there is no search by meaning; None when there is.
        answers: one for each question.
        redacted: stored text in which a secret was replaced.
    """

    files: int
    memories: int
    messages: int
    projects: int
    model: str
    embedded: int
    trouble: str | None
    answers: tuple[Answer, ...]
    redacted: str
