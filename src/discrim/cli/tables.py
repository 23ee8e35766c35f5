"""Which columns of a file are learned from, and how: numbers and categories, or the words of a text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from discrim.errors import DataError, ParameterError, name_list
from discrim.sources import Scan, scan
from discrim.sources.design import Reader
from discrim.sources.odd_columns import odd_columns
from discrim.sources.scan import open_reader
from discrim.text import Documents, documents


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line."""

    target: str | None
    text: str | None
    features: list[str]
    without: list[str]
    weight: str | None


def open_table(data: str, wanted: Wanted, *, tell: Callable[[str], None]) -> Scan | Documents:
    """The rows of a file, or its documents; ``tell`` is called with what was decided without being asked."""
    folder = Path(data).expanduser()
    if folder.is_dir() and any(path.is_dir() and not path.name.startswith(".") for path in folder.iterdir()):
        for name, value in vars(wanted).items():
            if value:
                raise ParameterError(
                    f"--{name} is for tables; the classes of the documents in '{data}' are its folders."
                )
        return documents(folder)
    reader = open_reader(data)
    if wanted.target is None:
        names = name_list(reader.head.names, most=20)
        raise ParameterError(f"Which column holds the classes? Say --target COLUMN; there are {names}.")
    if wanted.text is not None:
        if wanted.features or wanted.without:
            raise ParameterError(
                "--text learns from the words of that column alone; leave --features and --without out."
            )
        return _words(data, wanted.text, wanted)
    _refuse_unknown(wanted.without, reader)
    if wanted.features:
        return _scan(data, [name for name in wanted.features if name not in wanted.without], wanted)
    return _guess(data, wanted, tell)


def _words(data: str, column: str, wanted: Wanted) -> Documents:
    return documents(data, text=column, target=wanted.target, weight=wanted.weight, missing="empty")


def _scan(data: str, features: list[str], wanted: Wanted) -> Scan:
    if not features:
        raise _nothing_left(data)
    return scan(data, target=wanted.target, weight=wanted.weight, features=features)


def _guess(data: str, wanted: Wanted, tell: Callable[[str], None]) -> Scan | Documents:
    """All columns that are numbers or categories; the words of a text, if there is nothing else.

    Which columns are no features ``compare`` finds out by itself, and says so.
    """
    rows = scan(data, target=wanted.target, weight=wanted.weight)
    names = [name for name in rows.features if name not in wanted.without]
    if not names:
        raise _nothing_left(data)
    rows = rows.with_features(names)
    odd = odd_columns(rows)
    texts = [column.name for column in odd if column.is_text]
    if len(odd) == len(names) and len(texts) == 1:
        tell(f"the column '{texts[0]}' holds text; the models learn from its words.")
        return _words(data, texts[0], wanted)
    for name in texts:
        tell(f"the column '{name}' holds text; --text '{name}' classifies by its words.")
    return rows


def _nothing_left(data: str) -> DataError:
    return DataError(f"There is no column left to learn from in '{data}'.")


def _refuse_unknown(without: list[str], reader: Reader) -> None:
    names = reader.head.names
    unknown = [name for name in without if name not in names]
    if unknown:
        raise ParameterError(f"--without names {name_list(unknown)}; there are {name_list(names, most=20)}.")
