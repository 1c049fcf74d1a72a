"""Samples in blocks of this process: what travels to a block is pickled, as if it were elsewhere."""

import pickle
from functools import reduce
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from scca.factors import constants
from scca.samples import Block, RemoteBlocks, added, parts_of
from scca.views import BlockRows

NONE = np.empty(0, dtype=np.intp)


class LocalBlocks(RemoteBlocks):
    def __init__(self, blocks, left_out=NONE):
        super().__init__(sum(block.n for block in blocks), left_out)
        self.blocks = blocks
        self.n_passes = 0

    def without(self, left_out):
        assert not len(self.left_out)
        return LocalBlocks(self.blocks, left_out)

    def collected(self, function, items, arguments):
        self.n_passes += 1
        sent = pickle.dumps((function, items, arguments))
        found = []
        for block in self.blocks:
            function, items, arguments = pickle.loads(sent)
            found.append(pickle.loads(pickle.dumps(function(parts_of(items, block), *arguments))))
        return found

    def summed(self, function, items, arguments):
        return reduce(added, self.collected(function, items, arguments))


def in_blocks(views, sizes):
    """Matrices of the same samples as views in blocks of these sizes."""
    starts = np.cumsum([0, *sizes])
    names = "XYZ"[: len(views)]
    blocks = [
        Block(int(first), {name: view[first:last] for name, view in zip(names, views, strict=True)})
        for first, last in pairwise(starts)
    ]
    where = LocalBlocks(blocks)
    return [
        BlockRows(
            where,
            name,
            view.shape[1],
            view.dtype,
            is_sparse=sp.issparse(view),
            n_stored=view.nnz if sp.issparse(view) else view.size,
        )
        for name, view in zip(names, views, strict=True)
    ]


def many_pairs(monkeypatch, n):
    """Let `n` pairs be as many as 20,000 are otherwise: from there on the samples stay in their blocks."""
    monkeypatch.setattr(constants, "MANY_SAMPLES", n)
