"""Naive Bayes of counts: what the classes say of every column, from their counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.parallel import run
from discrim.statistics import ClassCounts
from discrim.typing import Floats

# Added to the counts: one number, or one a column.
Alpha = Any

# What a difference leaves of two equal sums.
ROUNDING = 1e-12
# Counts from which on parts of the columns are solved side by side, and how many columns a part has: what is worked out
# on the way then stays in cache.
MANY, PART = 200_000, 1 << 14


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
        log_prob, constant = np.empty_like(s.count), np.zeros(len(s.count))
        total = s.count.sum(axis=1) + np.sum(alpha) * (s.count.shape[1] / np.size(alpha))

        def positive(k: int, columns: slice) -> bool:
            smoothed = s.count[k, columns] + _at(alpha, columns)
            if not smoothed.all():
                return False
            np.subtract(np.log(smoothed, out=smoothed), np.log(total[k]), out=log_prob[k, columns])
            return True

        if _everywhere(positive, s.count):
            return Solution(log_prob, log_prob, constant)
        return self._limit(s.count + alpha)

    def _limit(self, smoothed: Floats) -> Solution:
        """Where some counts are zero, and alpha with them."""
        total, constant = smoothed.sum(axis=1), np.zeros(len(smoothed))
        with np.errstate(divide="ignore", invalid="ignore"):
            log_prob = np.log(smoothed) - np.log(total)[:, None]
        zero = smoothed == 0
        safe = np.log(np.where(zero, 1.0, smoothed)) - np.log(np.where(total > 0, total, 1.0))[:, None]
        log_prob[zero] = -np.inf
        return Solution(log_prob, safe, constant, (zero.astype(np.float64), constant))


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
        log_prob, coef = np.empty_like(s.count), np.empty_like(s.count)
        parts = np.zeros((len(s.count), -(-s.count.shape[1] // PART)))

        def positive(k: int, columns: slice) -> bool:
            present = s.count[k, columns] + _at(a, columns)
            absent = _difference(s.weight[k], s.count[k, columns]) + _at(b, columns)
            if not present.all() or not absent.all():
                return False
            log_present, log_absent = np.log(present, out=present), np.log(absent, out=absent)
            log_total = np.log(s.weight[k] + (_at(a, columns) + _at(b, columns)))
            np.subtract(log_present, log_total, out=log_prob[k, columns])
            np.subtract(log_present, log_absent, out=coef[k, columns])
            np.subtract(log_absent, log_total, out=log_absent)
            parts[k, columns.start // PART] = log_absent.sum()
            return True

        if _everywhere(positive, s.count):
            return Solution(log_prob, coef, parts.sum(axis=1))
        return self._limit(s, a, b)

    def _limit(self, s: ClassCounts, a: Alpha, b: Alpha) -> Solution:
        """Where some counts are zero, and alpha with them."""
        present, absent = s.count + a, _difference(s.weight[:, None], s.count) + b
        total = s.weight[:, None] + (a + b)
        zero, one = present == 0, absent == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            log_prob = np.log(present) - np.log(total)
        log_prob[zero] = -np.inf
        log_total = np.log(np.where(total > 0, total, 1.0))
        log_absent = np.log(np.where(one, 1.0, absent))
        coef = np.log(np.where(zero, 1.0, present)) - log_absent
        never = zero.astype(np.float64) - one, one.sum(axis=1).astype(np.float64)
        return Solution(log_prob, coef, (log_absent - log_total).sum(axis=1), never)


@dataclass(frozen=True)
class Complement:
    """score_k(x) = -sum_j x_j log q_kj, where q_kj is the multinomial estimate from all other classes.

    With ``norm`` the weights log q_kj of a class are divided by their sum.
    """

    norm: bool = False
    threshold: float | None = None

    def solve(self, s: ClassCounts, alpha: Alpha) -> Solution:
        smoothed = complements(s.count) + alpha
        total = smoothed.sum(axis=1)[:, None]
        constant = np.zeros(len(total))
        zero = smoothed == 0
        if not zero.any():
            logged = np.log(smoothed / total)
            weights = logged / logged.sum(axis=1, keepdims=True) if self.norm else -logged
            return Solution(weights, weights, constant)
        if self.norm:
            # In the limit the columns that no other class has share all the weight of their class.
            logged = np.log(np.where(zero, 1.0, smoothed / np.where(total > 0, total, 1.0)))
            shares = np.where(zero.any(axis=1, keepdims=True), zero, logged)
            weights = shares / shares.sum(axis=1, keepdims=True)
            return Solution(weights, weights, constant)
        weights = np.log(np.where(total > 0, total, 1.0)) - np.log(np.where(zero, 1.0, smoothed))
        return Solution(np.where(zero, np.inf, weights), weights, constant, (-zero.astype(np.float64), constant))


Distribution = Multinomial | Bernoulli | Complement


def complements(count: Floats) -> Floats:
    """The counts of all other classes, K x p."""
    return _difference(count.sum(axis=0), count)


def _everywhere(task: Callable[[int, slice], bool], count: Floats) -> bool:
    """Is ``task(k, columns)`` true for every class k and every part of the columns?"""
    classes, width = count.shape
    parts = [(k, slice(j, j + PART)) for k in range(classes) for j in range(0, width, PART)]
    if count.size < MANY:
        return all(task(*part) for part in parts)
    return all(run(lambda i: task(*parts[i]), len(parts)))


def _at(value: Alpha, columns: slice) -> Any:
    return value[columns] if np.ndim(value) else value


def _difference(whole: Any, part: Floats) -> Floats:
    left = whole - part
    left[np.abs(left) <= ROUNDING * np.abs(part)] = 0.0
    return np.asarray(left)
