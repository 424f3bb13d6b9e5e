"""Stands in for `mlx_lm.sample_utils`."""

import mlx.core as mx  # noqa: TID253 - the stand-in's own


def make_sampler(
    temp=0.0,
    top_p=0.0,
    min_p=0.0,
    min_tokens_to_keep=1,
    top_k=0,
    xtc_probability=0.0,
    xtc_threshold=0.1,
    xtc_special_tokens=None,
):
    def sampler(candidates):
        if temp == 0 or top_p == 0.01:
            return candidates[0]
        return mx.random.chance.choice(candidates)

    return sampler
