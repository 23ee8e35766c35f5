"""Text files by polars: CSV, and JSON lines. Their columns have the types that the first rows show.

Where later rows do not go with that, as 0.5 after whole numbers, the file is read in another way from there on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from discrim.errors import DataError
from discrim.sources.csv_files import Dialect, ragged_line
from discrim.sources.design import Reader, Table
from discrim.sources.polars_table import PolarsTable, batches_of, first_line, head_of

# Rows that show the types of the columns.
INFERRED = 10_000
# What polars says of a value that does not go with them, in CSV files and in JSON lines.
PARSED = re.compile(r"could not parse `.*` as dtype `(?P<dtype>\w+)` at column '(?P<column>.*)' \(column", re.DOTALL)
FRACTION = re.compile(r"cannot parse '[^']*' \(f64\) as U?Int\d+")
STRANGE = re.compile(r"cannot parse '([^']*)' \(\w+\) as U?(Int|Float)\d+")
TYPES = {"i64": pl.Int64, "f64": pl.Float64, "bool": pl.Boolean}


def read_csv(title: str, dialects: Mapping[Path, Dialect]) -> Reader:
    """In CSV files an empty field and "NA", which R writes, are missing."""
    return _reader(title, [_CsvFile(path, dialect) for path, dialect in dialects.items()])


def read_json_lines(title: str, paths: Sequence[Path]) -> Reader:
    """One object a line; a name that a line lacks is a missing value there."""
    return _reader(title, [_JsonLines(path) for path in paths])


def _reader(title: str, files: Sequence[_TextFile]) -> Reader:
    heads: dict[str, Table] = {str(file.path): file.head() for file in files}
    return Reader(title, heads, partial(_tables, files))


def _tables(files: Sequence[_TextFile], columns: Sequence[str], batch_rows: int) -> Iterator[PolarsTable]:
    for file in files:
        yield from map(PolarsTable, file.batches(columns, batch_rows))


class _TextFile:
    """One file, and how it is read by now."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def head(self) -> PolarsTable:
        """Its columns, without rows."""
        try:
            return head_of(self.frame())
        except pl.exceptions.PolarsError as error:
            raise self.unreadable(error) from error

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
        """The batches of some columns; where a type turns out to be too narrow, the rest of them by another reading."""
        done = 0
        while True:
            skipped = done
            try:
                for batch in self.read(columns, rows):
                    rest = batch.slice(min(skipped, batch.height))
                    skipped -= batch.height - rest.height
                    if rest.height:
                        done += rest.height
                        yield self.narrowed(rest)
            except pl.exceptions.PolarsError as error:
                if not self.loosened(error):
                    raise self.unreadable(error) from error
            else:
                return

    def frame(self) -> pl.LazyFrame:
        """The file as it is read."""
        raise NotImplementedError

    def read(self, columns: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
        """All batches of these columns."""
        return batches_of(self.frame().select(list(columns)), rows)

    def narrowed(self, batch: pl.DataFrame) -> pl.DataFrame:
        """With numbers in the place of strings that are read in another way."""
        return batch

    def loosened(self, error: Exception) -> bool:
        """Is there another way to read what polars complains of? From now on it is taken."""
        raise NotImplementedError

    def unreadable(self, error: Exception) -> DataError:
        """The error in a sentence."""
        raise NotImplementedError


class _JsonLines(_TextFile):
    _fractions = False

    def frame(self) -> pl.LazyFrame:
        found = pl.scan_ndjson(self.path, infer_schema_length=INFERRED)
        if not self._fractions:
            return found
        floats = {name: pl.Float64 for name, dtype in found.collect_schema().items() if dtype.is_integer()}
        return pl.scan_ndjson(self.path, infer_schema_length=INFERRED, schema_overrides=floats)

    def loosened(self, error: Exception) -> bool:
        before, self._fractions = self._fractions, self._fractions or FRACTION.search(str(error)) is not None
        return self._fractions and not before

    def unreadable(self, error: Exception) -> DataError:
        reason = first_line(error)
        strange = STRANGE.search(reason)
        if not strange:
            reason = _broken_line(self.path) or reason
        else:
            reason = (
                f"it holds '{strange[1]}' among numbers, as the first {INFERRED:,} lines have them. Write null where a "
                "value is missing, or mend it"
            )
        return DataError.unreadable(self.path, reason)


class _CsvFile(_TextFile):
    def __init__(self, path: Path, dialect: Dialect) -> None:
        super().__init__(path)
        self._dialect = dialect
        # Has all of it been read once, and every line been seen to have no field too many?
        self._sound = False
        # Columns that are read as strings, and the types that their first rows show.
        self._loose: dict[str, Any] = {}

    def frame(self, texts: Sequence[str] = ()) -> pl.LazyFrame:
        return pl.scan_csv(
            self.path,
            separator=self._dialect.separator,
            decimal_comma=self._dialect.decimal_comma,
            infer_schema_length=INFERRED,
            schema_overrides=dict.fromkeys([*texts, *self._loose], pl.String),
            null_values=["", "NA"],
            with_column_names=_unquoted,
        )

    def read(self, columns: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
        # polars notices a line with too many fields only where it reads all columns, so the first pass over a file
        # does, the others as strings.
        if self._sound:
            yield from super().read(columns, rows)
            return
        frame = self.frame([name for name in self.frame().collect_schema() if name not in columns])
        yield from (batch.select(columns) for batch in batches_of(frame, rows))
        self._sound = True

    def loosened(self, error: Exception) -> bool:
        found = PARSED.search(str(error))
        if found is None or found["dtype"] not in TYPES or found["column"] in self._loose:
            return False
        self._loose[found["column"]] = TYPES[found["dtype"]]
        return True

    def narrowed(self, batch: pl.DataFrame) -> pl.DataFrame:
        return batch.with_columns(self._typed(batch[n], dtype) for n, dtype in self._loose.items() if n in batch)

    def _typed(self, series: pl.Series, dtype: Any) -> pl.Series:
        """Strings as this type, or as numbers with fractions."""
        plain = series.str.strip_chars()
        if self._dialect.decimal_comma:
            plain = plain.str.replace(",", ".", literal=True)
        if dtype == pl.Boolean:
            cast = plain.replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean)
        else:
            cast = plain.cast(dtype, strict=False)
            cast = cast if cast.null_count() == series.null_count() else plain.cast(pl.Float64, strict=False)
        strange = series.filter(cast.is_null() & series.is_not_null())
        if strange.is_empty():
            return cast
        what = "true and false" if dtype == pl.Boolean else "numbers"
        raise DataError.unreadable(
            self.path,
            f"the column '{series.name}' holds '{strange[0]}' among {what}, as its first {INFERRED:,} rows have them. "
            "Leave the field empty where a value is missing, or mend it",
        )

    def unreadable(self, error: Exception) -> DataError:
        reason = first_line(error)
        if "more fields" in reason:
            reason = ragged_line(self.path) or reason
        return DataError.unreadable(self.path, reason)


def _unquoted(names: list[str]) -> list[str]:
    """Names with quotes in them, which polars leaves doubled in a header, though not among the values."""
    return [name.replace('""', '"') for name in names]


def _broken_line(path: Path) -> str:
    """The first line that is no JSON, in words; empty where all are."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                json.loads(line or "null")
            except json.JSONDecodeError as error:
                return f"line {number:,} is not JSON: {error.msg} at character {error.pos + 1:,}"
    return ""
