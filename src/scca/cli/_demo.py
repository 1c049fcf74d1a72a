"""The demonstration: learn from the built-in corpus, find mates, generate words, leave a model and a report."""

from pathlib import Path

import numpy as np

from .._drawing import to_png
from .._files import atomic_write
from ..datasets import load_trilingual
from ..estimators import KernelCCA
from ..persistence import save
from ..retrieval import average_precision
from ..text import BilingualModel, PairedText
from ._terminal import Terminal

__all__ = ["run_demo"]

_TRAIN = 200
_SHOWN, _WORDS = 5, 6  # components, and words of each language


def run_demo(folder: Path, languages: tuple[str, str], components: int | None, seed: int, terminal: Terminal) -> None:
    """Fit on 200 documents of the corpus, find the mates of the other 100, and leave the results in `folder`."""
    from ..report import prepare, write_report
    from ..report._figures import sparsity_figure

    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; name a folder.")
    corpus = load_trilingual()
    first, second = (np.array(corpus.texts(language), dtype=object) for language in languages)
    order = np.random.default_rng(seed).permutation(len(corpus))
    train, test = order[:_TRAIN], order[_TRAIN:]
    terminal.note(f"learning from {len(train)} documents in {languages[0]} and {languages[1]}")
    model = BilingualModel(components or "auto", random_state=seed)
    with terminal.progress("folds left out") as progress:
        model.fit(PairedText.of(list(first[train]), list(second[train]), languages), progress=progress)

    precision = model.average_precision(list(first[test]), list(second[test])).average_precision
    baseline = _kernel_cca_precision(model, list(first[test]), list(second[test]))
    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / "model.scca")
    write_report(model, folder / "report.html")
    with atomic_write(folder / "sparsity.png") as file:
        file.write(to_png(sparsity_figure(prepare(model))))
    words_used = int(model.scca_.x_weights_.any(axis=1).sum())
    result = {
        "languages": list(languages),
        "training_documents": len(train),
        "test_documents": len(test),
        "words": len(model.vectorizers_[0].words_),
        "components": model.scca_.n_components_,
        "words_used": words_used,
        "average_precision": precision,
        "kernel_cca_average_precision": baseline,
        "folder": str(folder),
    }
    if terminal.as_json:
        terminal.json(result)
        return

    terminal.print(
        f"What it learnt, {_SHOWN} of {model.scca_.n_components_} components (correlation on pairs left out):"
    )
    for component in model.components()[:_SHOWN]:
        sides = (" ".join(word.name for word in side[:_WORDS]) for side in (component.words, component.mate_words))
        terminal.print(f"  {component.held_out_correlation:.2f}  {'  |  '.join(sides)}")
    terminal.print("")
    query = first[test[0]]
    terminal.print(f"A document it has not seen, in {languages[0]}:")
    terminal.print(f"  {query}\n")
    found = model.mates([query], list(second[test]), source=languages[0], top=1)
    terminal.print(f"Its mate among {len(test)} in {languages[1]}, by the model:")
    terminal.print(f"  {second[test][found.indices[0, 0]]}\n")
    made = model.generate([query], source=languages[0], top=15)[0]
    words = " ".join(word.name for word in made.words)
    terminal.print(f"{languages[1]} words generated for it: {words}\n")

    rows = [
        ("sparse CCA", f"{words_used} of {result['words']}", f"{precision:.3f}"),
        ("kernel CCA", f"{result['words']} of {result['words']}", f"{baseline:.3f}"),
    ]
    terminal.table(("finding mates of unseen documents", "words with a weight", "average precision"), rows)
    terminal.print(f"\nmodel, figure and report: {folder}")


def _kernel_cca_precision(model: BilingualModel, first: list[str], second: list[str]) -> float:
    """The same job by the dense baseline, on the same vectors."""
    baseline = KernelCCA(model.scca_.n_components_).fit(*model.training_)
    vectors = (model.vectorize(texts, name) for texts, name in zip((first, second), model.languages_, strict=True))
    return average_precision(*baseline.transform_pair(*vectors)).average_precision
