"""Plain descriptions of fitted rules: arrays that say how a row is scored, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discrim.typing import Floats


@dataclass(frozen=True)
class LinearRule:
    """score_k(x) = offset_k + coef_k'(x - origin); with a ``threshold`` the indicators x_j > threshold stand for x."""

    coef: Floats
    offset: Floats
    origin: Floats
    threshold: float | None = None

    @property
    def intercept(self) -> Floats:
        """The constant when the score is written offset_k + coef_k'x."""
        return np.asarray(self.offset - self.coef @ self.origin)


@dataclass(frozen=True)
class DiagonalRule:
    """score_k(x) = offset_k - sum_j precision_kj (x_j - mean_kj)^2 / 2."""

    mean: Floats
    precision: Floats
    offset: Floats


@dataclass(frozen=True)
class QuadraticRule:
    """score_k(x) = offset_k - |factor_k (x - mean_k)|^2 / 2, factor K x r x p (triangular: r = p, lower)."""

    mean: Floats
    factor: Floats
    offset: Floats
    triangular: bool


@dataclass(frozen=True)
class ProjectedRule:
    """A rule on z = basis'(x - origin), for more columns than rows.

    What lies outside the basis counts as - residual_precision_k |x - origin - basis z|^2 / 2.
    """

    origin: Floats
    basis: Floats
    inner: QuadraticRule
    residual_precision: Floats


@dataclass(frozen=True)
class LowRankRule:
    """score_k(x) = offset_k - |u + V_k (gain_k V_k'u)|^2 / 2 with u = (x - mean_k) / root_k.

    For more columns than rows and a diagonal that differs from column to column.
    ``root`` is K x p, infinite for a column that says nothing; V_k = ``directions[k]`` is p x r_k, ``gain[k]`` r_k.
    """

    mean: Floats
    root: Floats
    directions: tuple[Floats, ...]
    gain: tuple[Floats, ...]
    offset: Floats


@dataclass(frozen=True)
class StudentRule:
    """score_k(x) = offset_k - power_k log(1 + rate_k q_k(x)), with -q_k/2 the score of ``inner``.

    A Student-t in p columns with df degrees and scale matrix c A has power (df + p)/2 and, where q is taken
    by A, rate 1/(c df). An offset of -inf marks a class that cannot occur.
    """

    inner: QuadraticRule | ProjectedRule | LowRankRule
    offset: Floats
    power: Floats
    rate: Floats


Rule = LinearRule | DiagonalRule | QuadraticRule | ProjectedRule | LowRankRule | StudentRule
