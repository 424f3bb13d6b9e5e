"""Models in MLX form, for Apple Silicon."""

from collections.abc import Iterable

from cloxy_hookspecs import HostedModelProvider, hookimpl


@hookimpl
def cloxy_llms() -> Iterable[HostedModelProvider]:
    """Yield the back-end."""
    from cloxy_plugins.llm_mlx.machine import why_not

    yield HostedModelProvider(
        name="mlx",
        summary="MLX models on Apple Silicon, run by mlx-lm in a process of their own",
        extra="mlx",
        format="mlx",
        target="cloxy_plugins.llm_mlx.loading:load",
        modules=("mlx_lm",),
        available=why_not,
    )
