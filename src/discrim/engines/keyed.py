"""Rows of a scan with keys, a hash of a seed and of their numbers: folds and samples that can be drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block, Reads, join
from discrim.engines.threads import Kept, RowPasses, reduce_blocks
from discrim.errors import DataError
from discrim.families.recipe import Reduction, Shape
from discrim.parallel import one_blas_thread
from discrim.sources import Design, Rows, Scan

State = TypeVar("State")
Keys = NDArray[np.uint64]

# Values of a scan that are held in memory at most, and the seed of the folds of those with more.
LARGE, SEED = 1 << 26, 0


def is_large(rows: Any) -> bool:
    """Is this a scan of more values than are held in memory, as far as is known or soon counted?"""
    if not isinstance(rows, Scan) or not rows.rereadable:
        return False
    n = rows.count() or rows.about
    return n is not None and n * len(rows.features) > LARGE


def keys_of(seed: int, start: int, count: int) -> Keys:
    """The keys of rows that follow each other: evenly spread over all numbers of 64 bits, by splitmix64."""
    with np.errstate(over="ignore"):
        z = np.arange(start, start + count, dtype=np.uint64) + np.uint64(1)
        z = z * np.uint64(0x9E3779B97F4A7C15) + mixed(np.array([seed % 2**64], dtype=np.uint64))
    return mixed(z)


def mixed(z: Keys) -> Keys:
    """The numbers with all their bits mixed."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def fold_of(keys: Keys, folds: int) -> NDArray[np.int32]:
    """The folds of rows with these keys; they do not depend on whether a row has a small key."""
    return (mixed(~keys) % np.uint64(folds)).astype(np.int32)


@dataclass(frozen=True)
class Keyed:
    """A block with the keys of its rows."""

    block: Block
    keys: Keys

    def __len__(self) -> int:
        return len(self.block)


class KeyedRows:
    """The rows of a scan with their keys, as the engine reads them.

    Of a part of rows that lie elsewhere the numbers are not known: its first row stands for where it begins.
    """

    whole = None

    def __init__(self, rows: Scan, seed: int, *, part: bool = False) -> None:
        self._rows, self._seed, self._part = rows, seed, part
        self.n_rows, self.about = rows.n_rows, rows.about

    @property
    def design(self) -> Design:
        return self._rows.design

    def pieces(self, *, after: int = 0) -> Iterator[Callable[[], Keyed]]:
        seed = self._seed
        for row, piece in self._rows.numbered_pieces(after=after):
            if self._part and row == 0:
                seed += salt_of(piece())
            yield partial(_keyed, piece, seed, row)


def salt_of(block: Block) -> int:
    """A number that another part of the rows hardly has."""
    first = np.nan_to_num(np.asarray(block.dense()[:1], dtype=np.float64))
    return int(mixed(np.frombuffer(first.tobytes(), np.uint64)).sum() >> np.uint64(1))


def _keyed(piece: Callable[[], Block], seed: int, row: int) -> Keyed:
    block = piece()
    return Keyed(block, keys_of(seed, row, len(block)))


def reduce_keyed(
    rows: Scan,
    seed: int,
    of: Callable[[Keyed], State],
    merge: Callable[[Sequence[State]], State],
    title: str,
    kept: Kept | None = None,
) -> State:
    """``of`` every block with its keys, merged in the order of the rows, wherever they are."""
    state = rows.reduced_elsewhere(partial(_of_part, seed, of, merge), merge, 8 * rows.design.n_out**2)
    if state is not None:
        return state
    with one_blas_thread():
        return _reduced(KeyedRows(rows, seed), of, merge, title, kept)


def _of_part(seed: int, of: Callable[[Keyed], State], merge: Callable[[Sequence[State]], State], part: Scan) -> State:
    return _reduced(KeyedRows(part, seed, part=True), of, merge, "reading")


def _reduced(
    rows: Any, of: Any, merge: Callable[[Sequence[State]], State], title: str, kept: Kept | None = None
) -> State:
    state: State = reduce_blocks(rows, of, merge, title=title, kept=kept)
    return state


def _in_folds(keyed: Keyed, folds: int) -> list[Block | None]:
    """The rows of a block in each fold; None where a fold has none of them."""
    fold = fold_of(keyed.keys, folds)
    order = np.argsort(fold, kind="stable")
    ends = np.searchsorted(fold[order], np.arange(folds + 1)).tolist()
    rows = keyed.block.take(order)
    return [rows.rows(start, stop) if stop > start else None for start, stop in pairwise(ends)]


def reduce_folds(
    rows: Any,
    folds: int,
    of: Callable[[Sequence[Block | None]], State],
    merge: Callable[[Sequence[State]], State],
    title: str,
    *,
    seed: int = SEED,
    kept: Kept | None = None,
) -> State:
    """``of`` the rows of every block in each fold, merged in the order of the rows; see ``Passes``."""
    return reduce_keyed(rows, seed, partial(_of_folds, folds, of), merge, title, kept)


