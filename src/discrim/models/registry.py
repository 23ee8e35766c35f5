"""The models that a comparison tries: each public estimator enters itself where it is defined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError, plural
from discrim.typing import Codes, Index

# Rows a column below which the plain covariance is worth shrinking.
CROWDED = 20


class Facts(Protocol):
    """What is known of the rows of a comparison; ``no_numbers`` says why the columns cannot be numbers, if so."""

    @property
    def n(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def classes(self) -> NDArray[Any]: ...
    @property
    def codes(self) -> Codes: ...
    @property
    def fewest(self) -> Index:
        """The rows of each class in the training part that has the fewest of it."""

    @property
    def no_numbers(self) -> str: ...
    @property
    def dense(self) -> bool: ...
    @property
    def missing(self) -> dict[str, int]: ...
    @property
    def counts(self) -> str: ...
    @property
    def categories(self) -> tuple[str, ...]: ...
    @property
    def of_words(self) -> bool: ...
    @property
    def varied(self) -> bool:
        """Are they complete, more than the columns, and does every column vary within classes without any two folds?"""


def dense_numbers(rows: Facts) -> str:
    """Why these rows do not suit a model of dense columns."""
    if not rows.no_numbers and not rows.dense:
        large = f"{rows.n:,} x {rows.width:,} is too large to be made dense"
        return f"dense columns are needed; {'counts of words are sparse' if rows.of_words else large}"
    return any_numbers(rows)


def any_numbers(rows: Facts) -> str:
    """Why they do not suit a model of numbers, dense or sparse."""
    return f"columns of numbers are needed: {rows.no_numbers}" if rows.no_numbers else ""


def nothing(rows: Facts) -> str:  # noqa: ARG001 - whatever they are
    """They always do."""
    return ""


def common_covariance(rows: Facts) -> str:
    """Why one covariance matrix of all classes cannot be estimated."""
    degrees = rows.n - len(rows.classes)
    if rows.dense and degrees <= rows.width:
        return (
            f"{rows.n:,} rows of {len(rows.classes)} classes are too few for a covariance matrix of {rows.width:,} "
            "columns; its shrunken form is for these"
        )
    return dense_numbers(rows)


def own_covariance(rows: Facts) -> str:
    """Why a covariance matrix of every class cannot be estimated."""
    sizes, least = np.bincount(rows.codes), rows.fewest
    k = int(least.argmin())
    if rows.dense and least[k] <= rows.width:
        part = f", {least[k]:,} of them in a training part," if sizes[k] > rows.width else ""
        return (
            f"class '{rows.classes[k]}' has {plural(int(sizes[k]), 'row')}{part} for {rows.width:,} columns, too few "
            "for a covariance matrix of its own"
        )
    return dense_numbers(rows)


def counts(rows: Facts) -> str:
    """Why they do not suit a model of counts."""
    gaps = "counts without missing values are needed" if rows.missing else ""
    return any_numbers(rows) or gaps or ("" if rows.counts else "counts are needed: whole numbers of at least 0")


def zeros_and_ones(rows: Facts) -> str:
    """Why they do not suit a model of indicators; of words it asks only whether they are there."""
    gaps = "columns without missing values are needed" if rows.missing else ""
    fits = rows.counts == "binary" or rows.of_words
    return any_numbers(rows) or gaps or ("" if fits else "columns of zeros and ones are needed")


def mixed(rows: Facts) -> bool:
    return bool(rows.categories or rows.missing or rows.no_numbers)


def crowded(rows: Facts) -> bool:
    return rows.n < CROWDED * rows.width


class Size(NamedTuple):
    """So many training rows, of which so many numbers are ``stored``."""

    rows: float
    width: int
    classes: int
    stored: float
    dense: bool

    @property
    def span(self) -> float:
        """The largest dimension of the rows."""
        return min(self.rows, self.width)


class Work(NamedTuple):
    """Seconds on an ordinary core: of one ``fit`` with its predictions, and of judging a whole ``grid`` once."""

    fit: float
    grid: float = 0.0


def quick(size: Size) -> Work:
    """The work of a model that reads every number once or twice."""
    return Work(1e-3 + 1e-8 * size.stored, 2e-3 + 2e-8 * size.stored)


def cubic(fit: float, grid: float = 0.0) -> Callable[[Size], Work]:
    """The work of a model with one matrix of columns; the factors are those of the cube of its dimension."""

    def work(size: Size) -> Work:
        reading = 1e-3 + 1e-10 * size.stored * size.span
        return Work(reading + fit * size.span**3, reading + grid * size.span**3)

    return work


def by_class(size: Size) -> Work:
    """The work of a model with a matrix for each class."""
    return Work(1e-3 + 1e-10 * size.stored * size.span + 1e-9 * size.classes * size.span**3)


@dataclass(frozen=True)
class Entry:
    """One of the models of a comparison, under the ``name`` it has there.

    ``made`` are the parameters of its ``kind``, or a function that gives the model for such rows. ``tuning`` says how
    parameters are chosen inside the folds: 'grid', from the grid of the model's recipe, or by a way of its own.
    ``why_not`` says why the rows do not suit it, ``offered`` whether it is tried without being asked for, ``words``
    whether it is tried on counts of words. The table is made in the order of ``cost``;
    ``work`` estimates the seconds, by which a comparison decides beforehand what it can afford.
    """

    name: str
    kind: type
    made: Callable[[Facts], Any] | Mapping[str, Any] | None = None
    _: KW_ONLY
    cost: float
    tuning: Literal["", "grid"] = ""
    why_not: Callable[[Facts], str] = dense_numbers
    offered: Callable[[Facts], bool] = lambda _: True
    words: bool = False
    work: Callable[[Size], Work] = quick

    def make(self, rows: Facts) -> Any:
        """The model for such rows."""
        return self.made(rows) if callable(self.made) else self.kind(**(self.made or {}))


_entries: dict[str, Entry] = {}


def enter(*entries: Entry) -> None:
    """Have these models tried by every comparison that asks for no others."""
    for entry in entries:
        known = _entries.get(entry.name)
        if known is not None and known.kind.__qualname__ != entry.kind.__qualname__:
            raise ParameterError(f"There is a model called '{entry.name}' already, {known.kind.__name__}.")
        _entries[entry.name] = entry


def remove(name: str) -> None:
    """Have a model no longer tried."""
    _entries.pop(name, None)


def all_entries() -> dict[str, Entry]:
    """Every model that has entered, by name, in the order of cost; modules that were not needed yet are read first."""
    from discrim import models

    for name in dir(models):
        getattr(models, name)
    return {entry.name: entry for entry in sorted(_entries.values(), key=lambda entry: entry.cost)}
