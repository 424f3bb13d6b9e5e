"""Text written to make the patterns slow: the work must grow with its length, not faster."""

import sys

import pytest

from cloxy_core.services.redaction import clean

HEAD = "-----BEGIN RSA PRI" + "VATE KEY-----"
HOSTILE = [
    "a", "=", "key=", "token:", "password ", "password=\"", "-----BEGIN ",
    HEAD + "\n", "https://a:", "https://a:@", "://",
    "eyJ", "eyJ-", "eyJaaaaaaaa.", "sk-", "sk-a", "<private>", "<private ",
    "< ", "\\u003c", "Cookie: a=", "a=1;", "Bearer ", "basic a",
    "Authorization: ", "ghp_", "AKIA", ":AA", "1", "M", "Q~", "[REDACTED:",
    "[REDACTED:a]", "\\", '"', "curl -u ", "mysql -a b ", "key-", "?sig=",
    "password=a,", "password='\\", "Private-Lines: 1\n", '"kty"d":"',
    "identified by '", "a.b-", "A1-", "secret\n value:", "key: x =",
    "echo ", "echo a|", " -p", "docker login -pa ", "curl -b a=", ":*:a:a:",
    "kind: Secret\n", "kind: Secret\ndata:\n a: bcde\n", "data:\n a: bcde\n",
    "\u5bc6\u7801", "\u5bc6\u7801\uff1aa1", 'token" {\n a = b\n', "key_a", "pat_a1B",
    "cookies: {", "cookies: {'a': '", "passwd -b a a ", "secret set A -",
]  # fmt: skip
SMALL, LARGE = 12_000, 48_000


class _Steps:
    """Counts the Python-level calls of a run, which unlike time no other process changes."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, frame: object, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            self.number += 1


def steps(text: str) -> int:
    counter = _Steps()
    before = sys.getprofile()
    sys.setprofile(counter)
    try:
        assert isinstance(clean(text).text, str)
    finally:
        sys.setprofile(before)
    return counter.number


@pytest.mark.parametrize("unit", HOSTILE)
def test_four_times_the_hostile_text_takes_four_times_the_calls(unit):
    small = steps(unit * (SMALL // len(unit)))
    large = steps(unit * (LARGE // len(unit)))
    assert large < 6 * small + 2_000


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_fifth_of_a_megabyte_of_hostile_text_ends_within_the_test_timeout(unit):
    # Backtracking inside one pattern is a single call: that shows only as time. A quadratic
    # pattern takes minutes here.
    assert isinstance(clean(unit * (200_000 // len(unit))).text, str)
