"""``discrim evaluate``: how good a fitted model is on rows with known classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discrim.cli import options
from discrim.cli.running import note, verb
from discrim.cli.writing import described, write_json


@verb(
    "evaluate",
    "Judge a model on rows with known classes.",
    examples="""
    discrim evaluate crabs.discrim new.csv --target group
    discrim evaluate paid.discrim 'trips-2026-*.parquet' -t paid --json
    """,
)
@options.known_rows
@options.as_json
def evaluate(path: Path, data: str, *, target: str | None, weight: str | None, as_json: bool, **reading: Any) -> None:
    """Print the error of a model on DATA with its interval, confusions, log loss, and the area under the ROC curve.

    DATA has rows that the model was not fitted to, with their classes. They are read in parts, so that DATA may be
    larger than memory; of millions of rows the area under the curve is that of a sample, and a note says so.
    """
    from discrim.cli.answering import Question
    from discrim.cli.judging import judged
    from discrim.cli.tables import as_path, load_model

    found = judged(Question(load_model(path), as_path(data), **reading), target, weight)
    for sentence in found.remarks:
        note(sentence)
    if as_json:
        write_json({**found.figures, **described(found.summary)})
    else:
        click.echo(found.summary)
