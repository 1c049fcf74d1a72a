"""Commands that learn: from a user's pairs, from the built-in corpus, and as in the paper."""

from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from .._wording import counted
from ._cluster import Cluster, Scheduler, TlsCa, TlsCert, TlsKey, pairs_for
from ._inputs import (
    as_penalty,
    check_kept,
    check_standard_input,
    check_two_names,
    check_written,
    from_pipe,
    listed_labels,
    listed_words,
)
from ._options import Columns, Debug, DropEmpty, Json, Languages, Quiet, Seed
from ._summaries import summary_of
from ._terminal import CallError, Terminal, continuing, one_line_errors

__all__ = ["demo", "fit", "reproduce"]


@one_line_errors
def fit(
    first: Annotated[
        Path,
        typer.Argument(
            help="Documents of the first language, one per line; or one table or TMX; - is standard input.",
            readable=False,
        ),
    ],
    second: Annotated[
        Path | None, typer.Argument(help="Their mates in the second language, line by line.", readable=False)
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.", readable=False)] = Path(
        "model.scca"
    ),
    components: Annotated[
        int | None, typer.Option(min=1, help="How many; default: as many as hold on pairs left out, at most 200.")
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
    stop_words: Annotated[
        Path | None, typer.Option(help="A file of words to leave out, one per line.", readable=False)
    ] = None,
    case: Annotated[bool, typer.Option("--case", help="Distinguish upper and lower case.")] = False,
    mu: Annotated[str, typer.Option(help='Penalty on words: "auto", "auto*0.5" or a number.')] = "auto",
    gamma: Annotated[
        str, typer.Option(help='With --paper, penalty on documents: "auto", "auto*0.5" or a number.')
    ] = "auto",
    dense: Annotated[
        bool, typer.Option("--dense", help="Weights on all words: finds mates better, but is harder to read.")
    ] = False,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The paper's method: each component is anchored at a document, with weights on few words of the first "
            "language and few documents of the second.",
        ),
    ] = False,
    words: Annotated[
        int | None, typer.Option(min=2, help="Read at most so many words of each language, those it shares best.")
    ] = None,
    groups: Annotated[
        Path | None,
        typer.Option(
            help="A file with one label per pair: pairs with the same label belong together, such as sentences of one "
            "document, and are left out together.",
            readable=False,
        ),
    ] = None,
    drop_empty: DropEmpty = False,
    scheduler: Scheduler = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    texts: Annotated[
        bool,
        typer.Option(
            help="Store the training documents of the second language in the model file; otherwise components show "
            "only their numbers."
        ),
    ] = True,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn a common space from paired documents.

    A fit that was stopped goes on if the same command is run again.

    Example: scca fit corpus.en corpus.fr -o model.scca

    Example: scca fit corpus.en corpus.fr -o model.scca --components 30

    Example: scca fit corpus.en corpus.fr -o model.scca --groups documents.txt

    Example: zcat corpus.tsv.gz | scca fit - -o model.scca

    Example: scca fit corpus.en corpus.fr -o model.scca --scheduler tcp://node1:8786
    """
    if str(output) == "-":
        raise CallError("fit writes the model to a file, not to standard output; name one with -o.")
    checkpoint = output.with_name(f"{output.name}.partial")
    check_written(output, first, second, stop_words, groups)
    check_kept(checkpoint, first, second, stop_words, groups)
    check_two_names(languages=languages, columns=columns)
    check_standard_input(first, second, stop_words, groups)
    if paper and dense:
        raise CallError("--dense is not for the paper's method; leave out --dense or --paper.")
    if dense and mu != "auto":
        raise CallError(f"--mu is not for --dense, which reads all words; got --mu {mu}: leave out one of the two.")
    if gamma != "auto" and not paper:
        raise CallError(f"--gamma is for the paper's method; got --gamma {gamma}: add --paper or leave it out.")
    if words and paper:
        raise CallError("--words is not for the paper's method; leave out --words or --paper.")
    if groups and paper:
        raise CallError("--groups is not for the paper's method, which leaves no pairs out; leave out one of the two.")
    if stop_words and characters:
        raise CallError("--stop-words are words, and --characters reads none; leave out one of the two.")
    if scheduler and paper:
        raise CallError("--scheduler is not for the paper's method; leave out --scheduler or --paper.")
    cluster = Cluster(scheduler, tls_ca, tls_cert, tls_key)
    penalties: dict[str, Any] = {"mu": as_penalty(mu, "--mu"), "gamma": as_penalty(gamma, "--gamma")}

    from ..factors import constants
    from ..persistence import save
    from ..text import BilingualModel
    from ._refusing import refuse_numbers

    terminal = Terminal(quiet, as_json)
    files = [from_pipe(given) for given in (first, second) if given is not None]
    refuse_numbers(files, columns or languages, components, output)
    model = BilingualModel(
        components or "auto",
        lowercase=not case,
        stop_words=None if stop_words is None else listed_words(stop_words),
        min_df="auto" if min_df is None else min_df,
        ngram_range=(1, ngrams),
        analyzer="char" if characters else "word",
        **penalties,
        rendering="dense" if dense else "sparse",
        anchors="sequential" if paper else None,
        feature_weights=None if paper else "shared",
        n_words=words or "auto",
        random_state=seed,
        keep_texts=texts,
    )
    labels = None if groups is None else listed_labels(groups)
    if checkpoint.exists():
        terminal.note(f"scca: going on from {checkpoint}")
    with cluster.client(terminal) as client, continuing(checkpoint):
        pairs = pairs_for(client, files, languages=languages, columns=columns, drop_empty=drop_empty)
        with terminal.stages() as progress:
            preview = terminal.preview if terminal.is_watched else None
            model.fit(pairs, groups=labels, progress=progress, checkpoint=checkpoint, preview=preview)
    save(model, output, texts=texts)
    summary = summary_of(model) | {"model": str(output)}
    if as_json:
        terminal.json(summary)
        return
    terminal.print(
        f"{counted(summary['components'], 'component')} from {summary['words_used']} of {summary['words'][0]} "
        f"{model.languages_[0]} words and {_used_of_the_second(summary)}: {output}"
    )
    if held_out := summary.get("held_out_correlations"):
        terminal.print(
            f"correlation on pairs left out ({counted(summary['folds'], 'fit')}): best {max(held_out):.3f}, median "
            f"{median(held_out):.3f}, worst {min(held_out):.3f}"
        )
        if summary["p_value"] <= constants.CHANCE:  # otherwise it was given as a warning
            terminal.print(summary["verdict"])


def _used_of_the_second(summary: dict[str, Any]) -> str:
    language = summary["languages"][1]
    if summary["documents_used"] is None:
        return f"{summary['mate_words_used']} of {summary['words'][1]} {language} words"
    return f"{summary['documents_used']} of {summary['documents']} {language} documents"


@one_line_errors
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the results.", readable=False)] = Path(
        "scca-demo"
    ),
    languages: Annotated[tuple[str, str], typer.Option(help="Two of en, fr, es.")] = ("en", "fr"),
    components: Annotated[
        int | None, typer.Option(min=1, help="How many; default: as many as hold on pairs left out.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn, find mates, generate and report on the built-in corpus.

    Example: scca demo
    """
    check_two_names(languages=languages)

    from ._demo import run_demo

    run_demo(output, languages, components, seed, Terminal(quiet, as_json))


@one_line_errors
def reproduce(
    more: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", hidden=True)] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the results.", readable=False)] = Path(
        "scca-results"
    ),
    corpus: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="A B",
            help="Two line-aligned files; default: the built-in corpus.",
            show_default=False,
            readable=False,
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(help="One TSV, CSV, parquet or TMX instead of two files.", show_default=False, readable=False),
    ] = None,
    languages: Languages = None,
    columns: Columns = None,
    drop_empty: DropEmpty = False,
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
    """The table and figures of the paper, compared with its results.

    Run the same command again to continue a run that was stopped.

    Example: scca reproduce -o results --quick

    Example: scca reproduce -o results --corpus corpus.en corpus.fr --only figure2 figure3 --jobs 2
    """
    from ._reproduce import Request, run_reproduce

    request = Request(
        corpus, table, languages, columns, drop_empty, quick, splits, size or [], documents, frequencies, query, seed
    )
    run_reproduce(output, request, [*(only or []), *(more or [])], jobs, Terminal(quiet, as_json))
