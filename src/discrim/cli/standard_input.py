"""``-``: the standard input, kept in a temporary file, since most verbs read their rows more than once."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

# How files of each kind begin.
BEGINNINGS = (
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".arrow"),
    (b"\xff\xff\xff\xff", ".arrows"),
    (b"SQLite format 3", ".db"),
    (b"\x1f\x8b", ".csv.gz"),
)
LOOK = 1 << 16


def spooled() -> Path:
    """The file with what came in, of the kind that its first bytes show; it is gone when the command ends."""
    from discrim.errors import DataError

    if sys.stdin.isatty():
        raise DataError("DATA is '-', the standard input, which is a terminal here. Pipe a file into the command.")
    folder: str = click.get_current_context().with_resource(TemporaryDirectory(prefix="discrim-"))
    source = sys.stdin.buffer
    head = source.read(LOOK)
    if not head:
        raise DataError("The standard input is empty.")
    path = Path(folder, f"standard-input{_suffix(head)}")
    with path.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(source, file)
    return path


def _suffix(head: bytes) -> str:
    for beginning, suffix in BEGINNINGS:
        if head.startswith(beginning):
            return suffix
    if head.lstrip().startswith(b"{"):
        return ".jsonl"
    line = head.partition(b"\n")[0]
    return ".tsv" if b"\t" in line and b"," not in line else ".csv"
