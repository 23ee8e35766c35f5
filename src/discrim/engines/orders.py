"""In which order rows are read that are learned one after another: in memory, and from a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from threading import local
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from discrim import kernels
from discrim.block import Block, join
from discrim.errors import DataError
from discrim.families.sequence import STEP_NUMBERS, Visits, entries_per_row

Shuffle = bool | Literal["rows", "blocks"]

LARGEST = np.iinfo(np.int32).max
# Rows below which blocks of them are too few to be mixed; so many times as many, and an order is worth a thread; bytes
# that no cache holds.
MANY, COSTLY = 10_000, 5
LARGE = 64_000_000
# Neighbours of a block, and blocks that are read side by side.
BLOCK, STREAMS = 16, 128
# Neighbours that stay together when rows are gathered into larger blocks.
RUN = 8
# Numbers that the buffer holds: 64 MB.
BUFFER_NUMBERS = 8_000_000
# Rows that leave the buffer at once when nothing more comes.
LAST_ROWS = 65_536


class Order(ABC):
    """The rows of one epoch after another."""

    @abstractmethod
    def epoch(self) -> Iterator[Visits]:
        """All rows once, in parts."""

    @property
    def costly(self) -> bool:
        """Does it take so long to make the order of an epoch that another thread should do it meanwhile?"""
        return False

    def prepare(self) -> None:
        """Make the order of the next epoch now."""
        raise NotImplementedError

    def end(self) -> None:  # noqa: B027 - most keep nothing
        """There is no further epoch: what is kept of the order can go."""


class Parts(Order):
    """Blocks as they come, each in turn; ``blocks`` begins anew for every epoch."""

    def __init__(self, blocks: Callable[[], Iterator[Block]]) -> None:
        self._blocks = blocks

    def epoch(self) -> Iterator[Visits]:
        return map(Visits.of, self._blocks())


class InMemory(Order):
    """Rows of one block: in turn without a ``seed``, else in a new order for every epoch.

    ``woven``: blocks of neighbours are shuffled instead of rows, see ``weave``. ``kept`` marks rows that are learned
    from, where not all are.
    """

    def __init__(
        self, block: Block, seed: int | None = None, *, woven: bool = False, kept: NDArray[np.bool_] | None = None
    ) -> None:
        self._block, self._seed, self._woven, self._kept = block, seed, woven, kept
        self._in_turn = seed is None and kept is None
        # Made when it is asked for: with a thousand classes there are a thousand orders, each as long as the rows.
        self._order: NDArray[np.int32] | None = None
        self._ready: Visits | None = None

    def epoch(self) -> Iterator[Visits]:
        visits, self._ready = self._ready or self._visits(), None
        return visits.parts(max(STEP_NUMBERS // entries_per_row(self._block.x), 1))

    @property
    def costly(self) -> bool:
        return not self._in_turn and len(self._block) >= COSTLY * MANY

    def prepare(self) -> None:
        self._ready = self._visits()

    def end(self) -> None:
        self._order = self._ready = None

    def _visits(self) -> Visits:
        return Visits.of(self._block, self._next())

    def _next(self) -> NDArray[np.int32] | None:
        if self._in_turn:
            return None
        if self._order is None:
            count = -(-len(self._block) // (BLOCK * STREAMS)) * STREAMS if self._woven else len(self._block)
            self._order = np.arange(count, dtype=np.int32)
        elif self._seed is not None:
            # The order before may still be in use.
            self._order = self._order.copy()
        if self._seed is not None:
            kernels.shuffle(self._order, self._seed)
        order = weave(self._order, len(self._block)) if self._woven else self._order
        return order if self._kept is None else order[self._kept[order]]


class Permuted(Order):
    """Rows of a block, ``size`` at a time (None: all), in a new permutation every epoch; in turn without ``rng``."""

    def __init__(
        self, blocks: Callable[[], Iterable[Block]], rng: np.random.Generator | None, size: int | None = None
    ) -> None:
        self._blocks, self._rng, self._size = blocks, rng, size or LARGEST

    def epoch(self) -> Iterator[Visits]:
        for block in filter(len, self._blocks()):
            order = None if self._rng is None else self._rng.permutation(len(block))
            yield from Visits.of(block, order).parts(self._size)


def weave(blocks: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Rows 0 to n - 1 in the order of their blocks, ``STREAMS`` of these at a time, a row of each in turn.

    Each block is read forwards, as fast as rows in turn are: a processor fetches ahead what it sees being read in
    order, from several places at once. Rows that come one after the other are from places far apart, also where rows
    are sorted. There are as many ``blocks`` as whole rounds need; what lies beyond the last row is left out.
    """
    rounds = blocks.reshape(-1, 1, STREAMS) * np.int32(BLOCK) + np.arange(BLOCK, dtype=np.int32)[:, None]
    order = rounds.ravel()
    return order[order < n]


def in_blocks(block: Block, shuffle: Shuffle, *, ours: bool) -> bool:
    """Are blocks of rows shuffled, not single rows?

    Nothing is gained with rows in cache; there scikit-learn's order is kept, unless the model is of our own make.
    """
    if len(block) <= MANY or shuffle in (False, "rows"):
        return False
    x: Any = block.x
    n_bytes = x.data.nbytes + x.indices.nbytes if hasattr(x, "indptr") else x.nbytes
    return shuffle == "blocks" or ours or n_bytes > LARGE


