"""Questions that ask for a time and nothing else."""

import pytest

from cloxy_plugins.expansion.small_talk import is_small_talk


@pytest.mark.parametrize(
    "text",
    ["what did we do", "What happened?", "", "recap please", "what\u2019s done", "我们做了什么"],
)
def test_nothing_to_search_for(text):
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text", ["what did the cache do", "decide", "8443", "缓存做了什么", "C++", "we did deploy"]
)
def test_something_to_search_for(text):
    assert not is_small_talk(text)
