"""The little of `mlx.core` that is used."""

import random as _random


class array:
    """A row of numbers."""

    def __init__(self, values):
        self.values = list(values)

    @property
    def size(self):
        return len(self.values)

    def __len__(self):
        return len(self.values)


class random:
    """The library's only source of chance."""

    chance = _random.Random()

    @classmethod
    def seed(cls, seed):
        if not 0 <= seed < 2**64:
            raise TypeError("seed(): incompatible function arguments")
        cls.chance = _random.Random(seed)
