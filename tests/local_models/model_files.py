"""Small files in the forms of real models, made here."""

import json
import struct


def gguf(*, architecture="llama", context=4096, version=3, tensors=0, extra=(), payload=b""):
    """Bytes of a GGUF file with a header and `payload` behind it."""
    entries = [("general.architecture", 8, _text(architecture))]
    if context is not None:
        entries.append((f"{architecture}.context_length", 4, struct.pack("<I", context)))
    entries += [
        ("tokenizer.chat_template", 8, _text("{{ messages }}")),
        ("tokenizer.ggml.tokens", 9, _strings(["<s>", "a", "bc"])),
        ("tokenizer.ggml.scores", 9, struct.pack("<IQ3f", 6, 3, 0.0, 1.0, 2.0)),
        ("general.quantized", 7, b"\x01"),
        *extra,
    ]
    head = b"GGUF" + struct.pack("<IQQ", version, tensors, len(entries))
    body = b"".join(_text(key) + struct.pack("<I", kind) + value for key, kind, value in entries)
    return head + body + payload


def _text(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _strings(texts):
    return struct.pack("<IQ", 8, len(texts)) + b"".join(_text(each) for each in texts)


def safetensors(payload=b"\0" * 64, name="w"):
    """Bytes of a safetensors file with one tensor."""
    tensor = {"dtype": "U8", "shape": [len(payload)], "data_offsets": [0, len(payload)]}
    header = json.dumps({"__metadata__": {"format": "mlx"}, name: tensor}).encode()
    return struct.pack("<Q", len(header)) + header + payload


def mlx_files(payload=b"\0" * 64, **config):
    """Files of an MLX repository, with some that are not needed."""
    about = {
        "model_type": "qwen3",
        "max_position_embeddings": 32768,
        "quantization": {"bits": 4, "group_size": 64},
        **config,
    }
    return {
        "config.json": json.dumps(about).encode(),
        "tokenizer.json": b"{}",
        "tokenizer_config.json": b"{}",
        "chat_template.jinja": b"{{ messages }}",
        "model.safetensors": safetensors(payload),
        "model.safetensors.index.json": json.dumps(
            {"weight_map": {"w": "model.safetensors"}}
        ).encode(),
        "README.md": b"# hello",
        ".gitattributes": b"x",
        "modeling_evil.py": b"raise SystemExit",
    }


def write(folder, files):
    """Write files into a folder."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder
