"""The page of evidence: tables, figures and what follows from them, all from the numbers of one run."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scca._drawing import COLOURS, INK, new_figure, to_svg

from ._projections import REFERENCE
from ._words import ALL_WORDS, BUDGETS, KINDS

__all__ = ["write_page"]

Rows = list[dict]

_PROTOTYPE = "mutual prediction, eliminated, weighted"
_STYLES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Contest:
    """Errors of methods on the same splits: `errors[method]` is (splits, columns); lower is better."""

    columns: list
    errors: dict[str, np.ndarray]

    def mean(self, name: str) -> np.ndarray:
        return self.errors[name].mean(axis=0)

    def difference(self, name: str, reference: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean paired difference to the reference and its standard error, NaN with one split."""
        paired = self.errors[name] - self.errors[reference]
        n = len(paired)
        spread = paired.std(axis=0, ddof=1) if n > 1 else np.full(paired.shape[1], np.nan)
        return paired.mean(axis=0), spread / np.sqrt(n)

    def rows(self, column: str) -> Rows:
        return [
            {"method": name, column: label, "error": mean, "std": std}
            for name, values in self.errors.items()
            for label, mean, std in zip(self.columns, values.mean(axis=0), values.std(axis=0), strict=True)
        ]


def write_page(write: Callable[[str, str], None], numbers: dict) -> dict[str, Rows]:
    """Hand `write` README.md and its figures; return the tables for CSV files, by name."""
    projections, words = _projections(numbers), _words(numbers)
    write("planted.svg", to_svg(_draw_planted(numbers["planted"])) + "\n")
    write("projections.svg", to_svg(_draw_lines(projections, "projections")) + "\n")
    write("words.svg", to_svg(_draw_words(numbers, words)) + "\n")
    write("README.md", _page(numbers, projections, words))
    planted = [
        {"method": name, "seed": seed, "component_1": first, "component_2": second}
        for name, values in numbers["planted"].items()
        for seed, (first, second) in enumerate(values)
    ]
    return {"planted": planted, "projections": projections.rows("projections"), "words": words.rows("words")}


# --- numbers of numbers ---------------------------------------------------------------------------------------------


def _projections(numbers: dict) -> Contest:
    splits = numbers["projections"]
    return Contest(numbers["projection_counts"], {name: np.array([s[name] for s in splits]) for name in splits[0]})


def _words(numbers: dict) -> Contest:
    """Errors at each budget of words; a method whose every setting reads more has an error of 1."""
    errors = {}
    for name in numbers["refitted"][0]:
        if name != ALL_WORDS:
            for kind in KINDS:
                points = [split[name][kind] for split in numbers["refitted"]]
                errors[f"{name}, {kind}"] = np.array([[point["error"] for point in split] for split in points])
    for name in numbers["components"][0]:
        errors[name] = np.array([[_best_within(split[name], b) for b in BUDGETS] for split in numbers["components"]])
    return Contest(list(BUDGETS), errors)


def _best_within(points: list[dict], budget: int) -> float:
    return min((point["error"] for point in points if point["words"] <= budget), default=1.0)


def _all_words(numbers: dict, kind: str) -> tuple[float, float]:
    """Mean error and words read without any selection."""
    points = [split[ALL_WORDS][kind][0] for split in numbers["refitted"]]
    return float(np.mean([p["error"] for p in points])), float(np.mean([p["words"] for p in points]))


# --- figures --------------------------------------------------------------------------------------------------------


def _draw_planted(planted: dict):
    figure, (axes,) = new_figure(width=7.4, height=0.9 + 0.3 * len(planted))
    places = np.arange(len(planted))[::-1]
    for component, colour in enumerate(COLOURS[:2]):
        for place, values in zip(places, planted.values(), strict=True):
            found = [pair[component] for pair in values]
            axes.plot(found, [place + 0.15 * (0.5 - component)] * len(found), ".", color=colour)
        axes.plot([], [], ".", color=colour, label=f"component {component + 1}")
    axes.set_yticks(places, list(planted), fontsize=8)
    axes.set_xlabel("correlation of new samples")
    axes.legend(frameon=False, fontsize=8)
    return figure


def _draw_lines(contest: Contest, xlabel: str):
    figure, (axes,) = new_figure(width=6.8, height=4.2)
    _plot_lines(axes, contest, list(contest.errors))
    axes.set(xlabel=xlabel, ylabel="average precision error 1 - p", ylim=(0, 1))
    axes.legend(frameon=False, fontsize=8)
    return figure


def _draw_words(numbers: dict, words: Contest):
    selected = {kind: [name for name in words.errors if name.endswith(kind)] for kind in KINDS}
    sparse = [name for name in words.errors if not name.endswith(tuple(KINDS))]
    figure, panels = new_figure(3, width=12.0, height=5.6)
    groups = [
        ("components that are sparse themselves", [_PROTOTYPE, *sparse]),
        *((f"selected words, {kind}", names) for kind, names in selected.items()),
    ]
    for axes, (title, names), kind in zip(panels, groups, ("weighted", *KINDS), strict=True):
        _plot_lines(axes, words, names)
        error, count = _all_words(numbers, kind)
        axes.axhline(error, color=INK, linewidth=0.9, linestyle=":", label=f"{ALL_WORDS} ({count:,.0f}), {kind}")
        axes.set_xscale("log")
        axes.set_xticks(words.columns, [str(c) for c in words.columns])
        axes.minorticks_off()
        axes.set(xlabel="words read, both languages", ylabel="average precision error 1 - p", ylim=(0, 1))
        axes.set_title(title, fontsize=10, color=INK)
        axes.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    return figure


