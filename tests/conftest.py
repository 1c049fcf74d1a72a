import os

# tests run side by side: BLAS threads would only wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


# no times in tests: an example that takes long on a busy machine is no failure
settings.register_profile("scca", deadline=None)
settings.load_profile("scca")
