"""``discrim update``, ``forget`` and ``merge``: models that go on learning, exactly, from what their files keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discrim.cli import options
from discrim.cli.running import verb
from discrim.cli.writing import described, write_json

OUTPUT = options.to_file("-o", "--output", text="Write the model to this file instead of replacing MODEL.")


@verb(
    "update",
    "Learn from more rows.",
    examples="""
    discrim update crabs.discrim new.csv --target group
    discrim update crabs.discrim new.csv -t group -o crabs-2.discrim
    """,
)
@options.known_rows
@OUTPUT
@options.as_json
def update(path: Path, data: str, *, output: Path | None, as_json: bool, **columns: Any) -> None:
    """Learn from the rows of DATA too.

    The model becomes the one that a fit of all rows together would give. Its file must keep the statistic of the rows,
    as 'discrim fit --keep-statistic' writes it.
    """
    _learned(path, data, "partial_fit", output or path, as_json=as_json, **columns)


@verb(
    "forget",
    "Unlearn rows.",
    examples="""
    discrim forget crabs.discrim withdrawn.csv --target group
    discrim forget crabs.discrim withdrawn.csv -t group -o crabs-2.discrim
    """,
)
@options.known_rows
@OUTPUT
@options.as_json
def forget(path: Path, data: str, *, output: Path | None, as_json: bool, **columns: Any) -> None:
    """Unlearn the rows of DATA.

    The model becomes the one that a fit without these rows would give. Its file must keep the statistic of the rows,
    as 'discrim fit --keep-statistic' writes it.
    """
    _learned(path, data, "forget", output or path, as_json=as_json, **columns)


@verb(
    "merge",
    "Merge models of different rows.",
    examples="""
    discrim merge north.discrim south.discrim -o both.discrim
    discrim merge site-1.discrim site-2.discrim site-3.discrim -o all.discrim
    """,
)
@click.argument("paths", metavar="MODEL...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.to_file("-o", "--output", text="The file of the merged model.", required=True)
@options.as_json
def merge(paths: tuple[Path, ...], *, output: Path, as_json: bool) -> None:
    """Merge models that were fitted to different rows, without the rows.

    The result is the model that one fit of all rows would give, so that sites which must not share their rows can fit
    a model together. The models have the same class, parameters and columns, and their files keep the statistic of the
    rows, as 'discrim fit --keep-statistic' writes it.
    """
    from discrim.cli.tables import load_model, with_statistic
    from discrim.models import merge as merged

    models = [with_statistic(load_model(path), path) for path in paths]
    _save(merged(*models), output, as_json=as_json)


def _learned(
    path: Path, data: str, method: str, output: Path, *, as_json: bool, target: str | None, weight: str | None,
    **reading: Any,
) -> None:  # fmt: skip
    from discrim.cli.answering import Question, without_gaps
    from discrim.cli.tables import as_path, load_model, rows_for, with_statistic

    model = with_statistic(load_model(path), path, method)
    question = Question(model, as_path(data), **reading)
    with without_gaps(question.data):
        getattr(model, method)(rows_for(question, target, weight))
    _save(model, output, as_json=as_json)


def _save(model: Any, output: Path, *, as_json: bool) -> None:
    from discrim.store import save

    # What has no rule, as after all rows of a class but one were forgotten, must not take the place of a model.
    summary = model.summary()
    save(model, output, keep_statistic=True)
    if as_json:
        write_json({"output": str(output), "model": type(model).__name__, "summary": described(summary)})
    else:
        click.echo(f"{summary}\n\nModel: {output}")
