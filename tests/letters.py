"""A kind that only the tests know: words by their letters. All of it is in this file, as of any new kind."""

import string
from collections import Counter

import numpy as np
import scipy.sparse as sp

from scca.kinds import Kind, register


@register
class LetterKind(Kind):
    """Words as the number of times that each letter stands in them."""

    kind = "letters"
    unit, units = "letter", "letters"
    sample, samples = "word", "words"
    scale = "rows"
    zeros_say_nothing = True

    def fit_transform(self, samples, y=None):
        self.letters_ = [letter for letter in string.ascii_lowercase if any(letter in word for word in samples)]
        return self.transform(samples)

    def transform(self, samples):
        counts = [Counter(word) for word in samples]
        return sp.csr_array([[float(count[letter]) for letter in self.letters_] for count in counts])

    @property
    def feature_names_(self):
        return np.array(self.letters_, dtype=object)

    def drawing(self, feature):
        return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{self.letters_[feature]}</text></svg>'

    def labels(self, samples):
        return list(samples)

    def read(self, path):
        return path.read_text(encoding="utf-8").split()
