"""`python -m benchmarks [dense] [sparse] [first-call] [memory]`: the tables asked for, or all of these.

`python -m benchmarks peers`: sparse CCA beside the sparse methods of cca-zoo.
`python -m benchmarks translation`: how often a word's listed mate is found, and how far the trust in it holds.
`python -m benchmarks factors`: mates found by shared factors of few words, of all words, and by kernel CCA.
`python -m benchmarks kernels`: time, memory and mates found with stored and with approximated kernels.
`python -m benchmarks leave-out --list FILE`: settings on corpora of families that had no part in choosing them.
`python -m benchmarks generation`: how many of the words generated for an unseen document its true mate has.
`python -m benchmarks passes`: how many products with a whole view a component of the paper takes.
`python -m benchmarks readability`: how well the words of a component go together, beside topics of both languages.
`python -m benchmarks retrieval`: the best of up to a million candidates, compared with all, by an index, by NumPy.
`python -m benchmarks shell`: how long the command takes to say its version, its help or a mistake.
`python -m benchmarks subjects`: how many components of the built-in corpus are one of its subjects.
`python -m benchmarks tuning`: mu and the ridge chosen by cross-validation against the automatic ones, and its time.
`python -m benchmarks vectors --vectors FILE.npy --corpus A B`: what vectors of A share with words of A and of B.
"""

import argparse
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from . import (
    balance,
    factors,
    first_call,
    generation,
    kernels,
    leave_out,
    memory,
    passes,
    peers,
    readability,
    retrieval,
    shell,
    single_component,
    sparse_lasso,
    subjects,
    translation,
    tuning,
    vectors,
)

_PACKAGES = [
    "scca",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "celer",
    "skglm",
    "cvxpy",
    "clarabel",
    "cca-zoo",
    "faiss-cpu",
]


def main() -> None:
    arguments = _parser().parse_args()
    measured = {
        "dense": lambda: single_component.run(arguments.repeats),
        "sparse": lambda: sparse_lasso.run(arguments.repeats, arguments.corpus),
        "first-call": first_call.run,
        "memory": memory.run,
    }
    runs = measured | {
        "balance": lambda: balance.run(arguments.corpus, arguments.join, arguments.pairs),
        "peers": lambda: peers.run(arguments.corpus, arguments.join),
        "translation": lambda: translation.run(arguments.corpus, arguments.pairs),
        "factors": lambda: factors.run(arguments.corpus, arguments.join, arguments.short),
        "generation": lambda: generation.run(arguments.corpus, arguments.join),
        "kernels": kernels.run,
        "leave-out": lambda: leave_out.run(arguments.list),
        "passes": lambda: passes.run(arguments.corpus, arguments.pairs),
        "readability": lambda: readability.run(arguments.corpus, arguments.join, arguments.show),
        "retrieval": retrieval.run,
        "shell": shell.run,
        "subjects": subjects.run,
        "tuning": lambda: tuning.run(arguments.corpus, arguments.join),
        "vectors": lambda: vectors.run(arguments.vectors, arguments.corpus, arguments.show),
    }
    unknown = [name for name in arguments.names if name not in runs]
    if unknown:
        _parser().error(f"no benchmark named {', '.join(unknown)}; choose from {', '.join(runs)}")
    if "leave-out" in arguments.names and arguments.list is None:
        _parser().error("leave-out needs --list FILE: family, name, two files and lines a document, separated by tabs")
    if "vectors" in arguments.names and arguments.vectors is None:
        _parser().error("vectors needs --vectors FILE.npy: row i is the vector of line i of the corpus' first file")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, " + ", ".join(map(_version, _PACKAGES)))
    for name in arguments.names or measured:
        runs[name]()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure scca beside its peers.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="dense, sparse, first-call, memory (all four unless given); balance, peers, translation, factors, "
        "generation, kernels, leave-out, passes, readability, retrieval, subjects, tuning, vectors",
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
    parser.add_argument("--pairs", type=int, help="pairs that 'balance', 'passes' and 'translation' learn from")
    parser.add_argument("--list", type=Path, metavar="FILE", help="corpora of 'leave-out', one per line")
    parser.add_argument("--short", action="store_true", help="2,000 pairs and 100 factors for 'factors'")
    parser.add_argument("--show", type=int, default=0, help="components that 'readability' and 'vectors' print")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="NumPy array (.npy) for 'vectors'")
    return parser


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


if __name__ == "__main__":
    main()
