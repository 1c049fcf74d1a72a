"""Commands that show what a model learnt: components, word lists and pages."""

import sys
from math import isnan, nan
from pathlib import Path
from typing import Annotated

import typer

from .._wording import counted
from ._inputs import check_written, load_bilingual
from ._options import Debug, Json, Model, Quiet, Seed
from ._summaries import clipped, component_dict, described, listed, verdict_of
from ._terminal import Terminal, one_line_errors

__all__ = ["explain", "lexicon", "report"]

_HELD_OUT_MEANING = (
    "on pairs left out: what the component of that rank, in a model of about as many pairs, reaches on new pairs, "
    "whatever its words"
)
_LOADING_MEANING = (
    "loading (weight): the loading says how closely a word goes with the component, and orders the words; scores of "
    "documents are computed from the weights"
)


@one_line_errors
def explain(
    model: Model,
    components: Annotated[int, typer.Option(min=1, help="How many components to show.")] = 10,
    top: Annotated[int, typer.Option(min=1, help="How many words and documents to show per component.")] = 8,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """The components: words and documents with numbers, correlation and certificate.

    A word has a loading from -1 to 1, its cosine with the component times the component's length, which is smaller for
    weaker components: it says what the component is about, and words are ordered by it. The weight in parentheses is
    what scores are computed from. A word of a --paper model has only a weight.

    "On pairs left out" is the correlation that the component of that rank, strongest first, is expected to reach on new
    pairs in a model of about as many pairs, whatever its words. Behind it stands its 95 % confidence interval.

    Documents and components are counted from 1 here, and from 0 in JSON.

    Example: scca explain model.scca --components 5
    """
    terminal = Terminal(quiet, as_json)
    bilingual = load_bilingual(model)
    shown = bilingual.components()[:components]
    if as_json:
        p_value = getattr(bilingual.scca_, "p_value_", nan)
        evidence = {"p_value": None if isnan(p_value) else p_value, "verdict": verdict_of(bilingual)}
        listed_components = [component_dict(c, top) for c in shown]
        terminal.json({"languages": list(bilingual.languages_), **evidence, "components": listed_components})
        return
    if verdict := verdict_of(bilingual):
        terminal.print(verdict, _HELD_OUT_MEANING)
    is_anchored = bilingual.anchors is not None
    numbers, of_documents = ("weight", "weight") if is_anchored else ("loading (weight)", "score")
    if not is_anchored:
        terminal.print(_LOADING_MEANING)
    for c in shown:
        terminal.print(f"component {c.number + 1}: {described(c)}, duality gap {max(0.0, c.dual_gap):.1e}")
        for language, words in zip(bilingual.languages_, (c.words, c.mate_words), strict=True):
            terminal.print(f"  {language} words, {numbers}: {listed(words[:top])}")
        for document in c.documents[:top]:
            place = f"document {document.index + 1}, {of_documents} {document.weight:+.3f}"
            terminal.print(f"  {place}: {clipped(document.name, 90)}")
    terminal.note(f"{len(shown)} of {counted(bilingual.scca_.n_components_, 'component')}")


@one_line_errors
def lexicon(
    model: Model,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The file to write; - is standard output.", show_default=False, readable=False
        ),
    ] = Path("-"),
    source: Annotated[str | None, typer.Option("--from", help="Language of the words; default: the first.")] = None,
    least: Annotated[int, typer.Option(min=1, help="Leave out words in fewer training documents.")] = 2,
    trust: Annotated[float, typer.Option(min=0, max=1, help="Leave out pairs with less trust.")] = 0.0,
    top: Annotated[int, typer.Option(min=1, help="How many mates to list per word, the best included.")] = 5,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """A bilingual word list: each word of a language with its best mate in the other, as a tab-separated table.

    Trust is the estimated probability that the mate is right, calibrated by how often two halves of the training pairs
    agree. "documents" is the number of documents with the word, and "together" the number with both words. A pair is
    mutual if each word is the other's best mate. "others" are the next best mates.

    Example: scca lexicon model.scca -o words.tsv

    Example: scca lexicon model.scca --from fr --trust 0.9 --least 5
    """
    from ._words import write_lexicon

    write_lexicon(model, output, Terminal(quiet, as_json), source=source, least=least, trust=trust, top=top)


@one_line_errors
def report(
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page to write; - is standard output.", readable=False)
    ] = Path("report.html"),
    texts: Annotated[bool, typer.Option(help="Show training documents; otherwise only their numbers.")] = True,
    seed: Seed = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """One self-contained HTML page of what the model learnt.

    Example: scca report model.scca -o report.html

    Example: scca report model.scca --no-texts -o - | gzip > report.html.gz
    """
    to_file = str(output) != "-"
    if to_file:
        check_written(output, model)

    from ..report import prepare, render, write_report

    bilingual = load_bilingual(model)
    if not to_file:
        sys.stdout.buffer.write(render(prepare(bilingual, texts=texts)).encode())
        return
    write_report(bilingual, output, texts=texts)
    Terminal(quiet).note(f"report: {output}")
