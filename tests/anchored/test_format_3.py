"""AnchoredCCA is what `SparseCCA(**PAPER)` was: its fits are those in files of format 3."""

from pathlib import Path

import numpy as np
import pytest

from scca import AnchoredCCA, AnchoredCCACV, Kernel, LowRankKernel, load
from scca.datasets import make_planted

FILES = Path(__file__).parents[1] / "data" / "format-3"
RBF = Kernel("rbf", gamma=0.05)
MODELS = {
    "anchored": AnchoredCCA(3),
    "anchored-kernel": AnchoredCCA(2, kernel=RBF),
    "anchored-precomputed": AnchoredCCA(2, kernel="precomputed"),
    "anchored-primal-primal": AnchoredCCA(2, representation="primal-primal", anchors="cross-energy"),
    "anchored-low-rank": AnchoredCCA(2, kernel=LowRankKernel(RBF, rank=20)),
    "anchored-cv": AnchoredCCACV(2, scale="auto", mu_factors=(0.5, 1), cv=3),
}


@pytest.mark.filterwarnings("ignore:the kernel of Y is approximated")
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_is_that_in_the_file(name):
    X, Y = (view[:40] for view in make_planted(46, 12, 10, n_factors=2, n_active=4, random_state=0).views)
    centred = Y - Y.mean(axis=0)
    fitted = MODELS[name].fit(X, centred @ centred.T if name == "anchored-precomputed" else Y)
    known = load(FILES / f"{name}.scca")
    assert type(fitted) is type(known)
    assert fitted.anchors_.tolist() == known.anchors_.tolist()
    for attribute in ("mu_", "gamma_", "objective_", "correlations_", "x_weights_", "y_weights_", "x_rotations_"):
        expected = getattr(known, attribute)
        np.testing.assert_allclose(
            getattr(fitted, attribute), expected, rtol=0, atol=1e-6 * np.abs(expected).max(), err_msg=attribute
        )
    assert repr(fitted) == repr(known)
