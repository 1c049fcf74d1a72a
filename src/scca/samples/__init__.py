"""Which samples: paired views, groups, folds; in memory, or in blocks elsewhere."""

from ._blocks import (
    AllBut,
    Block,
    Function,
    RemoteBlocks,
    SampleValues,
    added,
    each,
    parts_of,
    remote_blocks_of,
    summed,
    unique,
)
from ._groups import Groups
from ._pairs import Pairs, Samples
from ._splits import Split, consecutive_folds, random_folds

__all__ = [
    # paired samples
    "Pairs",
    "Samples",
    "Groups",
    "Split",
    "consecutive_folds",
    "random_folds",
    # sums over samples, in memory or elsewhere
    "summed",
    "each",
    "added",
    "parts_of",
    "Function",
    "RemoteBlocks",
    "Block",
    "SampleValues",
    "AllBut",
    "remote_blocks_of",
    "unique",
]
