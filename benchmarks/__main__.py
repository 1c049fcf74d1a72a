"""`python -m benchmarks [growth] [dense] [sparse] [first-call] [first-fit] [memory]`: those asked for, or all of these.

What they measure is kept in benchmark-results/results.json and shown by index.html beside it. The same command goes on
where it was interrupted.

`python -m benchmarks cluster [--corpus A B] [--pairs N] [--workers N ...]`: a Dask cluster here beside one process.
`python -m benchmarks peers`: sparse CCA beside the sparse methods of cca-zoo.
`python -m benchmarks translation`: how often a word's listed mate is found, and how far the trust in it holds.
`python -m benchmarks factors`: mates found by shared factors of few words, of all words, and by kernel CCA.
`python -m benchmarks kernels`: time, memory and mates found with stored and with approximated kernels.
`python -m benchmarks leave-out --list FILE`: settings on corpora of families that had no part in choosing them.
`python -m benchmarks generation`: how many of the words generated for an unseen document its true mate has.
`python -m benchmarks scaling [--tables FILE.npz ...]`: what every scaling of columns and samples reaches on new ones.
`python -m benchmarks honesty [--views N] [--tables FILE.npz ...] [--corpus A B]`: claims compared with new samples.
`python -m benchmarks passes`: how many products with a whole view a component of the paper takes.
`python -m benchmarks million`: from a million pairs of texts, or those of --corpus, to a model.
`python -m benchmarks planted`: how many planted features are found among 20,000 in 60 samples.
`python -m benchmarks progress`: how far the remaining times that a fit shows are from the true ones.
`python -m benchmarks readability`: how well the words of a component go together, beside topics of both languages.
`python -m benchmarks renderings [--list FILE] [--tables FILE.npz ...]`: weights on few features, on those read, on all.
`python -m benchmarks retrieval`: the best of up to a million candidates, compared with all, by an index, by NumPy.
`python -m benchmarks shapes [--corpus A B]`: one component or lasso of every shape, beside the fastest lasso solver.
`python -m benchmarks shell`: how long the command takes to say its version, its help or a mistake.
`python -m benchmarks subjects`: how many components of the built-in corpus are one of its subjects.
`python -m benchmarks trilingual [--texts A B C]`: what a third language gains over two.
`python -m benchmarks tuning`: mu and the ridge chosen by cross-validation against the automatic ones, and its time.
`python -m benchmarks unchanged --before FOLDER [--corpus A B]`: answers and times beside those of an earlier version.
`python -m benchmarks views`: planted factors found with three views and with two, and the time of a fit to each.
`python -m benchmarks vectors --vectors FILE.npy --corpus A B`: what vectors of A share with words of A and of B.
`python -m benchmarks words --list FILE [--splits N] [--set NAME=VALUE ...]`: the text model beside kernel CCA.
`python -m benchmarks wide [--features M]`: time and memory of wide dense views, in memory and in files.
"""

import argparse
import ast
import contextlib
import io
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from . import (
    balance,
    cluster,
    factors,
    first_call,
    first_fit,
    generation,
    growth,
    honesty,
    kernels,
    leave_out,
    memory,
    million,
    passes,
    peers,
    planted,
    progress,
    readability,
    renderings,
    retrieval,
    scaling,
    shapes,
    shell,
    single_component,
    sparse_lasso,
    subjects,
    translation,
    trilingual,
    tuning,
    unchanged,
    vectors,
    views,
    wide,
    words,
)
from ._page import write_page
from ._results import Results, about


