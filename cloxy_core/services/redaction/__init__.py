"""Taking secrets and private blocks out of text before anything is stored.

`clean` is the one call for text and `redact_value` the one for metadata; both use the default
rules. A caller with rules of its own builds `Redactor([*default_rules(), *more])`.
"""

from collections.abc import Mapping

from cloxy_core.services.redaction.assignments import assignment_rules
from cloxy_core.services.redaction.blocks import block_rules
from cloxy_core.services.redaction.commands import command_rules
from cloxy_core.services.redaction.headers import header_rules
from cloxy_core.services.redaction.manifests import manifest_rules
from cloxy_core.services.redaction.private import strip_private
from cloxy_core.services.redaction.providers import provider_rules
from cloxy_core.services.redaction.redactor import Redaction, Redactor
from cloxy_core.services.redaction.rule import Rule
from cloxy_core.services.redaction.translations import translation_rules
from cloxy_core.services.redaction.urls import url_rules
from cloxy_core.services.redaction.values import JsonValue, clean_value

__all__ = [
    "JsonValue",
    "Redaction",
    "Redactor",
    "Rule",
    "clean",
    "clean_value",
    "default_rules",
    "redact",
    "redact_value",
    "strip_private",
]


def default_rules() -> tuple[Rule, ...]:
    """Return the rules of the core, the most specific first."""
    return (
        *block_rules(),
        *provider_rules(),
        *url_rules(),
        *header_rules(),
        *command_rules(),
        *assignment_rules(),
        *translation_rules(),
        *manifest_rules(),
    )


_DEFAULT = Redactor(default_rules())


def redact(text: str) -> Redaction:
    """Replace every secret by `[REDACTED:kind]`; the same object when nothing is found."""
    return _DEFAULT.redact(text)


def clean(text: str) -> Redaction:
    """Prepare a text for storage: unstorable characters, private blocks, then secrets."""
    return _DEFAULT.clean(text)


def redact_value(value: JsonValue) -> tuple[JsonValue, Mapping[str, int]]:
    """Clean every string of a JSON-like value, keys included; key names count as context."""
    return clean_value(_DEFAULT, value)
