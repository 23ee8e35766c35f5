"""What the columns of a table are, and what is done with them: by what they hold, or as the user says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discrim.comparison.column_kinds import LeftOut, summed_up
from discrim.comparison.prepared import column_names, leave_out, no_value, without_columns, without_odd_columns
from discrim.errors import DataError, ParameterError, name_list, plural
from discrim.sources import Scan
from discrim.sources.design import as_table
from discrim.sources.odd_columns import with_numbers
from discrim.sources.reading import NO_READING, RARE, Reading, grouped_levels, reading_of
from discrim.sources.text_columns import alike, counted_texts, marks_of_gaps, with_commas

Missing = Literal["impute", "drop", "error"]
# Levels that a category keeps: of more, the most frequent that have a few rows each; the most that all categories have
# room for together.
MOST_LEVELS, FEWEST_ROWS, ROOM = (200, 150, 100, 60, 30), 5, 300
# Classes that are many for numbers, and the rows that each of them has at least where they are classes all the same.
MANY_CLASSES, VERY_MANY, ROWS_A_CLASS = 20, 100, 10
# What a target looks like that holds these.
LOOKS = {"dates": "date", "texts": "name"}


@dataclass(frozen=True)
class Wanted:
    """What the user says of the columns."""

    missing: Missing = "impute"
    types: Mapping[str, str] = field(default_factory=dict)
    without: Sequence[str] = ()
    positive: Any = None

    def __post_init__(self) -> None:
        if self.missing not in ("impute", "drop", "error"):
            raise ParameterError.bad_value("missing", self.missing, "'impute', 'drop' or 'error'")
        if isinstance(self.without, str):
            raise ParameterError.bad_value("without", self.without, "a list of column names")
        if not isinstance(self.types, Mapping):
            raise ParameterError.bad_value(
                "types", self.types, "a dictionary of column names to 'number' or 'category'"
            )


NOTHING = Wanted()


@dataclass(frozen=True)
class Decided:
    """``X`` without the columns that are ``left_out``, names with a sentence each, and read as ``reading`` says.

    ``why`` has a sentence on some of the others, by name.
    """

    X: Any
    reading: Reading = NO_READING
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    why: dict[str, str] = field(default_factory=dict)


def decide(X: Any, wanted: Wanted, beside: Mapping[str, str] = MappingProxyType({})) -> Decided:
    """Columns are left out, strings read as numbers, and rare levels put together.

    Those ``beside`` the features are left out too, with these sentences.
    """
    names = column_names(X)
    lacking = [name for name in wanted.without if name not in names]
    if lacking:
        raise ParameterError(f"without names {name_list(lacking)}; the columns are {name_list(names, most=20)}.")
    asked = {name: LeftOut("not asked", f"Column '{name}' is left out, as asked for.") for name in wanted.without}
    asked |= {name: LeftOut("groups or times", sentence) for name, sentence in beside.items()}
    named = isinstance(X, Scan) or as_table(X) is not None
    if not named:
        # Names of the columns of an array are their places, which all have to be known at once.
        asked = {**without_odd_columns(X)[1], **asked}
    gone = [name for name in asked if name in names]
    if gone and len(gone) < len(names):
        X = leave_out(X, gone)
    elif gone:
        raise ParameterError("without names every column; there is none left to learn from.")
    reading, X = _as_typed(X, wanted.types)
    X, numbers = with_numbers(X, set(wanted.types))
    reading |= Reading(frozenset(numbers))
    X, odd = without_odd_columns(X, set(wanted.types)) if named else (X, {})
    X, known, levels, empty = _with_known_levels(X, set(wanted.types))
    if empty:
        odd |= no_value(empty)
        X = without_columns(X, {name: odd[name] for name in empty})
    as_asked = {name: f"Read as a {kind}, as asked for." for name, kind in wanted.types.items()}
    said = {**numbers, **levels}
    return Decided(X, reading | known, {**asked, **odd}, tuple(summed_up(said)), {**as_asked, **said})


def _as_typed(X: Any, types: Mapping[str, str]) -> tuple[Reading, Any]:
    if not types:
        return NO_READING, X
    if isinstance(X, Scan):
        reading = X.reading_of(types)
        return reading, X.read_as(reading)
    table = as_table(X)
    if table is None:
        raise ParameterError("types is for columns of tables; this array has numbers only. Pass a data frame.")
    reading = reading_of(table, types, table.names)
    return reading, reading.apply(X)


def _with_known_levels(X: Any, typed: Collection[str]) -> tuple[Any, Reading, dict[str, str], list[str]]:
    """Categories without the levels that mark a missing value; of many levels the most frequent, and one of all others.

    In columns that are ``typed`` by the user nothing marks a missing value. The last of the answer are columns without
    any value.
    """
    levels, said, empty = dict[str, tuple[Any, ...]](), dict[str, str](), list[str]()
    met = list[tuple[str, list[Any], NDArray[np.intp], dict[Any, int], str]]()
    for name, values, times in _categories(X):
        if not values:
            empty.append(name)
            continue
        gaps = {} if name in typed else marks_of_gaps(values, times)
        more = ("" if name in typed else with_commas(values)) + _of_alike(values)
        known = [i for i, value in enumerate(values) if value not in gaps]
        met.append((name, [values[i] for i in known], times[known], gaps, more))
    most = _most_levels([times for _, _, times, _, _ in met])
    for name, values, times, gaps, more in met:
        grouped = grouped_levels(values, times, most, FEWEST_ROWS) if len(values) > MOST_LEVELS[-1] else None
        if not gaps and grouped is None:
            if more:
                said[name] = f"Column '{name}' is read as a category.{more}"
            continue
        parts = [_of_marks(name, gaps)] * bool(gaps)
        if grouped is None:
            levels[name] = tuple(sorted(values, key=str))
        else:
            levels[name] = grouped
            rare = int(times.sum() - sum(t for v, t in zip(values, times, strict=True) if str(v) in grouped))
            parts.append(f"Column '{name}' has {len(values):,} levels: {_of_levels(len(grouped) - 1, rare)}")
        said[name] = " ".join(parts) + more
    reading = Reading(levels=levels)
    if not levels:
        return X, reading, said, empty
    return (X.read_as(reading) if isinstance(X, Scan) else reading.apply(X)), reading, said, empty


def _of_alike(values: Sequence[Any]) -> str:
    """Levels that may be one."""
    pairs = [" and ".join(f"'{value}'" for value in same) for same in alike(values)]
    return f" Its levels {', '.join(pairs[:2])} differ in spaces or capitals alone: they may be one." if pairs else ""


def _most_levels(categories: Sequence[NDArray[np.intp]]) -> int:
    """How many levels a category may keep, by how often those of each are met."""
    often = [int((times >= FEWEST_ROWS).sum()) for times in categories]
    enough = (most for most in MOST_LEVELS if sum(min(count, most) for count in often) <= ROOM)
    return next(enough, MOST_LEVELS[-1])


def _of_levels(kept: int, rare: int) -> str:
    """What became of them."""
    if not kept:
        return f"none has {FEWEST_ROWS} rows, and all are one level, '{RARE}'."
    those = "the most frequent is kept" if kept == 1 else f"the {kept} most frequent are kept"
    return f"{those}, and the others ({rare:,} {'row' if rare == 1 else 'rows'}) are one level, '{RARE}'."


def _of_marks(name: str, gaps: Mapping[Any, int]) -> str:
    shown = " and ".join(f"'{mark}' ({plural(count, 'row')})" for mark, count in gaps.items())
    return f"Column '{name}': {shown} {'counts' if len(gaps) == 1 else 'count'} as missing; types= makes it a level."


def _categories(X: Any) -> Iterable[tuple[str, list[Any], Any]]:
    """The columns of text, with their values and how often each is met."""
    if not isinstance(X, Scan):
        table = as_table(X)
        for name in [] if table is None or not table.n_rows else table.names:
            met = counted_texts(table, name, table.n_rows) if table is not None else None
            if met is not None:
                yield name, *met
        return
    names = X.texts if X.rereadable else []
    counts: dict[str, dict[Any, int]] = {name: {} for name in names}
    for part in X.tables(names) if names else ():
        for name in names:
            for value, times in zip(*(counted_texts(part, name, part.n_rows) or ((), ())), strict=True):
                counts[name][value] = counts[name].get(value, 0) + int(times)
    for name, found in counts.items():
        yield name, list(found), np.array(list(found.values()), dtype=np.intp)


def question_target(y: Any, classes: Any, n: int, X: Any) -> None:
    """Refuse labels that look like measurements, dates or names."""
    k, kind = len(classes), getattr(classes, "dtype", np.dtype(object)).kind
    if k <= MANY_CLASSES:
        return
    if kind in "OSU" and 2 * k > n:
        raise not_classes(y, X, f"{k:,} different texts in {n:,} rows")
    if kind not in "iufM":
        return
    whole = kind in "iu" or (kind == "f" and bool((classes == np.floor(classes)).all()))
    rows = n / k
    if whole and rows >= (ROWS_A_CLASS if k <= VERY_MANY else 5 * ROWS_A_CLASS):
        return
    raise not_classes(y, X, f"{k:,} different {'dates' if kind == 'M' else 'numbers'} in {n:,} rows")


def not_classes(y: Any, X: Any, held: str) -> DataError:
    """The error for labels that are measurements or dates, with the columns that may have been meant."""
    what = next((what for word, what in LOOKS.items() if word in held), "number")
    name = getattr(X, "target", None) or getattr(y, "name", None)
    close = [name for name, values, _ in _categories(X) if 2 <= len(values) <= MANY_CLASSES]
    meant = f" Did you mean {' or '.join(repr(other) for other in close[:3])}?" if close else ""
    looks = f"The target{f' {name!r}' if name else ''} holds {held}: it looks like a {what}, not like classes.{meant}"
    if "texts" in held:
        return DataError(f"{looks} Classes that few rows share cannot be learned: put them together first.")
    return DataError(
        f"{looks} To predict a range, cut it into classes first, with pandas.cut for example; if these are the "
        "classes, convert them to strings."
    )


def refused_gaps(missing: Mapping[str, int]) -> DataError:
    """The error for missing values that the user wants to know of."""
    names = [f"'{name}' ({count:,})" for name, count in missing.items()]
    more = f" and {len(names) - 5} more columns" if len(names) > 5 else ""
    return DataError(
        f"Values are missing in {', '.join(names[:5])}{more}. missing='impute' (--missing impute) fills them in, "
        "missing='drop' (--missing drop) leaves out the rows."
    )


def positive_of(classes: Any, positive: Any) -> Any:
    """The class of interest of two, or None."""
    if positive is None:
        return None
    labels = classes.tolist()
    if len(labels) != 2:
        raise ParameterError(f"positive names the class of interest of two; y has {len(labels)} classes.")
    match = [label for label in labels if label == positive or str(label) == str(positive)]
    if not match:
        raise ParameterError(
            f"positive (--positive) names {positive!r}, which is none of the classes {name_list(labels)}."
        )
    return match[0]
