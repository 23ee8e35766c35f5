"""``discrim export``: a model for programs that do not have discrim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discrim.cli import options
from discrim.cli.running import verb
from discrim.cli.writing import replaced, write_json

# The forms, and the options that each of them takes.
FORMS = {"onnx": {"dtype"}, "sql": {"table", "dialect", "keep"}, "c": {"name"}, "python": set[str]()}


@verb(
    "export",
    "Write a model as ONNX, SQL, C or Python.",
    examples="""
    discrim export crabs.discrim --to onnx -o crabs.onnx
    discrim export crabs.discrim --to sql --table crabs --dialect postgres
    discrim export crabs.discrim --to sql --table orders --keep id -o score.sql
    discrim export crabs.discrim --to c --name crabs -o crabs.c
    discrim export crabs.discrim --to python -o crabs.py
    """,
)
@options.model_file
@click.option("--to", "form", type=click.Choice(list(FORMS)), required=True, help="What to write.")
@options.to_file("-o", "--output", text="The file to write; without it, the terminal.")
@click.option("--table", metavar="NAME", help="For sql: the table whose rows are scored.")
@click.option("--dialect", type=click.Choice(["duckdb", "postgres", "sqlite"]), help="For sql; duckdb if not given.")
@options.columns("--keep", "For sql: columns to copy to the answer.")
@click.option("--dtype", type=click.Choice(["float64", "float32"]), help="For onnx; float64 if not given.")
@click.option("--name", metavar="NAME", help="For c: what the names of functions begin with.")
@options.as_json
def export(path: Path, *, form: str, output: Path | None, as_json: bool, **details: Any) -> None:
    """Write a model as ONNX, SQL, C99, or Python without any dependency.

    Each is one file that gives the classes and posteriors of MODEL, to rounding.
    """
    given = {name: value for name, value in details.items() if value}
    for name in given:
        if name not in FORMS[form]:
            raise click.UsageError(f"--{name} is not for --to {form}.")
    if form == "sql" and "table" not in given:
        raise click.UsageError("--to sql needs the name of a table: --table NAME.")
    if form == "onnx" and output is None:
        raise click.UsageError("--to onnx needs a file to write: -o FILE.")
    from discrim.cli.tables import load_model
    from discrim.exports import export as exported

    made: str | bytes = exported(load_model(path), form, **given)
    content = made if isinstance(made, bytes) else made.encode()
    if output is not None:
        with replaced(output) as beside:
            beside.write_bytes(content)
    if as_json:
        text = {} if output is not None or isinstance(made, bytes) else {"text": made}
        write_json({"to": form, "output": None if output is None else str(output), "bytes": len(content), **text})
    elif output is not None:
        click.echo(f"{form}: {output}")
    else:
        click.echo(made)
