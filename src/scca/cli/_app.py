"""All commands, with their options and what they print."""

from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from .. import __version__, save
from .._files import check_output
from ..retrieval import average_precision
from ..text import BilingualModel, read_documents, read_pairs
from ._shared import (
    as_penalty,
    clipped,
    component_dict,
    described,
    language_of,
    listed,
    load_bilingual,
    note_language,
    note_unknown,
    summary_of,
)
from ._terminal import Debug, Json, Quiet, Seed, Terminal, one_line_errors

__all__ = ["app"]

app = typer.Typer(
    help="Sparse canonical correlation analysis: what two languages, or any two views, have in common.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)

_TELLING = 200  # documents that are enough to tell a language by

Model = Annotated[Path, typer.Argument(help="A model file that `scca fit` wrote.", show_default=False)]
From = Annotated[
    str | None, typer.Option("--from", help="Language of the queries; found from their words if not given.")
]
Languages = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="FIRST SECOND", help="Two labels; default: the suffixes.", show_default=False),
]
Columns = Annotated[
    tuple[str, str] | None, typer.Option(metavar="FIRST SECOND", help="Two columns of a table.", show_default=False)
]


def _version(shown: bool) -> None:
    if shown:
        print(f"scca {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
@one_line_errors
def fit(
    first: Annotated[Path, typer.Argument(help="Documents of the first language, one a line; or one table or TMX.")],
    second: Annotated[Path | None, typer.Argument(help="Documents of the second, line by line the same.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")] = Path("model.scca"),
    components: Annotated[
        int | None, typer.Option(min=1, help="How many; default: those that hold on pairs left out, 200 at most.")
    ] = None,
    languages: Languages = None,
    columns: Columns = None,
    min_df: Annotated[
        int | None, typer.Option(min=1, help="Leave out words in fewer documents; default 2, with --paper 1.")
    ] = None,
    ngrams: Annotated[int, typer.Option(min=1, help="Longest run of words that counts as a term.")] = 1,
    characters: Annotated[
        bool, typer.Option("--characters", help="Terms of 1 to --ngrams characters, for scripts without spaces.")
    ] = False,
    stop_words: Annotated[Path | None, typer.Option(help="A file of words to leave out, one a line.")] = None,
    case: Annotated[bool, typer.Option("--case", help="Keep upper and lower case apart.")] = False,
    mu: Annotated[str, typer.Option(help='Penalty on words: "auto", "auto*0.5" or a number.')] = "auto",
    gamma: Annotated[
        str, typer.Option(help='With --paper, penalty on documents: "auto", "auto*0.5" or a number.')
    ] = "auto",
    dense: Annotated[
        bool, typer.Option("--dense", help="Read all words: finds mates better, and has less to show.")
    ] = False,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The paper's method: components anchored at a document each, few words of the first language with few "
            "documents of the second.",
        ),
    ] = False,
    words: Annotated[
        int | None, typer.Option(min=2, help="Read only so many words of either language, the most telling.")
    ] = None,
    drop_empty: Annotated[bool, typer.Option("--drop-empty", help="Leave out pairs with an empty document.")] = False,
    texts: Annotated[bool, typer.Option(help="Keep the training documents in the model file.")] = True,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn a common space from paired documents.

    Example: scca fit corpus.en corpus.fr -o model.scca

    Example: scca fit corpus.en corpus.fr -o model.scca --components 30
    """
    terminal = Terminal(quiet, as_json)
    check_output(output)
    if paper and dense:
        raise ValueError("--dense is not for the paper's method; leave out --dense or --paper.")
    if gamma != "auto" and not paper:
        raise ValueError(f"--gamma is for the paper's method; got --gamma {gamma}: add --paper or leave it out.")
    pairs = read_pairs(first, second, languages=languages, columns=columns, drop_empty=drop_empty)
    model = BilingualModel(
        components or "auto",
        lowercase=not case,
        stop_words=None if stop_words is None else read_documents(stop_words),
        min_df="auto" if min_df is None else min_df,
        ngram_range=(1, ngrams),
        analyzer="char" if characters else "word",
        mu=as_penalty(mu),
        gamma=as_penalty(gamma),
        rendering="dense" if dense else "sparse",
        anchors="sequential" if paper else None,
        feature_weights=None if paper else "shared",
        n_words=words or "auto",
        random_state=seed,
        keep_texts=texts,
    )
    with terminal.progress("components" if paper else "folds left out") as progress:
        model.fit(pairs, progress=progress)
    save(model, output, texts=texts)
    summary = summary_of(model) | {"model": str(output)}
    if as_json:
        terminal.json(summary)
        return
    terminal.print(
        f"{summary['components']} components from {summary['words_used']} of {summary['words'][0]} "
        f"{model.languages_[0]} words and {_used_of_the_second(summary)}: {output}"
    )
    if held_out := summary.get("held_out_correlations"):
        terminal.print(
            f"correlation on pairs left out: {max(held_out):.3f} at best, {median(held_out):.3f} in the middle, "
            f"{min(held_out):.3f} at worst"
        )


def _used_of_the_second(summary: dict[str, Any]) -> str:
    language = summary["languages"][1]
    if summary["documents_used"] is None:
        return f"{summary['mate_words_used']} of {summary['words'][1]} {language} words"
    return f"{summary['documents_used']} of {summary['documents']} {language} documents"


@app.command()
@one_line_errors
def mates(
    model: Model,
    queries: Annotated[Path, typer.Option(help="Documents to find mates for, one a line.", show_default=False)],
    candidates: Annotated[Path, typer.Option(help="Documents of the other language, one a line.", show_default=False)],
    source: From = None,
    top: Annotated[int, typer.Option(min=1, help="How many mates to name for each query.")] = 3,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Rank the documents of the other language for each query.

    With as many candidates as queries, line i of both being the same document, it also gives the average precision.

    Example: scca mates model.scca --queries new.en --candidates new.fr
    """
    terminal = Terminal(quiet, as_json)
    bilingual = load_bilingual(model)
    asked, offered = read_documents(queries), read_documents(candidates)
    source = language_of(bilingual, asked, source, terminal)
    found = bilingual.mates(asked, offered, source=source, top=top)
    note_unknown(terminal, "queries", found.known, source)
    note_unknown(terminal, "candidates", found.known_candidates, found.target)
    note_language(terminal, bilingual, offered[:_TELLING], found.target)
    precision = None
    if len(asked) == len(offered):
        precision = average_precision(found.query_scores, found.candidate_scores)
    if as_json:
        result: dict[str, Any] = {"from": found.source, "to": found.target, "mates": []}
        for i in range(len(asked)):
            ranked = zip(found.indices[i].tolist(), found.similarities[i].tolist(), strict=True)
            result["mates"].append(
                {
                    "query": i,
                    "known": bool(found.known[i]),
                    "candidates": [{"index": k, "similarity": s} for k, s in ranked],
                }
            )
        if precision is not None:
            result |= {
                "average_precision": precision.average_precision,
                f"{found.source}_to_{found.target}": precision.a_to_b,
                f"{found.target}_to_{found.source}": precision.b_to_a,
            }
        terminal.json(result)
        return
    rows = (
        (str(i + 1), str(rank), f"{similarity:.3f}", str(k + 1), clipped(offered[k]))
        for i in range(len(asked))
        for rank, (k, similarity) in enumerate(zip(found.indices[i], found.similarities[i], strict=True), start=1)
    )
    terminal.table(("query", "rank", "similarity", "candidate", "text"), rows)
    if precision is not None:
        terminal.print(
            f"average precision {precision.average_precision:.4f} ({found.source} to {found.target} "
            f"{precision.a_to_b:.4f}, back {precision.b_to_a:.4f}), line i of both files taken as the same document"
        )


