"""Whether this machine can run MLX."""

import platform


def why_not() -> str | None:
    """Why it cannot, in words; None when it can."""
    system, machine = platform.system(), platform.machine()
    if (system, machine) == ("Darwin", "arm64"):
        return None
    what = "an Intel Mac" if system == "Darwin" else f"{system} on {machine}"
    return (
        f"MLX needs a Mac with Apple Silicon (M1 or later), and this is {what}: use a GGUF model "
        "(extra `llama`), or a server of models (CLOXY_LLM_BASE_URL)"
    )
