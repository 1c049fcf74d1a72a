"""The demo: learn from the built-in corpus, print the results, and write a model, a page, a figure and a word list."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._drawing import to_png
from .._files import atomic_write, check_folder, check_output
from .._pages import check_page_tools
from .._wording import joined
from ..datasets import load_trilingual
from ..estimators import KernelCCA
from ..model import Model
from ..persistence import save
from ..readers import PairedText, TextViews
from ..results import Result, what_is_read
from ..retrieval import average_precision
from ..text import BilingualModel, WordPair, generate, lexicon
from ._summaries import left_out
from ._terminal import Terminal, call_at_fault
from ._words import lexicon_table

__all__ = ["run_demo"]

_TRAINING_DOCUMENTS = 200
_SHOWN_COMPONENTS, _SHOWN_WORDS = 5, 6  # number of components, and of words of each language in a component
_GENERATED_WORDS = 12
_SHOWN_PAIRS, _TRUSTED = 10, 0.9  # pairs of words, evenly spread over those with so much trust
_OWN, _ALL, _KERNEL, _CHANCE = "the words it reads", "all words", "kernel CCA", "chance"
_FILES = ("model.scca", "report.html", "words.tsv", "sparsity.png")


@dataclass(frozen=True)
class _Results:
    """Everything that the demo prints, computed beforehand.

    What was learnt is in `learnt`; the rest is of the first two languages, on documents that were left out.
    """

    learnt: Result
    query: str
    mate: str
    mate_is_right: bool
    n_candidates: int
    generated: list[str]
    in_true_mate: int
    pairs: list[WordPair]
    n_trusted: int
    precision: dict[str, float]  # average precision of each method of finding mates
    n_read: dict[str, int]  # number of words of the first language that each method reads

    @property
    def languages(self) -> list[str]:
        return [view.name for view in self.learnt.views]


def run_demo(folder: Path, languages: tuple[str, ...], components: int | None, seed: int, terminal: Terminal) -> None:
    """Fit on 200 documents of the corpus, find the mates of the other 100, and write the results to `folder`."""
    from ..report import MOST_SHOWN, sparsity_figure, write_report

    check_folder(folder)
    for name in _FILES if folder.is_dir() else ():
        check_output(folder / name)
    check_page_tools("reports")
    corpus = load_trilingual()
    with call_at_fault():
        texts = {language: np.array(corpus.texts(language), dtype=object) for language in languages}
    order = np.random.default_rng(seed).permutation(len(corpus))
    train, test = order[:_TRAINING_DOCUMENTS], order[_TRAINING_DOCUMENTS:]
    terminal.note(f"learning from {len(train)} documents in {joined(languages)}")
    learning = {language: list(documents[train]) for language, documents in texts.items()}
    model = _fitted(learning, terminal, components or "auto", seed)
    words = lexicon(model, source=languages[0], target=languages[1])
    results = _results(model, learning, {name: list(each[test]) for name, each in texts.items()}, words, seed)

    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / "model.scca")
    learnt = model.result(MOST_SHOWN)
    write_report(learnt, folder / "report.html")
    with atomic_write(folder / "sparsity.png") as file:
        file.write(to_png(sparsity_figure(learnt)))
    with atomic_write(folder / "words.tsv") as file:
        file.write(lexicon_table(words).encode())
    if terminal.as_json:
        terminal.json(_as_json(results, folder))
    else:
        _print(results, folder, terminal)


def _fitted(texts: dict[str, list[str]], terminal: Terminal, n_components: int | str, seed: int, **more: Any) -> Model:
    with terminal.stages() as progress:
        if len(texts) == 2:
            model = BilingualModel(n_components, random_state=seed, **more)
            first, second = texts
            return model.fit(PairedText.of(texts[first], texts[second], (first, second)), progress=progress)
        return Model(n_components, random_state=seed, **more).fit(TextViews.of(texts), progress=progress)


def _results(
    model: Model, learning: dict[str, list[str]], new: dict[str, list[str]], words: list[WordPair], seed: int
) -> _Results:
    source, target = model.view_names_[:2]
    first, second = new[source], new[target]
    mates = model.mates(first, second, source=source, target=target, top=1).indices[:, 0]
    query = int(np.argmax(mates == np.arange(len(mates))))  # the first document whose mate is found, if any
    text = generate(model, [first[query]], source=source, target=target, top=_GENERATED_WORDS)[0]
    generated = [word.name for word in text.words]
    true_words = model.kinds_[1].words_[model.vectorize([second[query]], target).indices]
    trusted = [pair for pair in words if pair.trust >= _TRUSTED]
    spread = np.linspace(0, len(trusted) - 1, min(_SHOWN_PAIRS, len(trusted))).astype(int)
    return _Results(
        learnt=model.result(_SHOWN_WORDS),
        query=first[query],
        mate=second[mates[query]],
        mate_is_right=bool(mates[query] == query),
        n_candidates=len(second),
        generated=generated,
        in_true_mate=sum(word in true_words for word in generated),
        pairs=[trusted[i] for i in spread],
        n_trusted=len(trusted),
        precision=_compare(model, learning, first, second, seed),
        n_read={_OWN: model.estimator_.n_read_[0], **dict.fromkeys((_ALL, _KERNEL), len(model.kinds_[0].words_))},
    )


def _compare(
    model: Model, learning: dict[str, list[str]], first: list[str], second: list[str], seed: int
) -> dict[str, float]:
    """The average precision of finding mates by the words that are read, by all words, by kernel CCA and by chance."""
    n_components, (source, target) = model.estimator_.n_components_, model.view_names_[:2]
    dense = _fitted(learning, Terminal(quiet=True), n_components, seed, rendering="dense", held_out=0)
    kernel = KernelCCA(n_components, scale="rows").fit(*model.training_[:2])
    vectors = model.vectorize(first, source), model.vectorize(second, target)
    scores = model.project(first, source), model.project(second, target)
    shuffled = scores[1][np.random.default_rng(seed).permutation(len(second))]
    found = {
        _OWN: average_precision(*scores),
        _ALL: average_precision(dense.project(first, source), dense.project(second, target)),
        _KERNEL: average_precision(*kernel.transform_pair(*vectors)),
        _CHANCE: average_precision(scores[0], shuffled),
    }
    return {method: result.average_precision for method, result in found.items()}


def _print(results: _Results, folder: Path, terminal: Terminal) -> None:
    learnt, (first, second) = results.learnt, results.languages[:2]
    shown = learnt.components[:_SHOWN_COMPONENTS]
    terminal.print(f"What it learnt, {len(shown)} of {len(learnt.components)} components, by their words in")
    of = "the two languages" if len(learnt.views) == 2 else "all pairs of languages, their mean,"
    terminal.print(f"{joined(results.languages)}, with the correlation of {of} on {left_out(learnt)} left out:")
    for component in shown:
        words = "  |  ".join(" ".join(word.name for word in view.features) for view in component.views)
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
    n_words = learnt.views[0].n_features
    words_read = {method: f"{n_read} of {n_words}" for method, n_read in results.n_read.items()}
    methods = [(method, words_read.get(method, ""), f"{found:.3f}") for method, found in results.precision.items()]
    terminal.table(("mates of unseen documents by", f"{first} words read", "average precision"), methods)
    terminal.print(what_is_read(learnt))
    terminal.print("", f"in {folder}: model.scca, report.html, words.tsv and sparsity.png")
    terminal.print(f"next: scca explain {folder / 'model.scca'}, or open {folder / 'report.html'}")


def _as_json(results: _Results, folder: Path) -> dict[str, Any]:
    return {
        "languages": results.languages,
        "training_documents": _TRAINING_DOCUMENTS,
        "test_documents": results.n_candidates,
        "words": results.learnt.views[0].n_features,
        "components": len(results.learnt.components),
        "words_used": results.learnt.views[0].used[-1],
        "words_read": [view.used[-1] for view in results.learnt.views],
        "mates_kept": results.learnt.evidence.mates_kept,
        "mates_kept_interval": results.learnt.evidence.mates_kept_interval,
        "average_precision": results.precision[_OWN],
        "dense_average_precision": results.precision[_ALL],
        "kernel_cca_average_precision": results.precision[_KERNEL],
        "chance_average_precision": results.precision[_CHANCE],
        "generated": results.generated,
        "generated_in_true_mate": results.in_true_mate,
        "lexicon": [{"word": pair.word, "translation": pair.mate, "trust": pair.trust} for pair in results.pairs],
        "folder": str(folder),
    }
