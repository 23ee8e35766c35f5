"""Rosenblatt's perceptron: corrections of wrong rows, one by one or all at once, until none is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from discrim.errors import DataError, plural
from discrim.families.online.trace import Recorder, Trace
from discrim.families.sequence import Visits, Watch
from discrim.store.fields import Array, Flag, Number, Optional, Whole
from discrim.store.kinds import Of, stored
from discrim.typing import Floats

RULES = ("online", "batch", "chicago")
# Numbers of X up to which the widest margin is looked for.
CHEAP = 50_000
# How much longer than a row the constant is, where the intercept shall cost nothing.
FREE_CONSTANT = 100.0
# Rows that are scored ahead of the next correction: at least, and at most.
FEWEST_AHEAD = 16
MOST_AHEAD = 8192
HINT = (
    "No hyperplane has every row right: keep the best weights (pocket) or their mean (average), add products of "
    "columns, or use a loss with a minimum."
)


@dataclass(eq=False, repr=False, kw_only=True)
class PerceptronOptions:
    """How to learn. With x the rows, y = +-1, and a row wrong where y (w'x + b) <= 0:

    - rule "online": each wrong row in turn, w += eta y x, b += eta y (Laval, Rome).
    - rule "batch": all wrong rows at once, w += eta sum y x, b += eta sum y (Laval, Rome).
    - rule "chicago": as online with b += eta y R^2, R = max |x|, which has the bound (2 R / gamma)^2.

    ``shuffle`` draws a new order for every epoch (not for "batch"). ``pocket`` answers with the weights that had the
    fewest wrong rows, ``average`` with the mean of all weights on the way. ``normalize_weights`` divides (w, b) by its
    length after each epoch, ``normalize_rows`` divides each row's criterion by |x|^2. ``trace`` keeps the
    weights after each "epoch" or "step".
    """

    rule: Literal["online", "batch", "chicago"] = field(default="online", kw_only=False)
    eta0: float = 1.0
    fit_intercept: bool = True
    max_iter: int = 1000
    shuffle: bool = True
    average: bool = False
    pocket: bool = False
    normalize_weights: bool = False
    normalize_rows: bool = False
    trace: Literal[False, "epoch", "step"] = False


@stored(
    "perceptron run",
    coef=Array("p"),
    intercept=Number(),
    rows=Whole(),
    updates=Whole(),
    epochs=Whole(),
    mistakes=Whole(),
    converged=Flag(),
    cycle=Whole(),
    separable=Flag(),
    radius=Number(),
    gamma=Optional(Number(finite=False)),
    bound=Optional(Number(finite=False)),
    best_bound=Optional(Number(finite=False)),
    trace=Optional(Of(Trace)),
)
@dataclass(frozen=True, eq=False)
class Learned:
    """What came out, and how.

    ``coef`` (p) and ``intercept`` are the answer, ``mistakes`` the rows of ``rows`` that it has wrong. ``updates``
    counts corrections (batch steps), ``epochs`` readings of all rows, the one that found nothing wrong included.
    ``converged`` says that there was such a reading. ``cycle`` is the number of epochs after which the weights came
    back, so that they would for ever, 0 where they did not; ``separable`` says whether some hyperplane is known to have
    all rows right.

    ``radius`` is R = max |x|. Where it converged, ``gamma`` is the margin min y (w'x + b) / |w| of the last weights,
    ``bound`` the updates that the rule can at most need as far as that hyperplane shows, and ``best_bound`` as the one
    with the widest margin does, where that is cheap to find. They are None for the batch rule, for weighted rows and
    with a normalisation, for which there is no theorem.
    """

    coef: Floats
    intercept: float
    rows: int
    updates: int
    epochs: int
    mistakes: int
    converged: bool
    cycle: int
    separable: bool
    radius: float
    gamma: float | None
    bound: float | None
    best_bound: float | None
    trace: Trace | None

    @property
    def separated(self) -> bool:
        return self.mistakes == 0

    @property
    def cycling(self) -> bool:
        return self.cycle > 0

    @property
    def verdict(self) -> str:
        """A sentence or two for the user."""
        wrong = f"{self.mistakes} of {plural(self.rows, 'row')} {'is' if self.mistakes == 1 else 'are'} wrong"
        if self.converged:
            done = (
                f"No row was wrong any more after {plural(self.updates, 'update')} in {plural(self.epochs, 'epoch')}."
            )
            return done if self.separated else f"{done} By the answer {wrong}."
        if self.cycling:
            why = f"The weights came back after {plural(self.cycle, 'epoch')} and would go round for ever"
        elif self.separable:
            were = "was" if self.epochs == 1 else "were"
            why = f"{plural(self.epochs, 'epoch')} {were} not enough, though a hyperplane has every row right"
        else:
            why = f"{plural(self.epochs, 'epoch')} of corrections came to no end"
        hint = "Increase max_iter." if self.separable else HINT
        return f"{why}: {wrong}. {hint}"


class Rosenblatt:
    """The sequence: an epoch corrects the wrong rows. The last finds none, or brings back earlier weights."""

    def step(self, state: Corrections, rows: Visits, problems: Sequence[int]) -> None:  # noqa: ARG002 - there is one
        corrected = state.correct_all() if state.options.rule == "batch" else state.correct_in(rows.order)
        state.converged = not corrected

    def judge(self, state: Corrections, watches: Mapping[int, Watch]) -> None:
        (watch,) = watches.values()
        if not state.converged:
            state.end_epoch(watch.epochs)
            if state.same_order:
                state.cycle = watch.epochs - state.seen.setdefault(state.state(), watch.epochs)
        watch.stopped = state.converged or state.cycle > 0


class Corrections:
    """The weights on their way, and how far they came."""

    def __init__(self, x: Floats, sign: Floats, options: PerceptronOptions, weight: Floats | None) -> None:
        self.x, self.sign, self.options, self.weighted = x, sign, options, weight is not None
        n, p = x.shape
        with np.errstate(over="ignore"):
            squares = np.einsum("ij,ij->i", x, x)
        if not np.isfinite(squares).all():
            raise DataError("The rows are too long to be squared, or hold NaN or infinity. Clean or scale the columns.")
        self.radius = float(np.sqrt(squares.max(initial=0.0)))
        self.rate = options.eta0 * (np.ones(n) if weight is None else weight)
        if options.normalize_rows:
            # A row of zeros has only its constant to correct.
            self.rate = self.rate / np.where(squares > 0, squares, 1.0)
        lift = float(squares.max(initial=0.0)) if options.rule == "chicago" else 1.0
        # y (w'x + b) = (w, b)'(y x, y): one product for the margin, and one sum for the correction.
        self.signed = np.column_stack([sign[:, None] * x, sign])
        self.theta = np.zeros(p + 1)
        self.lifted = np.append(np.ones(p), lift * options.fit_intercept)
        self.updates = self.presented = self.run = self.longest = 0
        self.late = np.zeros(p + 1)
        self.pocket, self.fewest = self.theta.copy(), n + 1
        self.recorder = Recorder(options.trace, p + 1) if options.trace else None
        self._record(0)
        # Weights seen at the end of which epoch; the epochs after which they came back; whether nothing was wrong.
        self.seen, self.cycle, self.converged = {self.state(): 0}, 0, True

    @property
    def same_order(self) -> bool:
        """Do all epochs take the rows in the same order?"""
        return self.options.rule == "batch" or not self.options.shuffle

    def correct_all(self) -> bool:
        """One batch step; False where no row is wrong."""
        wrong = self.signed @ self.theta <= 0
        self.presented += 1
        if not wrong.any():
            return False
        self.updates += 1
        self._add((self.rate[wrong] @ self.signed[wrong]) * self.lifted)
        return True

    def correct_in(self, order: NDArray[np.integer] | None) -> bool:
        """Each row in turn; False where none was wrong."""
        rows = self.signed if order is None else self.signed[order]
        rate = self.rate if order is None else self.rate[order]
        before, n, start, ahead = self.updates, len(rows), 0, FEWEST_AHEAD
        while start < n:
            # The weights stay as they are up to the next wrong row, so that all of those are scored at once.
            wrong = rows[start : start + ahead] @ self.theta <= 0
            first = int(wrong.argmax())
            if not wrong[first]:
                self.presented, self.run = self.presented + len(wrong), self.run + len(wrong)
                start, ahead = start + len(wrong), min(2 * ahead, MOST_AHEAD)
                continue
            self.run += first
            self._end_run()
            self.presented += first + 1
            self.updates += 1
            self._add(rate[start + first] * rows[start + first] * self.lifted)
            start, ahead = start + first + 1, max(FEWEST_AHEAD, 2 * first)
            if self.options.trace == "step":
                self._record(self.updates)
        return self.updates > before

    def end_epoch(self, epoch: int) -> None:
        if self.options.normalize_weights and (length := float(np.linalg.norm(self.theta))) > 0:
            change = self.theta / length - self.theta
            self.theta = self.theta + change
            self.late += self.presented * change
        if self.options.pocket:
            self._put_in_pocket()
        if self.options.trace == "epoch" or self.options.rule == "batch":
            self._record(epoch)

    def criterion(self) -> tuple[float, int]:
        """- sum y (w'x + b) over the wrong rows, and their number."""
        margins = self.signed @ self.theta
        wrong = margins <= 0
        return float(-margins[wrong].sum()), int(wrong.sum())

    def answer(self) -> Floats:
        if self.options.pocket:
            self._put_in_pocket()
            return self.pocket
        if self.options.average and self.presented:
            return self.theta - self.late / self.presented
        return self.theta

    def state(self) -> bytes:
        """A fingerprint of the weights; -0 and 0 are the same."""
        return blake2b((self.theta + 0.0).tobytes(), digest_size=16).digest()

    def _add(self, change: Floats) -> None:
        self.theta = self.theta + change
        if self.options.average:
            # The mean of all weights so far is theta - late / presented: the change came so many presentations late.
            self.late += (self.presented - 1) * change

    def _end_run(self) -> None:
        """Weights that had more rows right in a row than any before may be the best: only they are counted."""
        if self.options.pocket and self.run > self.longest:
            self.longest = self.run
            self._put_in_pocket()
        self.run = 0

    def _put_in_pocket(self) -> None:
        mistakes = self.criterion()[1]
        if mistakes < self.fewest:
            self.pocket, self.fewest = self.theta.copy(), mistakes

    def _record(self, step: int) -> None:
        if self.recorder is not None and self.recorder.wants(step):
            self.recorder.add(step, self.theta[:-1], self.theta[-1], *self.criterion())


def outcome(walk: Corrections, epochs: int, separable: Callable[[], bool]) -> Learned:
    """What came of the corrections; ``separable`` is asked only where they do not show it themselves."""
    options, x, sign = walk.options, walk.x, walk.sign
    # The last correction may have been the one that was left.
    converged, cycle = walk.converged or walk.criterion()[1] == 0, walk.cycle
    theta = walk.answer()
    mistakes = int((walk.signed @ theta <= 0).sum())
    one_by_one = options.rule != "batch" and not (walk.weighted or options.normalize_rows or options.normalize_weights)
    gamma = bound = best = None
    if converged and len(x):
        w, b = walk.theta[:-1], float(walk.theta[-1])
        gamma = margin(x, sign, w, b)
        if one_by_one:
            bound = most_updates(walk, w, b)
            wide = widest(walk)
            found = None if wide is None else most_updates(walk, *wide)
            best = bound if bound is None or found is None else min(bound, found)
    # Without the division by its length, weights that come back are a proof that no hyperplane separates.
    proved = cycle > 0 and not options.normalize_weights
    possible = converged or (not proved and separable())
    return Learned(
        coef=theta[:-1], intercept=float(theta[-1]), rows=len(x), updates=walk.updates, epochs=epochs,
        mistakes=mistakes, converged=converged, cycle=cycle, separable=possible,
        radius=walk.radius, gamma=gamma or None, bound=bound, best_bound=best,
        trace=None if walk.recorder is None else walk.recorder.trace(),
    )  # fmt: skip


def margin(x: Floats, sign: Floats, w: Floats, b: float, constant: float = 0.0) -> float:
    """min y (w'x + b), for (w, b) made such that w and ``constant`` b together have length 1."""
    length = float(np.hypot(np.linalg.norm(w), constant * b))
    return float((sign * (x @ w + b)).min()) / length if length > 0 else 0.0


def most_updates(walk: Corrections, w: Floats, b: float) -> float | None:
    """The corrections one by one that a perceptron can at most need, from a hyperplane that separates the rows.

    With b += y R^2: (2 R / gamma)^2, gamma = min y (w'x + b) for |w| = 1. With b += y: (R / gamma)^2 for rows that
    have a 1 at their end, gamma for |(w, b)| = 1. None where (w, b) separates nothing.
    """
    intercept = walk.options.fit_intercept
    if walk.options.rule == "chicago" and intercept:
        reach, gamma = 2.0 * walk.radius, margin(walk.x, walk.sign, w, b)
    else:
        reach, gamma = float(np.hypot(walk.radius, intercept)), margin(walk.x, walk.sign, w, b, float(intercept))
    return (reach / gamma) ** 2 if gamma > 0 else None


def widest(walk: Corrections) -> tuple[Floats, float] | None:
    """The hyperplane with the widest margin, nearly; None where it takes long or there is none.

    The shortest v with G v >= 1, G the rows y (x, c), is found from non-negative least squares: u >= 0 that brings
    (G'u, 1'u) closest to (0, 1) leaves a residual r, and v = -r_1..p / r_p+1.
    """
    x, radius = walk.x, walk.radius
    n, p = x.shape
    if n * p > CHEAP or radius == 0:
        return None
    constant = 0.0
    if walk.options.fit_intercept:
        constant = FREE_CONSTANT if walk.options.rule == "chicago" else 1.0 / radius
    rows = walk.sign[:, None] * np.column_stack([x / radius, np.full(n, constant)])
    system = np.vstack([rows.T, np.ones(n)])
    target = np.zeros(p + 2)
    target[-1] = 1.0
    try:
        u, _ = nnls(system, target)
    except RuntimeError:
        return None
    residual = system @ u - target
    if residual[-1] == 0:
        return None
    v = -residual[:-1] / residual[-1]
    return v[:-1] / radius, float(constant * v[-1])
