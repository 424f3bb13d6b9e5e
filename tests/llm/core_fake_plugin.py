"""A plugin with the kit's fake language model."""

from cloxy_hookspecs import LLMProvider, hookimpl


def create(context):
    from cloxy_core.testing.fakes import FakeLLM

    return FakeLLM("one two three")


@hookimpl
def cloxy_llms():
    yield LLMProvider(name="fake", summary="Says what it is told to say", create=create)
