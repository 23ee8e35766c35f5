"""Naive Bayes of counts: the scores that follow from the counts of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.families.rule import COEF, OFFSET, LinearRule, Output, Rule, write_answers
from discrim.parallel import run
from discrim.statistics import ClassCounts
from discrim.store.fields import Array, Fields, Number, Optional
from discrim.typing import Floats

# Added to the counts: one number, or one a column.
Alpha = Any

# What a difference leaves of two equal sums.
ROUNDING = 1e-12
# Counts from which on the classes are solved on several threads, in so many parts.
MANY, PARTS = 400_000, 8


@dataclass(frozen=True)
class Solution:
    """score_k(x) = constant_k + coef_k'x, before the classes' prior probabilities.

    ``log_prob`` is K x p. Where it is infinite, ``coef`` has its finite part as alpha falls to zero, and ``never``
    (coefficients K x p and constants K) counts the factors alpha: a row is impossible in a class where the count is
    positive, certain where it is negative, and the class with the least count has the largest score in the limit.
    """

    log_prob: Floats
    coef: Floats
    constant: Floats
    never: tuple[Floats, Floats] | None = None


@dataclass(frozen=True)
class Multinomial:
    """P(column j | class k) = (N_kj + alpha_j) / sum_j (N_kj + alpha_j)."""

    threshold: float | None = None

    def solve(self, s: ClassCounts, alpha: Alpha) -> Solution:
        total = s.of_class + summed(alpha, s.count.shape[1])
        coef, constant = _log_shares(s.count, alpha, _log(total)), np.zeros(len(s.count))
        zero = s.count + alpha == 0 if np.min(alpha) == 0 else np.zeros(1, dtype=bool)
        if not zero.any():
            return Solution(coef, coef, constant)
        return Solution(np.where(zero, -np.inf, coef), coef, constant, (zero.astype(np.float64), constant))


@dataclass(frozen=True)
class Bernoulli:
    """P(x_j = 1 | class k) = (N_kj + a_j) / (n_k + a_j + b_j), with a = b = alpha unless ``beta`` = (a, b) is given.

    The rule is linear: coef_kj = log p_kj - log(1 - p_kj), constant_k = sum_j log(1 - p_kj).
    """

    threshold: float | None
    beta: tuple[Any, Any] | None = None

    def pair(self, alpha: Alpha) -> tuple[Any, Any]:
        return (alpha, alpha) if self.beta is None else self.beta

    def solve(self, s: ClassCounts, alpha: Alpha) -> Solution:
        a, b = self.pair(alpha)
        total = _log(s.weight[:, None] + (a + b))
        if total.shape[1] == 1:
            log_prob = _log_shares(s.count, a, total[:, 0])
            absent = _log_shares(s.count, b, total[:, 0], s.weight[:, None])
        else:
            none = np.zeros(len(total))
            log_prob = _log_shares(s.count, a, none) - total
            absent = _log_shares(s.count, b, none, s.weight[:, None]) - total
        coef, constant = log_prob - absent, absent.sum(axis=1)
        if np.min(a) > 0 and np.min(b) > 0:
            return Solution(log_prob, coef, constant)
        zero, one = s.count + a == 0, difference(s.weight[:, None], s.count) + b == 0
        if not zero.any() and not one.any():
            return Solution(log_prob, coef, constant)
        log_prob[zero] = -np.inf
        return Solution(log_prob, coef, constant, (zero.astype(np.float64) - one, one.sum(axis=1).astype(np.float64)))


@dataclass(frozen=True)
class Complement:
    """score_k(x) = -sum_j x_j log q_kj, where q_kj is the multinomial estimate from all other classes.

    With ``norm`` the weights log q_kj of a class are divided by their sum.
    """

    norm: bool = False
    threshold: float | None = None

    def solve(self, s: ClassCounts, alpha: Alpha) -> Solution:
        whole, constant = s.count.sum(axis=0), np.zeros(len(s.count))
        total = _log(difference(whole.sum(), s.of_class) + summed(alpha, len(whole)))
        weights = _log_shares(s.count, alpha, total, whole[None], negative=True)
        zero = complements(s.count) + alpha == 0 if np.min(alpha) == 0 else np.zeros((1, 1), dtype=bool)
        if self.norm:
            # In the limit the columns that no other class has share all the weight of their class.
            shares = np.where(zero.any(axis=1, keepdims=True), zero, weights)
            weights = shares / shares.sum(axis=1, keepdims=True)
        if self.norm or not zero.any():
            return Solution(weights, weights, constant)
        return Solution(np.where(zero, np.inf, weights), weights, constant, (-zero.astype(np.float64), constant))


Distribution = Multinomial | Bernoulli | Complement


@dataclass(frozen=True)
class LimitRule(Rule):
    """score_k(x) = offset_k + coef_k'x among the classes with the least never_offset_k + never_k'x, and -inf elsewhere.

    The rule of counts without smoothing, what small alpha tend to: the second sum counts what a row has and its class
    cannot have. With a ``threshold`` the indicators x_j > threshold stand for x.
    """

    kind = "counts without smoothing"
    stored: ClassVar[Fields] = {
        "coef": COEF, "offset": OFFSET, "never": COEF, "never_offset": Array("K"), "threshold": Optional(Number()),
    }  # fmt: skip

    coef: Floats
    offset: Floats
    never: Floats
    never_offset: Floats
    threshold: float | None = None

    @property
    def keeps_sparse(self) -> bool:
        return True

    @property
    def both(self) -> LinearRule:
        """Both sums as one rule of 2 K scores, for one read of the rows."""
        coef, offset = np.vstack([self.coef, self.never]), np.concatenate([self.offset, self.never_offset])
        return LinearRule(coef, offset, np.zeros(coef.shape[1]), self.threshold)

    def fill(self, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
        both = np.empty((x.shape[0], 2 * len(self.offset)))
        finite = self.both.fill(x, Output.SCORES, both)
        scores, never = np.split(both, 2, axis=1)
        never[:, np.isneginf(self.offset)] = np.inf
        scores[never > never.min(axis=1, keepdims=True)] = -np.inf
        write_answers(scores, output, out)
        return finite


def complements(count: Floats) -> Floats:
    """The counts of all other classes, K x p."""
    return difference(count.sum(axis=0), count)


def difference(whole: Any, part: Any) -> Floats:
    """What is left of the whole; zero where it is rounding."""
    left = np.asarray(whole - part)
    if left.size and left.min() <= ROUNDING * max(part.max(), -part.min()):
        left[np.abs(left) <= ROUNDING * np.abs(part)] = 0.0
    return left


def summed(alpha: Alpha, columns: int) -> float:
    """What is added to the counts of so many columns together."""
    return float(np.sum(alpha)) * (columns / np.size(alpha))


def _log_shares(
    count: Floats, alpha: Alpha, log_total: Floats, whole: Floats | None = None, *, negative: bool = False
) -> Floats:
    """log(N_kj + alpha_j) - log_total_k, or its negative; with a ``whole`` (K x 1 or 1 x p) of what is left of it.

    The logarithm of zero is zero: its limit is worked out by the caller.
    """
    added, out = np.atleast_1d(np.asarray(alpha, dtype=np.float64)), np.empty(count.shape)
    step = max(len(count) // PARTS, 1) if count.size >= MANY else max(len(count), 1)

    def fill(part: int) -> None:
        rows = slice(part * step, (part + 1) * step)
        here = whole[rows] if whole is not None and len(whole) > 1 else whole
        kernels.log_shares(count[rows], here, added, log_total[rows], negative, out[rows])

    run(fill, -(-len(count) // step))
    return out


def _log(values: Any) -> Any:
    """Logarithms; zero where a value is zero, for which the limit is worked out."""
    return np.log(np.where(values == 0, 1.0, values))
