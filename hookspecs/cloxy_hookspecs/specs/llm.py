"""Hooks of language models."""

from collections.abc import Iterable

from cloxy_hookspecs.markers import hookspec
from cloxy_hookspecs.providers.llm import HostedModelProvider, LLMProvider


class LLMSpecs:
    """What answers in words."""

    @hookspec
    def cloxy_llms(self) -> Iterable[LLMProvider | HostedModelProvider]:
        """Back-ends; settings name one for each role.

        Example:
            ```python
            class Parrot:
                place, remote, configured = "here", False, True

                async def models(self):
                    return [ModelInfo(id="parrot", backend="parrot")]

                async def stream(self, request):
                    yield ChatDelta(text=request.messages[-1].text)
                    yield ChatDelta(finish="stop")

                async def count(self, request):
                    return None

            @hookimpl
            def cloxy_llms():
                yield LLMProvider(
                    name="parrot", summary="Says it again", create=lambda context: Parrot()
                )
            ```
        """
        raise NotImplementedError
