"""Threads of this machine. The result does not depend on how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from discrim.block import Block, Mixed, Reads
from discrim.engines.progress import Progress
from discrim.errors import DataError
from discrim.families.recipe import InFolds, Passes, Reduction, Shape
from discrim.parallel import SINGLE, one_blas_thread, pool, run, split, thread_count
from discrim.sources import Design, Rows, Scan, find_non_finite, in_memory
from discrim.sources.rows import ArrayRows
from discrim.sources.structure import check_structure

State = TypeVar("State")

# Numbers in X below which one thread reads and adds them as fast as several, and how many of them must be read for a
# number of a state that is merged.
LIGHT, PER_NUMBER = 2_000_000, 128
# Entries of a sparse X that are worth a task.
SPARSE = 200_000
# Columns from which on rows of a file may be fewer, unless an estimate of them is more than so many times the columns.
WIDE, ABOUT = 500, 10
# States of a stream that are merged at once.
GROUP = 16


class Kept(Protocol):
    """What keeps the state of a pass from time to time, and has that of one that was broken off."""

    def begun(self) -> tuple[list[Any], int]: ...
    def merged(self, state: Any, rows: int) -> None: ...


def reduce(
    rows: Rows,
    reduction: Reduction[State],
    *,
    title: str = "reading",
    shape: Shape | None = None,
    kept: Kept | None = None,
) -> State:
    """The state of all rows, the same bits whatever the number of threads; ``shape`` is theirs, where it is known.

    A scan goes on from what was ``kept`` of this pass.
    """
    unread: Block | None = getattr(rows, "unread", None) if getattr(reduction, "looks", False) else None
    if unread is not None:
        return _reduce_unread(unread, reduction, shape or Shape(rows.design, rows.classes, rows.n_rows))
    whole, elsewhere = rows.whole, getattr(rows, "reduced_elsewhere", None)
    least = LIGHT if reduction.light else SINGLE
    if whole is not None and isinstance(whole.x, np.ndarray) and whole.x.size <= least:
        return reduction.of(whole)
    size = 8 * reduction.numbers(shape or Shape(rows.design, rows.classes, rows.n_rows))
    state = elsewhere and elsewhere(partial(_reduce_part, reduction), partial(_merged, reduction), size)
    if state is not None:
        return state  # type: ignore[no-any-return]
    # Without products an entry costs little more than a number of a state, which is written and merged.
    entries = SPARSE if reduction.uses_blas else max(SPARSE, size // 4)
    size *= PER_NUMBER if reduction.light and whole is not None and isinstance(whole.x, np.ndarray) else 1
    alone = whole is not None and len(_ranges(whole, size, entries)) == 1
    with one_blas_thread() if reduction.uses_blas and not alone else nullcontext():
        of, merge = reduction.of, reduction.merge
        return reduce_blocks(rows, of, merge, state_bytes=size, entries=entries, title=title, kept=kept)


def _reduce_unread(block: Block, reduction: Reduction[State], shape: Shape) -> State:
    """The state of sparse rows whose columns the reduction looks at itself."""
    size = 8 * reduction.numbers(shape)
    try:
        return _reduce_whole(block, reduction.of, reduction.merge, size, max(SPARSE, size // 4))
    except ValueError:
        check_structure(block.x)  # says which column is outside
        raise


def _reduce_part(reduction: Reduction[State], rows: Rows) -> State:
    """The state of some rows by one thread: other workers have the other processors."""
    with one_blas_thread() if reduction.uses_blas else nullcontext():
        return _reduce_stream(map(_given, rows.blocks()), reduction.of, reduction.merge, None)


def _merged(reduction: Reduction[State], states: list[State]) -> State:
    return reduction.merge(states)


def reduce_blocks(
    rows: Rows,
    of: Callable[[Block], State],
    merge: Callable[[Sequence[State]], State],
    *,
    state_bytes: int = 0,
    entries: int = SPARSE,
    title: str = "reading",
    kept: Kept | None = None,
) -> State:
    """``of`` every block, merged in the order of the rows.

    The blocks depend on the data's shape alone, so that any number of threads gives the same bits.
    ``state_bytes`` is the size of one state: large ones get fewer, longer blocks; so many ``entries`` of sparse rows
    are worth a task. A terminal shows how far a long pass is, under this ``title``.
    """
    if rows.whole is not None:
        return _reduce_whole(rows.whole, of, merge, state_bytes, entries)
    own: Any = getattr(rows, "pieces", None)
    begun, done = (list[Any](), 0) if kept is None else kept.begun()
    pieces = map(_given, rows.blocks()) if own is None else own(after=done) if done else own()
    if rows.n_rows is not None and rows.n_rows * rows.design.n_out <= SINGLE:
        return _reduce_stream(pieces, of, merge, None)
    with Progress(title, getattr(rows, "about", None) if rows.n_rows is None else rows.n_rows) as progress:
        progress.add(done)
        return _reduce_stream(
            pieces, of, merge, progress, None if kept is None else partial(_keep, kept, progress), begun
        )


def _keep(kept: Kept, progress: Progress, state: Any) -> None:
    kept.merged(state, progress.done)


def _ranges(block: Block, state_bytes: int, entries: int) -> list[tuple[int, int]]:
    """Rows of one task each."""
    x: Any = block.x
    n, p = x.shape
    if sparse.issparse(block.x):
        # A few: a state may be as long as there are columns, however few entries it is made of.
        tasks = min(max(x.nnz // entries, 1), 4, max(n, 1))
        return list(pairwise(n * i // tasks for i in range(tasks + 1)))
    # Levels have their codes already: to count these takes less time than to merge the counts of many levels.
    counted = isinstance(x, Mixed) and not x.numbers.size
    return [(0, n)] if counted or n * p <= SINGLE else split(n, p, state_bytes)


def _reduce_whole(
    block: Block, of: Callable[[Block], State], merge: Callable[[Sequence[State]], State], size: int, entries: int
) -> State:
    ranges = _ranges(block, size, entries)
    if len(ranges) == 1:
        return of(block)
    return merge(run(lambda i: of(block.rows(*ranges[i])), len(ranges)))


def _itself(block: Block) -> Block:
    return block


def _given(block: Block) -> Callable[[], Block]:
    return partial(_itself, block)


def _reduce_stream(
    pieces: Iterable[Callable[[], Block]],
    of: Callable[[Block], State],
    merge: Callable[[Sequence[State]], State],
    progress: Progress | None,
    keep: Callable[[State], None] | None = None,
    begun: Sequence[Any] = (),
) -> State:
    """Workers reduce while this thread reads on; a few blocks at most are in memory.

    Without ``progress`` there are few rows, for which no thread is started. They are merged in the same groups. Where a
    group was merged the state is that of all blocks so far, whatever the threads do, and is given to ``keep``; the
    pieces go on after those of ``begun``.
    """
    states: list[State] = list(begun)
    waiting: list[Future[tuple[State, int]]] = []

    def add(state: State) -> None:
        states.append(state)
        if len(states) >= GROUP:
            states[:] = [merge(states)]
            if keep is not None:
                keep(states[0])

    def collect(most: int, progress: Progress) -> None:
        while len(waiting) > most:
            state, size = waiting.pop(0).result()
            progress.add(size)
            add(state)

    def state_of(piece: Callable[[], Block]) -> tuple[State, int]:
        block = piece()
        return of(block), len(block)

    try:
        for piece in pieces:
            if progress is None:
                add(of(piece()))
            else:
                waiting.append(pool().submit(state_of, piece))
                collect(thread_count(), progress)
        if progress is not None:
            collect(0, progress)
    except BaseException:
        # What has not begun never will, and no thread works on after the call.
        wait([future for future in waiting if not future.cancel()])
        raise
    if not states:
        raise DataError("There are no rows to read.")
    return merge(states)


def _count_if_wide(rows: Rows) -> int | None:
    """How many rows there are, as far as known; of a file of many columns they are counted, as few rows are turned."""
    width = rows.design.n_out
    if not isinstance(rows, Scan) or rows.n_rows is not None or width < WIDE or (rows.about or 0) > ABOUT * width:
        return rows.n_rows
    if rows.rereadable and not rows.lies_elsewhere:
        for _ in rows.tables(rows.features[:1]):
            pass  # a scan that was read to its end knows the number
    return rows.n_rows


class RowPasses(Passes):
    """Passes over rows of any source, for a recipe that ``reads`` them so."""

    _shape: Shape | None = None

    def __init__(self, rows: Rows, reads: Reads = "dense") -> None:
        self._rows, self._reads, self._fresh = rows, reads, True

    @property
    def rows(self) -> Rows:
        return self._rows

    @property
    def again(self) -> bool:
        return self.rows.rereadable

    @property
    def shape(self) -> Shape:
        if self._shape is None:
            self._shape = Shape(self.rows.design, self.rows.classes, _count_if_wide(self.rows))
        return self._shape

    def fitting(self) -> AbstractContextManager[None]:
        """While a fit makes its passes: workers that have the memory keep the rows."""
        return self.rows.holding() if isinstance(self.rows, Scan) else nullcontext()

    @property
    def whole(self) -> Block | None:
        return self.rows.whole

    def count(self) -> int | None:
        return self.rows.count() if isinstance(self.rows, Scan) else self.rows.n_rows

    def reduce(self, reduction: Reduction[State], *, title: str = "reading") -> State:
        if not (self.again or self._fresh):
            raise DataError("These rows can be read only once. Use a table or a file instead of the stream.")
        self._fresh = False
        return reduce(self.rows, reduction, title=title, shape=self.shape)

    def blocks(self) -> Iterator[Block]:
        return self.rows.blocks()

    def block(self) -> Block:
        return in_memory(self.rows, self._reads)

    def over(self, block: Block) -> RowPasses:
        design, width = self.rows.design, block.x.shape[1]
        same = width == design.n_out and block.x.dtype == design.dtype
        return passes_over(block, design if same else Design.unnamed(width, block.x.dtype))

    @property
    def large(self) -> bool:
        from discrim.engines.keyed import is_large

        return is_large(self.rows)

    def reduce_folds(
        self, folds: int, of: Callable[[InFolds], State], merge: Callable[[Sequence[State]], State], *, title: str = ""
    ) -> State:
        from discrim.engines.keyed import reduce_folds

        return self._made(lambda kept: reduce_folds(self.rows, folds, of, merge, title, kept=kept))

    def outside(self, fold: int, folds: int) -> Passes:
        from discrim.engines.keyed import Outside

        return Outside(self.rows, self._reads, (fold, folds), self._made)

    def _made(self, make: Callable[[Kept | None], State]) -> State:
        """The state of a pass; ``make`` may keep what it has of it so far."""
        return make(None)

    def fault(self) -> DataError | None:
        return find_non_finite(self.rows) if self.again else None

    def __reduce__(self) -> tuple[Any, ...]:
        # What is sent to another machine is applied to the rows there.
        return _NoRows, ()


class _NoRows(Passes):
    """Passes of which only the functions of blocks were sent."""

    again = False

    @property
    def shape(self) -> Shape:
        raise DataError("The rows are on another machine.")

    def reduce(self, reduction: Reduction[State], *, title: str = "") -> State:  # noqa: ARG002 - there are no rows
        raise DataError("The rows are on another machine.")


def passes_over(block: Block, design: Design | None = None) -> RowPasses:
    """Passes over rows in memory; ``design`` has the names of their columns."""
    if design is None:
        design = Design.unnamed(block.x.shape[1], block.x.dtype)
    return RowPasses(ArrayRows(design, block, labelled=True))
