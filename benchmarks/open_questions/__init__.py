"""Evidence for the paper's open questions: numbers, figures and one page in a folder."""

import csv
import io
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from scca._files import atomic_write
from scca.datasets import load_trilingual
from scca.reproduce import Corpus, Size, count_corpus
from scca.text import PairedText, read_pairs

from ._page import write_page
from ._planted import held_out_correlations
from ._projections import projection_counts, projection_curves
from ._splits import outer_split
from ._words import component_curves, refitted_curves

__all__ = ["run"]

_DOCUMENTS = 1000
_SIZE = Size(100, 900)  # or what the corpus has
_SEED = 0


def run(folder: Path, paths: tuple[Path, Path] | None = None, splits: int = 2) -> None:
    """Compare on `splits` random splits (and as many sets of planted data), and leave the results in `folder`."""
    corpus = _corpus(paths)
    parts = {"projections": projection_curves, "refitted": refitted_curves, "components": component_curves}
    numbers = {
        "corpus": {"name": corpus.name, "languages": corpus.languages, "documents": len(corpus)},
        "planted": _timed("planted", held_out_correlations, splits),
        **{part: [] for part in parts},
    }
    for number in range(splits):
        split = outer_split(corpus, _SIZE, _SEED, number)
        numbers["size"] = {"train": len(split.train), "test": len(split.test), "splits": splits}
        numbers["projection_counts"] = projection_counts(len(split.train))
        for part, compute in parts.items():
            numbers[part].append(_timed(f"{part}, split {number + 1} of {splits}", compute, split, _SEED))

    folder.mkdir(parents=True, exist_ok=True)
    plain = json.loads(json.dumps(numbers, default=asdict))
    write = _writer(folder)
    write("numbers.json", json.dumps(plain, indent=1, ensure_ascii=False) + "\n")
    for name, table in write_page(write, plain).items():
        write(f"{name}.csv", _as_csv(table))


def _corpus(paths: tuple[Path, Path] | None) -> Corpus:
    if paths is None:
        texts = load_trilingual()
        return count_corpus(PairedText.of(texts.en, texts.fr, ("en", "fr")), "the built-in corpus")
    name = paths[0].name.split(".")[0]
    return count_corpus(read_pairs(*paths), name, _DOCUMENTS)


def _timed(label: str, compute: Callable, *arguments):
    start = time.perf_counter()
    result = compute(*arguments)
    print(f"{label}: {time.perf_counter() - start:.0f} s", flush=True)
    return result


def _writer(folder: Path) -> Callable[[str, str], None]:
    def write(name: str, text: str) -> None:
        with atomic_write(folder / name) as file:
            file.write(text.encode())

    return write


def _as_csv(rows: list[dict]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()
