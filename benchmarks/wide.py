"""Wide and dense views: time, and peak memory beyond the data, which are in memory or in a memory-mapped file."""

import tempfile

from ._processes import in_new_process
from ._table import print_table

__all__ = ["run"]

_SAMPLES, _OTHER = 500, 1000
_ANCHORED = {"anchors": "cross-energy", "representation": "primal-primal"}  # of AnchoredCCA
_HEADER = ["data", "settings", "seconds", "of processor", "extra MB", "data MB"]


def run(features: int) -> None:
    """20 components of 500 samples with many features, and of 1,000 samples with 400 features in both views."""
    wide = _SAMPLES, (features, _OTHER)
    dense, sparse = {"held_out": 0, "rendering": "dense"}, {"held_out": 0}
    rows = [_row(*wide, False, settings) for settings in (dense, sparse, {})]
    rows += [_row(*wide, True, settings) for settings in (dense, sparse)]
    rows += [_row(1000, (400, 400), False, settings) for settings in ({}, _ANCHORED)]
    print_table("Wide and dense views, 20 components", _HEADER, rows)


def _row(n_samples: int, sizes: tuple[int, int], mapped: bool, settings: dict) -> list[str]:
    with tempfile.TemporaryDirectory(dir=".") as folder:  # not /tmp, which may be in memory
        task = n_samples, sizes, folder if mapped else None, settings
        [measured] = in_new_process("_wide_child", task)
    place = "file" if mapped else "memory"
    asked = ", ".join(f"{name}={value!r}" for name, value in settings.items()) or "defaults"
    seconds = f"{measured['seconds']:.1f}", f"{measured['busy']:.1f}"
    megabytes = (f"{measured[name] / 1e6:,.0f}" for name in ("bytes", "data"))
    return [f"{n_samples:,} x {sizes[0]:,} and {sizes[1]:,}, {place}", asked, *seconds, *megabytes]
