"""A self-contained page of what a bilingual model learnt: compute, then data, then render."""

from ._data import ReportData, prepare
from ._page import render, write_report

__all__ = [
    # compute
    "prepare",
    "ReportData",
    # render
    "render",
    "write_report",
]