def _plot_lines(axes, contest: Contest, names: list[str]) -> None:
    for i, name in enumerate(names):
        style = {"color": COLOURS[i % len(COLOURS)], "linestyle": _STYLES[i // len(COLOURS) % len(_STYLES)]}
        axes.plot(contest.columns, contest.mean(name), linewidth=1.6, marker=".", label=name, **style)


# --- the page -------------------------------------------------------------------------------------------------------


def _page(numbers: dict, projections: Contest, words: Contest) -> str:
    corpus, size = numbers["corpus"], numbers["size"]
    first, second = corpus["languages"]
    parts = [
        "# Evidence for the open questions",
        f"Made by `python -m benchmarks open_questions`. Text: {corpus['name']}, {first} and {second}, "
        f"{corpus['documents']:,} documents; {size['splits']} random splits into {size['train']} training and "
        f"{size['test']} test pairs, the same for all methods. Errors are 1 - p, p the average precision of finding "
        "the mate, both directions averaged. Words, document frequencies, means and everything said to be tuned "
        "come from the training pairs alone. Differences are means over splits, with their standard error.",
        "## Planted factors",
        "Gaussian noise, 200 training and 200 test samples, 2,000 features a view, two planted factors of 10 features "
        f"each; {len(next(iter(numbers['planted'].values())))} sets of data. Correlation of the two views' scores on "
        "the test samples; peers are of cca-zoo.",
        "![Held-out correlations](planted.svg)",
        _planted_table(numbers["planted"]),
        "## Error against projections",
        "All words are read. 'Tuned' is tuned for each number of projections, 'tuned once' for all of them.",
        "![Error against projections](projections.svg)",
        _error_table(projections, "projections"),
        f"Difference to {REFERENCE}:",
        _difference_table(projections, REFERENCE, "projections"),
        "## Error against words read",
        "Here a word that is not read can be deleted from the model, in either language, without changing a score. "
        "First rows: words are selected, then kernel CCA is fitted to these words alone, as they are (plain) or scaled "
        "by a power of how well the other language predicts them (weighted); regularisation and power are tuned. Last "
        "rows: components that are sparse themselves; `SparseCCA(n_features=...)` has its number of components chosen "
        "in training. For the peers the sparsity, the number of components and the scale of the scores are the best "
        "within the budget *in hindsight*, on the test documents, which favours them; 1 where nothing fits the budget.",
        "![Error against words](words.svg)",
        _error_table(words, "words"),
        f"Without selection: {_all_words_sentence(numbers)}.",
        f"Difference to {_PROTOTYPE}:",
        _difference_table(words, _PROTOTYPE, "words"),
        "## What did not help",
        _unhelpful(projections, REFERENCE, "number of projections"),
        _unhelpful(words, _PROTOTYPE, "number of words"),
    ]
    return "\n\n".join(parts) + "\n"


def _planted_table(planted: dict) -> str:
    rows = []
    for name, values in planted.items():
        mean, spread = np.mean(values, axis=0), np.std(values, axis=0)
        rows.append([name, *(f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True))])
    return _table(["method", "component 1", "component 2"], rows)


def _error_table(contest: Contest, what: str) -> str:
    best = np.min([contest.mean(name) for name in contest.errors], axis=0)
    rows = [
        [name, *(f"**{m:.3f}**" if m == b else f"{m:.3f}" for m, b in zip(contest.mean(name), best, strict=True))]
        for name in contest.errors
    ]
    return _table([f"{what}:", *map(str, contest.columns)], rows)


def _difference_table(contest: Contest, reference: str, what: str) -> str:
    rows = []
    for name in contest.errors:
        if name != reference:
            pairs = zip(*contest.difference(name, reference), strict=True)
            rows.append([name, *(f"{mean:+.3f} ± {error:.3f}" for mean, error in pairs)])
    return _table([f"{what}:", *map(str, contest.columns)], rows)


def _all_words_sentence(numbers: dict) -> str:
    parts = []
    for kind in KINDS:
        error, count = _all_words(numbers, kind)
        parts.append(f"{error:.3f} with {ALL_WORDS} ({count:,.0f}), {kind}")
    return "; ".join(parts)


def _unhelpful(contest: Contest, reference: str, what: str) -> str:
    """Methods that are behind at every column, from the least to the most."""
    behind = {name: contest.difference(name, reference)[0] for name in contest.errors if name != reference}
    behind = {name: d for name, d in sorted(behind.items(), key=lambda item: item[1].mean()) if d.min() > 0}
    if not behind:
        return f"Nothing is behind {reference} at every {what}."
    lines = [f"- {name}: {d.min():.3f} to {d.max():.3f}" for name, d in behind.items()]
    return "\n".join([f"Behind {reference} at every {what}, by:", "", *lines])


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
