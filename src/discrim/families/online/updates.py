"""Row after row changes the weights: the sequence of every learner that the kernels know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim import kernels
from discrim.block import Block
from discrim.errors import DataError
from discrim.families.online.problems import Targets
from discrim.families.online.weights import Learning, Weights
from discrim.families.sequence import Visits, Watch
from discrim.kernels.online import reference as names
from discrim.typing import Floats

# The adaptive rate is divided by this when nothing improves, until it is as small as that.
DIVISOR = 5.0
SMALLEST_RATE = 1e-6


@dataclass(frozen=True, eq=False)
class Updates:
    """``learning`` for the problems of ``targets``, with ``rows`` learned in an epoch.

    The end is where the mean loss gains nothing, or the share of rows right among those ``held_out``.
    """

    learning: Learning
    targets: Targets
    rows: int
    held_out: Block | None = None

    def step(self, state: Weights, rows: Visits, problems: Sequence[int]) -> None:
        # All of them, or one alone, are a view; some are copied out and back.
        which: Any = slice(None) if len(problems) == len(state) else list(problems)
        which = slice(problems[0], problems[0] + 1) if len(problems) == 1 else which
        part = state.taken(which)
        learn_rows(part, rows, self.learning, self.targets.taken(which))
        if isinstance(which, list):
            state.put(which, part)

    def judge(self, state: Weights, watches: Mapping[int, Watch]) -> None:
        problems = list(watches)
        for k, value in zip(problems, self._values(state, problems).tolist(), strict=True):
            if not watches[k].worn_out(value):
                continue
            if self.learning.rate == "adaptive" and state.memory[k, names.ETA] > SMALLEST_RATE:
                state.memory[k, names.ETA] /= DIVISOR
                watches[k].stale = 0
            else:
                watches[k].stopped = True
        if not (state.finite and np.isfinite(state.w).all()):
            epoch = max(watch.epochs for watch in watches.values())
            raise DataError(
                f"Floating-point under-/overflow occurred at epoch #{epoch}. Scaling input data with StandardScaler or "
                "MinMaxScaler might help."
            )
        state.memory[:, names.LOSS] = 0.0

    def _values(self, state: Weights, problems: list[int]) -> Floats:
        if self.held_out is not None:
            scaled = state.w[problems] * state.memory[problems, names.SCALE, None]
            weight = np.ones(len(self.held_out)) if self.held_out.weight is None else self.held_out.weight
            with np.errstate(over="ignore", invalid="ignore"):
                margins = self.held_out.x @ scaled.T + state.intercept[problems]
            positive = self.held_out.codes[:, None] == self.targets.positive[problems]
            return -np.asarray(weight @ ((margins > 0) == positive) / weight.sum())
        values = state.memory[problems, names.LOSS] / max(self.rows, 1)
        if self.learning.update == "best_class":
            # Classes that compete have one loss together.
            values[:] = values.sum()
        return np.asarray(values)


def learn_rows(weights: Weights, rows: Visits, learning: Learning, targets: Targets) -> None:
    """Each row that is visited changes the weights."""
    x: Any = rows.block.x
    given, state = (rows.order, rows.codes, rows.weight), stream_state(weights, targets)
    if hasattr(x, "indptr"):
        kernels.learn_sparse((x.data, x.indices, x.indptr, rows.known), given, learning.packed, state)
    else:
        kernels.learn_dense(x, given, learning.packed, state)


def stream_state(weights: Weights, targets: Targets) -> names.State:
    """Weights and targets as the kernels take them."""
    return (
        weights.w, weights.averages, weights.second, weights.memory,
        targets.positive, targets.gain_positive, targets.gain_negative,
    )  # fmt: skip
