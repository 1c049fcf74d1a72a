"""What must not change the answer, over random problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from subprocesses import run_program

from scca import AnchoredCCA, KernelCCA, SparseCCA

SEEDS = st.integers(0, 2**32 - 1)
many = settings(max_examples=25, deadline=None)
TOL = 1e-11  # weights then agree to about its square root


def pairs(seed):
    rng = np.random.default_rng(seed)
    n, m, p = rng.integers(6, 16), rng.integers(3, 20), rng.integers(3, 20)
    shared = rng.standard_normal((n, 2))
    X = shared @ rng.standard_normal((2, m)) + rng.standard_normal((n, m))
    Y = shared @ rng.standard_normal((2, p)) + rng.standard_normal((n, p))
    return X, Y, rng


def fitted(X, Y, **parameters):
    settings = {"anchors": "cross-energy", "feature_weights": "shared", "scale": "auto", **parameters}
    return AnchoredCCA(1, tol=TOL, **settings).fit(X, Y)


def factor(X, Y, **parameters):
    return SparseCCA(1, tol=TOL, **{"held_out": 0, **parameters}).fit(X, Y)


def close(a, b):
    np.testing.assert_allclose(a, b, atol=1e-4 * max(1e-12, np.abs(b).max()))


@pytest.mark.filterwarnings("ignore::UserWarning")
class TestAnchored:
    @many
    @given(SEEDS)
    def test_permuting_features(self, seed):
        X, Y, rng = pairs(seed)
        columns = rng.permutation(X.shape[1])
        base, permuted = fitted(X, Y), fitted(X[:, columns], Y[:, rng.permutation(Y.shape[1])])
        assert permuted.anchors_ == base.anchors_
        assert permuted.objective_ == pytest.approx(base.objective_, rel=1e-8)
        close(permuted.x_weights_, base.x_weights_[columns])
        close(permuted.y_weights_, base.y_weights_)

    @many
    @given(SEEDS)
    def test_permuting_samples(self, seed):
        X, Y, rng = pairs(seed)
        rows = rng.permutation(len(X))
        k = fitted(X, Y).anchors_[0]
        base = fitted(X, Y, anchors=[k])
        permuted = fitted(X[rows], Y[rows], anchors=[int(np.flatnonzero(rows == k)[0])])
        close(permuted.x_weights_, base.x_weights_)
        close(permuted.y_weights_, base.y_weights_[rows])

    @many
    @given(SEEDS)
    def test_flipping_signs_of_features(self, seed):
        X, Y, rng = pairs(seed)
        signs = rng.choice([-1.0, 1.0], X.shape[1])
        base, flipped = fitted(X, Y), fitted(X * signs, Y * rng.choice([-1.0, 1.0], Y.shape[1]))
        close(flipped.x_weights_, base.x_weights_ * signs[:, None])
        close(flipped.y_weights_, base.y_weights_)

    @many
    @given(SEEDS, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
    def test_scaling_a_view_at_automatic_penalties(self, seed, a, b):
        X, Y, _ = pairs(seed)
        base = fitted(X, Y, scale=None)
        scaled = fitted(a * X, b * Y, scale=None)
        assert scaled.anchors_ == base.anchors_
        close(scaled.x_weights_ * a, base.x_weights_)
        close(scaled.y_weights_ * b * b, base.y_weights_)
        close(scaled.correlations_, base.correlations_)

    @many
    @given(SEEDS)
    def test_shifting_features(self, seed):
        X, Y, rng = pairs(seed)
        shifted = fitted(X + rng.standard_normal(X.shape[1]), Y + rng.standard_normal(Y.shape[1]))
        close(shifted.x_weights_, fitted(X, Y).x_weights_)


@pytest.mark.filterwarnings("ignore::UserWarning")
class TestFactors:
    """The first factor, which nothing else may be taken for."""

    @many
    @given(SEEDS)
    def test_permuting_features_and_samples(self, seed):
        X, Y, rng = pairs(seed)
        rows, x_columns, y_columns = (rng.permutation(n) for n in (len(X), X.shape[1], Y.shape[1]))
        base, permuted = factor(X, Y), factor(X[rows][:, x_columns], Y[rows][:, y_columns])
        close(permuted.x_weights_, base.x_weights_[x_columns])
        close(permuted.y_weights_, base.y_weights_[y_columns])

    @many
    @given(SEEDS)
    def test_swapping_views(self, seed):
        X, Y, _ = pairs(seed)
        base, swapped = factor(X, Y), factor(Y, X)
        close(swapped.y_weights_, base.x_weights_)
        close(swapped.x_weights_, base.y_weights_)

    @many
    @given(SEEDS)
    def test_flipping_signs_of_features(self, seed):
        """Up to the sign of the factor, which goes by the features that load most."""
        X, Y, rng = pairs(seed)
        x_signs, y_signs = (rng.choice([-1.0, 1.0], view.shape[1]) for view in (X, Y))
        base, flipped = factor(X, Y), factor(X * x_signs, Y * y_signs)
        x, y = flipped.x_weights_[:, 0] * x_signs, flipped.y_weights_[:, 0] * y_signs
        turned = np.sign(x @ base.x_weights_[:, 0])
        close(turned * x, base.x_weights_[:, 0])
        close(turned * y, base.y_weights_[:, 0])

    @many
    @given(SEEDS, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
    def test_scaling_and_shifting_views(self, seed, a, b):
        """Samples have unit norm, however large they were."""
        X, Y, rng = pairs(seed)
        other = factor(a * (X + rng.standard_normal(X.shape[1])), b * (Y + rng.standard_normal(Y.shape[1])))
        base = factor(X, Y)
        close(other.x_weights_, base.x_weights_)
        close(other.y_weights_, base.y_weights_)
        close(other.correlations_, base.correlations_)


class TestKernelCCA:
    @many
    @given(SEEDS)
    def test_rotating_features(self, seed):
        """Kernel CCA sees inner products alone."""
        X, Y, rng = pairs(seed)
        rotation = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
        base, rotated = (KernelCCA(1, scale="rows").fit(A, Y) for A in (X, X @ rotation))
        np.testing.assert_allclose(rotated.canonical_values_, base.canonical_values_, rtol=1e-8)


PROGRAM = """
import hashlib, sys
import numpy as np
from scca import AnchoredCCA, KernelCCA, SparseCCA
from scca.datasets import make_planted
X, Y = make_planted(700, 40, 30, n_active=5, random_state=0).views
for n_jobs in map(int, sys.argv[1:]):
    digest = hashlib.sha256()
    settings = {"kernel": "rbf", "n_jobs": n_jobs}
    anchored = AnchoredCCA(3, anchors="cross-energy", **settings)
    for model in (SparseCCA(3, held_out=0, **settings), anchored, KernelCCA(3, **settings)):
        for scores in model.fit(X, Y).transform_pair(X, Y):
            digest.update(scores.tobytes())
    model = SparseCCA(3, held_out=3, n_jobs=n_jobs).fit(X[:100], Y[:100])
    digest.update(model.held_out_correlations_.tobytes())
    print(digest.hexdigest())
"""


@pytest.mark.parametrize("n_jobs", [(1, 4), pytest.param((1, 2, 4), marks=pytest.mark.slow)])
def test_same_bytes_for_any_n_jobs(n_jobs):
    """With BLAS threads fixed, the number of workers leaves no trace."""
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    digests = run_program(PROGRAM, *n_jobs, **threads).stdout.split()
    assert len(digests) == len(n_jobs)
    assert len(set(digests)) == 1
