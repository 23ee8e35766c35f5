"""What QDA and RDA share: a covariance matrix for each class, inverted, and the errors where it has no inverse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discrim.errors import DataError, SingularClassError, name_list
from discrim.families.gaussian.covariance import check_divisors, pooled_within, rounding_noise, square_root
from discrim.families.gaussian.quadratic import (
    ClassMatrices,
    SingularError,
    low_rank_rule,
    pooled_space_rule,
    projected_rule,
    quadratic_rule,
)
from discrim.families.gaussian.recipe import Statistic, possible_logs, varying_columns
from discrim.families.recipe import Shape, Solved
from discrim.families.rule import LowRankRule, ProjectedRule, QuadraticRule
from discrim.statistics import ClassFactors
from discrim.typing import Floats

GaussianRule = QuadraticRule | ProjectedRule | LowRankRule


@dataclass(frozen=True, eq=False)
class QuadraticDetails:
    """The class matrices, and the logarithms of their determinants."""

    parts: ClassMatrices
    log_det: Floats

    def covariances(self) -> list[Floats]:
        """Sigma_k written out."""
        parts = self.parts
        products = parts.matrices if parts.matrices is not None else [r.T @ r for r in parts.rows or ()]
        eye = np.eye(parts.mean.shape[1])
        return [f * m + t[:, None] * eye for f, m, t in zip(parts.factor, products, parts.ridge, strict=True)]


@dataclass(frozen=True)
class Inverting:
    """How class matrices are inverted.

    ``shares_null`` says that all lack the same directions, so that these can be left out; ``tol`` is the threshold on
    scaled singular values.
    """

    normalization: str
    tol: float
    shares_null: bool
    reread: bool


def check_classes(statistic: Statistic, normalization: str, *, needs_two: bool) -> None:
    """Checks that hold for every quadratic model."""
    if len(statistic.classes) < 2:
        raise DataError("The number of classes has to be greater than one. Got 1 class.")
    single = statistic.classes[(statistic.weight > 0) & (statistic.rows == 1)]
    if len(single) and needs_two:
        raise DataError(
            f"y has only 1 sample in class {single[0]}, covariance is ill defined. "
            "Add rows of this class, leave it out, or use LinearDiscriminantAnalysis."
        )
    check_divisors(statistic, normalization, pooled=False)


def invert(
    statistic: Statistic, shape: Shape, parts: ClassMatrices, priors: Floats, how: Inverting
) -> tuple[GaussianRule, QuadraticDetails]:
    """The rule of these class matrices."""
    noise = rounding_noise(statistic.mean, shape.eps)
    logs = possible_logs(priors, statistic.weight)
    even = bool((parts.ridge == parts.ridge[:, :1]).all() and (parts.ridge[statistic.weight > 0] > 0).all())
    wide = isinstance(statistic, ClassFactors) and statistic.rows.sum() <= statistic.n_features
    rule: GaussianRule
    try:
        if even and wide and isinstance(statistic, ClassFactors):
            rule = projected_rule(statistic, parts, logs, shape.n_columns)
        elif wide and parts.ridge.any():
            rule = low_rank_rule(parts, logs, shared_null=how.shares_null)
        else:
            if how.tol > 0 and parts.matrices is not None:
                roots = tuple(square_root(matrix) for matrix in parts.matrices)
                parts = replace(parts, matrices=None, rows=roots)
            rule = quadratic_rule(parts, logs, noise, shape.eps, how.tol, reread=how.reread)
            outside = shape.n_columns - shape.width
            if outside:  # in the directions that were left out by turning the rows there is the ridge alone
                possible = np.where(np.isneginf(logs), 1.0, parts.ridge[:, 0])
                rule = replace(rule, offset=rule.offset - 0.5 * outside * np.log(possible))
    except SingularError as error:
        if not how.shares_null:
            raise _singular(statistic, shape, error, regularised=bool(parts.ridge[error.k].any())) from None
        pooled = pooled_within(statistic, how.normalization, noise, shape.eps)
        rule = pooled_space_rule(parts, pooled.sphere(tol=how.tol, reread=how.reread), logs)
    with np.errstate(invalid="ignore"):  # a class that cannot occur has no determinant
        log_det = 2.0 * (logs - rule.constant)
    return rule, QuadraticDetails(parts, log_det)


def class_attributes(statistic: Statistic, shape: Shape, priors: Floats) -> dict[str, Any]:
    dtype = shape.columns.dtype
    return {"means_": statistic.mean.astype(dtype), "priors_": priors.astype(dtype)}


def quadratic_size(solved: Solved) -> float:
    """(K - 1)(1 + p + p (p + 1) / 2) free numbers."""
    p = varying_columns(solved.statistic)
    return float((len(solved.statistic.classes) - 1) * (1 + p + p * (p + 1) // 2))


def _singular(statistic: Statistic, shape: Shape, error: SingularError, *, regularised: bool) -> SingularClassError:
    label, rows, p = statistic.classes[error.k], statistic.rows[error.k], statistic.n_features
    if rows <= p and not regularised:
        return SingularClassError(
            f"The covariance matrix of class {label} is not full rank. When using `solver='svd'` without "
            f"regularization each class needs more rows than columns, but class {label} has {rows} rows "
            f"and {p} columns. Use RegularizedDiscriminantAnalysis, or set shrinkage or reg_param."
        )
    names = shape.columns.names_out
    return SingularClassError(
        f"The covariance matrix of class {label} is not full rank. Within this class the columns "
        f"{name_list(names[j] for j in error.dependent)} are constant or determined by the others. Remove them, set "
        "shrinkage or reg_param, or use RegularizedDiscriminantAnalysis."
    )
