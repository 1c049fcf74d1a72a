"""scikit-learn's own checks, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from scca import AnchoredCCA, AnchoredCCACV, KernelCCA, SparseCCA, SparseCCACV

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # the checks fit odd data on purpose


@parametrize_with_checks(
    [
        SparseCCA(1),  # the checks have a Y of one column, and so no second factor
        SparseCCA("auto", held_out=0),
        SparseCCA(1, rendering="dense", held_out=0),
        SparseCCA(1, kernel="rbf", held_out=0),
        SparseCCA(1, center=False, scale=None, held_out=0),
        SparseCCA(1, kernel=("rbf", "linear"), held_out=0),
        AnchoredCCA(),
        AnchoredCCA(1, anchors="cross-energy", representation="dual-primal"),
        AnchoredCCA(1, anchors="cross-energy", kernel="rbf", algorithm="greedy"),
        AnchoredCCA(1, anchors="cross-energy", center=False, scale=None),
        SparseCCACV(1, mu_factors=(0.5, 1), cv=3, held_out=0),
        AnchoredCCACV(1, mu_factors=(0.5, 1), cv=3, anchors="cross-energy"),
        KernelCCA(),
        KernelCCA(1, kernel="rbf"),
    ]
)
def test_estimator(estimator, check):
    check(estimator)
