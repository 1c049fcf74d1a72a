"""scikit-learn's own checks, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from scca import KernelCCA, SparseCCA, SparseCCACV

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # the checks fit odd data on purpose


@parametrize_with_checks(
    [
        SparseCCA(),
        SparseCCA(1, representation="dual-primal"),
        SparseCCA(1, kernel="rbf", algorithm="greedy"),
        SparseCCA(1, center=False, normalize=False),
        SparseCCACV(1, mu_factors=(0.5, 1), cv=3),
        SparseCCA(1, anchors="best-of-3"),
        SparseCCA(1, anchors="medoids"),
        SparseCCA(1, anchors=None),
        SparseCCA(1, anchors=None, rendering="dense", held_out=0),
        SparseCCA(1, anchors=None, kernel="rbf"),
        KernelCCA(),
        KernelCCA(1, kernel="rbf"),
    ]
)
def test_estimator(estimator, check):
    check(estimator)
