"""The rules of projects, as one transaction reads them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from cloxy_core.store.project_keys import project_key
from cloxy_hookspecs.tables import project_rules

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for a folder and all below it.

    Attributes:
        key: its path in the one spelling that is compared.
        path: its path as people see it.
        ignored: whether nothing said there is remembered.
        keep_days: days after which what was said there is removed; None for never.
    """

    key: str
    path: str
    ignored: bool
    keep_days: int | None


class RuleBook:
    """All rules; asking it costs nothing while there are none."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._by_key = {rule.key: rule for rule in rules}

    def __bool__(self) -> bool:
        """Whether there is any rule."""
        return bool(self.rules)

    def ignoring(self, *paths: str | None) -> Rule | None:
        """The rule by which one of some folders is ignored."""
        above = (rule for path in paths if path for rule in self._above(path))
        return next((rule for rule in above if rule.ignored), None)

    def keeping(self, path: str | None) -> Rule | None:
        """The nearest rule that says how long what is said in a folder is kept."""
        if not path or not self.rules:
            return None
        return next((rule for rule in self._above(path) if rule.keep_days is not None), None)

    def named(self, key: str) -> Rule | None:
        """The rule of exactly this folder."""
        return self._by_key.get(key)

    def _above(self, path: str) -> Iterator[Rule]:
        """Rules of a folder and of those around it, the nearest first."""
        key = project_key(path)
        while key:
            if key in self._by_key:
                yield self._by_key[key]
            around = key.rpartition("/")[0] or ("/" if key.startswith("/") else "")
            key = "" if around == key else around


def load_rules(connection: Connection) -> RuleBook:
    """Read all rules."""
    rows = connection.execute(
        select(
            project_rules.c.key,
            project_rules.c.path,
            project_rules.c.ignored,
            project_rules.c.keep_days,
        ).order_by(project_rules.c.path)
    )
    return RuleBook([Rule(*row) for row in rows])


def cutoff(rule: Rule, now: int) -> int:
    """Before which moment what was said is not kept, milliseconds."""
    return now - (rule.keep_days or 0) * DAY_MS
