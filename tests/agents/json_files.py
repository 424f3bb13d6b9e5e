"""Files of JSON, made by the tests."""

import json


def put(path, value):
    """A file that holds a value, which may have halves of surrogate pairs, or bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(value, bytes):
        value = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    path.write_bytes(value)
    return path