@app.command()
@one_line_errors
def generate(
    model: Model,
    queries: Annotated[Path | None, typer.Argument(help="Documents to render, one a line.", show_default=False)] = None,
    text: Annotated[str | None, typer.Option(help="A query given here instead of in a file.")] = None,
    source: From = None,
    mu: Annotated[
        str, typer.Option(help='Of a --paper model: "auto", "auto*0.5" or a number; more gives fewer words.')
    ] = "auto",
    top: Annotated[int, typer.Option(min=1, help="How many words to list for each query.")] = 12,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """The words of the other language that the mate of each query is expected to have.

    Example: scca generate model.scca new.en

    Example: scca generate model.scca --text "the price of bread"
    """
    terminal = Terminal(quiet, as_json)
    if queries is not None and text is None:
        asked = read_documents(queries)
    elif text is not None and queries is None:
        asked = [text]
    else:
        raise ValueError("generate needs either a file of queries or --text; give one of the two.")
    bilingual = load_bilingual(model)
    source = language_of(bilingual, asked, source, terminal)
    made = bilingual.generate(asked, source=source, mu=as_penalty(mu), top=top if bilingual.anchors is None else None)
    if as_json:
        terminal.json(
            [
                {
                    "query": i,
                    "language": item.language,
                    "known": item.known,
                    "mu": item.mu if item.known else None,
                    "dual_gap": item.dual_gap,
                    "words": [{"word": word.name, "weight": word.weight} for word in item.words],
                }
                for i, item in enumerate(made)
            ]
        )
        return
    rows = []
    for i, item in enumerate(made):
        words = [word.name for word in item.words if word.weight > 0]
        shown = " ".join(words[:top]) if item.known else "(no known word)"
        rows.append((str(i + 1), str(len(words)), shown))
    terminal.table(("query", f"{bilingual.other(source)} words", "strongest first"), rows)


@app.command()
@one_line_errors
def translate(
    model: Model,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD...", help="Words of either language.", show_default=False)
    ] = None,
    word_file: Annotated[
        Path | None, typer.Option("--words", help="A file of words, one a line; - is standard input.")
    ] = None,
    source: Annotated[str | None, typer.Option("--from", help="Language of the words; found if not given.")] = None,
    mu: Annotated[
        str | None,
        typer.Option(help='Solve the problem anchored at each word, with this penalty: "auto*8" or a number.'),
    ] = None,
    gamma: Annotated[
        str | None, typer.Option(help="The same; penalty on words of the same language that join in.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many words to print for each.")] = 8,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """The words of the other language that go with a word, each with its share of the documents that have either.

    Trust is the estimated probability that the first is right. All known words are translated; the others are named on
    standard error, and the exit status is then 1.

    Example: scca translate model.scca bread

    Example: scca translate model.scca pain fromage --from fr

    Example: scca translate model.scca --words words.txt --json
    """
    from ._words import print_translations, words_asked

    terminal = Terminal(quiet, as_json)
    asked = words_asked(words, word_file)
    bilingual = load_bilingual(model)
    penalties = [None if given is None else as_penalty(given) for given in (mu, gamma)]
    found = bilingual.translate(asked, source=source, mu=penalties[0], gamma=penalties[1])
    print_translations(found, top, terminal)


@app.command()
@one_line_errors
def lexicon(
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; - is standard output.", show_default=False)
    ] = Path("-"),
    source: Annotated[str | None, typer.Option("--from", help="Language of the words; default: the first.")] = None,
    least: Annotated[int, typer.Option(min=1, help="Leave out words in fewer training documents.")] = 2,
    trust: Annotated[float, typer.Option(min=0, max=1, help="Leave out pairs with less trust.")] = 0.0,
    top: Annotated[int, typer.Option(min=1, help="How many words to name for each, the best included.")] = 5,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """A bilingual word list: each word of a language with its best mate in the other, as a table separated by tabs.

    Trust is the estimated probability that the mate is right, calibrated by how often two halves of the training pairs,
    each on its own, find the same one. "documents" have the word, "together" both; a pair is mutual if each is the
    other's best; "others" are the next best.

    Example: scca lexicon model.scca -o words.tsv

    Example: scca lexicon model.scca --from fr --trust 0.9 --least 5
    """
    from ._words import write_lexicon

    write_lexicon(model, output, Terminal(quiet, as_json), source=source, least=least, trust=trust, top=top)


@app.command()
@one_line_errors
def explain(
    model: Model,
    components: Annotated[int, typer.Option(min=1, help="How many components to show.")] = 10,
    top: Annotated[int, typer.Option(min=1, help="How many words and documents of each.")] = 8,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """The components: words with weights, documents with weights, correlation and certificate.

    Lines and components are counted from 1 here, and from 0 in JSON.

    Example: scca explain model.scca --components 5
    """
    terminal = Terminal(quiet, as_json)
    bilingual = load_bilingual(model)
    shown = bilingual.components()[:components]
    if as_json:
        terminal.json({"languages": list(bilingual.languages_), "components": [component_dict(c, top) for c in shown]})
        return
    for c in shown:
        terminal.print(f"component {c.number + 1}: {described(c)}, duality gap {max(0.0, c.dual_gap):.1e}")
        terminal.print(f"  {bilingual.languages_[0]} words: {listed(c.words[:top])}")
        terminal.print(f"  {bilingual.languages_[1]} words: {listed(c.mate_words[:top])}")
        for document in c.documents[:top]:
            terminal.print(f"  document {document.index + 1} {document.weight:+.3f}: {clipped(document.name, 90)}")
    terminal.note(f"{len(shown)} of {bilingual.scca_.n_components_} components")


@app.command()
@one_line_errors
def report(
    model: Model,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    seed: Seed = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """One self-contained page of what the model learnt.

    Example: scca report model.scca -o report.html
    """
    from ..report import write_report

    check_output(output)
    write_report(load_bilingual(model), output)
    Terminal(quiet).note(f"report: {output}")


@app.command()
@one_line_errors
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to leave the results in.")] = Path(
        "scca-demo"
    ),
    languages: Annotated[tuple[str, str], typer.Option(help="Two of en, fr, es.")] = ("en", "fr"),
    components: Annotated[int | None, typer.Option(min=1, help="How many; default: as many as there are.")] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """The main job from start to end on the built-in corpus.

    Example: scca demo
    """
    from ._demo import run_demo

    run_demo(output, languages, components, seed, Terminal(quiet, as_json))


@app.command()
@one_line_errors
def reproduce(
    more: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", hidden=True)] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to leave the results in.")] = Path(
        "scca-results"
    ),
    corpus: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Two line-aligned files; default: the built-in corpus.", show_default=False),
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="One TSV, CSV, parquet or TMX instead of two files.", show_default=False)
    ] = None,
    languages: Languages = None,
    columns: Columns = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="figure1, table1, figure2 ... figure5; several may follow.", show_default=False
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small version: 2 splits, 40 pairs left out.")] = False,
    splits: Annotated[int, typer.Option(min=1, help="Random splits of the documents.")] = 10,
    size: Annotated[
        list[str] | None,
        typer.Option(metavar="TRAIN/TEST", help="Another size to find mates at; may be repeated.", show_default=False),
    ] = None,
    documents: Annotated[int, typer.Option(min=8, help="Pairs to draw from a larger corpus.")] = 1000,
    frequencies: Annotated[
        str, typer.Option(help='Document frequencies of "training" documents, or of the whole "corpus".')
    ] = "training",
    query: Annotated[int, typer.Option(min=1, help="The document of Figure 1, counted from 1.")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Tasks at a time; results do not depend on it.")] = 1,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """The table and figures of the paper, beside what it reports.

    A run that was stopped goes on where it was when the same command is given again.

    Example: scca reproduce -o results --quick

    Example: scca reproduce -o results --corpus corpus.en corpus.fr --only figure2 figure3 --jobs 2
    """
    from ._reproduce import Request, run_reproduce

    request = Request(corpus, table, languages, columns, quick, splits, size or [], documents, frequencies, query, seed)
    run_reproduce(output, request, [*(only or []), *(more or [])], jobs, Terminal(quiet, as_json))
