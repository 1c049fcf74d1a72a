"""Commands that show what a model learnt: components, word lists and pages."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._files import atomic_write
from .._wording import counted
from ._inputs import check_written, load_result
from ._options import Debug, Json, Model, ModelOrResult, Quiet, Seed, To
from ._summaries import clipped, described, explained, left_out, listed_features
from ._terminal import Terminal, one_line_errors, plain_json

if TYPE_CHECKING:
    from ..results import LearntComponent, Result

__all__ = ["explain", "lexicon", "report", "result"]

_HELD_OUT_MEANING = (
    "on {0} left out: what the component of that rank, in a model of about as many {0}, reaches on new {0}, whatever "
    "its {1}"
)
_SELECTED_MEANING = "selected: {}"
_LOADING_MEANING = (
    "loading (weight): the loading says how closely a {0} goes with the component, and orders the {1}; scores of {2} "
    "are computed from the weights"
)


@one_line_errors
def explain(
    model: ModelOrResult,
    components: Annotated[int, typer.Option(min=1, help="How many components to show.")] = 10,
    top: Annotated[int, typer.Option(min=1, help="How many words and documents to show per component.")] = 8,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """The components: words (columns, ...) and documents with numbers, correlation and certificate.

    A word has a loading from -1 to 1, its cosine with the component times the component's length, which is smaller for
    weaker components: it says what the component is about, and words are ordered by it. The weight in parentheses is
    what scores are computed from. A word of a --paper model has only a weight.

    "On pairs left out" is the correlation that the component of that rank, strongest first, is expected to reach on new
    pairs in a model of about as many pairs, whatever its words. Behind it stands its 95 % confidence interval.

    Documents and components are counted from 1 here, and from 0 in JSON.

    Example: scca explain model.scca --components 5
    """
    terminal = Terminal(quiet, as_json)
    found = load_result(model, top=top)
    if as_json:
        terminal.json(explained(found, components, top))
        return

    from ..results import what_is_read, what_is_shown

    unit, units, samples = _words_for(found)
    if verdict := found.evidence.verdict:
        terminal.print(verdict, _HELD_OUT_MEANING.format(left_out(found), units))
    if read := what_is_read(found):
        terminal.print(read)
    if selected := what_is_shown(found):
        terminal.print(_SELECTED_MEANING.format(selected))
    if found.has_factors:
        terminal.print(_LOADING_MEANING.format(unit, units, samples))
    for c in found.components[:components]:
        terminal.print(*_component_lines(found, c, top))
    terminal.note(f"{min(components, len(found.components))} of {counted(len(found.components), 'component')}")


def _words_for(result: "Result") -> tuple[str, str, str]:
    """What features and samples are called: by the words that all views have, if they have the same."""
    found = {(view.unit, view.units, view.samples) for view in result.views}
    return found.pop() if len(found) == 1 else ("feature", "features", "samples")


def _component_lines(result: "Result", c: "LearntComponent", top: int) -> Iterator[str]:
    gap = "" if c.dual_gap is None else f", duality gap {c.dual_gap:.1e}"
    yield f"component {c.number + 1}: {described(result, c)}{gap}"
    if len(result.pairs) > 1 and c.held_out_pair_correlations:
        names = [view.name for view in result.views]
        of_pairs = zip(result.pairs, c.held_out_pair_correlations, strict=True)
        told = ", ".join(f"{names[v]} and {names[u]} {r:.3f}" for (v, u), r in of_pairs)
        yield f"  on {left_out(result)} left out: {told}"
    for view, each in zip(result.views, c.views, strict=True):
        if each.features:
            numbers = "weight" if each.features[0].loading is None else "loading (weight)"
            yield f"  {view.name} {view.units}, {numbers}: {listed_features(each, top)}"
        elif not each.samples or result.has_factors:
            yield f"  {view.name}: weights on {counted(each.n_weights, *view.weighted)}"
    yield from _sample_lines(result, c, top)


def _sample_lines(result: "Result", c: "LearntComponent", top: int) -> Iterator[str]:
    """The samples of a component, with their numbers in every view, and then how each view shows them."""
    lists = [(view, each.samples[:top]) for view, each in zip(result.views, c.views, strict=True) if each.samples]
    what = next((each.samples_by for each in c.views if each.samples), "score")
    together = {tuple(sample.index for sample in samples) for _, samples in lists}
    # views with kernels have weights on samples of their own
    for rows in [lists] if len(together) == 1 else [[each] for each in lists]:
        for row in zip(*(samples for _, samples in rows), strict=True):
            shown = [(view, each) for (view, _), each in zip(rows, row, strict=True)]
            numbers = ", ".join(f"{view.name} {each.score:+.3f}" for view, each in shown)
            yield f"  {shown[0][0].sample} {shown[0][1].index + 1}, {what}: {numbers}"
            yield from (f"    {view.name}: {clipped(each.name, 90)}" for view, each in shown if each.name is not None)


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
    target: To = None,
    least: Annotated[int, typer.Option(min=1, help="Leave out words in fewer training documents.")] = 2,
    trust: Annotated[float, typer.Option(min=0, max=1, help="Leave out pairs with less trust.")] = 0.0,
    top: Annotated[int, typer.Option(min=1, help="How many mates to list per word, the best included.")] = 5,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """A bilingual word list: each word of a language with its best mate in another, as a tab-separated table.

    Trust is the estimated probability that the mate is right, calibrated by how often two halves of the training pairs
    agree. "documents" is the number of documents with the word, and "together" the number with both words. A pair is
    mutual if each word is the other's best mate. "others" are the next best mates.

    Example: scca lexicon model.scca -o words.tsv

    Example: scca lexicon model.scca --from fr --trust 0.9 --least 5
    """
    from ._words import write_lexicon

    write_lexicon(
        model, output, Terminal(quiet, as_json), source=source, target=target, least=least, trust=trust, top=top
    )


@one_line_errors
def report(
    model: ModelOrResult,
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

    from ..report import MOST_SHOWN, render, write_report

    found = load_result(model, top=MOST_SHOWN, named_samples=texts)
    if not to_file:
        sys.stdout.buffer.write(render(found).encode())
        return
    write_report(found, output)
    Terminal(quiet).note(f"report: {output}")


@one_line_errors
def result(
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; - is standard output.", readable=False)
    ] = Path("-"),
    top: Annotated[
        int | None, typer.Option(min=1, help="At most so many features and samples per component; default: all.")
    ] = None,
    texts: Annotated[bool, typer.Option(help="Write training documents; otherwise only their numbers.")] = True,
    seed: Seed = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """All that the model learnt, and where it comes from, as JSON with a schema.

    `scca explain` and `scca report` take this file instead of the model, and Python reads it by
    `scca.Result.from_json`.

    Example: scca result model.scca -o result.json
    """
    to_file = str(output) != "-"
    if to_file:
        check_written(output, model)
    text = plain_json(load_result(model, top=top, named_samples=texts).to_dict())
    if not to_file:
        sys.stdout.write(text)
        return
    with atomic_write(output) as file:
        file.write(text.encode())
    Terminal(quiet).note(f"result: {output}")
