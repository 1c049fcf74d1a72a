"""Made-up counts of words: sparse, of very different frequencies, about subjects that all views share."""

import numpy as np
import scipy.sparse as sp


def made_words(n_samples, sizes=(300, 250), n_subjects=8, share=1.0, length=100.0, seed=0):
    """Views of log counts of words; a `share` of the words of each view tells of subjects, the others are noise."""
    rng = np.random.default_rng(seed)
    subjects = rng.dirichlet(np.full(n_subjects, 0.3), n_samples)
    views = []
    for m in sizes:
        frequency = 1.0 / np.arange(5.0, 5.0 + m)
        means = np.tile(frequency / frequency.sum(), (n_subjects, 1))
        telling = rng.random(m) < share
        means[:, telling] *= rng.gamma(0.3, 1.0 / 0.3, (n_subjects, int(telling.sum())))
        views.append(sp.csr_array(np.log1p(rng.poisson(length * subjects @ means))))
    return views
