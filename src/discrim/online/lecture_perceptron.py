"""The perceptron as the lectures teach it: batch, row by row, and with the bias rule that has a bound."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError, plural
from discrim.online.margin import margin, most_updates, separable, widest
from discrim.online.trace import Recorder, Trace
from discrim.typing import Floats

RULES = ("online", "batch", "chicago")
# Rows that are scored ahead of the next correction: at least, and at most.
FEWEST_AHEAD = 16
MOST_AHEAD = 8192
HINT = (
    "No hyperplane has every row right: keep the best weights (pocket) or their mean (average), add products of "
    "columns, or use a loss with a minimum."
)


@dataclass(frozen=True)
class PerceptronOptions:
    """How to learn. With x the rows, y = +-1, and a row wrong where y (w'x + b) <= 0:

    - rule "online": each wrong row in turn, w += eta y x, b += eta y (Laval, Rome).
    - rule "batch": all wrong rows at once, w += eta sum y x, b += eta sum y (Laval, Rome).
    - rule "chicago": as online with b += eta y R^2, R = max |x|, which has the bound (2 R / gamma)^2.

    ``shuffle`` draws a new order for every epoch (not for "batch"). ``pocket`` answers with the weights that had the
    fewest wrong rows, ``average`` with the mean of all weights on the way. ``normalize_weights`` divides (w, b) by its
    length after each epoch, ``normalize_rows`` divides each row's criterion by |x|^2. ``tol`` stops after ``patience``
    epochs whose criterion, a row, did not fall by it; None goes on to ``max_iter`` epochs. ``trace`` keeps the way:
    after each "epoch" (or True), or each "step".
    """

    rule: str = "online"
    eta0: float = 1.0
    max_iter: int = 1000
    shuffle: bool = True
    seed: int | None = None
    pocket: bool = False
    average: bool = False
    normalize_weights: bool = False
    normalize_rows: bool = False
    fit_intercept: bool = True
    tol: float | None = None
    patience: int = 5
    trace: bool | Literal["epoch", "step"] = False


@dataclass(frozen=True, eq=False)
class Learned:
    """What came out, and how.

    ``coef`` (p) and ``intercept`` are the answer, ``mistakes`` the rows of ``rows`` that it has wrong. ``updates``
    counts corrections (batch steps), ``epochs`` readings of all rows, the one that found nothing wrong included.
    ``converged`` says that there was such a reading. ``cycle`` is the number of epochs after which the weights came
    back, so that they would for ever, 0 where they did not; ``gave_up`` says that ``tol`` made the end; ``separable``
    whether some hyperplane is known to have all rows right.

    ``radius`` is R = max |x|. Where it converged, ``gamma`` is the margin min y (w'x + b) / |w| of the last weights,
    ``bound`` the updates that the rule can at most need as far as that hyperplane tells, and ``best_bound`` as the one
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
    gave_up: bool
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
        more = "Set tol=None to go on." if self.gave_up else "Increase max_iter."
        hint = more if self.separable else HINT
        return f"{why}: {wrong}. {hint}"


def learn(x: Floats, sign: Floats, options: PerceptronOptions, weight: Floats | None = None) -> Learned:
    """Learn a hyperplane for dense rows x (n x p) with ``sign`` +1 or -1 each, and weights that scale corrections.

    Cost: n p for an epoch, and p for each correction; rows are scored many at a time between two corrections.
    """
    if options.rule not in RULES:
        raise ParameterError.bad_value("rule", options.rule, f"one of {', '.join(map(repr, RULES))}")
    if weight is not None:
        x, sign, weight = x[weight > 0], sign[weight > 0], weight[weight > 0]
    walk = _Walk(np.asarray(x, float), np.asarray(sign, float), options, weight)
    rng = np.random.default_rng(options.seed)
    ordered = options.rule == "batch" or not options.shuffle
    way = _Way({walk.state(): 0})
    _go(walk, way, rng, ordered=ordered)
    # The last correction may have been the one that was left.
    way.converged = way.converged or walk.criterion()[1] == 0
    return _told(walk, way)


@dataclass
class _Way:
    """How far the corrections came: weights seen at the end of which epoch, and what made the end."""

    seen: dict[bytes, int]
    epochs: int = 0
    cycle: int = 0
    converged: bool = False
    gave_up: bool = False


def _go(walk: _Walk, way: _Way, rng: np.random.Generator, *, ordered: bool) -> None:
    options, n = walk.options, len(walk.x)
    stale, best = 0, np.inf
    for epoch in range(1, options.max_iter + 1):
        way.epochs = epoch
        if options.rule == "batch":
            corrected = walk.correct_all()
        else:
            corrected = walk.correct_in(None if ordered else rng.permutation(n))
        if not corrected:
            way.converged = True
            return
        walk.end_epoch(epoch)
        if ordered:
            before = way.seen.setdefault(walk.state(), epoch)
            if before != epoch:
                way.cycle = epoch - before
                return
        if options.tol is not None:
            value = walk.criterion()[0] / max(n, 1)
            stale = 0 if value < best - options.tol else stale + 1
            best = min(best, value)
            if stale >= options.patience:
                way.gave_up = True
                return


class _Walk:
    """The weights on their way."""

    def __init__(self, x: Floats, sign: Floats, options: PerceptronOptions, weight: Floats | None) -> None:
        self.x, self.sign, self.options, self.weighted = x, sign, options, weight is not None
        n, p = x.shape
        with np.errstate(over="ignore"):
            squares = np.einsum("ij,ij->i", x, x)
        if not np.isfinite(squares).all():
            raise DataError("The rows are too long to be squared, or hold NaN or infinity. Clean or scale the columns.")
        self.radius = float(np.sqrt(squares.max(initial=0.0)))
        self.rate = np.full(n, options.eta0) if weight is None else options.eta0 * weight
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
        self.unit = "epoch" if options.trace is True else options.trace
        self.recorder = Recorder(self.unit, p + 1) if self.unit else None
        self._record(0)

    def correct_all(self) -> bool:
        """One batch step; False where no row is wrong."""
        wrong = self.signed @ self.theta <= 0
        self.presented += 1
        if not wrong.any():
            return False
        self.updates += 1
        self._add((self.rate[wrong] @ self.signed[wrong]) * self.lifted)
        return True

    def correct_in(self, order: NDArray[np.intp] | None) -> bool:
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
            if self.unit == "step":
                self._record(self.updates)
        return self.updates > before

    def end_epoch(self, epoch: int) -> None:
        length = float(np.linalg.norm(self.theta))
        if self.options.normalize_weights and length > 0:
            change = self.theta / length - self.theta
            self.theta = self.theta + change
            self.late += self.presented * change
        if self.options.pocket:
            self._put_in_pocket()
        if self.unit == "epoch" or self.options.rule == "batch":
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


def _told(walk: _Walk, way: _Way) -> Learned:
    options, x, sign = walk.options, walk.x, walk.sign
    converged, cycle = way.converged, way.cycle
    theta = walk.answer()
    mistakes = int((walk.signed @ theta <= 0).sum())
    one_by_one = options.rule != "batch" and not (walk.weighted or options.normalize_rows or options.normalize_weights)
    gamma = bound = best = None
    if converged and len(x):
        w, b = walk.theta[:-1], float(walk.theta[-1])
        gamma = margin(x, sign, w, b)
        if one_by_one:
            chicago, intercept = options.rule == "chicago", options.fit_intercept
            bound = most_updates(x, sign, (w, b), chicago=chicago, intercept=intercept)
            wide = widest(x, sign, chicago=chicago, intercept=intercept)
            found = None if wide is None else most_updates(x, sign, wide, chicago=chicago, intercept=intercept)
            best = bound if bound is None or found is None else min(bound, found)
    # Without the division by its length, weights that come back are a proof.
    proved = cycle > 0 and not options.normalize_weights
    known = converged or proved
    possible = converged if known else separable(x, sign, intercept=options.fit_intercept)
    return Learned(
        coef=theta[:-1], intercept=float(theta[-1]), rows=len(x), updates=walk.updates, epochs=way.epochs,
        mistakes=mistakes, converged=converged, cycle=cycle, gave_up=way.gave_up, separable=possible,
        radius=walk.radius, gamma=gamma or None, bound=bound, best_bound=best,
        trace=None if walk.recorder is None else walk.recorder.trace(),
    )  # fmt: skip
