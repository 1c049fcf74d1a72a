"""Commands that answer queries: mates, generated words and translations."""

from pathlib import Path
from typing import Annotated

import typer

from ._cluster import Cluster, Scheduler, TlsCa, TlsCert, TlsKey, write_mates_to
from ._inputs import as_penalty, check_standard_input, from_pipe, load_model, view_of
from ._options import Debug, From, Json, Model, Quiet, Seed, To
from ._summaries import word_weights
from ._terminal import CallError, Terminal, one_line_errors

__all__ = ["generate", "mates", "translate"]


@one_line_errors
def mates(
    model: Model,
    queries: Annotated[
        Path,
        typer.Option(
            help="Documents to find mates for, one per line; or samples of another kind.",
            show_default=False,
            readable=False,
        ),
    ],
    candidates: Annotated[
        Path,
        typer.Option(
            help="Documents of another language, one per line; or samples of another view.",
            show_default=False,
            readable=False,
        ),
    ],
    source: From = None,
    target: To = None,
    top: Annotated[int, typer.Option(min=1, help="How many mates to list per query.")] = 3,
    approximate: Annotated[
        bool, typer.Option("--approximate", help="Search by an index: faster with very many candidates and queries.")
    ] = False,
    scheduler: Scheduler = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="With --scheduler: the folder for Parquet files.", show_default=False, readable=False
        ),
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Rank the documents of another language (the samples of another view) for each query.

    Queries are read and answered in blocks, so that there may be any number of them. With as many candidates as
    queries, line i of one file is taken as the mate of line i of the other, and the average precision is printed on
    standard error. With --approximate, the recall is printed instead: the share of the best candidates that the index
    finds, measured on some of the queries.

    On a cluster, the workers read both files, search, and write the mates as Parquet files.

    Example: scca mates model.scca --queries new.en --candidates new.fr

    Example: scca mates trilingual.scca --queries new.en --candidates new.es --from en --to es

    Example: scca mates model.scca --queries new.en --candidates new.fr --scheduler tcp://node1:8786 -o mates
    """
    check_standard_input(queries, candidates)
    cluster = Cluster(scheduler, tls_ca, tls_cert, tls_key)
    if (scheduler is None) != (output is None):
        raise CallError("on a cluster, mates are written to a folder; give --scheduler and -o, or neither.")
    if output is not None:
        if approximate or as_json:
            raise CallError("--approximate and --json are not for a cluster; leave them out, or --scheduler and -o.")
        write_mates_to(output, cluster, load_model(model), queries, candidates, (source, target), top, Terminal(quiet))
        return

    from ._printed_mates import search_mates

    terminal, loaded, views = Terminal(quiet, as_json), load_model(model), (source, target)
    search_mates(loaded, queries, candidates, terminal, views=views, top=top, approximate=approximate, seed=seed)


@one_line_errors
def generate(
    model: Model,
    queries: Annotated[
        Path | None,
        typer.Argument(help="Documents to generate words for, one per line.", show_default=False, readable=False),
    ] = None,
    text: Annotated[str | None, typer.Option(help="A query given here instead of in a file.")] = None,
    source: From = None,
    target: To = None,
    mu: Annotated[
        str, typer.Option(help='With a --paper model: "auto", "auto*0.5" or a number; a larger mu gives fewer words.')
    ] = "auto",
    top: Annotated[int, typer.Option(min=1, help="How many words to list per query.")] = 12,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """The words of another language that the mate of each query is expected to have.

    Example: scca generate model.scca new.en

    Example: scca generate model.scca --text "the price of bread"
    """
    if (queries is None) == (text is None):
        raise CallError("generate needs either a file of queries or --text; give one of the two.")
    penalty = as_penalty(mu, "--mu")

    from ..readers import read_documents
    from ..text import generate as generated

    terminal = Terminal(quiet, as_json)
    documents = [text or ""] if queries is None else read_documents(from_pipe(queries))
    loaded = load_model(model)
    source = view_of(loaded, documents, source, terminal)
    most = top if getattr(loaded, "anchors", None) is None else None
    made = generated(loaded, documents, source=source, target=target, mu=penalty, top=most)
    if as_json:
        terminal.json(
            [
                {
                    "query": i,
                    "language": item.language,
                    "known": item.known,
                    "mu": item.mu if item.known else None,
                    "dual_gap": item.dual_gap,
                    "words": word_weights(item.words),
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
    terminal.table(("query", f"{made[0].language} words", "strongest first"), rows)


@one_line_errors
def translate(
    model: Model,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD...", help="Words of any of the languages.", show_default=False)
    ] = None,
    word_file: Annotated[
        Path | None, typer.Option("--words", help="A file of words, one per line; - is standard input.", readable=False)
    ] = None,
    source: Annotated[str | None, typer.Option("--from", help="Language of the words; detected by default.")] = None,
    target: To = None,
    top: Annotated[int, typer.Option(min=1, help="How many translations to print per word.")] = 8,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Translate words by links between all words of the training documents.

    Beside each translation stands a share: of the documents with either word, the share in which the two are linked.
    Trust is the estimated probability that the first translation is right. Unknown words are listed on standard error,
    and the exit status is then 1.

    Example: scca translate model.scca bread

    Example: scca translate model.scca pain fromage --from fr

    Example: scca translate model.scca --words words.txt --json
    """
    from ._words import print_translations, words_asked

    asked = words_asked(words, word_file)

    from ..text import translate as translated

    loaded = load_model(model)
    found = translated(loaded, asked, source=source, target=target)
    print_translations(found, top, Terminal(quiet, as_json), says_target=len(loaded.view_names_) > 2)