def _of_folds(folds: int, of: Callable[[Sequence[Block | None]], State], keyed: Keyed) -> State:
    return of(_in_folds(keyed, folds))


class Outside(RowPasses):
    """Passes over the rows of a large scan that are not in one of its folds: in (fold, folds).

    A state is ``made`` as those of all rows are, and so kept where they are.
    """

    def __init__(self, rows: Rows, reads: Reads, place: tuple[int, int], made: Callable[..., Any]) -> None:
        super().__init__(rows, reads)
        self._fold, self._folds = place
        self._through = made

    @property
    def shape(self) -> Shape:
        return Shape(self.rows.design)

    @property
    def large(self) -> bool:
        return True

    def reduce(self, reduction: Reduction[State], *, title: str = "reading") -> State:
        of, merge = partial(_of_others, self._fold, self._folds, reduction), partial(_merge_met, reduction)
        rows: Any = self.rows
        state: State | None = self._through(lambda kept: reduce_keyed(rows, SEED, of, merge, title, kept))
        if state is None:
            raise DataError(f"All rows are in fold {self._fold}. Ask for fewer folds with cv.")
        return state

    def reduce_folds(
        self, folds: int, of: Callable[[Sequence[Block | None]], State], merge: Any, *, title: str = ""
    ) -> State:
        rows: Any = self.rows
        others = partial(_inner_folds, self._fold, self._folds, folds, of)
        state: State = self._through(lambda kept: reduce_keyed(rows, SEED, others, merge, title, kept))
        return state

    def outside(self, fold: int, folds: int) -> RowPasses:  # noqa: ARG002 - there are none
        raise DataError("Folds within folds of so many rows are not dealt. Give the settings as numbers.")

    def block(self) -> Block:
        raise DataError("There are too many rows to be held in memory, which these parameters need.")


def _others(fold: int, folds: int, keyed: Keyed) -> Keyed:
    kept = np.flatnonzero(fold_of(keyed.keys, folds) != fold)
    return Keyed(keyed.block.take(kept), keyed.keys[kept])


def _of_others(fold: int, folds: int, reduction: Reduction[State], keyed: Keyed) -> State | None:
    rows = _others(fold, folds, keyed).block
    return reduction.of(rows) if len(rows) else None


def _inner_folds(
    fold: int, folds: int, inner: int, of: Callable[[Sequence[Block | None]], State], keyed: Keyed
) -> State:
    """Folds of the other rows, by another hash of their keys."""
    rows = _others(fold, folds, keyed)
    return of(_in_folds(Keyed(rows.block, mixed(rows.keys ^ np.uint64(inner))), inner))


def _merge_met(reduction: Reduction[State], states: Sequence[State | None]) -> State | None:
    met = [state for state in states if state is not None]
    return reduction.merge(met) if len(met) > 1 else met[0] if met else None


@dataclass(frozen=True)
class Drawn:
    """The rows with the smallest keys, in their order, at most so many as ``wanted``; and what was met in all rows.

    ``weights`` are those of the ``classes``, ``counts`` their rows, ``gaps`` the missing values of each column.
    """

    sample: Block
    keys: Keys
    wanted: int
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    gaps: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    def thinned(self) -> Drawn:
        if len(self.keys) <= self.wanted:
            return self
        index = np.sort(np.argpartition(self.keys, self.wanted)[: self.wanted])
        return Drawn(self.sample.take(index), self.keys[index], self.wanted, self.counts, self.weights, self.gaps)


def draw(wanted: int, share: float, keyed: Keyed) -> Drawn:
    """Of one block; rows with a key above ``share`` of all keys are not kept, since enough others are."""
    block, keys, size = keyed.block, keyed.keys, len(keyed.block.classes)
    counts = np.bincount(block.codes, minlength=size)
    weights = np.bincount(block.codes, block.weight, minlength=size).astype(np.float64)
    gaps = np.isnan(block.dense()).sum(axis=0)
    chosen = np.flatnonzero(keys <= np.uint64(min(share * 2.0**64, 2.0**64 - 2049)))
    return Drawn(block.take(chosen), keys[chosen], wanted, counts, weights, gaps).thinned()


def merge_drawn(parts: Sequence[Drawn]) -> Drawn:
    """Of all rows of the parts."""
    sample = join([part.sample for part in parts])
    counts = np.zeros(len(sample.classes), dtype=np.int64)
    weights = np.zeros(len(sample.classes))
    for part in parts:
        places = np.searchsorted(sample.classes, part.sample.classes)
        counts[places] += part.counts
        weights[places] += part.weights
    gaps = np.sum([part.gaps for part in parts], axis=0)
    return Drawn(
        sample, np.concatenate([part.keys for part in parts]), parts[0].wanted, counts, weights, gaps
    ).thinned()
