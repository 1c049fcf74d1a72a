"""The demo: learn from the built-in corpus, print the results, and write a model, a page, a figure and a word list."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from .._drawing import to_png
from .._files import atomic_write, check_folder, check_output
from .._pages import check_page_tools
from ..datasets import load_trilingual
from ..estimators import KernelCCA
from ..persistence import save
from ..readers import PairedText
from ..retrieval import average_precision
from ..text import BilingualModel, Component, WordPair
from ._terminal import Terminal, call_at_fault
from ._words import lexicon_table

__all__ = ["run_demo"]

_TRAIN = 200
_SHOWN, _WORDS = 5, 6  # components, and words of each language
_GENERATED = 12
_FILES = ("model.scca", "report.html", "words.tsv", "sparsity.png")
_PAIRS, _TRUSTED = 10, 0.9  # of the word list, evenly spread over those with so much trust


@dataclass(frozen=True)
class _Found:
    """The precision of one method of finding mates, and how many words of the first language it reads."""

    name: str
    words: int | None
    average_precision: float


@dataclass(frozen=True)
class _Results:
    """Everything that the demo prints, computed beforehand."""

    languages: tuple[str, str]
    n_components: int
    n_words: int
    components: list[Component]
    query: str
    mate: str
    mate_is_right: bool
    n_candidates: int
    generated: list[str]
    in_true_mate: int
    pairs: list[WordPair]
    n_trusted: int
    found: list[_Found]


def run_demo(folder: Path, languages: tuple[str, str], components: int | None, seed: int, terminal: Terminal) -> None:
    """Fit on 200 documents of the corpus, find the mates of the other 100, and write the results to `folder`."""
    from ..report import prepare, sparsity_figure, write_report

    check_folder(folder)
    for name in _FILES if folder.is_dir() else ():
        check_output(folder / name)
    check_page_tools("reports")
    corpus = load_trilingual()
    with call_at_fault():
        first, second = (np.array(corpus.texts(language), dtype=object) for language in languages)
    order = np.random.default_rng(seed).permutation(len(corpus))
    train, test = order[:_TRAIN], order[_TRAIN:]
    terminal.note(f"learning from {len(train)} documents in {languages[0]} and {languages[1]}")
    model = BilingualModel(components or "auto", random_state=seed)
    pairs = PairedText.of(list(first[train]), list(second[train]), languages)
    with terminal.stages() as progress:
        model.fit(pairs, progress=progress)
    lexicon = model.lexicon()
    results = _results(model, pairs, list(first[test]), list(second[test]), lexicon, seed)

    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / "model.scca")
    write_report(model, folder / "report.html")
    with atomic_write(folder / "sparsity.png") as file:
        file.write(to_png(sparsity_figure(prepare(model))))
    with atomic_write(folder / "words.tsv") as file:
        file.write(lexicon_table(lexicon).encode())
    if terminal.as_json:
        terminal.json(_as_json(results, folder))
    else:
        _print(results, folder, terminal)


def _results(
    model: BilingualModel,
    pairs: PairedText,
    first: list[str],
    second: list[str],
    lexicon: list[WordPair],
    seed: int,
) -> _Results:
    mates = model.mates(first, second, source=model.languages_[0], top=1).indices[:, 0]
    query = int(np.argmax(mates == np.arange(len(mates))))  # the first document whose mate is found, if any
    generated = [
        word.name for word in model.generate([first[query]], source=model.languages_[0], top=_GENERATED)[0].words
    ]
    true_words = model.vectorizers_[1].words_[model.vectorize([second[query]], model.languages_[1]).indices]
    trusted = [pair for pair in lexicon if pair.trust >= _TRUSTED]
    return _Results(
        languages=(model.languages_[0], model.languages_[1]),
        n_components=model.scca_.n_components_,
        n_words=len(model.vectorizers_[0].words_),
        components=model.components()[:_SHOWN],
        query=first[query],
        mate=second[mates[query]],
        mate_is_right=bool(mates[query] == query),
        n_candidates=len(second),
        generated=generated,
        in_true_mate=sum(word in true_words for word in generated),
        pairs=[trusted[i] for i in np.linspace(0, len(trusted) - 1, min(_PAIRS, len(trusted))).astype(int)],
        n_trusted=len(trusted),
        found=_compared(model, pairs, first, second, seed),
    )


def _compared(model: BilingualModel, pairs: PairedText, first: list[str], second: list[str], seed: int) -> list[_Found]:
    """Few words, all words, kernel CCA and random mates, on the same documents."""
    all_words = len(model.vectorizers_[0].words_)
    dense = clone(model).set_params(rendering="dense", n_components=model.scca_.n_components_, held_out=0).fit(pairs)
    kernel = KernelCCA(model.scca_.n_components_, scale="rows").fit(*model.training_)
    vectors = [model.vectorize(texts, name) for texts, name in zip((first, second), model.languages_, strict=True)]
    scores = [model.project(texts, name) for texts, name in zip((first, second), model.languages_, strict=True)]
    shuffled = scores[1][np.random.default_rng(seed).permutation(len(second))]
    read = int(model.scca_.x_weights_.any(axis=1).sum())
    return [
        _Found("few words", read, average_precision(*scores).average_precision),
        _Found("all words", all_words, dense.average_precision(first, second).average_precision),
        _Found("kernel CCA", all_words, average_precision(*kernel.transform_pair(*vectors)).average_precision),
        _Found("chance", None, average_precision(scores[0], shuffled).average_precision),
    ]


def _print(results: _Results, folder: Path, terminal: Terminal) -> None:
    first, second = results.languages
    terminal.print(f"What it learnt, {len(results.components)} of {results.n_components} components, by their words in")
    terminal.print(f"{first} and {second}, with the correlation of the two languages on pairs left out:")
    for component in results.components:
        sides = (" ".join(word.name for word in side[:_WORDS]) for side in (component.words, component.mate_words))
        held_out = component.held_out_correlation
        terminal.print(f"  {'' if held_out is None else f'{held_out:.2f}':4}  {'  |  '.join(sides)}")
    terminal.print("", f"A document it has not seen, in {first}:", f"  {results.query}")
    right = "its true mate" if results.mate_is_right else "not its true mate"
    terminal.print("", f"The nearest of {results.n_candidates} in {second}, {right}:", f"  {results.mate}")
    terminal.print(
        "",
        f"{second} words generated for it, {results.in_true_mate} of {len(results.generated)} in its true mate:",
        f"  {' '.join(results.generated)}",
        "",
    )
    terminal.print(
        f"{len(results.pairs)} of the {results.n_trusted} pairs of words with a trust of {_TRUSTED} or more:"
    )
    rows = [(pair.word, pair.mate, f"{pair.trust:.2f}", str(pair.documents)) for pair in results.pairs]
    terminal.table((f"word, {first}", f"word, {second}", "trust", "documents"), rows)
    terminal.print("")
    table = [
        (each.name, "" if each.words is None else f"{each.words} of {results.n_words}", f"{each.average_precision:.3f}")
        for each in results.found
    ]
    terminal.table(("mates of unseen documents by", f"{first} words read", "average precision"), table)
    terminal.print("", f"in {folder}: model.scca, report.html, words.tsv and sparsity.png")
    terminal.print(f"next: scca explain {folder / 'model.scca'}, or open {folder / 'report.html'}")


def _as_json(results: _Results, folder: Path) -> dict[str, Any]:
    few, dense, kernel, chance = results.found
    return {
        "languages": list(results.languages),
        "training_documents": _TRAIN,
        "test_documents": results.n_candidates,
        "words": results.n_words,
        "components": results.n_components,
        "words_used": few.words,
        "average_precision": few.average_precision,
        "dense_average_precision": dense.average_precision,
        "kernel_cca_average_precision": kernel.average_precision,
        "chance_average_precision": chance.average_precision,
        "generated": results.generated,
        "generated_in_true_mate": results.in_true_mate,
        "lexicon": [{"word": pair.word, "translation": pair.mate, "trust": pair.trust} for pair in results.pairs],
        "folder": str(folder),
    }
