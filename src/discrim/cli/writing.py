"""What a verb found, written as JSON, as text, or to a file."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import click


def write_json(found: Any) -> None:
    """Print one JSON value. NaN is null, and infinite numbers are the strings "inf" and "-inf"."""
    click.echo(json.dumps(_plain(found), indent=2, ensure_ascii=False, allow_nan=False))


def described(summary: Any) -> dict[str, Any]:
    """A printed summary as its title, facts and tables."""
    tables = [
        {
            "title": table.title,
            "rows": list(map(str, table.index)),
            "columns": list(map(str, table.columns)),
            "values": [list(row) for row in table.values],
        }
        for table in summary.tables
    ]
    return {"title": summary.title, "facts": dict(summary.facts), "tables": tables}


def _plain(value: Any) -> Any:
    """As JSON has it: arrays are lists, numbers of NumPy are Python's."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def rows_of_text(rows: Sequence[Sequence[str]]) -> str:
    """A small table: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in rows
    )


def write_text(text: str, output: Path | None) -> None:
    """Write to the standard output, or to a file that appears when it is complete."""
    if output is None:
        click.echo(text, nl=False)
        return
    with replaced(output) as path:
        path.write_text(text, encoding="utf-8")


@contextmanager
def replaced(output: Path) -> Iterator[Path]:
    """The name of a new file beside ``output``, which takes its place at the end; where that fails, nothing stays."""
    with NamedTemporaryFile(dir=output.parent, prefix=f".{output.name}.", delete=False) as file:
        path = Path(file.name)
    try:
        yield path
        mask = os.umask(0)
        os.umask(mask)
        path.chmod(0o666 & ~mask)
        path.replace(output)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(output)  # as where a disk is full
        raise
