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

_TRAINING_DOCUMENTS = 200
_SHOWN_COMPONENTS, _SHOWN_WORDS = 5, 6  # words of each language in a component
_GENERATED_WORDS = 12
_SHOWN_PAIRS, _TRUSTED = 10, 0.9  # pairs of words, evenly spread over those with so much trust
_FILES = ("model.scca", "report.html", "words.tsv", "sparsity.png")


@dataclass(frozen=True)
class _Results:
    """Everything that the demo prints, computed beforehand."""

    languages: tuple[str, str]
    n_components: int
    n_words: int
    n_words_read: int
    components: list[Component]
    query: str
    mate: str
    mate_is_right: bool
    n_candidates: int
    generated: list[str]
    in_true_mate: int
    pairs: list[WordPair]
    n_trusted: int
    precision: dict[str, float]  # average precision of each method of finding mates


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
    train, test = order[:_TRAINING_DOCUMENTS], order[_TRAINING_DOCUMENTS:]
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
    model: BilingualModel, pairs: PairedText, first: list[str], second: list[str], lexicon: list[WordPair], seed: int
) -> _Results:
    languages = model.languages_[0], model.languages_[1]
    mates = model.mates(first, second, source=languages[0], top=1).indices[:, 0]
    query = int(np.argmax(mates == np.arange(len(mates))))  # the first document whose mate is found, if any
    text = model.generate([first[query]], source=languages[0], top=_GENERATED_WORDS)[0]
    generated = [word.name for word in text.words]
    true_words = model.vectorizers_[1].words_[model.vectorize([second[query]], languages[1]).indices]
    trusted = [pair for pair in lexicon if pair.trust >= _TRUSTED]
    spread = np.linspace(0, len(trusted) - 1, min(_SHOWN_PAIRS, len(trusted))).astype(int)
    return _Results(
        languages=languages,
        n_components=model.scca_.n_components_,
        n_words=len(model.vectorizers_[0].words_),
        n_words_read=int(model.scca_.x_weights_.any(axis=1).sum()),
        components=model.components()[:_SHOWN_COMPONENTS],
        query=first[query],
        mate=second[mates[query]],
        mate_is_right=bool(mates[query] == query),
        n_candidates=len(second),
        generated=generated,
        in_true_mate=sum(word in true_words for word in generated),
        pairs=[trusted[i] for i in spread],
        n_trusted=len(trusted),
        precision=_compare(model, pairs, first, second, seed),
    )


def _compare(
    model: BilingualModel, pairs: PairedText, first: list[str], second: list[str], seed: int
) -> dict[str, float]:
    """The average precision of finding mates by few words, by all words, by kernel CCA and by chance."""
    dense = clone(model).set_params(rendering="dense", n_components=model.scca_.n_components_, held_out=0).fit(pairs)
    kernel = KernelCCA(model.scca_.n_components_, scale="rows").fit(*model.training_)
    sides = list(zip((first, second), model.languages_, strict=True))
    vectors = [model.vectorize(texts, language) for texts, language in sides]
    scores = [model.project(texts, language) for texts, language in sides]
    shuffled = scores[1][np.random.default_rng(seed).permutation(len(second))]
    found = {
        "few words": average_precision(*scores),
        "all words": dense.average_precision(first, second),
        "kernel CCA": average_precision(*kernel.transform_pair(*vectors)),
        "chance": average_precision(scores[0], shuffled),
    }
    return {method: result.average_precision for method, result in found.items()}


def _print(results: _Results, folder: Path, terminal: Terminal) -> None:
    first, second = results.languages
    terminal.print(f"What it learnt, {len(results.components)} of {results.n_components} components, by their words in")
    terminal.print(f"{first} and {second}, with the correlation of the two languages on pairs left out:")
    for component in results.components:
        sides = (component.words, component.mate_words)
        words = "  |  ".join(" ".join(word.name for word in side[:_SHOWN_WORDS]) for side in sides)
        held_out = component.held_out_correlation
        terminal.print(f"  {'' if held_out is None else f'{held_out:.2f}':4}  {words}")
    terminal.print("", f"A document it has not seen, in {first}:", f"  {results.query}")
    right = "its true mate" if results.mate_is_right else "not its true mate"
    terminal.print("", f"The nearest of {results.n_candidates} in {second}, {right}:", f"  {results.mate}")
    terminal.print(
        "",
        f"{second} words generated for it, {results.in_true_mate} of {len(results.generated)} in its true mate:",
        f"  {' '.join(results.generated)}",
        "",
        f"{len(results.pairs)} of the {results.n_trusted} pairs of words with a trust of {_TRUSTED} or more:",
    )
    pairs = [(pair.word, pair.mate, f"{pair.trust:.2f}", str(pair.documents)) for pair in results.pairs]
    terminal.table((f"word, {first}", f"word, {second}", "trust", "documents"), pairs)
    terminal.print("")
    words_read = dict.fromkeys(("all words", "kernel CCA"), f"{results.n_words} of {results.n_words}")
    words_read |= {"few words": f"{results.n_words_read} of {results.n_words}", "chance": ""}
    methods = [(method, words_read[method], f"{precision:.3f}") for method, precision in results.precision.items()]
    terminal.table(("mates of unseen documents by", f"{first} words read", "average precision"), methods)
    terminal.print("", f"in {folder}: model.scca, report.html, words.tsv and sparsity.png")
    terminal.print(f"next: scca explain {folder / 'model.scca'}, or open {folder / 'report.html'}")


def _as_json(results: _Results, folder: Path) -> dict[str, Any]:
    return {
        "languages": list(results.languages),
        "training_documents": _TRAINING_DOCUMENTS,
        "test_documents": results.n_candidates,
        "words": results.n_words,
        "components": results.n_components,
        "words_used": results.n_words_read,
        "average_precision": results.precision["few words"],
        "dense_average_precision": results.precision["all words"],
        "kernel_cca_average_precision": results.precision["kernel CCA"],
        "chance_average_precision": results.precision["chance"],
        "generated": results.generated,
        "generated_in_true_mate": results.in_true_mate,
        "lexicon": [{"word": pair.word, "translation": pair.mate, "trust": pair.trust} for pair in results.pairs],
        "folder": str(folder),
    }
