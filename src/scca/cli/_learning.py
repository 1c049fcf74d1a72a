"""Commands that learn: from a user's views, from the built-in corpus, and as in the paper."""

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from .._wording import counted, joined
from ._cluster import Cluster, Scheduler, TlsCa, TlsCert, TlsKey
from ._inputs import (
    as_penalty,
    check_kept,
    check_names,
    check_standard_input,
    check_written,
    from_pipe,
    listed_labels,
    listed_words,
)
from ._options import Columns, Debug, DropEmpty, Json, Kinds, Languages, PairColumns, PairLanguages, Quiet, Seed
from ._summaries import left_out, summary_of, used_of
from ._terminal import CallError, Terminal, continuing, one_line_errors

if TYPE_CHECKING:
    from ..results import Result

__all__ = ["demo", "fit", "reproduce"]

_DEMO_LANGUAGES = ["en", "fr"]


@one_line_errors
def fit(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Documents of each language, one per line, line by line the same; or one table or TMX with all; - is "
            "standard input. With --kind, files of any kinds.",
            readable=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.", readable=False)] = Path(
        "model.scca"
    ),
    components: Annotated[
        int | None, typer.Option(min=1, help="How many; default: as many as hold on pairs left out, at most 200.")
    ] = None,
    languages: Languages = None,
    columns: Columns = None,
    kinds: Kinds = None,
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
    mu: Annotated[
        str,
        typer.Option(
            help="Penalty that selects the words of each component, those that are shown or, with --sparse, weighed: "
            '"auto", "auto*0.5" or a number.'
        ),
    ] = "auto",
    gamma: Annotated[
        str, typer.Option(help='With --paper, penalty on documents: "auto", "auto*0.5" or a number.')
    ] = "auto",
    sparse: Annotated[
        bool, typer.Option("--sparse", help="Weights on few words for each component: easy to read, but finds less.")
    ] = False,
    dense: Annotated[bool, typer.Option("--dense", help="Weights on all words for each component.")] = False,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The paper's method: each component is anchored at a document, with weights on few words of the first "
            "language and few documents of the second.",
        ),
    ] = False,
    words: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Read at most this many words (columns, ...) per view, those that matter most; the fit says what that "
            "costs. Default: as few as lose nothing measurable on pairs left out.",
        ),
    ] = None,
    groups: Annotated[
        Path | None,
        typer.Option(
            help="A file with one label per sample: samples with the same label belong together, such as sentences of "
            "one document, and are left out together.",
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
            help="Store the training documents of all languages (the labels of rows) in the model file; otherwise "
            "components show only their numbers."
        ),
    ] = True,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn a common space from documents in two or more languages, or from any views of the same things.

    A fit that was stopped goes on if the same command is run again.

    Example: scca fit corpus.en corpus.fr -o model.scca

    Example: scca fit corpus.en corpus.fr corpus.es -o model.scca --components 30

    Example: scca fit corpus.en corpus.fr -o model.scca --groups documents.txt

    Example: zcat corpus.tsv.gz | scca fit - -o model.scca

    Example: scca fit captions.en images.npy -o model.scca --kind text vectors

    Example: scca fit corpus.en corpus.fr -o model.scca --scheduler tcp://node1:8786
    """
    if str(output) == "-":
        raise CallError("fit writes the model to a file, not to standard output; name one with -o.")
    checkpoint = output.with_name(f"{output.name}.partial")
    check_written(output, *files, stop_words, groups)
    check_kept(checkpoint, *files, stop_words, groups)
    check_names(languages=languages, columns=columns)
    check_standard_input(*files, stop_words, groups)
    if sparse and dense:
        raise CallError("--sparse gives weights to few words, and --dense to all; leave out one of the two.")
    for option, is_given in (("--sparse", sparse), ("--dense", dense)):
        if paper and is_given:
            raise CallError(f"{option} is not for the paper's method; leave out {option} or --paper.")
    if dense and mu != "auto":
        raise CallError(f"--mu is not for --dense, which selects no words; got --mu {mu}: leave out one of the two.")
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
    mu_, gamma_ = as_penalty(mu, "--mu"), as_penalty(gamma, "--gamma")

    from ..persistence import save
    from ._views import ViewFiles, model_of

    terminal = Terminal(quiet, as_json)
    given = ViewFiles.of([from_pipe(each) for each in files], kinds, languages, columns, drop_empty)
    if scheduler and not given.are_texts:
        raise CallError("--scheduler is for texts; leave it out, or --kind.")
    given.refuse_numbers(components, output)
    model = model_of(
        given,
        n_components=components or "auto",
        mu=mu_,
        rendering="dense" if dense else "sparse" if sparse else "auto",
        n_features=words or "auto",
        random_state=seed,
        keep_samples=texts,
        text={
            "lowercase": not case,
            "stop_words": None if stop_words is None else listed_words(stop_words),
            "min_df": min_df,
            "ngram_range": (1, ngrams),
            "analyzer": "char" if characters else "word",
        },
        paper={"gamma": gamma_} if paper else None,
    )
    labels = None if groups is None else listed_labels(groups)
    if checkpoint.exists():
        terminal.note(f"scca: going on from {checkpoint}")
    with cluster.client(terminal) as client, continuing(checkpoint):
        views = given.read(client)
        with terminal.stages() as progress:
            preview = terminal.preview if terminal.is_watched else None
            model.fit(views, groups=labels, progress=progress, checkpoint=checkpoint, preview=preview)
    save(model, output, texts=texts)
    _print_fit(model.result(0), output, terminal)  # scoring all samples would take long


def _print_fit(result: "Result", output: Path, terminal: Terminal) -> None:
    """What `scca fit` says of its model."""
    from ..factors import constants

    if terminal.as_json:
        terminal.json(summary_of(result) | {"model": str(output)})
        return
    from ..results import what_is_read

    read = what_is_read(result)
    learnt_from = [view.name if read else used_of(view) for view in result.views]
    terminal.print(f"{counted(len(result.components), 'component')} from {joined(learnt_from)}: {output}")
    if read:
        terminal.print(read)
    held_out = [c.held_out_correlation for c in result.components if c.held_out_correlation is not None]
    if held_out:
        terminal.print(
            f"correlation on {left_out(result)} left out ({counted(result.evidence.n_folds or 0, 'fit')}): best "
            f"{max(held_out):.3f}, median {median(held_out):.3f}, worst {min(held_out):.3f}"
        )
        if (result.evidence.p_value or 0.0) <= constants.CHANCE:  # otherwise it was given as a warning
            terminal.print(result.evidence.verdict or "")


@one_line_errors
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the results.", readable=False)] = Path(
        "scca-demo"
    ),
    languages: Annotated[
        list[str], typer.Option(metavar="FIRST SECOND ...", help="Two or all of en, fr, es.")
    ] = _DEMO_LANGUAGES,
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

    Example: scca demo --languages en fr es
    """
    check_names(languages=languages)

    from ._demo import run_demo

    run_demo(output, tuple(languages), components, seed, Terminal(quiet, as_json))


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
    languages: PairLanguages = None,
    columns: PairColumns = None,
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
