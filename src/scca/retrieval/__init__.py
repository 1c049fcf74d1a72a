"""Mate retrieval: for every sample of one view, its mate among all samples of the other."""

from ._approximate import ApproximateIndex
from ._cosines import AveragePrecision, average_precision, mate_ranks, ranks_among
from ._exact import ExactIndex, best_matches

__all__ = [
    # the rank of the mate
    "AveragePrecision",
    "average_precision",
    "mate_ranks",
    "ranks_among",
    # the best candidates
    "best_matches",
    "ExactIndex",
    "ApproximateIndex",
]