def row_seeds(random_state: Any, problems: int) -> list[int]:
    """The seeds of the orders in which scikit-learn's SGD reads the rows, one for each problem."""
    whole = isinstance(random_state, int | np.integer)
    rng = _seeded(int(random_state)) if whole else as_random_state(random_state)
    if problems == 1:
        return [_second_draw(rng)]
    return [_second_draw(_seeded(seed)) for seed in rng.randint(LARGEST, size=problems).tolist()]


class _Spare(local):
    """A generator of each thread, to be seeded anew: making another costs a hundred times as much."""

    def __init__(self) -> None:
        self.generator = np.random.RandomState(0)


_spare = _Spare()


def _seeded(seed: int) -> np.random.RandomState:
    """What ``RandomState(seed)`` draws, until it is called again."""
    generator = _spare.generator
    generator.seed(seed)
    return generator


def _second_draw(rng: np.random.RandomState) -> int:
    rng.randint(1, LARGEST)
    return int(rng.randint(LARGEST))


def as_random_state(random_state: Any) -> np.random.RandomState:
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(LARGEST))
    state: np.random.RandomState = check_random_state(random_state)
    return state


def held_out_rows(block: Block, fraction: float, random_state: Any) -> NDArray[np.bool_]:
    """The rows on which early stopping looks: a random part of every class."""
    from sklearn.model_selection import StratifiedShuffleSplit

    if isinstance(random_state, np.random.Generator):
        random_state = as_random_state(random_state)
    split = StratifiedShuffleSplit(test_size=fraction, random_state=random_state)
    _, held = next(split.split(np.zeros((len(block), 1)), block.codes))
    if block.weight is not None and not block.weight[held].any():
        raise DataError(
            "The sample weights for validation set are all zero, consider using a different random state: "
            "early stopping looks at rows that were drawn with this one."
        )
    mask = np.zeros(len(block), dtype=bool)
    mask[held] = True
    return mask


def in_runs(block: Block, size: int, rng: np.random.RandomState | None) -> Iterator[Block]:
    """``size`` rows at a time, runs of neighbours in random order; in turn without ``rng``."""
    n = len(block)
    if rng is None:
        for start in range(0, n, size):
            yield block.rows(start, min(start + size, n))
        return
    order = np.add.outer(rng.permutation(-(-n // RUN)) * RUN, np.arange(RUN)).ravel()
    order = order[order < n]
    for start in range(0, n, size):
        yield block.take(order[start : start + size])


def gathered(parts: Iterator[Block], size_of: Callable[[Any], int]) -> Iterator[Block]:
    """Dense blocks of any length as blocks of about ``size_of(x)`` rows."""
    held: list[Block] = []
    for part in parts:
        held.append(part)
        if sum(map(len, held)) >= size_of(part.x):
            yield from _cut(join(held), size_of(part.x))
            held = []
    if held:
        yield from _cut(join(held), size_of(held[0].x))


def _cut(block: Block, size: int) -> Iterator[Block]:
    pieces = max(round(len(block) / size), 1)
    for i in range(pieces):
        yield block.rows(len(block) * i // pieces, len(block) * (i + 1) // pieces)


def shuffled(parts: Iterator[Block], rng: np.random.RandomState, numbers: int = BUFFER_NUMBERS) -> Iterator[Block]:
    """Dense rows in another order: each new part takes the places of rows drawn from the buffer, which go out.

    A row waits in the buffer for a random time, so that rows which came together go out far apart; what is left at the
    end goes out in random order. Memory: the buffer and a part.
    """
    held: _Buffer | None = None
    for part in parts:
        if held is None:
            held = _Buffer(part, max(numbers // max(part.x.shape[1], 1), 1))
        gone = held.exchange(part, rng)
        if len(gone):
            yield gone
    if held is not None:
        order = rng.permutation(held.count)
        for start in range(0, held.count, LAST_ROWS):
            yield held.rows.take(order[start : start + LAST_ROWS])


class _Buffer:
    """The first ``count`` of ``rows`` are held; memory for the others is not used before they are written."""

    def __init__(self, like: Block, size: int) -> None:
        x = np.empty((size, like.x.shape[1]), dtype=like.x.dtype)
        weight = None if like.weight is None else np.empty(size)
        self.rows, self.count = Block(x, np.empty(size, dtype=np.int32), like.classes, weight), 0

    def exchange(self, part: Block, rng: np.random.RandomState) -> Block:
        """Take the part in, as far as there is no room in exchange for rows drawn at random."""
        room = min(len(self.rows) - self.count, len(part))
        self._write(slice(self.count, self.count + room), part.rows(0, room))
        self.count += room
        rest = part.rows(room, len(part))
        if len(rest) >= self.count:
            # More than the buffer holds: all of it goes through, in random order.
            return rest.take(rng.permutation(len(rest)))
        places = rng.choice(self.count, size=len(rest), replace=False)
        gone = self.rows.take(places)
        self._write(places, rest)
        return gone

    def _write(self, places: Any, part: Block) -> None:
        x: Any = part.x
        self.rows.x[places], self.rows.codes[places] = x, part.codes
        if self.rows.weight is not None and part.weight is not None:
            self.rows.weight[places] = part.weight
