"""Covariances of the coefficients of a logistic regression: the model's, with a dispersion, or the sandwich.

The sandwich is H^-1 M H^-1 with H the curvature and M the sum of the squared scores of the rows; it does not rely on
the model. A row of weight w has the score w g with g = (y - p) z, so that

    M = sum w_i^2 g_i g_i'                  where weights say how important or how precise a row is,
    M = sum w_i g_i g_i'                    where they count equal rows,
    M = sum_c s_c s_c', s_c = sum_c w_i g_i where the rows of a group c may depend on each other.

A row of importance 5 carries no more information than one row, while the model's H^-1 counts it as five. With a
dispersion ("quasi") the covariance is phi H^-1, phi = sum of squared Pearson residuals / (n - parameters).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim.errors import ParameterError, plural
from discrim.inference.fitted import Fitted
from discrim.inference.row_scores import score_products, score_sums
from discrim.typing import Floats

COV_TYPES = ("auto", "model", "quasi", "HC0", "HC1", "cluster")
WEIGHTS = ("auto", "frequency", "precision", "importance")
# What "auto" means for each kind of weights.
SUITABLE = {"frequency": "model", "precision": "quasi", "importance": "HC0"}


@dataclass(frozen=True)
class StandardErrors:
    """``values`` like the reported coefficients, ``spread`` G with G G' their covariance, ``root`` F with F F' theta's.

    ``kind`` is "model", "quasi", "HC0", "HC1" or "cluster"; ``chosen`` means that the weights made the choice, not the
    caller. ``df`` are the degrees of freedom of an estimated dispersion, with which statistics are Student's t;
    ``groups`` how many groups there are, where the kind is "cluster".
    """

    kind: str
    values: Floats
    spread: Floats
    root: Floats
    chosen: bool = False
    df: float | None = None
    dispersion: float = 1.0
    groups: int = 0

    @property
    def vcov(self) -> Floats:
        """The covariance of the reported coefficients; NaN where there is no standard error."""
        product, unknown = self.spread @ self.spread.T, np.isnan(self.values)
        product[unknown] = np.nan
        product[:, unknown] = np.nan
        return np.asarray(product)

    def quantile(self, probability: float) -> float:
        """Of the distribution that statistics are compared with: normal, or Student's t."""
        return float(special.ndtri(probability) if self.df is None else special.stdtrit(self.df, probability))


class Covariance(np.ndarray[Any, np.dtype[np.float64]]):
    """A covariance matrix (q x q) that knows the ``names`` of its rows; called, it gives one of another kind."""

    names: list[str]
    fitted: Fitted | None

    def __new__(cls, values: Floats, fitted: Fitted) -> Self:
        array = np.asarray(values, dtype=np.float64).view(cls)
        array.names, array.fitted = fitted.labels, fitted
        return array

    def __array_finalize__(self, source: Any) -> None:
        # What is computed from the matrix, or a part of it, is an array like any other.
        self.names, self.fitted = [], None

    def __call__(self, cov_type: str = "auto", groups: Any = None, weights: str = "auto") -> Covariance:
        """The covariance of this kind, as ``summary`` has it."""
        if self.fitted is None:
            raise ParameterError("Only the covariance matrix of a model can be called. Ask model.vcov(...).")
        return Covariance(standard_errors(self.fitted, cov_type, groups, weights).vcov, self.fitted)

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (np.asarray(self),)


