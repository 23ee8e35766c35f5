"""Intervals of coefficients: Wald's, and those of the profile likelihood."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import special

from discrim.errors import ParameterError
from discrim.inference.fitted import Fitted
from discrim.inference.profile import profile_interval
from discrim.inference.sandwich import standard_errors
from discrim.inference.summary import Table
from discrim.typing import Floats


class Intervals(np.ndarray[Any, np.dtype[np.float64]]):
    """An array q x 2 of lower and upper ends that knows the ``names`` of its rows and its ``level``."""

    names: list[str]
    level: float

    def __new__(cls, ends: Floats, names: list[str], level: float) -> Self:
        array = np.asarray(ends, dtype=np.float64).view(cls)
        array.names, array.level = list(names), level
        return array

    def __array_finalize__(self, source: Any) -> None:
        self.names, self.level = getattr(source, "names", []), getattr(source, "level", np.nan)

    def __reduce__(self) -> tuple[Any, ...]:
        return Intervals, (np.asarray(self), self.names, self.level)

    @property
    def lower(self) -> Floats:
        return np.asarray(self)[:, 0]

    @property
    def upper(self) -> Floats:
        return np.asarray(self)[:, 1]

    def table(self) -> Table:
        tail = 100 * (1 - self.level) / 2
        return Table(
            f"Intervals of level {self.level:g}", self.names, [f"{tail:.4g} %", f"{100 - tail:.4g} %"], np.asarray(self)
        )

    def to_frame(self) -> Any:
        return self.table().to_frame()

    def __str__(self) -> str:
        # A part of the array, or a single number of it, is an array like any other.
        whole = self.shape == (len(self.names), 2)
        return str(self.table()) if whole else str(np.asarray(self))

    def __repr__(self) -> str:
        return str(self) if self.shape == (len(self.names), 2) else repr(np.asarray(self))


def confint(
    fitted: Fitted, level: float = 0.95, method: str = "wald", cov_type: str = "auto", groups: Any = None
) -> Intervals:
    """An interval for every reported coefficient.

    "wald": estimate -+ z std_error, of the kind ``cov_type`` (see ``standard_errors``). "profile": all values b that a
    likelihood-ratio test does not reject, that is 2 (loss at the best fit with this coefficient held at b - loss)
    <= z^2; after Firth's correction the same with the penalised likelihood. Infinite estimates have an infinite end,
    and no interval of Wald's.

    Cost of "profile": about ten passes over the rows for each coefficient.
    """
    z = quantile(level)
    if method not in ("wald", "profile"):
        raise ParameterError.bad_value("method", method, "'wald' or 'profile'")
    refuse_after_choice(fitted, "confint()")
    if method == "wald":
        errors = standard_errors(fitted, cov_type, groups).values
        ends = fitted.coef[:, None] + z * errors[:, None] * [-1.0, 1.0]
    else:
        if cov_type not in ("auto", "model") or groups is not None:
            raise ParameterError.bad_value("cov_type", cov_type, "left out with method='profile', or use 'wald'")
        fitted.need_likelihood("confint(method='profile')")
        ends = np.array([profile_interval(fitted, i, z) for i in range(len(fitted.labels))]).reshape(-1, 2)
    return Intervals(ends, fitted.labels, level)


def odds_ratios(
    fitted: Fitted, level: float = 0.95, method: str = "wald", cov_type: str = "auto", groups: Any = None
) -> Table:
    """exp(coefficient) with the ends of its interval: by how much the odds are multiplied for one unit more."""
    ends = confint(fitted, level, method, cov_type, groups)
    with np.errstate(over="ignore"):  # beyond the largest double there is only infinity
        values = np.exp(np.column_stack([fitted.coef, np.asarray(ends)]))
    return Table(
        f"Odds ratios with intervals of level {level:g}", fitted.labels, ["estimate", "lower", "upper"], values
    )


def quantile(level: float) -> float:
    """z with P(|Z| <= z) = level."""
    if not (isinstance(level, (int, float, np.number)) and 0 < level < 1):
        raise ParameterError.bad_value("level", level, "a number between 0 and 1, such as 0.95")
    return float(special.ndtri(0.5 + 0.5 * level))


def refuse_after_choice(fitted: Fitted, purpose: str) -> None:
    """A penalty that chooses columns leaves nothing to compute intervals from."""
    if fitted.sparse_penalty:
        raise ParameterError(
            f"{purpose} has no answer after the penalty '{fitted.penalty}': it chose the columns by the same rows, and "
            "no standard error remains true after that choice. Fit with C=np.inf, or with l1_ratio=0."
        )
