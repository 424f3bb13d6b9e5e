"""Judging the shape of a value: a placeholder, code, a path, or drawn at random."""

import itertools
import re

_SEGMENT = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_PIECE = re.compile(r"[A-Za-z0-9+]{8,}")
_HEXADECIMAL = re.compile(r"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_HUMAN_SYMBOL = re.compile(r"[!@#$%^&*?~+=]")

# The pairs of letters that make up 93 % of English words and of identifiers: the first letter,
# then all that follow it. Of drawn letters only about a third are among them.
_COMMON_PAIRS = frozenset(
    row[0] + second
    for row in (
        "abcdgiklmnprstuvy", "baeilorsuy", "cacehiklorstu", "dadeilorsu", "eabcdefgilmnpqrstvwx",
        "faefiloru", "gehinrsu", "haeiot", "iabcdefglmnoprstvxz", "j", "keis", "ladeilostuy",
        "mabeimopsu", "nacdefgiklnostuv", "oabcdfgklmnoprstuvw", "paeiloprstuy", "qu",
        "racdegiklmnoprstuy", "sacehilopstuy", "tacdefhilmoprstuy", "uabcefilmnprst", "vaei",
        "waeior", "xceipt", "ypst", "ze",
    )
    for second in row[1:]
)  # fmt: skip
_FEWEST_PAIRS = 6
_SPEAKABLE_SHARE = 0.62

_STOP_WORDS = frozenset(
    (
        "null", "none", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "str",
        "string", "bytes", "int", "integer", "bool", "boolean", "any", "object", "unknown", "never",
        "required", "optional", "redacted", "hidden", "masked", "removed", "omitted", "secret",
        "secrets", "password", "passwd", "passphrase", "pass", "pwd", "token", "key", "auth",
        "apikey", "default", "empty", "missing", "invalid", "valid", "unset", "user", "username",
        "admin", "root", "guest", "login", "test", "testing", "todo", "fixme", "tbd", "example",
        "sample", "dummy", "placeholder", "changeme", "change", "changeit", "letmein", "inherit",
        "basic", "bearer", "x-oauth-basic", "x-access-token", "oauth2", "not-required",
        "not-needed", "not-set", "none-needed", "n/a",
    )
)  # fmt: skip
_PLACEHOLDER_WORD = (
    r"(?:your|my|the|some|insert|enter|replace|put|paste|add|set|change|example|sample|dummy|"
    r"fake|mock|test|placeholder|todo|not|no|required|optional|redacted|here|goes|me|this|with)"
)
_PLACEHOLDER_PHRASE = re.compile(
    rf"{_PLACEHOLDER_WORD}(?:[-_. ]?[a-z]+)*[0-9]{{0,3}}"
    r"|[a-z]+(?:[-_. ][a-z]+)*[-_. ](?:here|placeholder|example)"
    r"|(?:password|passwd|pass|pwd?|secret|token|user|key)[0-9]?",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"\$\{|\$\(|^\$[A-Z_][A-Z0-9_]*|^\$[a-z_]+$|^\$env:|\{\{|<%|%\([a-z]|^%[A-Za-z_]+%$|^%[sdr]$|"
    r"^\{[A-Za-z_.]*\}|<\||\$\{\{|@\{|#\{|"
    r"x{4,}|X{4,}|\*{3,}|\.{3}|…|_{4,}|-{4,}|•|EXAMPLE|\[REDACTED"
)
_REFERENCE = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://|arn:aws|projects/[^/]+/|sha(?:1|256|384|512)[:-]|md5:|data:[a-z]+/|"
    r"(?:vault|env|file|ref|secret|ssm|keyring|secrets):|pk_(?:live|test)_",
    re.IGNORECASE,
)
_PATH = re.compile(r"(?:~|\.{1,2})?/|[A-Za-z]:[\\/]|~$|[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+){2}")
_CODE_CALL = re.compile(
    r"[&*!(\[{]{0,3}(?:await |new )?[A-Za-z_$][A-Za-z0-9_$]{0,80}"
    r"(?:(?:\?\.|\.|::|->|!\.)[A-Za-z_$][A-Za-z0-9_$]{0,80}){0,8}[?!]{0,2}[(\[{<]"
)
_CODE_NAME = re.compile(
    r"[&*!(\[{]{0,3}[A-Za-z_$][A-Za-z0-9_$]{0,80}"
    r"(?:(?:\?\.|\.|::|->|!\.)[A-Za-z_$][A-Za-z0-9_$]{0,80}){1,8}[)\]};,?!]{0,4}"
)
_VERSION_OR_DATE = re.compile(
    r"[v~^<>=]{0,2}[0-9]+(?:[.:/-][0-9]+)+(?:[A-Za-z.+-][A-Za-z0-9.:+-]{0,12})?"
)


_BRACKETED = re.compile(r"[{<\[][^\s]{0,80}[}>\]]")


def is_placeholder(value: str) -> bool:
    """Tell whether a value only stands for a secret: a stop word, a template, a reference."""
    folded = value.strip().lower()
    return (
        folded in _STOP_WORDS
        or len(set(folded)) < 3
        or _TEMPLATE.search(value) is not None
        or (_BRACKETED.fullmatch(value) is not None and not looks_random(value))
        or _REFERENCE.match(value) is not None
        or _is_placeholder_phrase(value)
    )


def _is_placeholder_phrase(value: str) -> bool:
    one_case = value in (value.lower(), value.upper())
    return (
        (one_case or any(separator in value for separator in "-_. "))
        and _PLACEHOLDER_PHRASE.fullmatch(value[:80]) is not None
        and not looks_random(value)
    )


def looks_random(value: str) -> bool:
    """Tell whether some piece of 8 or more characters mixes its classes as drawn text does.

    Words, identifiers and file names change between lower case, upper case and digits seldom;
    text drawn from an alphabet changes at every second or third character.
    """
    return any(_piece_is_random(piece) for piece in _PIECE.findall(value))


def mean_segment(value: str) -> float:
    """Return the mean length of the words, capital runs and numbers in a value."""
    segments = _SEGMENT.findall(value)
    return sum(map(len, segments)) / max(1, len(segments))


def _piece_is_random(piece: str) -> bool:
    average = mean_segment(piece)
    if any(character.isdigit() for character in piece):
        if not any(character.isalpha() for character in piece):
            return False
        digit_groups = sum(segment[0].isdigit() for segment in _SEGMENT.findall(piece))
        upper_with_digits = piece.isupper() and len(piece) >= 16
        return (
            average < 3
            or upper_with_digits
            or (digit_groups >= 3 and len(piece) >= 12)
            or (len(piece) >= 12 and _is_unspeakable(piece))
        )
    mixed = piece != piece.lower() and piece != piece.upper()
    return (
        mixed
        and len(piece) >= 12
        and (average < 2.8 or _has_unspeakable_part(piece) or _is_unspeakable(piece))
    )


def _is_unspeakable(piece: str) -> bool:
    """Tell whether too few neighbouring letters are pairs that words are made of."""
    folded = piece.lower()
    pairs = [a + b for a, b in itertools.pairwise(folded) if a.isalpha() and b.isalpha()]
    common = sum(pair in _COMMON_PAIRS for pair in pairs)
    return len(pairs) >= _FEWEST_PAIRS and common < _SPEAKABLE_SHARE * len(pairs)


def _has_unspeakable_part(piece: str) -> bool:
    """Tell whether parts as long as words have no vowel, which names hardly ever do."""
    lengths = [
        len(part)
        for part in _SEGMENT.findall(piece)
        if not part.isupper() and _VOWEL.search(part) is None
    ]
    return max(lengths, default=0) >= 5 or sum(length >= 4 for length in lengths) >= 2


def is_hexadecimal(value: str) -> bool:
    """Tell whether a value is one hexadecimal number, as commit ids and digests are."""
    return _HEXADECIMAL.fullmatch(value.replace("-", "")) is not None


def has_letter_and_digit(value: str) -> bool:
    """Tell whether a value holds at least one letter and one digit."""
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value))


def is_human_password(value: str) -> bool:
    """Tell whether a value has letters, digits and a third class, as site rules demand."""
    third = _HUMAN_SYMBOL.search(value) is not None or (
        value != value.lower() and value != value.upper()
    )
    return len(value) >= 8 and has_letter_and_digit(value) and third


def is_path(value: str) -> bool:
    """Tell whether a value is a file path whose parts are names, not drawn text."""
    return _PATH.match(value) is not None and not looks_random(value)


def is_code(value: str) -> bool:
    """Tell whether an unquoted value is an expression: a call, an index or a dotted name."""
    if (call := _CODE_CALL.match(value)) is not None:
        return not looks_random(call.group())
    return _CODE_NAME.fullmatch(value) is not None and not looks_random(value)


def is_version_or_date(value: str) -> bool:
    """Tell whether a value is a version number, a date, a time or an address."""
    return _VERSION_OR_DATE.fullmatch(value) is not None
