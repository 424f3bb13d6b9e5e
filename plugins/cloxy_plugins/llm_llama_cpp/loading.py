"""Loads a GGUF file; runs in the process of the model."""

import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psutil  # type: ignore[import-untyped]
from llama_cpp import Llama, llama_cpp  # noqa: TID253 - this module is imported in the model's process only
from llama_cpp.llama_chat_format import (  # noqa: TID253
    Jinja2ChatFormatter,
)

from cloxy_hookspecs import HostedOptions, ModelChoice, ModelError
from cloxy_plugins.llm_llama_cpp.files import file_of, size_of
from cloxy_plugins.llm_llama_cpp.memory import context_that_fits
from cloxy_plugins.llm_llama_cpp.model import LlamaModel
from cloxy_plugins.llm_llama_cpp.settings import GPU_LAYERS, REPACK
from cloxy_plugins.llm_llama_cpp.template import ChatTemplate
from cloxy_plugins.llm_llama_cpp.vocabulary import Vocabulary

BATCH: Final = 512
CPU: Final = Path("/proc/cpuinfo")
TEMPLATE: Final = "tokenizer.chat_template"
OTHER: Final = "choose another model with `cloxy init`"


def load(options: HostedOptions) -> LlamaModel:
    """Load the model that was chosen.

    Raises:
        ModelError: it is not there, is no model for conversations, or does not fit.
    """
    choice = options.choice
    path = _file(choice)
    metadata = _metadata(path)
    source = metadata.get(TEMPLATE)
    if not source:
        raise ModelError(
            f"{path.name} has no chat template: it continues texts, and answers nobody",
            hint="choose an instruct model with `cloxy init`",
        )
    trained = _number(metadata, f"{metadata.get('general.architecture', '')}.context_length")
    free = psutil.virtual_memory().available - size_of(path)
    tokens = context_that_fits(metadata, trained, choice.context_tokens, free)
    llama = _load(path, tokens, options)
    vocabulary = Vocabulary(llama)
    formatter = Jinja2ChatFormatter(
        template=source,
        eos_token=vocabulary.eos_text,
        bos_token=vocabulary.bos_text,
    )

    def render(**variables: Any) -> str:  # noqa: ANN401 - whatever a template takes
        return str(formatter(**variables).prompt)

    template = ChatTemplate(source, render, vocabulary.controls)
    created = int(path.stat().st_mtime)
    return LlamaModel(llama, vocabulary, template, name=choice.name, created=created)


def _file(choice: ModelChoice) -> Path:
    if choice.path is None:
        raise ModelError(f"the model {choice.name!r} has no file", hint="run `cloxy init` again")
    path = file_of(Path(choice.path))
    if path is None:
        raise ModelError(
            f"{choice.path} is not there, or no GGUF file is in it",
            hint="run `cloxy init` again: the file was moved or deleted",
        )
    return path


def _metadata(path: Path) -> Mapping[str, str]:
    try:
        vocabulary = Llama(str(path), vocab_only=True, verbose=False)
    except (ValueError, RuntimeError) as error:
        raise ModelError(
            f"{path.name} is no GGUF file that this llama.cpp can read",
            hint=f"it may be damaged, or newer than the installed llama-cpp-python; {OTHER}",
        ) from error
    try:
        return dict(vocabulary.metadata)
    finally:
        vocabulary.close()


def _load(path: Path, tokens: int, options: HostedOptions) -> Llama:
    try:
        with _repacking(repacks(options.settings.get(REPACK.name), CPU)):
            return Llama(
                str(path),
                n_ctx=tokens,
                n_batch=min(BATCH, tokens),
                n_threads=options.threads,
                n_threads_batch=options.threads,
                n_gpu_layers=_layers(options.settings),
                verbose=False,
            )
    except (ValueError, RuntimeError) as error:
        raise ModelError(
            f"{path.name} cannot be loaded with a context of {tokens:,} tokens: {error}",
            hint=f"it may need more memory than there is; {OTHER}",
        ) from error


def _layers(settings: Mapping[str, object]) -> int:
    wanted = settings.get(GPU_LAYERS.name)
    if isinstance(wanted, int):
        return wanted
    return -1 if (platform.system(), platform.machine()) == ("Darwin", "arm64") else 0


def repacks(wanted: object, cpu: Path) -> bool:
    """Whether weights are rearranged for the processor.

    Where it has AMX they would be so for that, and llama.cpp's code for AMX ends the process (a
    general protection fault) on virtual machines that announce AMX and do not let it be used.

    Args:
        wanted: the setting; None leaves it to what is known of the processor.
        cpu: file in which Linux tells of the processor.
    """
    if isinstance(wanted, bool):
        return wanted
    try:
        return "amx_int8" not in cpu.read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return True


@contextmanager
def _repacking(wanted: bool) -> Iterator[None]:
    """Load models with or without it; the library has no argument for that."""
    usual = llama_cpp.llama_model_default_params

    def changed() -> Any:  # noqa: ANN401 - a structure of C
        parameters = usual()
        parameters.use_extra_bufts = wanted
        return parameters

    llama_cpp.llama_model_default_params = changed
    try:
        yield
    finally:
        llama_cpp.llama_model_default_params = usual


def _number(metadata: Mapping[str, str], key: str) -> int:
    text = metadata.get(key, "")
    return int(text) if text.isdigit() else 0
