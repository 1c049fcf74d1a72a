"""A self-contained page of what a bilingual model learnt: compute, then data, then render."""

from ._data import ReportData, prepare, running_union
from ._figures import sparsity_figure
from ._page import render, write_report

__all__ = [
    # compute
    "prepare",
    "ReportData",
    "running_union",
    # render
    "render",
    "write_report",
    "sparsity_figure",
]
