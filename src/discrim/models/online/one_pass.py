"""One pass over rows in memory or in a file, block by block with Newton's steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.engines.progress import Progress
from discrim.errors import DataError
from discrim.kernels import reference_online as names
from discrim.models.online.training import LARGEST, as_random_state, class_gains
from discrim.models.scoring import non_finite_error
from discrim.online.buffer import shuffled
from discrim.online.epochs import Course
from discrim.online.renewal import learn_block, rows_at_once
from discrim.online.rows import OnlineRows
from discrim.sources import Rows, Scan

if TYPE_CHECKING:
    from discrim.models.online.sgd import SGDClassifier

# Neighbours that stay together when rows in memory are shuffled.
RUN = 8


def learn_once(model: SGDClassifier, rows: Rows, block: Block) -> Course:
    """Rows in memory, in random order where they are more than one block."""
    coded = model._coded(block)
    gains = class_gains(model.class_weight, model.classes_, coded.codes)
    return _learn(model, rows, _blocks(model, coded), gains)


def learn_scan_once(model: SGDClassifier, rows: Scan, counts: NDArray[np.int64]) -> Course:
    """Rows of a file, through the buffer that shuffles them."""
    codes = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    parts: Iterator[OnlineRows] = (model._coded(block) for block in rows.blocks())
    rng = as_random_state(model.random_state)
    mixed = shuffled(parts, rng) if model.shuffle else parts
    return _learn(model, rows, _gathered(mixed), class_gains(model.class_weight, model.classes_, codes))


def _learn(model: SGDClassifier, rows: Rows, blocks: Iterator[OnlineRows], gains: NDArray[np.float64]) -> Course:
    course, memory, scaling = Course([1]), model._memory, model._scaling
    assert scaling is not None
    alpha = float(model.alpha) if model.penalty else 0.0
    try:
        with Progress("learning", rows.n_rows) as progress:
            for part in blocks:
                memory = learn_block(memory, _weighted(part, gains), scaling, alpha)
                model._weights.memory[0, names.UPDATES_MADE] += 1
                progress.add(len(part))
    except DataError as error:
        # What one block knows of its columns is told of all rows.
        raise non_finite_error(rows) or error from None
    model._memory = memory
    model._weights.w[:] = memory.slopes
    model._weights.memory[:, names.INTERCEPT] = memory.intercepts
    return course


def _blocks(model: SGDClassifier, rows: OnlineRows) -> Iterator[OnlineRows]:
    size, n = rows_at_once(rows), len(rows)
    if n <= size or not model.shuffle:
        for start in range(0, n, size):
            yield rows.part(start, min(start + size, n))
        return
    rng = np.random.RandomState(as_random_state(model.random_state).randint(LARGEST))
    order = np.add.outer(rng.permutation(-(-n // RUN)) * RUN, np.arange(RUN)).ravel()
    order = order[order < n]
    for start in range(0, n, size):
        at = order[start : start + size]
        yield OnlineRows(rows.x[at], rows.codes[at], None if rows.weight is None else rows.weight[at])


def _gathered(parts: Iterator[OnlineRows]) -> Iterator[OnlineRows]:
    """Dense parts of any size as blocks of the size that is solved at a time."""
    held: list[OnlineRows] = []
    for part in parts:
        held.append(part)
        if sum(map(len, held)) < rows_at_once(part):
            continue
        yield from _cut(_joined(held))
        held = []
    if held:
        yield from _cut(_joined(held))


def _cut(rows: OnlineRows) -> Iterator[OnlineRows]:
    pieces = max(round(len(rows) / rows_at_once(rows)), 1)
    for i in range(pieces):
        yield rows.part(len(rows) * i // pieces, len(rows) * (i + 1) // pieces)


def _joined(parts: list[OnlineRows]) -> OnlineRows:
    if len(parts) == 1:
        return parts[0]
    weights = [part.weight for part in parts if part.weight is not None]
    return OnlineRows(
        np.concatenate([part.x for part in parts]),
        np.concatenate([part.codes for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def _weighted(rows: OnlineRows, gains: NDArray[np.float64]) -> OnlineRows:
    if (gains == 1.0).all():
        return rows
    gain = gains[rows.codes]
    return OnlineRows(rows.x, rows.codes, gain if rows.weight is None else gain * rows.weight)
