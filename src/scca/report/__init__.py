"""A self-contained page of what a model learnt, made from its result alone."""

from ._report_page import MOST_SHOWN, correlation_figure, render, sparsity_figure, write_report

__all__ = [
    "render",
    "write_report",
    "MOST_SHOWN",
    # figures
    "sparsity_figure",
    "correlation_figure",
]
