"""Standard errors of a logistic regression: the model's, or the sandwich, which does not rely on the model.

The sandwich is H^-1 M H^-1 with H the curvature and M the sum of the squared scores of the rows. A row of weight w
has the score w g with g = (y - p) z, so that

    M = sum w_i^2 g_i g_i'                  where weights say how important a row is (class weights, fractions),
    M = sum w_i g_i g_i'                    where they count equal rows,
    M = sum_c s_c s_c', s_c = sum_c w_i g_i where the rows of a group c may depend on each other.

A row of importance 5 carries no more information than one row, while the model's H^-1 counts it as five.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError, plural
from discrim.inference.fitted import Fitted, score_sums
from discrim.typing import Floats

KINDS = ("auto", "model", "HC0", "HC1", "cluster")


@dataclass(frozen=True)
class StandardErrors:
    """``values`` like the reported coefficients, and ``spread`` G with G G' their covariance.

    ``kind`` is "model", "HC0", "HC1" or "cluster"; ``chosen`` means that the weights made the choice, not the caller.
    """

    kind: str
    values: Floats
    spread: Floats
    chosen: bool = False

    @property
    def vcov(self) -> Floats:
        """The covariance of the reported coefficients; NaN where there is no standard error."""
        product, unknown = self.spread @ self.spread.T, np.isnan(self.values)
        product[unknown] = np.nan
        product[:, unknown] = np.nan
        return np.asarray(product)


def standard_errors(
    fitted: Fitted, cov_type: str = "auto", groups: Any = None, *, in_time: bool = False
) -> StandardErrors:
    """Of every reported coefficient. "auto": the model's, or the sandwich "HC0" where weights are not counts.

    "HC1" is HC0 times n / (n - parameters); "cluster" adds up the scores within ``groups`` first, times
    G / (G - 1) (n - 1) / (n - parameters) for G groups. ``in_time`` leaves out what would take minutes unasked.
    Cost of all but the model's: one pass over the rows.
    """
    if cov_type not in KINDS:
        raise ParameterError.bad_value("cov_type", cov_type, "'auto', 'model', 'HC0', 'HC1' or 'cluster'")
    if (groups is not None) != (cov_type == "cluster"):
        found = "given" if groups is not None else "not given"
        raise ParameterError(
            f"The 'groups' parameter is {found}, with cov_type={cov_type!r}. Give groups, one label a row, together "
            "with cov_type='cluster', and leave them out otherwise."
        )
    if in_time and fitted.too_many and cov_type == "auto":
        return StandardErrors("model", np.full(len(fitted.labels), np.nan), np.zeros((len(fitted.labels), 0)))
    kind = cov_type
    if cov_type == "auto":
        kind = "model" if fitted.weights_are_counts or fitted.sparse_penalty else "HC0"
    if kind == "model":
        spread = np.zeros((len(fitted.labels), 0)) if fitted.sparse_penalty else fitted.spread
        return StandardErrors("model", fitted.std_error, spread)
    spread = fitted.spread_with(_middle(fitted, kind, groups))
    return StandardErrors(kind, fitted.lengths(spread), spread, chosen=cov_type == "auto")


def _middle(fitted: Fitted, kind: str, groups: Any) -> Floats:
    """M, with the factor that makes up for the parameters that were fitted."""
    if kind == "HC0":
        return fitted.score_products
    n = fitted.weight if fitted.weights_are_counts else float(fitted.rows)
    if n <= fitted.parameters:
        raise ParameterError(
            f"cov_type='{kind}' divides by rows minus parameters, and there are {n:g} rows for "
            f"{fitted.parameters:g} parameters. Use 'HC0', or more rows."
        )
    if kind == "HC1":
        return np.asarray(fitted.score_products * (n / (n - fitted.parameters)))
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
