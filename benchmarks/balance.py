"""What the sample weights of many samples do to the error of mates: factors with and without them."""

import warnings
from pathlib import Path
from time import perf_counter
from unittest import mock

import numpy as np

from scca import SparseCCA
from scca.factors import constants

from ._table import print_table
from ._texts import split_vectors, texts_of

__all__ = ["run"]

_PAIRS, _FACTORS = 5000, 50


def run(corpus_paths: tuple[Path, Path] | None = None, join: int = 1, pairs: int | None = None) -> None:
    """Print errors on 500 new pairs, and times, of dense and sparse renderings of both kinds of factors."""
    pairs = pairs or _PAIRS
    learnt, new = split_vectors(texts_of(corpus_paths, join), pairs, 0)
    rows = []
    for rendering in ("dense", "sparse"):
        for name, many in (("all alike", np.inf), ("by leverage", 0)):
            with mock.patch.object(constants, "WEIGHTED_SAMPLES", many), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = perf_counter()
                model = SparseCCA(_FACTORS, rendering=rendering, held_out=0).fit(*learnt)
                seconds = perf_counter() - start
                rows.append([rendering, name, f"{1 - model.score(*new):.4f}", f"{seconds:.0f}"])
    print_table(
        f"{pairs} pairs, {_FACTORS} factors, error of mates among {new[0].shape[0]} new pairs",
        ["rendering", "samples weighted", "error", "seconds"],
        rows,
    )
