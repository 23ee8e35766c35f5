"""The summary of a logistic regression, in the manner of ``summary(glm)``, and its standard errors.

These are the model's, or the sandwich, which does not rely on the model.

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

from discrim.errors import ParameterError, name_list, plural
from discrim.inference.discriminant import coefficient_table
from discrim.inference.fitted import Fitted, score_sums
from discrim.inference.render import write_number
from discrim.inference.summary import Summary, Table
from discrim.typing import Floats

# Coefficients that a summary prints.
MOST_COEFFICIENTS = 200
# Those that it prints of thousands.
MOST_LARGEST = 30

COV_TYPES = ("auto", "model", "HC0", "HC1", "cluster")
KINDS = {
    "none": "maximum likelihood",
    "firth": "maximum likelihood with Firth's correction of its bias",
    "l2": "L2 penalty",
    "l1": "L1 penalty",
    "elasticnet": "L1 and L2 penalty",
}


def glm_summary(fitted: Fitted, cov_type: str = "auto", groups: Any = None) -> Summary:
    """Coefficients with standard errors, z and p-values; deviances, AIC, BIC and notes.

    The deviance is twice the distance of the log-likelihood to that of the saturated model, the null deviance that of
    the model without columns. Degrees of freedom count rows (times K - 1 for K classes) minus parameters;
    AIC = -2 log-likelihood + 2 parameters, BIC has log(rows) in place of the 2. With an L2 penalty parameters are
    counted by tr(H^-1 I). Standard errors are of the kind ``cov_type``, which the heading of the table names.
    """
    errors = standard_errors(fitted, cov_type, groups, in_time=True)
    std_error, parameters = errors.values, np.nan if fitted.too_many else fitted.parameters
    statistic, p_value = coefficient_table(fitted.coef, std_error)
    # An infinite estimate is not infinitely significant: its standard error is as unknown as its size.
    p_value = np.where(np.isnan(std_error), np.nan, p_value)
    df_null = fitted.observations - fitted.coordinates.intercept * len(fitted.contrasts)
    df_residual = fitted.observations - parameters
    values = {
        "names": fitted.labels,
        "coef": fitted.coef,
        "std_error": std_error,
        "cov_type": errors.kind,
        "statistic": statistic,
        "p_value": p_value,
        "deviance": fitted.deviance,
        "null_deviance": 2.0 * (fitted.null_loss - fitted.saturated_loss),
        "df_residual": _whole(df_residual),
        "df_null": df_null,
        "aic": fitted.criterion(fitted.solution.loss, parameters),
        "bic": fitted.criterion(fitted.solution.loss, parameters, np.log(fitted.rows)),
        "loglik": fitted.loglik,
        "iterations": fitted.solution.iterations,
        "parameters": _whole(parameters),
    }
    if fitted.penalty == "firth":
        values["penalized_loglik"] = fitted.loglik_constant - fitted.solution.value
    columns = ["Estimate", "Std. Error", "z value", "Pr(>|z|)"]
    table = np.column_stack([fitted.coef, std_error, statistic, p_value])
    heading = "Coefficients" if errors.kind == "model" else f"Coefficients, sandwich standard errors ({errors.kind})"
    names = fitted.labels
    p_columns: tuple[str, ...] = ("Pr(>|z|)",)
    if fitted.too_many or fitted.sparse_penalty:
        columns, table, p_columns = columns[:1], table[:, :1], ()
    if fitted.too_many:
        largest = np.argsort(-np.abs(fitted.coef), kind="stable")[:MOST_LARGEST]
        heading, names, table = "Largest coefficients", [names[j] for j in largest], table[largest]
    shown = Table(heading, names, columns, table, p_columns=p_columns, most_rows=MOST_COEFFICIENTS)
    title = "Logistic regression" if len(fitted.classes) < 3 else "Multinomial logistic regression"
    return Summary(title, _facts(fitted, errors, values), [shown], **values)


def _facts(fitted: Fitted, errors: StandardErrors, values: dict[str, object]) -> dict[str, object]:
    others = [label for k, label in enumerate(fitted.classes) if k != fitted.reference]
    weighted = not np.isclose(fitted.weight, fitted.rows, rtol=1e-12)
    facts: dict[str, object] = {
        "Log-odds": f"of class {name_list(others)} against '{fitted.classes[fitted.reference]}'",
        "Estimate": KINDS[fitted.penalty],
        "Rows": f"{fitted.rows}, of weight {write_number(fitted.weight, 6)}" if weighted else fitted.rows,
        "Null deviance": _on_df(values["null_deviance"], values["df_null"]),
        "Residual deviance": _on_df(values["deviance"], values["df_residual"]),
        "Log-likelihood": _figure(values["loglik"]),
        **({} if fitted.too_many else {"AIC": _figure(values["aic"]), "BIC": _figure(values["bic"])}),
        "Iterations": fitted.solution.iterations,
    }
    if fitted.penalty in {"l2", "elasticnet"} and not fitted.too_many:
        facts["Parameters"] = f"{write_number(fitted.parameters, 4)} effective"
    facts.update(_notes(fitted, errors))
    return facts


def _notes(fitted: Fitted, errors: StandardErrors) -> dict[str, str]:
    """What a reader must know before using the table."""
    notes = {}
    aliased = [name for name, gone in zip(fitted.names, fitted.aliased[1:], strict=True) if gone]
    if aliased:
        notes["Not defined"] = (
            f"{plural(len(aliased), 'column')}: {name_list(aliased, 10)}. Other columns determine "
            f"{'it' if len(aliased) == 1 else 'them'} exactly, so the coefficients are NaN, and 0 in predictions."
        )
    endless = [name for name, sign in zip(fitted.labels, fitted.endless, strict=True) if sign]
    if endless:
        one = len(endless) == 1
        notes["Separation"] = (
            f"the {'estimate' if one else 'estimates'} of {name_list(endless, 10)} {'is' if one else 'are'} infinite, "
            "because classes are separated along this direction. Likelihood-ratio tests (drop1()) and profile "
            "intervals still hold; bias_reduction='firth' gives finite estimates."
        )
    if not fitted.solution.converged:
        notes["Not converged"] = f"the loss could still fall by about {write_number(fitted.solution.gap, 2)}."
    if fitted.too_many:
        notes["Standard errors"] = (
            f"left out, with AIC and BIC: of {len(fitted.labels):,} coefficients they take time with the cube of "
            "that number. vcov and confint() compute them."
        )
    elif errors.kind != "model":
        notes["Standard errors"] = _of_sandwich(fitted, errors)
    elif fitted.penalty == "l2":
        notes["Standard errors"] = (
            "of the penalised estimate about its own mean, H^-1 I H^-1 with H = I + ridge. They leave out the bias of "
            "the penalty, so z, p and intervals do not hold for the true coefficients."
        )
    if fitted.sparse_penalty:
        notes["Standard errors"] = (
            "none. The penalty chose the columns by the same rows, and no formula for a standard error or p-value "
            "remains true after that choice. Test the columns on other rows, or fit with C=np.inf."
        )
    return notes


def _of_sandwich(fitted: Fitted, errors: StandardErrors) -> str:
    how = {"HC0": "", "HC1": ", times n / (n - parameters)", "cluster": " of the sums within groups"}
    text = f"sandwich H^-1 M H^-1{how[errors.kind]} ({errors.kind})"
    if errors.chosen:
        text += (
            ", because weights are class weights or fractions, not numbers of equal rows. Deviances, AIC and "
            "likelihood-ratio tests still treat them as such numbers"
        )
    if fitted.penalty == "l2":
        text += ". They leave out the bias of the penalty"
    return f"{text}."


def _on_df(deviance: object, df: object) -> str:
    known = not np.isnan(float(df))  # type: ignore[arg-type]
    return f"{_figure(deviance)} on {write_number(df, 6)} degrees of freedom" if known else _figure(deviance)


def _figure(value: object) -> str:
    """Five digits, and one decimal at least, of numbers that are compared by their differences."""
    number = float(value)  # type: ignore[arg-type]
    return f"{number:.1f}" if abs(number) >= 1e4 else write_number(number, 5)


def _whole(count: float) -> float | int:
    return round(count) if np.isfinite(count) and abs(count - round(count)) < 1e-9 else count


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
    if cov_type not in COV_TYPES:
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
