"""What the built-in model is, and how its vectors are used: every number in one place."""

from typing import Final

MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2"
MODELS: Final = (MODEL, "all-MiniLM-L6-v2", "minilm")

REVISION: Final = "27d1089fc9b3792a"
"""Revision of the files that this version comes with; counts only while the manifest is away."""

DIMENSIONS: Final = 384
TOKENS: Final = 256
"""Tokens of a text that the model reads, those at its ends included."""

READ_CHARACTERS: Final = 16 * TOKENS
"""Characters of a text that are split into tokens: usually four or five make one."""

WEIGHT: Final = 0.3
FLOOR: Final = 0.25
SURE: Final = 0.45
BATCH: Final = 16
"""Vectors a commit; the model itself is given one text at a time."""
CHARACTERS: Final = 300