def standard_errors(
    fitted: Fitted, cov_type: str = "auto", groups: Any = None, weights: str = "auto", *, in_time: bool = False
) -> StandardErrors:
    """Of every reported coefficient. "auto": the model's, or the sandwich "HC0" where weights are not counts.

    "HC1" is HC0 times n / (n - parameters); "cluster" adds up the scores within ``groups`` first, times
    G / (G - 1) (n - 1) / (n - parameters) for G groups; "quasi" is the model's times the dispersion. ``weights`` says
    what the weights are: "frequency" (numbers of equal rows: the model's), "precision" (a row of weight w is the mean
    of w measurements, up to a factor: "quasi") or "importance" ("HC0"). ``in_time`` leaves out what would take minutes
    unasked. Cost of all but the model's: one pass over the rows.
    """
    if cov_type not in COV_TYPES:
        raise ParameterError.bad_value("cov_type", cov_type, "'auto', 'model', 'quasi', 'HC0', 'HC1' or 'cluster'")
    if weights not in WEIGHTS:
        raise ParameterError.bad_value("weights", weights, "'auto', 'frequency', 'precision' or 'importance'")
    if (groups is not None) != (cov_type == "cluster"):
        found = "given" if groups is not None else "not given"
        raise ParameterError(
            f"The 'groups' parameter is {found}, with cov_type={cov_type!r}. Give groups, one label a row, together "
            "with cov_type='cluster', and leave them out otherwise."
        )
    if in_time and fitted.too_many and cov_type == "auto":
        return _none(fitted)
    kind = cov_type
    if cov_type == "auto":
        kind = SUITABLE.get(weights, "model" if fitted.weights_are_counts else "HC0")
    if fitted.sparse_penalty:
        return _none(fitted)
    if kind == "model":
        return StandardErrors("model", fitted.std_error, fitted.spread, fitted.own_root)
    if kind == "quasi":
        phi, df = dispersion(fitted, weights)
        times = np.sqrt(phi)
        spread, root = times * fitted.spread, times * fitted.own_root
        return StandardErrors(kind, fitted.lengths(spread), spread, root, cov_type == "auto", df, phi)
    root = fitted.root_with(_middle(fitted, kind, groups, weights))
    spread = fitted.spread_of(root)
    many = group_codes(groups, len(groups))[0] if kind == "cluster" else 0
    return StandardErrors(kind, fitted.lengths(spread), spread, root, chosen=cov_type == "auto", groups=many)


def _none(fitted: Fitted) -> StandardErrors:
    """Where there are no standard errors, or they are not computed unasked."""
    q = len(fitted.labels)
    return StandardErrors("model", np.full(q, np.nan), np.zeros((q, 0)), np.zeros((fitted.theta.size, 0)))


def dispersion(fitted: Fitted, weights: str = "auto") -> tuple[float, float]:
    """Pearson's chi-squared divided by its degrees of freedom, and these. About 1 where the model holds.

    It means something for rows of many trials, and for weights that are precisions.
    """
    df = _units(fitted, weights, "quasi") * len(fitted.contrasts) - fitted.parameters
    return fitted.pearson / df, df


def _units(fitted: Fitted, weights: str, kind: str) -> float:
    """How many independent rows there are, more than parameters; rows of trials are units of their own."""
    counted = weights == "frequency" or (weights == "auto" and fitted.weights_are_counts)
    n = fitted.weight if counted and not fitted.grouped else float(fitted.rows)
    if n <= fitted.parameters:
        raise ParameterError(
            f"cov_type='{kind}' divides by rows minus parameters, and there are {n:g} rows for "
            f"{fitted.parameters:g} parameters. Use 'HC0', or more rows."
        )
    return n


def _middle(fitted: Fitted, kind: str, groups: Any, weights: str) -> Floats:
    """M, with the factor that makes up for the parameters that were fitted."""
    n = 0.0 if kind == "HC0" else _units(fitted, weights, kind)
    if kind != "cluster":
        if weights == "auto":
            products = fitted.score_products
        else:
            problem = fitted.problem("A sandwich standard error")
            products = score_products(problem, fitted.theta, power=1 if weights == "frequency" else 2)
        return products if kind == "HC0" else np.asarray(products * (n / (n - fitted.parameters)))
    objective = fitted.problem("A cluster-robust standard error")
    labels, codes = group_codes(groups, sum(len(block) for block in objective.rows.blocks()))
    if labels < 2:
        raise ParameterError("Cluster-robust standard errors need two groups at least, and all rows are in one.")
    sums = score_sums(objective, fitted.theta, codes, labels)
    factor = labels / (labels - 1) * (n - 1) / (n - fitted.parameters)
    return np.asarray(factor * (sums.T @ sums))


def group_codes(groups: Any, rows: int) -> tuple[int, NDArray[np.intp]]:
    """How many different labels there are, and each row's number among them."""
    labels = np.asarray(groups)
    if labels.shape != (rows,):
        raise ParameterError.bad_value("groups", f"of shape {labels.shape}", f"{rows} labels, one a row")
    missing = np.array([label is None or (isinstance(label, float) and np.isnan(label)) for label in labels.tolist()])
    if missing.any():
        raise ParameterError(
            f"The 'groups' parameter lacks {plural(int(missing.sum()), 'label')}, the first in row "
            f"{int(np.argmax(missing))}. Give every row a group."
        )
    number: dict[Any, int] = {}
    codes = np.array([number.setdefault(label, len(number)) for label in labels.tolist()], dtype=np.intp)
    return len(number), codes
