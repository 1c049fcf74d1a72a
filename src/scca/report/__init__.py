"""A self-contained page of what a bilingual model learnt: compute, then data, then render."""

from ._content import ReportData, prepare, running_union
from ._report_page import render, sparsity_figure, write_report

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