def main() -> None:
    arguments = _parser().parse_args()
    tables = {
        "dense": lambda: single_component.run(arguments.repeats),
        "sparse": lambda: sparse_lasso.run(arguments.repeats, arguments.corpus),
        "first-call": first_call.run,
        "first-fit": lambda: first_fit.run(quick=arguments.quick),
        "memory": memory.run,
    }
    runs = {
        "balance": lambda: balance.run(arguments.corpus, arguments.join, arguments.pairs),
        "cluster": lambda: cluster.run(arguments.corpus, arguments.pairs, arguments.workers),
        "peers": lambda: peers.run(arguments.corpus, arguments.join),
        "translation": lambda: translation.run(arguments.corpus, arguments.pairs),
        "factors": lambda: factors.run(arguments.corpus, arguments.join, arguments.short),
        "generation": lambda: generation.run(arguments.corpus, arguments.join),
        "scaling": lambda: scaling.run(arguments.quick, arguments.tables, arguments.splits),
        "honesty": lambda: honesty.run(
            arguments.quick, arguments.tables, arguments.corpus, arguments.join, arguments.views
        ),
        "kernels": kernels.run,
        "leave-out": lambda: leave_out.run(arguments.list),
        "passes": lambda: passes.run(arguments.corpus, arguments.pairs),
        "progress": lambda: progress.run(arguments.corpus, arguments.pairs),
        "readability": lambda: readability.run(arguments.corpus, arguments.join, arguments.show),
        "retrieval": retrieval.run,
        "shapes": lambda: shapes.run(arguments.repeats, arguments.corpus),
        "shell": shell.run,
        "subjects": subjects.run,
        "trilingual": lambda: trilingual.run(arguments.texts),
        "tuning": lambda: tuning.run(arguments.corpus, arguments.join),
        "unchanged": lambda: unchanged.run(arguments.before, arguments.corpus, arguments.quick, arguments.only),
        "vectors": lambda: vectors.run(arguments.vectors, arguments.corpus, arguments.show),
        "views": lambda: views.run(arguments.quick),
        "million": lambda: million.run(arguments.corpus, arguments.pairs, arguments.components),
        "wide": lambda: wide.run(arguments.features),
        "renderings": lambda: renderings.run(arguments.list, arguments.tables, arguments.splits),
        "planted": planted.run,
        "words": lambda: words.run(arguments.list, arguments.splits, arguments.only, _settings(arguments.set)),
    }
    known = ["growth", *tables, *runs]
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        _parser().error(f"no benchmark named {', '.join(unknown)}; choose from {', '.join(known)}")
    listing = [name for name in ("leave-out", "words") if name in arguments.names]
    if listing and arguments.list is None:
        _parser().error(
            f"{listing[0]} needs --list FILE: family, name, two files and lines a document, separated by tabs"
        )
    if "unchanged" in arguments.names and arguments.before is None:
        _parser().error("unchanged needs --before FOLDER: a checkout of the version to compare with")
    if "vectors" in arguments.names and arguments.vectors is None:
        _parser().error("vectors needs --vectors FILE.npy: row i is the vector of line i of the corpus' first file")
    corpus = [path.name for path in arguments.corpus or []]
    run_about = about({"quick": arguments.quick, "repeats": arguments.repeats, "corpus": corpus})
    versions = ", ".join(f"{package} {version}" for package, version in run_about["versions"].items())
    print(f"Python {run_about['python']}, {run_about['cores']} cores, {versions}")
    names = arguments.names or ["growth", *tables]
    for name in (name for name in names if name in runs):
        runs[name]()
    kept = [name for name in names if name not in runs]
    if kept:
        # a quick run must not replace the results of a whole one
        folder = arguments.output / "quick" if arguments.quick else arguments.output
        results = Results(folder, run_about, fresh=arguments.fresh, show=write_page)
        page = folder / "index.html"
        try:
            for name in kept:
                if name == "growth":
                    growth.run(results, quick=arguments.quick)
                else:
                    _print_table(results, name, tables[name])
        except KeyboardInterrupt:
            sys.exit(f"\ninterrupted: {page} has what was measured so far, and the same command goes on from there")
        finally:
            write_page(results.data, folder)  # even if nothing was measured, since its template may have changed
        print(f"\n{page}")


def _print_table(results: Results, name: str, run: Callable[[], None]) -> None:
    """Print what `run` prints, now or before."""
    measured_before = name in results.data["tables"]
    text = results.get("tables", name, partial(_printed, run))
    if measured_before:
        print(f"\n{text}")


class _Tee(io.StringIO):
    """Keeps what is printed, and prints it."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        return super().write(text)


def _printed(run: Callable[[], None]) -> str:
    with contextlib.redirect_stdout(_Tee()) as kept:
        run()
    return kept.getvalue().strip("\n")


def _settings(given: list[str]) -> dict[str, object]:
    """Parameters and their values, from NAME=VALUE with values as in Python."""
    return {name: ast.literal_eval(value) for name, _, value in (each.partition("=") for each in given)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure scca beside its peers.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="growth, dense, sparse, first-call, first-fit, memory (all of these unless given); balance, "
        "peers, translation, factors, generation, honesty, kernels, leave-out, million, passes, planted, "
        "readability, renderings, retrieval, scaling, shapes, shell, subjects, tuning, unchanged, vectors, views, "
        "wide, words",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="of 'growth' two small numbers of samples, in about a minute; of 'unchanged' small data",
    )
    parser.add_argument("--fresh", action="store_true", help="measure again what an earlier run has measured")
    parser.add_argument(
        "--output", type=Path, default=Path("benchmark-results"), metavar="FOLDER", help="of the page (%(default)s)"
    )
    parser.add_argument("--repeats", type=int, default=50, help="times each solver is timed (%(default)s)")
    parser.add_argument(
        "--corpus",
        nargs=2,
        type=Path,
        metavar=("A", "B"),
        help="two line-aligned text files (.gz or not) for 'sparse' instead of made-up documents, and for "
        "the others about text instead of the built-in corpus",
    )
    parser.add_argument("--join", type=int, default=1, help="lines of the corpus that make a document (%(default)s)")
    parser.add_argument(
        "--pairs",
        type=int,
        help="pairs that 'balance', 'cluster', 'million', 'passes', 'progress' and 'translation' learn from",
    )
    parser.add_argument(
        "--tables", type=Path, nargs="+", metavar="FILE", help=".npz files of views, for 'honesty', 'scaling'"
    )
    parser.add_argument("--views", type=int, choices=(2, 3), help="of the made-up data of 'honesty' (both)")
    parser.add_argument("--splits", type=int, default=5, help="of the tables of 'scaling', of the corpora of 'words'")
    parser.add_argument("--components", type=int, default=100, help="of the model of 'million'")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="of 'cluster', one fit each")
    parser.add_argument("--texts", type=Path, nargs="+", metavar="FILE", help="line-aligned files of 'trilingual'")
    parser.add_argument("--list", type=Path, metavar="FILE", help="corpora of 'leave-out', 'words', one per line")
    parser.add_argument("--short", action="store_true", help="2,000 pairs and 100 factors for 'factors'")
    parser.add_argument("--show", type=int, default=0, help="components that 'readability' and 'vectors' print")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="the earlier version for 'unchanged'")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="settings of 'unchanged', 'words' with this in their name"
    )
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="parameters of 'words', such as n_features=0.4"
    )
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="NumPy array (.npy) for 'vectors'")
    parser.add_argument("--features", type=int, default=500_000, help="features of X for 'wide' (%(default)s)")
    return parser


if __name__ == "__main__":
    main()
