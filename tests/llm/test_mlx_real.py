"""The MLX back-end with the real mlx-lm and a tiny model of random numbers; needs `cloxy[mlx]`.

It runs on a Mac; or anywhere with `pip install 'mlx-lm[cpu]'`. That the stand-in of the other tests
has the library's names, arguments and results is checked here too.
"""

import importlib
import inspect
import json
import sys
from contextlib import aclosing
from pathlib import Path

import pytest
from llm.mlx_bench import ask, in_process, options_of, said

from cloxy_hookspecs import ChatMessage, ContextTooLongError, ToolSpec

mlx_lm = pytest.importorskip(
    "mlx_lm", reason="pip install 'cloxy[mlx]' (on other than Macs: mlx-lm[cpu])"
)

pytestmark = [
    pytest.mark.process,
    *(
        pytest.mark.filterwarnings(f"ignore::{kind}")
        for kind in ("DeprecationWarning", "UserWarning", "FutureWarning", "ResourceWarning")
    ),
]

CONTEXT = 1024
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% if tools %}{{ tools | tojson }} <tool_call> tool_call.name{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from mlx_lm.models.llama import Model, ModelArgs
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    place = tmp_path_factory.mktemp("tiny")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in SPECIAL])
    tokenizer.save(str(place / "tokenizer.json"))
    (place / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "eos_token": "<|im_end|>",
                "additional_special_tokens": list(SPECIAL),
                "chat_template": TEMPLATE,
            }
        )
    )
    config = {
        "model_type": "llama",
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "intermediate_size": 64,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-5,
        "vocab_size": tokenizer.get_vocab_size(),
        "max_position_embeddings": CONTEXT,
    }
    (place / "config.json").write_text(json.dumps(config))
    mx.random.seed(3)
    weights = dict(tree_flatten(Model(ModelArgs.from_dict(config)).parameters()))
    mx.save_safetensors(str(place / "model.safetensors"), weights, metadata={"format": "mlx"})
    return place


def _work(folder, work):
    return in_process(options_of(folder), work)


def test_it_answers_and_what_was_read_is_not_read_again(folder):
    async def work(process, info):
        first = ask("Remember: under the mat. " * 20, max_tokens=24)
        one, again = await said(process, first), await said(process, first)
        longer = ask(
            [*first.messages, ChatMessage("assistant", "Yes"), ChatMessage("user", "?")],
            max_tokens=24,
        )
        warm = await said(process, longer)
        count = await process.count(first)
        return info, one, again, warm, count

    info, one, again, warm, count = _work(folder, work)
    assert (info.context_tokens, info.tools, info.alternates) == (CONTEXT, True, False)
    assert one[1].usage.prompt == count
    assert one[1].usage.completion == 24
    assert one[1].finish == "length"
    assert again[0] == one[0]
    assert again[1].usage.cached == count - 1
    assert warm[1].usage.cached == count

    async def cold(process, _):
        longer = ask(
            [
                ChatMessage("user", "Remember: under the mat. " * 20),
                ChatMessage("assistant", "Yes"),
                ChatMessage("user", "?"),
            ],
            max_tokens=24,
        )
        return await said(process, longer)

    text, end, _ = _work(folder, cold)
    assert (text, end.usage.cached) == (warm[0], 0), "what was kept is what would be read"


def test_broken_off_it_goes_on_rightly(folder):
    async def work(process, _):
        request = ask("A long story. " * 60, max_tokens=100)
        for wanted in ("nothing", "text"):
            async with aclosing(process.generate(request)) as stream:
                async for delta in stream:
                    if delta.text or wanted == "nothing":
                        break
        return process.alive, await said(process, request)

    async def plain(process, _):
        return await said(process, ask("A long story. " * 60, max_tokens=100))

    alive, (text, end, _) = _work(folder, work)
    assert alive
    assert end.usage.cached > 0
    assert text == _work(folder, plain)[0]


def test_seeds(folder):
    async def work(process, _):
        seeds = (5, 5, 6)
        return [
            (await said(process, ask(temperature=1.0, seed=seed, max_tokens=24)))[0]
            for seed in seeds
        ]

    one, same, other = _work(folder, work)
    assert one == same != other


def test_control_tokens_and_limits(folder):
    async def work(process, _):
        plain = await process.count(ask("x"))
        forged = await process.count(ask("<|im_end|>"))
        with pytest.raises(ContextTooLongError, match=r"1,024"):
            await said(process, ask("x" * 2000))
        tools = ask("x", tools=(ToolSpec("f", "", {}),), max_tokens=8)
        return plain, forged, await said(process, tools)

    plain, forged, (_, end, calls) = _work(folder, work)
    assert forged == plain - 1 + len("<|im_end|>")
    assert (end.finish, calls) == ("length", [])


NAMES = (
    ("mlx_lm", "load"),
    ("mlx_lm", "stream_generate"),
    ("mlx_lm.generate", "generate_step"),
    ("mlx_lm.sample_utils", "make_sampler"),
    ("mlx_lm.models.cache", "make_prompt_cache"),
    ("mlx_lm.models.cache", "can_trim_prompt_cache"),
    ("mlx_lm.models.cache", "trim_prompt_cache"),
)


def _ours():
    """The stand-in's modules, and away with them."""
    kept = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in {"mlx", "mlx_lm"}}
    for name in kept:
        del sys.modules[name]
    sys.path.insert(0, str(Path(__file__).parent / "mlx_stand_in"))
    try:
        return {
            name: importlib.import_module(name)
            for name in (*dict(NAMES), "mlx_lm.generate", "mlx_lm.tokenizer_utils")
        }
    finally:
        sys.path.pop(0)
        for name in [n for n in sys.modules if n.partition(".")[0] in {"mlx", "mlx_lm"}]:
            del sys.modules[name]
        sys.modules.update(kept)


def test_the_stand_in_is_faithful(folder):
    ours = _ours()
    for module, name in NAMES:
        real = inspect.signature(getattr(importlib.import_module(module), name))
        stand_in = inspect.signature(getattr(ours[module], name))
        assert [(p.name, p.kind) for p in real.parameters.values()] == [
            (p.name, p.kind) for p in stand_in.parameters.values()
        ], name
    real = importlib.import_module("mlx_lm.generate").GenerationResponse
    assert list(inspect.signature(real).parameters) == list(
        inspect.signature(ours["mlx_lm.generate"].GenerationResponse).parameters
    )
    _, tokenizer = mlx_lm.load(str(folder))
    wrapper = ours["mlx_lm.tokenizer_utils"].TokenizerWrapper({})
    for name in (n for n in (*vars(wrapper), "detokenizer", "encode", "decode")):
        assert hasattr(tokenizer, name), name
