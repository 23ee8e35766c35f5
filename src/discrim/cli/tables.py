"""Which columns of a file are learned from, and how: numbers and categories, or the words of a text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from discrim.errors import ParameterError, name_list
from discrim.sources import Scan, scan
from discrim.sources.odd_columns import odd_columns
from discrim.sources.scan import open_reader
from discrim.text import Documents, documents


def open_table(data: str, *, note: Callable[[str], None], **options: Any) -> Scan | Documents:
    """The rows of a file, or its documents.

    ``options`` are those of the command: target, text, features, without and weight. ``note`` is called with what was
    decided without being asked for.
    """
    folder = Path(data).expanduser()
    if folder.is_dir() and any(path.is_dir() and not path.name.startswith(".") for path in folder.iterdir()):
        for name, value in options.items():
            if value:
                raise ParameterError(
                    f"--{name} is for tables; the classes of the documents in '{data}' are its folders."
                )
        return documents(folder)
    names = open_reader(data).head.names
    text, features, without = options["text"], options["features"], options["without"]
    columns = {"target": options["target"], "weight": options["weight"]}
    if columns["target"] is None:
        raise ParameterError(
            f"Which column holds the classes? Pass --target COLUMN; the columns are {name_list(names, most=20)}."
        )
    if text is not None:
        if features or without:
            raise ParameterError("--text learns from the words of that column alone; omit --features and --without.")
        return documents(data, text=text, missing="empty", **columns)
    rows = scan(data, features=features or None, without=without, **columns)
    return rows if features else _words_or_columns(data, rows, note, columns)


def _words_or_columns(data: str, rows: Scan, note: Callable[[str], None], columns: dict[str, Any]) -> Scan | Documents:
    """The words of a text if there is nothing else; ``compare`` finds and reports columns that are no features."""
    odd = odd_columns(rows)
    texts = [column.name for column in odd if column.is_text]
    if len(odd) == len(rows.features) and len(texts) == 1:
        note(f"the column '{texts[0]}' holds text; the models learn from its words.")
        return documents(data, text=texts[0], missing="empty", **columns)
    for name in texts:
        note(f"the column '{name}' holds text; --text '{name}' classifies by its words.")
    return rows
