"""The models of counts: how often each word, whether at all, and how little like the other classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ParameterError
from discrim.families.counts.distributions import Bernoulli, Complement, Multinomial
from discrim.families.counts.recipe import CountsRecipe
from discrim.families.recipe import Passes, Shape, Solved
from discrim.families.rule import LinearRule, Output, float_type
from discrim.statistics import ClassCounts
from discrim.statistics.by_class import OneForm
from discrim.typing import Floats

# Margins of rows, whether they are of the second class, and their weights.
Margins = tuple[Floats, NDArray[np.bool_], Floats]


@dataclass(frozen=True, eq=False)
class MultinomialRecipe(CountsRecipe):
    """theta_kj = (N_kj + alpha_j) / sum_j (N_kj + alpha_j); the largest log pi_k + sum_j x_j log theta_kj."""

    @property
    def distribution(self) -> Multinomial:
        return Multinomial()


@dataclass(frozen=True, eq=False)
class ComplementRecipe(CountsRecipe):
    """q_kj the multinomial estimate from all other classes; the largest -sum_j x_j log q_kj."""

    norm: bool = False

    @property
    def distribution(self) -> Complement:
        return Complement(self.norm)

    def estimate(self, statistic: ClassCounts, shape: Shape, passes: Passes | None) -> Solved:
        solved = super().estimate(statistic, shape, passes)
        return replace(solved, attributes={"feature_all_": statistic.count.sum(axis=0), **solved.attributes})

    def score_prior(self, log_prior: Floats) -> Floats:
        """Classes have no prior, unless there is only one."""
        return log_prior if log_prior.shape[-1] == 1 else np.zeros_like(log_prior)


@dataclass(frozen=True, eq=False)
class BernoulliRecipe(CountsRecipe):
    """phi_kj = (N_kj + a) / (n_k + a + b); the largest log pi_k + sum_j log(1 - phi_kj) + sum_j x_j logit(phi_kj)."""

    signed: ClassVar[bool] = True

    binarize: float | None = 0.0
    beta: Any = None
    tune_intercept: bool = False

    @property
    def distribution(self) -> Bernoulli:
        threshold = None if self.binarize is None else float(self.binarize)
        return Bernoulli(threshold, None if self.beta is None else _beta_pair(self.beta))

    @property
    def needs_rows(self) -> bool:
        return self.tune_intercept or super().needs_rows

    def added(self, alpha: Any) -> tuple[Any, ...]:
        return self.distribution.pair(alpha)

    def without(self, statistic: ClassCounts, gone: ClassCounts) -> ClassCounts:
        left = statistic.subtract(gone)
        statistic.check_indicators(left)
        return left

    def estimate(self, statistic: ClassCounts, shape: Shape, passes: Passes | None) -> Solved:
        solved = super().estimate(statistic, shape, passes)
        return self._tuned(solved, passes) if self.tune_intercept else solved

    def refuse(self, statistic: ClassCounts, shape: Shape) -> None:
        if self.binarize is None:
            _check_binary(statistic, shape)
        p = statistic.n_features
        if any(np.ndim(part) and len(part) != p for part in self.distribution.beta or ()):
            raise ParameterError.bad_value("beta", self.beta, f"a pair (a, b) of numbers or arrays of {p} numbers")
        super().refuse(statistic, shape)
        if isinstance(self.alpha, str) and self.beta is not None:
            raise ParameterError(f"alpha='{self.alpha}' chooses a and b of the Beta prior: leave 'beta' out.")

    def _tuned(self, solved: Solved, passes: Passes | None) -> Solved:
        """The rule with the constant of fewest training errors."""
        if passes is None:
            raise ParameterError("tune_intercept=True needs the rows themselves: use fit on all rows.")
        rule, classes = solved.rule, solved.statistic.classes
        if len(classes) != 2 or not isinstance(rule, LinearRule):
            raise DataError(
                f"tune_intercept=True needs two classes and alpha above zero; found {len(classes)} classes."
            )
        shift = best_shift(*passes.reduce(MarginsOf(rule, classes[1])))
        return replace(solved, rule=replace(rule, offset=rule.offset + np.array([0.0, shift])))


def _check_binary(s: ClassCounts, shape: Shape) -> None:
    slack = 1e-9 * s.weight[:, None]
    wrong = (s.count < -slack) | (s.count > s.weight[:, None] + slack)
    if wrong.any():
        name = shape.columns.names_out[int(np.argmax(wrong.any(axis=0)))]
        raise DataError(
            f"With binarize=None every entry of X must be 0 or 1; column '{name}' has other values. "
            "Set binarize to the number above which an entry counts as 1."
        )


def _beta_pair(given: Any) -> tuple[Any, Any]:
    """a and b as floats or arrays; else the error that says what they must be."""
    wanted = "a pair (a, b) of numbers or arrays, none below 0"
    try:
        a, b = (np.asarray(part, dtype=np.float64) for part in given)
    except (TypeError, ValueError):
        raise ParameterError.bad_value("beta", given, wanted) from None
    if not all(part.ndim <= 1 and np.isfinite(part).all() and (part >= 0).all() for part in (a, b)):
        raise ParameterError.bad_value("beta", given, wanted)
    return tuple(part if part.ndim else float(part) for part in (a, b))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class MarginsOf(OneForm):
    """The margins of all rows in order; ``second`` is the label of the second class."""

    rule: LinearRule
    second: Any

    def of(self, block: Block) -> Margins:
        scores = np.empty((len(block), 2))
        x: Any = block.x if self.rule.keeps_sparse else block.dense()
        self.rule.fill(x, Output.SCORES, scores)
        margin = (scores[:, 1] - scores[:, 0]).astype(float_type(x)).astype(np.float64)
        weight = np.ones(len(block)) if block.weight is None else block.weight
        return margin, np.asarray(block.classes[block.codes] == self.second), weight

    def merge(self, states: Sequence[Margins]) -> Margins:
        margin, second, weight = (np.concatenate(parts) for parts in zip(*states, strict=True))
        return margin, second, weight

    def numbers(self, shape: Shape) -> int:  # noqa: ARG002 - as many as a part has rows
        return 0


def best_shift(margin: Floats, second: NDArray[np.bool_], weight: Floats) -> float:
    """What to add to the margins so that their signs err least; of several the one nearest to zero.

    All cuts between neighbouring margins are tried: rows above a cut are called second. Cost: n log n.
    """
    order = np.argsort(margin, kind="stable")
    m, gain = margin[order], np.where(second, weight, -weight)[order]
    # errors(cut before position i) = second rows below the cut + first rows above it
    lost = np.concatenate([[0.0], np.cumsum(gain)])
    # Margins that differ by rounding cannot be cut apart.
    apart = m[1:] - m[:-1] > 1e-11 * np.maximum(np.abs(m[1:]), 1.0)
    cuts = np.concatenate([[True], apart, [True]])
    # Sums of equal errors differ by rounding.
    best = np.flatnonzero(cuts & (lost <= lost[cuts].min() + 1e-12 * weight.sum()))
    edges = np.concatenate([[-np.inf], m, [np.inf]])
    lower, upper = edges[best], edges[best + 1]
    if ((lower <= 0) & (upper > 0)).any():
        return 0.0
    finite = np.where(np.isinf(lower), upper - 1.0, np.where(np.isinf(upper), lower + 1.0, 0.5 * (lower + upper)))
    return -float(finite[np.argmin(np.abs(finite))])
