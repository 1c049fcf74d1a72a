"""One page of all results, as HTML and as Markdown."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._pages import render_template
from ._claims import between, compare, plus_minus, standings
from ._experiments import METHODS, Experiment, GenerationPath, RetrievalError, SelectionRatio, Sparsity

__all__ = ["write_pages"]

_SHOWN_PROJECTIONS = (5, 10, 20, 35, 50, 75)


@dataclass(frozen=True)
class Table:
    """A table of a page, cells as text."""

    header: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Section:
    """One experiment on the page."""

    name: str
    title: str
    text: list[str]
    tables: list[Table]
    files: list[str]


def write_pages(
    write: Callable[..., Any],
    experiments: list[Experiment],
    data: dict[str, Any],
    figures: dict[str, Any],
    manifest: dict[str, Any],
) -> None:
    """Pass the page to `write` as `index.html`, which is self-contained, and as `README.md`, which shows the SVGs."""
    from markupsafe import Markup

    values = {
        "claims": compare(data),
        "corpora": _corpora(manifest),
        "frequencies": _FREQUENCIES[manifest["settings"]["frequencies"]],
        "sections": [_section(experiment, data[experiment.name]) for experiment in experiments],
        "manifest": manifest,
    }
    drawings = {name: Markup(svg) for name, svg in figures.items()}
    as_json = json.dumps(manifest, indent=1, ensure_ascii=False)
    write("index.html", render_template(__package__, "page.html", figures=drawings, manifest_text=as_json, **values))
    write("README.md", render_template(__package__, "page.md", **values))


_FREQUENCIES = {
    "training": (
        "Words, document frequencies, means and every tuned choice come from the training documents of each split (of "
        "each left-out pair) alone. The paper seems to take document frequencies over the whole corpus; "
        "--frequencies corpus does that."
    ),
    "corpus": (
        "Words and document frequencies come from the whole corpus, test documents included, as the paper seems to do; "
        "means and every tuned choice come from the training documents alone. --frequencies training takes nothing "
        "from test documents."
    ),
}


def _corpora(manifest: dict[str, Any]) -> Table:
    papers = {"english-french": ["300", "2,637 / 2,951"], "english-spanish": ["1,000", "40,629 / 57,796"]}
    rows = []
    for role, name in manifest["roles"].items():
        corpus = manifest["corpora"][name]
        used, pairs = corpus["documents_used"], corpus["pairs"]
        documents = f"{used:,}" if used == pairs else f"{used:,}, drawn from {pairs:,}"
        first, second = corpus["words"]
        languages = "-".join(corpus["languages"])
        rows.append([role.title(), *papers[role], f"{name} ({languages})", documents, f"{first:,} / {second:,}"])
    header = ["in the paper", "documents", "words", "here", "documents", "words"]
    return Table(header, rows)


def _section(experiment: Experiment, data: dict[str, Any]) -> Section:
    text, tables = _CONTENT[type(experiment)](data)
    files = [f"{experiment.name}{ending}.csv" for ending in experiment.tables(data)]
    files += [f"{experiment.name}.{suffix}" for suffix in ("json", "png", "svg")]
    return Section(experiment.name, experiment.title, text, tables, files)


def _path_content(data: dict[str, Any]) -> tuple[list[str], list[Table]]:
    return [
        f"For document {data['query'] + 1}, left out of training: distinct words of the generated document to those of "
        f"its true mate, for {len(data['directions'][0]['mu']):,} values of mu up to 1. Each value "
        "is solved to a certified duality gap along one exact path."
    ], []


def _ratio_content(data: dict[str, Any]) -> tuple[list[str], list[Table]]:
    header = [
        "",
        "pairs left out",
        "words of the mate",
        "words generated",
        "ratio, automatic mu",
        "positive weights only",
        "ratio, non-sparse",
    ]
    rows = [
        [
            f"{d['from']} query, {d['to']} words",
            str(d["documents"]),
            *(plus_minus(d[name], 0) for name in ("mate_words", "selected")),
            *(plus_minus(d[name], 2) for name in ("automatic", "positive", "least_squares")),
        ]
        for d in data["directions"]
    ]
    varied = Table(
        [
            f"what was changed ({data['varied']['from']} query, {data['varied']['to']} words)",
            "training documents",
            "words",
            "words of the mate",
            "words generated",
            "per training document",
            "ratio",
            "positive weights only",
        ],
        [
            [
                v["description"],
                f"{v['n_training']:,}",
                f"{v['n_words']:,}",
                f"{v['mate_words']['mean']:.0f}",
                f"{v['selected']['mean']:.0f}",
                f"{v['selected']['mean'] / v['n_training']:.2f}",
                plus_minus(v["ratio"], 2),
                plus_minus(v["positive_ratio"], 2),
            ]
            for v in data["variations"]
        ],
    )
    text = [
        "Every pair is left out in turn; a document of the other language is generated for the left-out one and its "
        "distinct words are counted beside those of the true mate (before anything is weighted or centred). The "
        "non-sparse method is the least-squares solution of smallest norm."
    ]
    return text + _explanation(data), [Table(header, rows), varied]


def _explanation(data: dict[str, Any]) -> list[str]:
    """What the ratio depends on, by the numbers of this run."""
    by_name = {v["name"]: v for v in data["variations"]}
    selected = {name: v["selected"]["mean"] for name, v in by_name.items()}
    n_training = {name: v["n_training"] for name, v in by_name.items()}
    rate = selected["as-is"] / n_training["as-is"]
    more_documents = selected["as-is"] / max(1.0, selected["training-quarter"])
    longer = selected["as-is"] / max(1.0, selected["length-quarter"])
    longer_mate = by_name["as-is"]["mate_words"]["mean"] / by_name["length-quarter"]["mate_words"]["mean"]
    lines = [
        "What the ratio depends on, one thing changed at a time. Four times as many training documents give "
        f"{more_documents:.1f} times as many words ({selected['training-quarter']:.0f} from "
        f"{n_training['training-quarter']:,}, {selected['as-is']:.0f} from {n_training['as-is']:,}); documents four "
        f"times as long give {longer:.1f} times as many, while the mates' own words grow {longer_mate:.1f} times. "
        "So the ratio says how many and how long the documents of a corpus are at least as much as how well mu is "
        f"chosen. Here it is {rate:.2f} words per training document over {by_name['as-is']['mate_words']['mean']:.0f} "
        "words of a mate. The paper's own non-sparse ratio, where all 2,637 words count, says that its documents had "
        "about 2,637 / 28.15 = 94 words; 299 training documents at the rate found here would give a ratio of "
        f"{rate * 299 / 94:.1f} there.",
        f"Without centring {selected['not-centred']:.0f} words are generated instead of {selected['as-is']:.0f}; "
        f"without scaling to unit norm {selected['not-normalised']:.0f}. With words of fewer than 3 documents left "
        f"out mu, a mean over all words, rises, and {selected['words-3']:.0f} words remain. Three times the automatic "
        f"mu gives a ratio of {by_name['mu-3']['ratio']['mean']:.2f}.",
    ]
    correlations = [d["correlation_with_length"] for d in data["directions"]]
    if None not in correlations:
        listed = " and ".join(f"{c:+.2f}" for c in correlations)
        lines.append(
            f"Over the left-out pairs, words generated and words of the mate are correlated by {listed} (in the order "
            "of the table)."
        )
    return lines


def _error_content(data: dict[str, Any]) -> tuple[list[str], list[Table]]:
    text = [
        "Average precision error 1 - p (mean ± standard deviation over the splits, both directions averaged) of "
        "finding each test document's mate among all test documents. The regularisation of the tuned kernel CCA is the "
        "one that finds most mates of held-out training pairs, chosen for each number of projections. No learning: "
        "similarities to the training documents as coordinates.",
        "Shared factors are what SparseCCA learns by default; they are not in the paper. They learn from the same "
        "vectors. Each number of projections is a fit of its own, so that their curve has few points; the lines "
        "between the points only lead the eye.",
        *map(_shared_sentence, data["panels"]),
    ]
    return text, [_error_table(panel) for panel in data["panels"]]


def _shared_sentence(panel: dict[str, Any]) -> str:
    found = standings(panel["differences"]["shared"]["kcca-tuned"])
    return (
        f"With {panel['train']} training documents, the error of shared factors, compared with tuned kernel CCA, is "
        f"{found} projections."
    )


def _error_table(panel: dict[str, Any]) -> Table:
    numbers = _shown_projections(panel["methods"]["scca"])
    first, second = panel["languages"]
    header = [f"{panel['train']}/{panel['test']} documents, projections:", *map(str, numbers)]
    rows = []
    for name, label in METHODS.items():
        errors = panel["methods"][name]
        rows.append([label, *_cells(errors, 3, numbers)])
        for direction, way in (("a_to_b", f"{first} to {second}"), ("b_to_a", f"{second} to {first}")):
            by_number = dict(zip(errors["projections"], errors[direction]["mean"], strict=True))
            rows.append([f"· {way}", *(f"{by_number[j]:.3f}" if j in by_number else "" for j in numbers)])
    rows.append(["median regularisation when tuned", *(f"{panel['median_regularization'][j - 1]:g}" for j in numbers)])
    rows.append(["no learning", *[""] * (len(numbers) - 1), plus_minus(panel["no-learning"], 3, panel["train"])])
    return Table(header, rows)


def _sparsity_content(data: dict[str, Any]) -> tuple[list[str], list[Table]]:
    tables = []
    for panel in data["panels"]:
        numbers = _shown_projections(panel["words"]["scca"])
        (first, second), totals = panel["languages"], (f"{panel['vocabulary'][0]:,.0f}", str(panel["train"]))
        rows = [
            [f"{label}, {METHODS[method]}", *_cells(used, 0, numbers), total]
            for name, label, total in zip(
                ("words", "documents"), (f"{first} words", f"{second} documents"), totals, strict=True
            )
            for method, used in panel[name].items()
        ]
        header = [f"{panel['train']} training documents, projections:", *map(str, numbers), "kernel CCA"]
        tables.append(Table(header, rows))
    text = [
        "How many different words and documents have a weight in the first projections of the paper's sparse CCA, and "
        "how many words have a weight in a fit of shared factors, scca's default, with as many projections. All "
        "projections of such a fit weigh the same words. It reads both languages by words, so that there are no "
        "documents to count.",
        *map(_shared_words_sentence, data["panels"]),
    ]
    return text, tables


def _shared_words_sentence(panel: dict[str, Any]) -> str:
    words, total = panel["words"]["shared"]["mean"], panel["vocabulary"][0]
    return (
        f"With {panel['train']} training documents, shared factors read {between(min(words), max(words))} of "
        f"{total:,.0f} {panel['languages'][0]} words; the paper's sparse CCA uses at most "
        f"{max(panel['words']['scca']['mean']):,.0f}."
    )


def _cells(series: dict[str, Any], digits: int, numbers: list[int]) -> list[str]:
    """Means and standard deviations of a curve; an empty cell for a number of projections that it does not have."""
    return [plus_minus(series, digits, j) if j in series["projections"] else "" for j in numbers]


def _shown_projections(series: dict[str, Any]) -> list[int]:
    """The numbers of projections that a table shows of a curve, its last included."""
    last = series["projections"][-1]
    return [*(j for j in _SHOWN_PROJECTIONS if j < last), last]


_CONTENT: dict[type, Callable[..., Any]] = {
    GenerationPath: _path_content,
    SelectionRatio: _ratio_content,
    RetrievalError: _error_content,
    Sparsity: _sparsity_content,
}
