"""Which columns of a file are learned from, and how: numbers and categories, or the words of a text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from discrim.errors import DataError, ParameterError, name_list
from discrim.sources import Scan, scan
from discrim.sources.readers import Reader, open_reader
from discrim.sources.table import refuse_duplicates
from discrim.text import Documents, documents

# Rows that are looked at to tell text from categories.
FIRST_ROWS = 1000
# Fewer rows tell nothing of how many values there are.
FEWEST_ROWS = 20
# Words that the values of a text have on average; a name or a code has fewer.
TEXT_WORDS = 3.0


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line."""

    target: str | None
    text: str | None
    features: list[str]
    without: list[str]
    weight: str | None


class Odd(NamedTuple):
    """A column that is no category, and why."""

    name: str
    why: str
    is_text: bool = False


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
        names = name_list(reader.parts[0].head.names, most=20)
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
    return _guess(data, reader, wanted, tell)


def _words(data: str, column: str, wanted: Wanted) -> Documents:
    return documents(data, text=column, target=wanted.target, weight=wanted.weight, missing="empty")


def _scan(data: str, features: list[str], wanted: Wanted) -> Scan:
    if not features:
        raise DataError(f"There is no column left to learn from in '{data}'.")
    return scan(data, target=wanted.target, weight=wanted.weight, features=features)


def _guess(data: str, reader: Reader, wanted: Wanted, tell: Callable[[str], None]) -> Scan | Documents:
    """All columns that are numbers or categories; the words of a text, if there is nothing else."""
    head = reader.parts[0].head
    refuse_duplicates(head.names)
    besides = {wanted.target, wanted.weight, *head.index_names, *wanted.without}
    names = [name for name in head.names if name not in besides]
    odd = _odd_columns(reader, names)
    left = [name for name in names if name not in {column.name for column in odd}]
    texts = [column.name for column in odd if column.is_text]
    if not left and len(texts) == 1:
        tell(f"the column '{texts[0]}' holds text; the models learn from its words.")
        return _words(data, texts[0], wanted)
    rows = _scan(data, left, wanted)
    for column in odd:
        how = f"; --text '{column.name}' classifies by its words" if column.is_text else ""
        tell(f"the column '{column.name}' was left out: {column.why}{how}.")
    return rows


def _refuse_unknown(without: list[str], reader: Reader) -> None:
    names = reader.parts[0].head.names
    unknown = [name for name in without if name not in names]
    if unknown:
        raise ParameterError(f"--without names {name_list(unknown)}; there are {name_list(names, most=20)}.")


def _odd_columns(reader: Reader, names: list[str]) -> list[Odd]:
    head, texts, found = reader.parts[0].head, [], []
    for name in names:
        try:
            if head.kind(name) == "text":
                texts.append(name)
        except DataError:
            found.append(Odd(name, "it holds neither numbers nor categories"))
    table = next(iter(reader.tables(texts, FIRST_ROWS)), None) if texts else None
    if table is None or table.n_rows < FEWEST_ROWS:
        return found
    n = min(table.n_rows, FIRST_ROWS)
    for name in texts:
        values, codes = table.texts(name, 0, n)
        met = [str(values[code]) for code in set(codes.tolist()) if code >= 0]
        if 2 * len(met) > n:
            is_text = sum(len(value.split()) for value in met) >= TEXT_WORDS * len(met)
            found.append(Odd(name, _why_odd(met), is_text))
    return found


def _why_odd(values: list[str]) -> str:
    """Of a column of strings with few of each kind: numbers among which something else has got."""
    strange = [value for value in values if not _is_number(value)]
    if 2 * len(strange) > len(values):
        return "most rows have a value of their own"
    return f"its values are numbers, but not {name_list(sorted(strange))}"


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
