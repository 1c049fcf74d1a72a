"""Independent views, and what the tests of samples left out have in common."""

import numpy as np
import pytest

from scca.samples import Groups, Views

# the factors' strength is that of each separately: below, one of three may be lost in half of the pairs
PLANTED = {"n_active": 8, "strength": 2.0}
quietly = pytest.mark.filterwarnings("ignore::scca.EvidenceWarning")


def noise(seed, n=60, p=12, q=10):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng.standard_normal((n, q))


def views_of(X, Y):
    return Views((X, Y), alone(len(X)))


def random_state():
    return np.random.RandomState(0)


def alone(n):
    return Groups.of(None, n)


def near_copies(seed, n_subjects=20, n_copies=5, p=10):
    """Independent views of subjects, each measured several times."""
    rng = np.random.default_rng(seed)
    views = rng.standard_normal((2, n_subjects, p)).repeat(n_copies, axis=1)
    views += 0.05 * rng.standard_normal(views.shape)
    return views[0], views[1], np.repeat(np.arange(n_subjects), n_copies)
