"""CSV files: what separates their columns, and the fastest parser that is installed."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from discrim.errors import DataError, ParameterError, name_list
from discrim.sources.design import Reader, installed, need

# Bytes of a file that are looked at.
LOOK = 1 << 20
SIGNS = "\t;|"
QUOTED = re.compile('"[^"]*"')
WITH_COMMA, WITH_POINT = re.compile(r"\s*[-+]?\d+,\d+\s*"), re.compile(r"\s*[-+]?\d+\.\d+\s*")


class Dialect(NamedTuple):
    """What separates columns, and whether numbers have a decimal comma."""

    separator: str
    decimal_comma: bool = False


def open_csv(title: str, paths: Sequence[Path], sep: str | None) -> Reader:
    """By polars, else by DuckDB, else by pyarrow."""
    dialects = {path: dialect_of(path, sep) for path in paths}
    for path, dialect in dialects.items():
        _check_header(path, dialect.separator)
    if installed("polars"):
        from discrim.sources import polars_files

        return polars_files.read_csv(title, dialects)
    need("pyarrow", "Reading CSV files")
    from discrim.sources import arrow

    return (arrow.read_csv_by_duckdb if installed("duckdb") else arrow.read_csv)(title, dialects)


def is_separated(path: Path) -> bool:
    """Does a sign that separates columns stand in the first line of this text?"""
    first = QUOTED.sub("", _beginning(path).split(b"\n", 1)[0].decode("utf-8", "replace"))
    return any(sign in first for sign in f"{SIGNS},")


def like_data(names: Sequence[str]) -> str:
    """What to do where the names of columns look like values, or like several names in one; empty where they do not."""
    if 2 * sum(_is_number(name) for name in names) >= len(names):
        return " The first line looks like data: put a line with the names of the columns above it."
    if len(names) == 1 and len(names[0].split()) > 1:
        return " If these are several columns, say what separates them: sep=' ' (--sep ' ')."
    return ""


def _is_number(name: str) -> bool:
    try:
        float(name.replace(",", "."))
    except ValueError:
        return False
    return True


def _check_header(path: Path, separator: str) -> None:
    """Raise where the file is no text, or two columns have one name, which parsers would change without a word."""
    head = _beginning(path)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"'{path}' cannot be read: it is in the encoding UTF-16. Save it as UTF-8.")
    if b"\0" in head:
        line = head[: head.index(b"\0")].count(b"\n") + 1
        raise DataError(f"'{path}' cannot be read as CSV: line {line:,} has a NUL byte, as no text has.")
    names = next(csv.reader(io.StringIO(head.decode("utf-8-sig", "replace")), delimiter=separator), [])
    twice = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    if twice:
        hint = like_data(names) or " Columns are matched by name: rename all but one of each."
        raise DataError(f"The header of '{path}' has {name_list(twice)} more than once.{hint}")


def _beginning(path: Path) -> bytes:
    packed = path.name.lower().endswith(".gz")
    try:
        with (gzip.open if packed else open)(path, "rb") as file:
            return bytes(file.read(LOOK))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        what = "is cut off" if isinstance(error, EOFError) else "is no gzip file, or is damaged"
        raise DataError(f"'{path}' cannot be read: it {what}. Pack or copy it again.") from error


def ragged_line(path: Path) -> str:
    """The first line with more fields than the header, in words; empty where there is none."""
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    separator = dialect_of(path, None).separator
    with opened(path, "rt", encoding="utf-8", errors="replace", newline="") as file:
        lines = csv.reader(file, delimiter=separator)
        width = len(next(lines, []))
        for fields in lines:
            if len(fields) > width:
                return (
                    f"line {lines.line_num:,} has {len(fields)} fields, and the header has {width}. Put values that "
                    f"contain '{separator}' into double quotes, or mend the line"
                )
    return ""


def dialect_of(path: Path, sep: str | None) -> Dialect:
    """That of the first lines; a separator that was asked for is not questioned."""
    if sep is not None and (len(sep) != 1 or sep in '"\r\n'):
        raise ParameterError.bad_value("sep", sep, "a single character, such as ';'")
    lines = [QUOTED.sub("", line) for line in _beginning(path).decode("utf-8", "replace").splitlines()[:200]]
    usual = "\t" if any(suffix in (".tsv", ".tab") for suffix in path.suffixes) else ","
    first = lines[0] if lines else ""
    others = [sign for sign in SIGNS if sign in first]
    separator = sep or (max(others, key=first.count) if others and usual not in first else usual)
    if separator == ",":
        return Dialect(separator)
    fields = [field for line in lines[1:] for field in line.split(separator)]
    commas, points = (sum(bool(each.fullmatch(field)) for field in fields) for each in (WITH_COMMA, WITH_POINT))
    # A time such as 9.53 among the values of one column does not make the others text.
    return Dialect(separator, commas > points)
