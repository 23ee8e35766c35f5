"""What QDA and RDA share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, SingularClassError, name_list
from discrim.inference.summary import Summary, Table
from discrim.models.base import OnePassClassifier, Statistic
from discrim.models.covariance_options import rank_tolerance
from discrim.models.priors import log_priors, resolve_priors
from discrim.solvers.quadratic import (
    ClassMatrices,
    SingularError,
    low_rank_rule,
    pooled_space_rule,
    projected_rule,
    quadratic_rule,
)
from discrim.solvers.regularized import Normalization
from discrim.solvers.rules import LowRankRule, ProjectedRule, QuadraticRule
from discrim.solvers.sphering import rounding_noise
from discrim.solvers.within import check_divisors, pooled_within, square_root
from discrim.statistics import ClassFactors, Depth
from discrim.typing import Floats

GaussianRule = QuadraticRule | ProjectedRule | LowRankRule


class QuadraticClassifier(OnePassClassifier):
    """Gaussian classes, each with a covariance matrix of its own."""

    priors: Any
    tol: float
    normalization: Normalization
    means_: NDArray[Any]
    priors_: NDArray[Any]
    _matrices: ClassMatrices

    def _depth(self, classes: int | None = None) -> Depth:  # noqa: ARG002 - the same for any number
        return Depth.FULL

    def _begin(self, statistic: Statistic) -> Floats:
        """Checks that hold for every quadratic model; the priors."""
        present = statistic.weight > 0
        if len(statistic.classes) < 2:
            raise DataError("The number of classes has to be greater than one. Got 1 class.")
        single = statistic.classes[present & (statistic.rows == 1)]
        if len(single) and self._needs_two_rows():
            raise DataError(
                f"y has only 1 sample in class {single[0]}, covariance is ill defined. "
                "Add rows of this class, leave it out, or use LinearDiscriminantAnalysis."
            )
        check_divisors(statistic, self.normalization, pooled=False)
        return resolve_priors(self.priors, statistic.weight)

    def _needs_two_rows(self) -> bool:
        return True

    def _shares_null_space(self) -> bool:
        """Do all class matrices lack the same directions, so that these can be left out?"""
        return False

    def _finish(self, statistic: Statistic, parts: ClassMatrices, priors: Floats, *, reread: bool) -> GaussianRule:
        """Invert the class matrices, and set the attributes."""
        noise = rounding_noise(statistic.mean, self._eps)
        logs = np.where(statistic.weight > 0, log_priors(priors), -np.inf)
        even = bool((parts.ridge == parts.ridge[:, :1]).all() and (parts.ridge[statistic.weight > 0] > 0).all())
        wide = isinstance(statistic, ClassFactors) and statistic.rows.sum() <= statistic.n_features
        rule: GaussianRule
        try:
            if even and wide and isinstance(statistic, ClassFactors):
                rule = projected_rule(statistic, parts, logs, statistic.n_features)
            elif wide and parts.ridge.any():
                rule = low_rank_rule(parts, logs, shared_null=self._shares_null_space())
            else:
                tol = rank_tolerance(self.tol)
                if tol > 0 and parts.matrices is not None:
                    roots = tuple(square_root(matrix) for matrix in parts.matrices)
                    parts = replace(parts, matrices=None, rows=roots)
                rule = quadratic_rule(parts, logs, noise, self._eps, tol, reread=reread)
        except SingularError as error:
            if not self._shares_null_space():
                raise self._singular(statistic, error, regularised=bool(parts.ridge[error.k].any())) from None
            pooled = pooled_within(statistic, self.normalization, noise, self._eps)
            rule = pooled_space_rule(parts, pooled.sphere(tol=rank_tolerance(self.tol), reread=reread), logs)
        self._matrices = parts
        inner = rule.inner if isinstance(rule, ProjectedRule) else rule
        with np.errstate(invalid="ignore"):  # a class that cannot occur has no determinant
            self._log_det = 2.0 * (logs - inner.offset)
        self.means_ = statistic.mean.astype(self._design.dtype)
        self.priors_ = priors.astype(self._design.dtype)
        return rule

    def _singular(self, statistic: Statistic, error: SingularError, *, regularised: bool) -> SingularClassError:
        label, rows, p = statistic.classes[error.k], statistic.rows[error.k], statistic.n_features
        if rows <= p and not regularised:
            return SingularClassError(
                f"The covariance matrix of class {label} is not full rank. When using `solver='svd'` without "
                f"regularization each class needs more rows than columns, but class {label} has {rows} rows "
                f"and {p} columns. Use RegularizedDiscriminantAnalysis, or set shrinkage or reg_param."
            )
        names = name_list(self._names[j] for j in error.dependent)
        return SingularClassError(
            f"The covariance matrix of class {label} is not full rank. Within this class the columns {names} "
            "are constant or determined by the others. Remove them, set shrinkage or reg_param, or use "
            "RegularizedDiscriminantAnalysis."
        )

    def _class_covariances(self) -> list[Floats]:
        """Sigma_k written out."""
        parts = self._matrices
        products = parts.matrices if parts.matrices is not None else [r.T @ r for r in parts.rows or ()]
        eye = np.eye(parts.mean.shape[1])
        return [f * m + t[:, None] * eye for f, m, t in zip(parts.factor, products, parts.ridge, strict=True)]

    def _group_summary(self, title: str, facts: dict[str, object]) -> Summary:
        statistic = self.statistic_
        labels = [str(label) for label in self.classes_]
        log_det = self._log_det
        about = {"Rows": int(statistic.rows.sum()), "Columns": statistic.n_features, "Classes": len(labels)}
        groups = Table(
            "Groups", labels, ["prior", "rows", "log det"], np.column_stack([self.priors_, statistic.rows, log_det])
        )
        means = Table("Group means", labels, self._names, self.means_)
        return Summary(title, {**about, **facts}, [groups, means], log_det=log_det, names=self._names)
