"""`scca reproduce`: from options to corpora and settings, and the printed comparison."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from .._files import check_folder
from .._pages import check_page_tools
from ..datasets import load_trilingual
from ..readers import PairedText, read_pairs
from ..reproduce import NAMES, Corpus, Results, Settings, compare, count_corpus, parse_size, reproduce
from ._inputs import check_names, check_standard_input, from_pipe, is_same_file
from ._terminal import CallError, Terminal, call_at_fault

__all__ = ["Request", "run_reproduce"]

_RESULT_SUFFIXES = (".csv", ".json", ".png", ".svg")
_RESULT_FILES = ("index.html", "README.md", "manifest.json")
_LEAST_PAIRS = 8  # fewer cannot be split


@dataclass(frozen=True)
class Request:
    """The options that the numbers depend on."""

    corpus: tuple[Path, Path] | None
    table: Path | None
    languages: tuple[str, str] | None
    columns: tuple[str, str] | None
    drop_empty: bool
    quick: bool
    splits: int
    sizes: list[str]
    documents: int
    frequencies: str
    query: int
    seed: int

    def settings(self) -> Settings:
        settings = Settings(
            seed=self.seed,
            splits=self.splits,
            frequencies=self.frequencies,
            query=self.query - 1,
            sizes=tuple(parse_size(size) for size in self.sizes),
        )
        return settings.quick() if self.quick else settings

    def command(self) -> str:
        """A command that gives the same numbers; it names files without their folders."""
        words = ["scca", "reproduce"]
        if self.files():
            words += ["--corpus" if self.corpus else "--table", *(path.name for path in self.files())]
        for name in ("languages", "columns"):
            if getattr(self, name):
                words += [f"--{name}", *getattr(self, name)]
        words += ["--drop-empty"] * self.drop_empty + ["--quick"] * self.quick
        for size in self.sizes:
            words += ["--size", size]
        defaults = {"splits": 10, "documents": 1000, "frequencies": "training", "query": 1, "seed": 0}
        for name, default in defaults.items():
            if getattr(self, name) != default:
                words += [f"--{name}", str(getattr(self, name))]
        return shlex.join(words)

    def files(self) -> list[Path]:
        """The input files, if any."""
        return [*(self.corpus or ()), *([self.table] if self.table else [])]

    def corpora(self) -> tuple[Corpus, Corpus]:
        """The substitutes for the paper's English-French and English-Spanish corpora."""
        if self.corpus and self.table:
            raise CallError("reproduce takes either --corpus or --table; give one of the two.")
        if not (self.corpus or self.table):
            trilingual = load_trilingual()
            french = PairedText.of(trilingual.en, trilingual.fr, ("en", "fr"))
            spanish = PairedText.of(trilingual.en, trilingual.es, ("en", "es"))
            return self._counted(french, "built-in-en-fr"), self._counted(spanish, "built-in-en-es")
        sources = [from_pipe(given) for given in self.files()]
        pairs = read_pairs(*sources, languages=self.languages, columns=self.columns, drop_empty=self.drop_empty)
        counted = self._counted(pairs, _name(self.files()))
        return counted, counted

    def _counted(self, pairs: PairedText, name: str) -> Corpus:
        corpus = count_corpus(pairs, name, self.documents, self.seed)
        if len(corpus) < _LEAST_PAIRS:
            raise ValueError(f"reproduce needs at least {_LEAST_PAIRS} pairs of documents; got {len(corpus)}.")
        if self.query > len(corpus):
            raise ValueError(f"--query must be at most {len(corpus)}, the number of documents; got {self.query}.")
        for side, language in enumerate(corpus.languages):
            if not corpus.distinct_words(side)[self.query - 1]:
                raise ValueError(
                    f"document {self.query} has no word in {language}, but Figure 1 counts its words; choose another "
                    "with --query."
                )
        return corpus


def run_reproduce(folder: Path, request: Request, only: list[str], jobs: int, terminal: Terminal) -> None:
    """Run the requested experiments, and print the comparison with the paper."""
    names = [name for given in only for name in given.split(",") if name]
    with call_at_fault():
        settings = request.settings()
        for name in names:
            if name not in NAMES:
                raise ValueError(f"there is no experiment {name!r}; choose from {', '.join(NAMES)}.")
    check_standard_input(*request.files())
    check_names(languages=request.languages, columns=request.columns)
    check_page_tools("reproduced figures")
    check_folder(folder)
    check_folder(folder / "work")
    _check_results(folder, request.files())
    french, spanish = request.corpora()
    with terminal.progress("tasks") as progress:
        results = reproduce(
            folder, french, spanish, settings, only=names, jobs=jobs, command=request.command(), progress=progress
        )
    _print(results, terminal)


def _check_results(folder: Path, inputs: list[Path]) -> None:
    """Refuse a folder in which a result would replace an input or a folder."""
    for path in folder.iterdir() if folder.is_dir() else ():
        is_result_file = path.name in _RESULT_FILES
        if not is_result_file and not path.stem.startswith(NAMES):
            continue
        for given in inputs:
            if is_same_file(path, given):
                raise CallError(f"{path} is the input {given}, which would be replaced; name another folder with -o.")
        if path.is_dir() and (is_result_file or path.suffix in _RESULT_SUFFIXES):
            raise IsADirectoryError(f"{path} is a folder, but a result has this name; name another folder with -o.")


def _print(results: Results, terminal: Terminal) -> None:
    claims = compare(results.data)
    if terminal.as_json:
        comparison = [vars(claim) for claim in claims]
        terminal.json({"folder": str(results.folder), "experiments": list(results.data), "comparison": comparison})
        return
    rows = [(claim.where, claim.statement, claim.paper, claim.found, claim.verdict) for claim in claims]
    terminal.table(("", "the paper's statement", "paper", "here", ""), rows)
    terminal.print("", f"numbers, figures and page: {results.folder / 'index.html'}")


def _name(files: list[Path]) -> str:
    """A name for the corpus in one or two files: their names without suffixes."""
    stems = dict.fromkeys(re.sub(r"[^\w-]+", "-", path.name.split(".")[0]).strip("-") for path in files)
    return "-".join(stems) or "corpus"
