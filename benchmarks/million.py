"""`scca fit` of millions of pairs, from text files to a model: seconds and peak memory, beside reading by scikit-learn.

The generated pairs have words of about Zipf's frequencies: of each sentence some are from the whole language, some from
its subject; its mate has their translations, less some that are lost and with some added.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ._table import print_table

__all__ = ["run", "written"]

_WORDS, _NO_SUBJECT = 60_000, 50
_SHAPE = _SUBJECTS, _OF_SUBJECT = 500, 200  # words, counted as often as they are drawn
_STEEPER = 5000
_BLOCK = 20_000  # pairs generated at a time
_LENGTH = 22  # words of a sentence, on average
_FROM_SUBJECT, _LOST = 0.5, 0.2
_LETTERS = np.array(list("bcdfghklmnprstvz")), np.array(list("aeiou"))


def run(corpus: tuple[Path, Path] | None, n_pairs: int | None, n_components: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = corpus or written(Path(folder), n_pairs or 1_000_000)
        with open(files[0], encoding="utf-8") as lines:
            n_pairs = sum(1 for _ in lines)
        vectorising = _measured([sys.executable, "-c", _TFIDF, *map(str, files)])
        output = str(Path(folder, "model.scca"))
        options = ["--components", str(n_components), "--quiet", "-o", output]
        fitting = _measured([sys.executable, "-m", "scca", "fit", *map(str, files), *options])
    rows = [
        [name, f"{seconds:.0f}", f"{cpu:.0f}", f"{seconds / vectorising[0]:.1f}", f"{memory / 1e9:.2f}"]
        for name, (seconds, cpu, memory) in (("scikit-learn's TF-IDF of both", vectorising), ("scca fit", fitting))
    ]
    title = f"{n_pairs:,} pairs from text to a saved model of {n_components} components"
    print_table(title, ["command", "seconds", "CPU seconds", "ratio", "peak GB"], rows)


_TFIDF = """
import sys
from sklearn.feature_extraction.text import TfidfVectorizer
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as lines:
        TfidfVectorizer(min_df=2).fit_transform(lines)
"""


def _measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and the largest resident memory in bytes of a command."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command[:4])} ... ended with status {status}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024.0


def written(folder: Path, n_pairs: int) -> tuple[Path, Path]:
    """Two files of generated pairs."""
    paths = folder / "made-up.en", folder / "made-up.fr"
    with open(paths[0], "w", encoding="utf-8") as first, open(paths[1], "w", encoding="utf-8") as second:
        for block in _pairs(n_pairs):
            for file, texts in zip((first, second), block, strict=True):
                file.write("\n".join(texts) + "\n")
    return paths


def _pairs(n_pairs: int) -> Iterator[tuple[list[str], list[str]]]:
    rng = np.random.default_rng(0)
    languages = [_spelt(rng, _WORDS) for _ in range(2)]
    whole = _cumulative(_WORDS)
    within = _cumulative(_OF_SUBJECT)
    # frequent words are of many subjects, but the most frequent of none
    subjects = np.sort(_NO_SUBJECT + np.searchsorted(_cumulative(_WORDS - _NO_SUBJECT), rng.random(_SHAPE)), axis=1)
    of_subjects = _cumulative(_SUBJECTS)
    for start in range(0, n_pairs, _BLOCK):
        count = min(_BLOCK, n_pairs - start)
        lengths = np.maximum(2, rng.poisson(_LENGTH, count))
        total = int(lengths.sum())
        owner = np.repeat(np.arange(count), lengths)
        subject = np.searchsorted(of_subjects, rng.random(count))[owner]
        words = np.where(
            rng.random(total) < _FROM_SUBJECT,
            subjects[subject, np.searchsorted(within, rng.random(total))],
            np.searchsorted(whole, rng.random(total)),
        )
        translated = np.where(rng.random(total) < _LOST, np.searchsorted(whole, rng.random(total)), words)
        ends = np.cumsum(lengths)[:-1]
        yield tuple(
            [" ".join(part) for part in np.split(spelling[chosen], ends)]
            for spelling, chosen in zip(languages, (words, translated), strict=True)
        )


def _cumulative(size: int) -> np.ndarray:
    """Zipf's distribution, steeper from about rank 5,000 on as in real texts, summed up."""
    ranks = np.arange(1, size + 1)
    shares = 1.0 / (ranks * (1.0 + ranks / _STEEPER))
    return np.minimum(np.cumsum(shares / shares.sum()), 1.0 - 1e-12)


def _spelt(rng: np.random.Generator, count: int) -> np.ndarray:
    """Different words of two to four syllables; frequent ones are no shorter."""
    consonants, vowels = _LETTERS
    words: dict[str, None] = {}
    while len(words) < count:
        size = int(rng.integers(2, 5))
        pairs = zip(rng.choice(consonants, size), rng.choice(vowels, size), strict=True)
        words["".join(a + b for a, b in pairs)] = None
    return np.array(list(words), dtype=object)
