"""Folds: which rows are held out together, and what is remembered of all rows but these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from discrim.block import Block
from discrim.errors import DataError, ParameterError, plural
from discrim.typing import Codes, Index

State = TypeVar("State")


@dataclass(frozen=True, eq=False)
class Folds:
    """``number`` is the fold in which each row is held out.

    ``parts`` has the training rows of each fold; None where these are all the others.
    """

    number: Codes
    parts: tuple[Index | None, ...]

    @property
    def complementary(self) -> bool:
        """Does every training part have all rows that are not held out?"""
        return all(part is None for part in self.parts)

    @property
    def one_at_a_time(self) -> bool:
        return self.complementary and len(self.parts) == len(self.number)

    def test(self, f: int) -> Index:
        return np.flatnonzero(self.number == f)

    def train(self, f: int) -> Index:
        part = self.parts[f]
        return np.flatnonzero(self.number != f) if part is None else part


def fold_numbers(cv: Any, codes: Codes, groups: Any = None) -> Folds:
    """What ``cv`` (a number of folds, 'loo' or a splitter) holds out; every row must be held out once."""
    # Takes a tenth of a second to import, and most fits do not need it.
    from sklearn.model_selection import LeaveOneOut, check_cv

    n = len(codes)
    if isinstance(cv, str) and cv != "loo":
        raise ParameterError.bad_value("cv", cv, "a number of folds, 'loo' or a splitter")
    if isinstance(cv, (str, LeaveOneOut)):
        if n < 2:
            raise DataError("Leaving one row out needs at least two rows; found 1.")
        return Folds(np.arange(n, dtype=np.int32), (None,) * n)
    try:
        splitter = check_cv(cv, y=codes, classifier=True)
        return _held_out(splitter.split(np.zeros((n, 1)), codes, groups), n)
    except ParameterError:
        raise
    except (TypeError, ValueError, IndexError) as error:
        raise ParameterError(f"The 'cv' parameter cannot split these {plural(n, 'row')}: {error}") from error


def _held_out(splits: Iterator[tuple[Any, Any]], n: int) -> Folds:
    number = np.full(n, -1, dtype=np.int32)
    parts: list[Index | None] = []
    hint = "use a splitter that holds each row out once"
    for f, (train, test) in enumerate(splits):
        if not len(train):
            raise ParameterError(f"The 'cv' parameter leaves no row to train on; {hint}.")
        others, taken = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        others[test], taken[train] = False, True
        if (number[test] >= 0).any() or others.sum() != n - len(test):
            raise ParameterError(f"The 'cv' parameter holds some rows out twice; {hint}.")
        number[test] = f
        all_others = len(train) == n - len(test) and np.array_equal(taken, others)
        parts.append(None if all_others else np.asarray(train, dtype=np.intp))
    if (number < 0).any():
        raise ParameterError(f"The 'cv' parameter never holds out {(number < 0).sum()} of the rows; {hint}.")
    return Folds(number, tuple(parts))


def of_folds(block: Block, folds: Folds, of: Callable[[Block], State]) -> list[State]:
    """``of`` the rows of each fold, all with the classes of the block."""
    return [of(block.take(folds.test(f))) for f in range(len(folds.parts))]


def of_others(parts: Sequence[State], merge: Callable[[Sequence[State]], State]) -> Iterator[State]:
    """For each part the statistic of all others, by merging from both ends: nothing is subtracted."""
    after = list(parts[-1:])
    for part in parts[-2:0:-1]:
        after.append(merge([part, after[-1]]))
    before: list[State] = []
    for part in parts:
        yield merge([*before, *after[-1:]])
        before = [merge([*before, part])]
        del after[-1:]
