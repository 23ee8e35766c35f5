"""``discrim summary``: what a model file holds."""

from __future__ import annotations

from pathlib import Path

import click

from discrim.cli import options
from discrim.cli.running import verb
from discrim.cli.writing import described, write_json


@verb(
    "summary",
    "Print the summary of a model file.",
    examples="""
    discrim summary crabs.discrim
    discrim summary crabs.discrim --json
    """,
)
@options.model_file
@options.as_json
def summary(path: Path, *, as_json: bool) -> None:
    """Print the summary of the model in a file."""
    from discrim.cli.tables import load_model

    model = load_model(path)
    found = model.summary()
    if as_json:
        write_json({"model": type(model).__name__, "classes": model.classes_, **described(found)})
    else:
        click.echo(found)
