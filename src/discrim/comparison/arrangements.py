"""Folds in other arrangements: in the order of time, so that the past predicts the future; and dealt several times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.comparison.compared_rows import ComparedRows
from discrim.comparison.folds import Dealer, code_times, how_dealt, make_folds
from discrim.errors import DataError, ParameterError
from discrim.statistics.folds import Folds
from discrim.typing import Index


def in_order_of_time(rows: ComparedRows, cv: Any) -> ComparedRows:
    """The same rows, in folds of later and later ones, each predicted by models of all earlier rows.

    Rows of one time stay together. The first part, of two classes at least, is only learned from. Settings are tuned by
    folds of the training rows that are stretches of time.
    """
    if rows.time is None:
        return rows
    if rows.dealer.grouped:
        raise ParameterError("Give groups= or time=, not both; rows of one time stay together anyway.")
    if not isinstance(cv, (int, np.integer)) or isinstance(cv, bool):
        raise ParameterError.bad_value("cv", cv, "a number of folds where time= orders them")
    if cv < 2:
        raise ParameterError.bad_value("cv", cv, "at least 2 folds")
    at = code_times(rows.time, rows.n)
    number = _stretches(at, rows.codes, int(cv))
    folds = Folds(number, tuple(np.flatnonzero(at < at[number == f].min()) for f in range(int(number.max()) + 1)))
    first = int((number < 0).sum())
    fewer = "" if len(folds.parts) == cv else f" There are {len(folds.parts)} folds instead of {cv}."
    said = (
        f"The {first:,} earliest of {rows.n:,} rows are only learned from and never held out: they are in no figure, "
        f"and every other row is predicted by models of earlier rows.{fewer}"
    )
    dealer = Dealer(rows.codes, None, None, rows.dealer.seed, at)
    return replace(rows, folds=folds, dealer=dealer, dealt="in the order of time", remarks=(*rows.remarks, said))


def _stretches(at: Index, codes: NDArray[Any], folds: int) -> NDArray[np.int32]:
    """The fold of each row, -1 for those before the first: about as many rows in each, and no time in two of them."""
    upto = np.cumsum(np.bincount(at))
    part = np.minimum((upto - 1) * (folds + 1) // upto[-1], folds)[at]
    # The first models have to know two classes.
    both = int(np.sort([at[codes == k].min() for k in np.unique(codes)])[1])
    part[at <= both] = np.minimum(part[at <= both], part.min())
    kept = np.unique(part)
    if len(kept) < 2:
        raise DataError("No fold is left in the order of time: all rows before the last time are of one class.")
    return np.asarray(np.searchsorted(kept, part) - 1, dtype=np.int32)


def repeated(rows: ComparedRows, cv: Any, repeats: Any) -> list[ComparedRows]:
    """The same rows, dealt again with other seeds: as many as there are further repeats."""
    if not isinstance(repeats, (int, np.integer)) or isinstance(repeats, bool) or repeats < 1:
        raise ParameterError.bad_value("repeats", repeats, "a whole number of at least 1")
    if repeats == 1:
        return []
    if not isinstance(cv, (int, np.integer)) or rows.dealer.times is not None:
        raise ParameterError(
            f"The 'repeats' parameter is {repeats}, which needs folds that can be dealt again: give cv as a number, "
            "and no time=."
        )
    found, seed = list[ComparedRows](), rows.dealer.seed
    for r in range(1, int(repeats)):
        dealer = replace(rows.dealer, seed=seed + 7919 * r if isinstance(seed, (int, np.integer)) else seed)
        folds, _ = make_folds(cv, dealer, rows.classes, None)
        found.append(replace(rows, folds=folds, dealer=dealer, dealt=how_dealt(cv, dealer)))
    return found


def how_often(repeats: int, dealt: str) -> str:
    """How folds were dealt, in words."""
    return dealt if repeats == 1 else f"{dealt}, {repeats} times with other seeds; figures are means over these"


def only_held_out(rows: ComparedRows) -> tuple[ComparedRows, Index | None]:
    """The rows that were held out, with all classes, and their places; None where that is every row."""
    held = np.flatnonzero(rows.folds.number >= 0)
    if len(held) == rows.n:
        return rows, None
    data = replace(
        rows.data, x=rows.data.x[held], codes=rows.data.codes[held],
        weight=None if rows.data.weight is None else rows.data.weight[held],
    )  # fmt: skip
    folds = Folds(rows.folds.number[held], rows.folds.parts)
    return replace(rows, data=data, folds=folds, dealer=rows.dealer.take(held)), held
