"""Small real models in folders, written by the tests with onnx: for tests only.

Their words are pieces learned from a few sentences. The embedder adds up a random vector for each
piece; the cross-encoder counts the pieces that question and passage share. Both run as any model of
their kind: tokenizer, ONNX network, the files around them.
"""

import json

import numpy as np

PIECES = 300
DIM = 24
WINDOW = 48
_FIRST_PIECE = 4
_SENTENCES = (
    "The crane overheats because firmware 4.2 does not idle.",
    "Why does the harbour's tide table differ from the one in tides.csv?",
    "query: what did we decide about the lighthouse yesterday",
    "passage: the lighthouse is painted white, and the harbour gate blue",
)


def tiny_embedder(
    folder,
    *,
    batch_effect=False,
    pooled=False,
    file="model.onnx",
    seed=1,
    dim=DIM,
    limit=4 * WINDOW,
):
    """Write an embedding model.

    Args:
        folder: gets the files.
        batch_effect: have the numbers depend on the whole batch, as in quantised models.
        pooled: have the network give a vector a text, not one a token.
        file: the network's file in the folder.
        seed: which weights.
        dim: length of a vector.
        limit: tokens of a text by tokenizer_config.json.
    """
    from onnx import TensorProto, helper, numpy_helper

    table = np.random.default_rng(seed).normal(size=(PIECES, dim)).astype("float32")
    tensors = [numpy_helper.from_array(table, "table")]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["found"])]
    last = "found"
    if batch_effect:
        nodes += [
            helper.make_node("DynamicQuantizeLinear", [last], ["small", "scale", "zero"]),
            helper.make_node("DequantizeLinear", ["small", "scale", "zero"], ["coarse"]),
        ]
        last = "coarse"
    shape = ["batch", "tokens", dim]
    if pooled:
        tensors.append(numpy_helper.from_array(np.array([1]), "axes"))
        nodes.append(helper.make_node("ReduceMean", [last, "axes"], ["mean"], keepdims=0))
        last, shape = "mean", ["batch", dim]
    nodes.append(helper.make_node("Identity", [last], ["output"]))
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, shape)
    _write_network(folder / file, nodes, ["input_ids", "attention_mask"], output, tensors)
    _write_words(folder, limit)
    _write(folder / "config.json", {"hidden_size": dim, "pad_token_id": 0})
    return folder


def tiny_cross_encoder(folder, *, batch_effect=False, file="model.onnx", turned=False):
    """Write a cross-encoder: pieces that question and passage share, as a share of all pairs.

    Args:
        folder: gets the files.
        batch_effect: have the numbers depend on the whole batch, as in quantised models.
        file: the network's file in the folder.
        turned: have what shares nothing score highest.
    """
    from onnx import TensorProto, helper, numpy_helper

    tensors = [
        numpy_helper.from_array(np.array(value), name)
        for name, value in {
            "first": _FIRST_PIECE,
            "at1": [1],
            "at2": [2],
            "both": [1, 2],
            "last": [1],
        }.items()
    ]
    tensors.append(numpy_helper.from_array(np.array(1, dtype="float32"), "one"))
    steps = (
        ("GreaterOrEqual", "input_ids first", "is_piece"),
        ("Cast", "is_piece", "piece"),
        ("Cast", "token_type_ids", "second"),
        ("Sub", "one second", "not_second"),
        ("Mul", "piece second", "of_passage"),
        ("Mul", "piece not_second", "of_question"),
        ("Unsqueeze", "input_ids at2", "rows"),
        ("Unsqueeze", "input_ids at1", "columns"),
        ("Equal", "rows columns", "is_same"),
        ("Cast", "is_same", "same"),
        ("Unsqueeze", "of_question at2", "asked"),
        ("Unsqueeze", "of_passage at1", "said"),
        ("Mul", "asked said", "pairs"),
        ("Mul", "pairs same", "matches"),
        ("ReduceSum", "matches both", "shared"),
        ("ReduceSum", "pairs both", "all"),
        ("Add", "all one", "some"),
        ("Div", "shared some", "share"),
        ("DynamicQuantizeLinear", "share", "small scale zero"),
        ("DequantizeLinear", "small scale zero", "coarse"),
        ("Neg" if turned else "Identity", "coarse" if batch_effect else "share", "signed"),
        ("Unsqueeze", "signed last", "logits"),
    )
    nodes = [
        helper.make_node(
            kind,
            inputs.split(),
            made.split(),
            **({"to": TensorProto.FLOAT} if kind == "Cast" else {}),
            **({"keepdims": 0} if kind == "ReduceSum" else {}),
        )
        for kind, inputs, made in steps
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    names = ["input_ids", "attention_mask", "token_type_ids"]
    _write_network(folder / file, nodes, names, output, tensors)
    _write_words(folder)
    _write(folder / "config.json", {"pad_token_id": 0})
    return folder


def hub_cache(cache, source):
    """Make the folder of a cache in which the hub's client has a repository; the folder."""
    top = cache / f"models--{source.replace('/', '--')}"
    (top / "refs").mkdir(parents=True)
    (top / "refs" / "main").write_text("0123abcd")
    folder = top / "snapshots" / "0123abcd"
    folder.mkdir(parents=True)
    return folder


def _write_network(path, nodes, names, output, tensors):
    import onnx
    from onnx import TensorProto, helper

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in names
    ]
    graph = helper.make_graph(nodes, "for-tests-only", inputs, [output], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)


def _write_words(folder, limit=4 * WINDOW):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_SENTENCES, trainer)
    assert tokenizer.get_vocab_size() <= PIECES
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    _write(folder / "tokenizer_config.json", {"model_max_length": limit, "pad_token": "[PAD]"})
    _write(
        folder / "special_tokens_map.json",
        dict(zip(("pad_token", "unk_token"), ("[PAD]", "[UNK]"), strict=True)),
    )
    _write(folder / "sentence_bert_config.json", {"max_seq_length": WINDOW})


def _write(path, facts):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(facts), encoding="utf-8")
