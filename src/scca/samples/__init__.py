"""Samples: views of them, groups and folds of them, in memory or in remote blocks."""

from ._blocks import Block, Function, RemoteBlocks, SampleValues, added, parts_of, unique
from ._splits import Split, consecutive_folds, random_folds
from ._views import (
    AllBut,
    ChosenRows,
    Groups,
    Samples,
    Views,
    chosen_rows,
    column_blocks,
    each,
    read_tile,
    remote_blocks_of,
    summed,
    tiles,
    view_names,
)

__all__ = [
    # views of the same samples
    "Views",
    "view_names",
    "Samples",
    "Groups",
    "Split",
    "consecutive_folds",
    "random_folds",
    # large arrays, a tile at a time
    "ChosenRows",
    "chosen_rows",
    "column_blocks",
    "read_tile",
    "tiles",
    # sums over samples, in memory or remote
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
