import numpy as np
import pytest


@pytest.fixture
def words(rng):
    """Two views of 400 samples with features that are rare, as words are, and common ones."""
    shared = rng.standard_normal((400, 5))
    cut = rng.uniform(0.5, 2.5, 60)
    return [
        np.maximum(shared @ rng.standard_normal((5, m)) + rng.standard_normal((400, m)) - cut[:m], 0) for m in (60, 50)
    ]
