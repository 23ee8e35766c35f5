"""``discrim explain``: what each column contributes to the answer for one row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discrim.cli import options
from discrim.cli.running import verb
from discrim.cli.writing import described, write_json


@verb(
    "explain",
    "Print what each column contributes to an answer.",
    examples="""
    discrim explain crabs.discrim new.csv --row 3
    discrim explain crabs.discrim new.csv --row 3 --json
    """,
)
@options.model_file
@options.data
@options.text
@options.types
@options.sep
@click.option("--row", type=click.IntRange(1), metavar="N", required=True, help="Which row; the first one is 1.")
@options.as_json
def explain(path: Path, data: str, *, row: int, as_json: bool, **reading: Any) -> None:
    """Print what each column of a row of DATA contributes to its classification.

    The contributions and a constant sum to the log odds of the most probable class against the next one. Linear and
    quadratic rules and naive Bayes are such sums; a product of two columns counts half for each. A linear rule counts
    from the mean of the rows that it was fitted to, where the model knows it, a quadratic one from the mean of each
    class; an online learner counts from zero. Of a text the words are listed.
    """
    from discrim.cli.answering import Question
    from discrim.cli.explaining import explained
    from discrim.cli.tables import as_path, load_model

    found: Any = explained(Question(load_model(path), as_path(data), **reading), row)
    if as_json:
        write_json(described(found))
    else:
        click.echo(found)
