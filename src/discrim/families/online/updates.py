"""Row after row changes the weights: the rule of a row, the weights, and the sequence of every such learner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Block
from discrim.errors import DataError, ParameterError
from discrim.families.online.problems import Targets
from discrim.families.sequence import STEP_NUMBERS, Visits, Watch, entries_per_row
from discrim.kernels.online import reference as names
from discrim.kernels.online.reference import LOSSES, PENALTIES, RATES, UPDATES, Settings
from discrim.store.fields import Array, Optional
from discrim.store.kinds import stored
from discrim.typing import Floats

# The adaptive rate is divided by this when nothing improves, until it is as small as that.
DIVISOR = 5.0
SMALLEST_RATE = 1e-6


@dataclass(frozen=True)
class Learning:
    """One row x of class y = -1 or 1 at time t, with eta = w'x + b, changes w and b.

    - update "gradient": w -= rate loss'(eta) x, then the penalty alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2)
      shrinks w; b likewise, times ``intercept_step`` (0: no intercept), without the penalty. The rate is eta0
      ("constant", "adaptive"), eta0 / (start + t)^power ("invscaling"), 1 / (alpha (t0 + t)) ("optimal"), or, with the
      hinge loss, what the margin asks for, at most eta0 ("pa1") or softened by it ("pa2").
      With ``cap`` > 0 the rate times 1 + |x|^2 is at most that.
    - update "best_class": all classes compete; a row that another class wins moves its own up and the winner down.
    - update "confidence": AROW with r = eta0.

    From the time ``average`` on (0: never) the mean of all weights is kept too.
    """

    update: str = "gradient"
    loss: str = "hinge"
    rate: str = "optimal"
    penalty: str | None = "l2"
    alpha: float = 1e-4
    l1_ratio: float = 0.15
    eta0: float = 0.01
    power: float = 0.5
    epsilon: float = 0.1
    start: float = 0.0
    cap: float = 0.0
    intercept_step: float = 1.0
    average: float = 0.0

    @property
    def needs_second(self) -> bool:
        """Is there a second number for every weight: what L1 has taken from it, or its variance?"""
        return self.update == "confidence" or self.penalty in {"l1", "elasticnet"}

    def packed(self, *, losses: bool = False) -> Settings:
        """As the kernels take it; ``losses`` asks for losses and norms."""
        names = (
            UPDATES.index(self.update),
            LOSSES.index(self.loss),
            RATES.index(self.rate),
            PENALTIES.index(self.penalty),
        )
        # "optimal" begins at the time at which its rate is the size that weights typically have.
        start = 1.0 / (self.alpha * self.alpha**-0.25) if self.rate == "optimal" else self.start
        numbers = [self.alpha, self.l1_ratio, self.eta0, self.power, self.epsilon, start]
        return names, np.array([*numbers, self.intercept_step, self.average, self.cap]), losses


@stored(
    "weights",
    w=Array("k p"),
    averages=Optional(Array("k p")),
    second=Optional(Array("k p")),
    memory=Array(f"k {len(names.MEMORY)}", allowed=("inf", "-inf", "nan")),
)
@dataclass(eq=False)
class Weights:
    """``w`` (K x p) and its companions, as ``kernels.online.reference`` describes them; changed in place by learning.

    The first steps of a class that comes late are not smaller than those of the others were: its time starts at one.
    """

    w: Floats
    averages: Floats | None
    second: Floats | None
    memory: Floats

    @classmethod
    def zeros(cls, problems: int, columns: int, learning: Learning) -> Self:
        shape = (problems, columns)
        memory = np.zeros((problems, len(names.MEMORY)))
        memory[:, [names.T, names.SCALE, names.AVERAGE_B, names.FINITE]] = 1.0
        memory[:, names.ETA] = 1.0 if learning.update == "confidence" else learning.eta0
        second = None
        if learning.needs_second:
            second = np.ones(shape) if learning.update == "confidence" else np.zeros(shape)
        return cls(np.zeros(shape), np.zeros(shape) if learning.average else None, second, memory)

    @classmethod
    def at(cls, coef: Floats, intercept: Floats, learning: Learning) -> Self:
        """Weights that begin at the given coefficients."""
        weights = cls.zeros(coef.shape[0], coef.shape[1], learning)
        weights.w[:] = coef
        weights.memory[:, names.INTERCEPT] = intercept
        return weights

    def begin(self, learning: Learning) -> None:
        """Another call of fit or partial_fit: what L1 has taken, the rate and the counts start anew, time goes on."""
        if learning.update != "confidence":
            self.memory[:, names.ETA] = learning.eta0
            if self.second is not None:
                self.second[:] = 0.0
        self.memory[:, [names.SHRUNK, names.LOSS]] = 0.0
        self.memory[:, names.FINITE] = 1.0
        self.memory[:, names.SQUARE] = np.einsum("kj,kj->k", self.w, self.w)
        self.memory[:, names.ABSOLUTE] = np.abs(self.w).sum(axis=1)

    def settle(self) -> None:
        """Multiply what was kept apart (scale, sums of averages) into the arrays."""
        with np.errstate(all="ignore"):  # what is not finite is reported where it is read
            for k, memory in enumerate(self.memory):
                names.settle(self.w[k], None if self.averages is None else self.averages[k], memory)

    @property
    def intercept(self) -> Floats:
        return self.memory[:, names.INTERCEPT]

    def each(self, function: Callable[[Floats], Floats], memory: Floats) -> Weights:
        """The same with a function of every array of weights, and this memory."""
        averages, second = (None if array is None else function(array) for array in (self.averages, self.second))
        return Weights(function(self.w), averages, second, memory)

    def taken(self, which: Any) -> Weights:
        """Some of the problems: views for a slice, copies for a list."""
        return self.each(lambda array: array[which], self.memory[which])

    def copied(self) -> Weights:
        return self.each(np.copy, self.memory.copy())

    def check_kept(self, learning: Learning) -> None:
        """Raise where a parameter was changed on the way, and needs what these weights did not keep from the start."""
        averages = learning.average and self.averages is None
        if averages or (learning.needs_second and self.second is None):
            name = "average" if averages else "penalty"
            raise ParameterError(
                f"'{name}' was changed after learning began, and what it needs is kept from the first row on. "
                "Set it before the first partial_fit or learn_one, or call fit again."
            )

    def put(self, which: Any, part: Weights) -> None:
        """Write a part, which may have fewer columns, over these problems."""
        p = part.w.shape[1]
        for mine, theirs in ((self.w, part.w), (self.averages, part.averages), (self.second, part.second)):
            if mine is not None and theirs is not None:
                mine[which, :p] = theirs
        self.memory[which] = part.memory

    def grown(self, problems: int, columns: int, places: Any, learning: Learning) -> Weights:
        """More classes or columns; the old problems go to ``places``."""
        larger = Weights.zeros(problems, columns, learning)
        larger.put(places, self)
        return larger

    def with_classes(self, old: NDArray[Any], wanted: NDArray[Any], learning: Learning) -> Weights:
        """Weights for the classes ``wanted`` (sorted, with all the ``old`` ones), one class against the rest.

        What was learned stays: with two classes the first is what the second is not. A new class begins at the
        score -1 for every row, which is what it would have been taught by the rows before it.
        """
        if len(wanted) == len(old):
            return self
        settled = self.copied()
        settled.settle()
        p = settled.w.shape[1]
        places = np.searchsorted(wanted, old)
        if len(old) > 2:
            larger = settled.grown(len(wanted), p, places, learning)
            larger.memory[np.setdiff1d(np.arange(len(wanted)), places), names.INTERCEPT] = -1.0
            return larger
        if len(wanted) == 2:
            return settled.negated() if places[0] == 1 else settled
        # The one problem becomes two, one for each side; the first side is there even where it has no class yet.
        larger = Weights.zeros(len(wanted), p, learning)
        larger.memory[:, names.INTERCEPT] = -1.0
        larger.put(slice(places[0], places[0] + 1), settled.negated())
        if len(old) == 2:
            larger.put(slice(places[1], places[1] + 1), settled)
        return larger

    def negated(self) -> Weights:
        """The same boundary seen from the other side."""
        other = self.copied()
        other.w *= -1.0
        other.memory[:, [names.INTERCEPT, names.AVERAGE_INTERCEPT]] *= -1.0
        if other.averages is not None:
            other.averages *= -1.0
        return other


@dataclass(frozen=True, eq=False)
class Updates:
    """``learning`` for the problems of ``targets``, with ``rows`` learned in an epoch; ``losses``: are they needed?

    The end is where the mean loss gains nothing, or the share of rows right among those ``held_out``.
    """

    learning: Learning
    targets: Targets
    rows: int
    losses: bool
    held_out: Block | None = None

    def step(self, state: Weights, rows: Visits, problems: Sequence[int]) -> None:
        # All of them, or one alone, are a view; some are copied out and back.
        first, last = problems[0], problems[-1]
        which: Any = slice(first, last + 1) if last - first < len(problems) else list(problems)
        part, x = state.taken(which), rows.block.x
        learning = self.learning.packed(losses=self.losses)
        given, arrays = (rows.order, rows.codes, rows.weight), stream_state(part, self.targets.taken(which))
        if isinstance(x, np.ndarray):
            kernels.learn_dense(x, given, learning, arrays)
        else:
            kernels.learn_sparse((x.data, x.indices, x.indptr), given, learning, arrays)
        if isinstance(which, list):
            state.put(which, part)

    def judge(self, state: Weights, watches: Mapping[int, Watch]) -> None:
        problems = list(watches)
        for k, value in zip(problems, self._values(state, problems).tolist(), strict=True):
            self._end(state, k, watches[k], worn_out=watches[k].worn_out(value))
        state.memory[problems, names.LOSS] = 0.0

    def alone(self, state: Weights, k: int, rows: Block, seed: int | None, watch: Watch) -> None:
        """Every epoch of problem k until its watch is over, of rows in memory that the kernel shuffles itself."""
        x, which, stopping = rows.x, slice(k, k + 1), watch.stopping
        data = x if isinstance(x, np.ndarray) else (x.data, x.indices, x.indptr)
        order = None if seed is None else (np.arange(len(rows), dtype=np.int32), seed)
        arrays = stream_state(state.taken(which), self.targets.taken(which))
        learning, tol = self.learning.packed(losses=self.losses), np.nan if stopping.tol is None else stopping.tol
        at_once = max(STEP_NUMBERS // (len(rows) * entries_per_row(x)), 1)
        while not watch.over:
            until = (min(at_once, stopping.max_iter - watch.epochs), tol, stopping.patience, watch.best, watch.stale)
            given = (order, rows.codes, rows.weight)
            epochs, watch.best, watch.stale = kernels.learn_epochs(data, given, learning, arrays, until)
            watch.epochs += epochs
            self._end(state, k, watch, worn_out=watch.stale >= stopping.patience)

    def _end(self, state: Weights, k: int, watch: Watch, *, worn_out: bool) -> None:
        """After an epoch of problem k: stop it where it is worn out, raise where it went wrong."""
        memory = state.memory[k]
        if worn_out and self.learning.rate == "adaptive" and memory[names.ETA] > SMALLEST_RATE:
            memory[names.ETA] /= DIVISOR
            watch.stale = 0
        elif worn_out:
            watch.stopped = True
        if not (memory[names.FINITE] and np.isfinite(memory[names.INTERCEPT]) and np.isfinite(state.w[k]).all()):
            raise DataError(
                f"Floating-point under-/overflow occurred at epoch #{watch.epochs}. Scaling input data with "
                "StandardScaler or MinMaxScaler might help."
            )

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


def stream_state(weights: Weights, targets: Targets) -> names.State:
    """Weights and targets as the kernels take them."""
    return (
        weights.w, weights.averages, weights.second, weights.memory,
        targets.positive, targets.gain_positive, targets.gain_negative,
    )  # fmt: skip


def given_start(coef_init: Any, intercept_init: Any, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Coefficients and intercepts to begin at, in this shape; zeros where none are given."""
    coef = np.zeros(shape) if coef_init is None else np.array(dense(coef_init), dtype=np.float64)
    intercept = np.zeros(shape[0]) if intercept_init is None else np.array(intercept_init, dtype=np.float64)
    for name, found, wanted in (("coef_init", coef, shape), ("intercept_init", intercept, shape[:1])):
        # A single function may be given without its axis.
        if found.shape != wanted and (shape[0] > 1 or found.size != wanted[-1]):
            raise ParameterError(f"Provided {name} does not match dataset: it has shape {found.shape}, not {wanted}.")
    return coef.reshape(shape), intercept.reshape(shape[0])


def dense(coef: Any) -> Any:
    return coef.toarray() if hasattr(coef, "toarray") else coef
