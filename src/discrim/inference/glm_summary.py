"""The summary of a logistic regression, in the manner of ``summary(glm)``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from discrim.errors import name_list, plural
from discrim.inference.covariance import StandardErrors, standard_errors
from discrim.inference.discriminant import coefficient_table
from discrim.inference.fitted import Fitted
from discrim.inference.render import write_number, write_p_value
from discrim.inference.summary import Summary, Table

# Coefficients that a summary prints.
MOST_COEFFICIENTS = 200
# Those that it prints of thousands.
MOST_LARGEST = 30

HEADINGS = {"model": "Coefficients", "quasi": "Coefficients, standard errors with the dispersion (quasi)"}
# Below this p-value of Pearson's chi-squared a dispersion above 1 is more than chance.
OVERDISPERSED = 0.01
# Groups from which on cluster-robust standard errors nearly keep their level.
ENOUGH_GROUPS = 50
KINDS = {
    "none": "maximum likelihood",
    "firth": "maximum likelihood with Firth's correction of its bias",
    "flic": "Firth's, with the intercept of maximum likelihood (FLIC)",
    "flac": "Firth's, with an added covariate (FLAC)",
    "l2": "L2 penalty",
    "l1": "L1 penalty",
    "elasticnet": "L1 and L2 penalty",
}


def glm_summary(fitted: Fitted, cov_type: str = "auto", groups: Any = None, weights: str = "auto") -> Summary:
    """Coefficients with standard errors, z and p-values; deviances, AIC, BIC and notes.

    The deviance is twice the distance of the log-likelihood to that of the saturated model, the null deviance that of
    the model without columns. Degrees of freedom count rows (times K - 1 for K classes) minus parameters;
    AIC = -2 log-likelihood + 2 parameters, BIC has log(rows) in place of the 2. With an L2 penalty parameters are
    counted by tr(H^-1 I). Standard errors are of the kind ``cov_type``, which the heading of the table names. With a
    dispersion the statistics are Student's t.
    """
    errors = standard_errors(fitted, cov_type, groups, weights, in_time=True)
    std_error, parameters = errors.values, np.nan if fitted.too_many else fitted.parameters
    statistic, p_value = coefficient_table(fitted.coef, std_error, errors.df)
    # An infinite estimate is not infinitely significant: its standard error is as unknown as its size.
    p_value = np.where(np.isnan(std_error), np.nan, p_value)
    df_null = fitted.observations - fitted.coordinates.intercept * len(fitted.contrasts)
    df_residual = fitted.observations - parameters
    values = {
        "names": fitted.labels,
        "coef": fitted.coef,
        "std_error": std_error,
        "vcov": errors.vcov,
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
        "residual_quantiles": fitted.residual_quartiles,
    }
    if fitted.penalty == "firth":
        values["penalized_loglik"] = fitted.loglik_constant - fitted.solution.value
    if fitted.grouped or errors.kind == "quasi":
        values["pearson"] = fitted.pearson
        values["dispersion"] = fitted.pearson / df_residual if df_residual > 0 else np.nan
    letter = "z" if errors.df is None else "t"
    columns = ["Estimate", "Std. Error", f"{letter} value", f"Pr(>|{letter}|)"]
    table = np.column_stack([fitted.coef, std_error, statistic, p_value])
    names, heading = fitted.labels, HEADINGS.get(errors.kind, f"Coefficients, sandwich standard errors ({errors.kind})")
    p_columns: tuple[str, ...] = tuple(columns[3:])
    if fitted.too_many or fitted.sparse_penalty:
        columns, table, p_columns = columns[:1], table[:, :1], ()
    if fitted.too_many:
        largest = np.argsort(-np.abs(fitted.coef), kind="stable")[:MOST_LARGEST]
        heading, names, table = "Largest coefficients", [names[j] for j in largest], table[largest]
    shown = Table(
        heading,
        names,
        columns,
        table,
        p_columns=p_columns,
        most_rows=MOST_COEFFICIENTS,
        starred=not fitted.caveat,
        remark=fitted.caveat if p_columns else "",
    )
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
    quantiles = np.asarray(values["residual_quantiles"])
    if np.isfinite(quantiles).all():
        written = ", ".join(write_number(q, 4) for q in quantiles)
        facts["Residuals"] = f"{written} (of the deviance: min, quartiles, max)"
    if fitted.penalty in {"l2", "elasticnet"} and not fitted.too_many:
        facts["Parameters"] = f"{write_number(fitted.parameters, 4)} effective"
    if "dispersion" in values:
        facts["Dispersion"] = _of_dispersion(values, corrected=errors.kind != "model")
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
            "the penalty."
        )
    if fitted.sparse_penalty:
        notes["Standard errors"] = (
            "none. The penalty chose the columns by the same rows, and no formula for a standard error or p-value "
            "remains true after that choice. Test the columns on other rows, or fit with C=np.inf."
        )
    return notes


def _of_dispersion(values: dict[str, Any], *, corrected: bool) -> str:
    """Pearson's chi-squared by its degrees of freedom, and what to do where chance does not explain it."""
    ratio, chi2, df = values["dispersion"], values["pearson"], values["df_residual"]
    text = f"{write_number(ratio, 4)} (Pearson's chi-squared {write_number(chi2, 4)} on {write_number(df, 4)} df"
    if corrected:
        return f"{text})"
    p_value = float(special.chdtrc(df, chi2)) if df > 0 else np.nan
    text = f"{text}, p {write_p_value(p_value)})"
    if not (ratio > 1 and p_value < OVERDISPERSED):
        return text
    return (
        f"{text}. The groups differ more than binomial counts would, so these standard errors are too small: "
        "cov_type='quasi' or 'HC0' allows for it, or a column is missing."
    )


def _of_sandwich(fitted: Fitted, errors: StandardErrors) -> str:
    if errors.kind == "quasi":
        because = ", because weights are precisions" if errors.chosen else ""
        return f"the model's times {write_number(np.sqrt(errors.dispersion), 4)}, the root of the dispersion{because}."
    how = {"HC0": "", "HC1": ", times n / (n - parameters)", "cluster": " of the sums within groups"}
    text = f"sandwich H^-1 M H^-1{how[errors.kind]} ({errors.kind})"
    if errors.chosen:
        text += (
            ", because weights are class weights or fractions, not numbers of equal rows. Deviances, AIC and "
            "likelihood-ratio tests still treat them as such numbers"
        )
    if 0 < errors.groups < ENOUGH_GROUPS:
        text += (
            f". With {plural(errors.groups, 'group')} they are too small on average: in simulations intervals of 95% "
            "covered 85% of the time with 10 groups, 90% with 20 and 92% with 50"
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
