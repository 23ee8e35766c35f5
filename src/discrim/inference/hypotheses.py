"""Wald tests of linear hypotheses about the coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from discrim.errors import ParameterError, name_list
from discrim.inference.conjugate import tails
from discrim.inference.covariance import StandardErrors
from discrim.inference.discriminant import coefficient_table
from discrim.inference.fitted import Fitted
from discrim.inference.intervals import refuse_after_choice
from discrim.inference.summary import Table
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class WaldTest:
    """Linear hypotheses R beta = value: ``statistic`` is chi-squared with ``df``, or F with ``df`` and ``df_residual``.

    ``contrasts`` has each of them alone, with its interval.
    """

    statistic: float
    df: int
    df_residual: float
    p_value: float
    contrasts: Table

    def __repr__(self) -> str:
        if np.isfinite(self.df_residual):
            joint = f"F = {self.statistic:.5g} on {self.df} and {self.df_residual:g} df"
        else:
            joint = f"chi-squared = {self.statistic:.5g} on {self.df} df"
        return f"{self.contrasts}\nJoint Wald test: {joint}, p = {self.p_value:.4g}"


def wald_test(
    fitted: Fitted, errors: StandardErrors, contrasts: Any, value: Any = 0.0, level: float = 0.95
) -> WaldTest:
    """Test of combinations of the reported coefficients, and of all of them together.

    (R beta - value)' (R V R')^+ (R beta - value), V the covariance: a combination that others imply is not counted.
    """
    upper = tails(level)[1]
    refuse_after_choice(fitted, "wald_test()")
    matrix, names = contrast_matrix(fitted.labels, contrasts)
    used = np.abs(matrix).max(axis=0) > 0
    unknown = [name for name, u, b in zip(fitted.labels, used, fitted.coef, strict=True) if u and not np.isfinite(b)]
    if unknown:
        raise ParameterError(
            f"The coefficients of {name_list(unknown)} are infinite or not defined, and cannot be tested. drop1() "
            "tests infinite ones."
        )
    matrix = np.where(used, matrix, 0.0)
    estimate = matrix[:, used] @ fitted.coef[used]
    away = estimate - np.broadcast_to(np.asarray(value, np.float64), estimate.shape)
    spread = matrix[:, used] @ errors.spread[used]
    error = np.linalg.norm(spread, axis=1)
    u, lengths, _ = np.linalg.svd(spread / np.where(error > 0, error, 1.0)[:, None], full_matrices=False)
    kept = lengths > 1e-10 * lengths.max(initial=0.0)
    along = u.T @ (away / np.where(error > 0, error, 1.0))
    df, statistic = int(kept.sum()), float(np.sum((along[kept] / lengths[kept]) ** 2))
    if errors.df is None:
        p_value, df_residual = float(special.chdtrc(df, statistic)), np.inf
    else:
        statistic, df_residual = statistic / df, errors.df
        p_value = float(special.fdtrc(df, df_residual, statistic))
    single, p_single = coefficient_table(away, error, errors.df)
    half, letter = errors.quantile(upper) * error, "z" if errors.df is None else "t"
    columns = ["Estimate", "Std. Error", f"{letter} value", f"Pr(>|{letter}|)", "lower", "upper"]
    values = np.column_stack([estimate, error, single, p_single, estimate - half, estimate + half])
    table = Table(
        "Contrasts", names, columns, values, p_columns=(columns[3],), starred=not fitted.caveat, remark=fitted.caveat
    )
    return WaldTest(statistic, df, df_residual, p_value, table)


def contrast_matrix(labels: Sequence[str], contrasts: Any) -> tuple[Floats, list[str]]:
    """The rows of R and their names: from a name, a dict of name to factor, a list of these, or a matrix."""
    if isinstance(contrasts, (str, dict)):
        contrasts = [contrasts]
    if isinstance(contrasts, (list, tuple)) and contrasts and all(isinstance(c, (str, dict)) for c in contrasts):
        wanted = [{c: 1.0} if isinstance(c, str) else c for c in contrasts]
        strange = [name for c in wanted for name in c if name not in labels]
        if strange:
            raise ParameterError(
                f"The model has no coefficient {name_list(strange)}. Its coefficients are {name_list(labels, 20)}."
            )
        matrix = np.array([[float(c.get(name, 0.0)) for name in labels] for c in wanted])
        return matrix, [_written(c) for c in wanted]
    try:
        matrix = np.atleast_2d(np.asarray(contrasts, dtype=np.float64))
    except (TypeError, ValueError):
        matrix = np.empty((0, 0))
    if matrix.ndim != 2 or matrix.shape[1] != len(labels) or not len(matrix) or not np.isfinite(matrix).all():
        raise ParameterError.bad_value(
            "contrasts",
            contrasts,
            f"names of coefficients, dicts of name to factor, or a matrix of {len(labels)} columns",
        )
    named = [{name: x for name, x in zip(labels, row, strict=True) if x} for row in matrix.tolist()]
    return matrix, [_written(c) for c in named]


def _written(contrast: dict[str, float]) -> str:
    """1 x - 2 y as ``x - 2 y``."""
    parts: list[str] = []
    for name, factor in contrast.items():
        size = "" if abs(factor) == 1 else f"{abs(factor):g} "
        sign = "- " if factor < 0 else "+ " if parts else ""
        parts.append(f"{sign}{size}{name}")
    return " ".join(parts) or "0"
