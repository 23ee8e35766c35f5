"""What models of Gaussian classes share: constraints on their parameters, and how their summaries read."""

from __future__ import annotations

from typing import Any

import numpy as np

from discrim.families.gaussian.lda import LdaDetails
from discrim.families.gaussian.qda import QuadraticDetails
from discrim.inference.discriminant import sample_size, univariate_f, wilks_tests
from discrim.inference.summary import Summary, Table
from discrim.models.parameters import Check, array_like, boolean, either, none, number, one_of, with_method

COMMON: dict[str, Check] = {
    "priors": either(none(), array_like()),
    "store_covariance": boolean(),
    "tol": number(0),
    "covariance_estimator": either(none(), with_method("fit")),
    "normalization": one_of("mle", "unbiased"),
    "target": one_of("identity", "diagonal"),
    "selection": one_of("min", "one-se"),
    "predict_method": one_of("plug-in", "predictive", "debiased"),
}


def lda_summary(model: Any, details: LdaDetails, names: list[str]) -> Summary:
    """Priors, group means, tests of the discriminant dimensions, and their coefficients."""
    statistic = model.statistic_
    labels = [str(label) for label in model.classes_]
    dimensions = [f"LD{i + 1}" for i in range(model.scalings_.shape[1])]
    n = sample_size(statistic.weight, statistic.rows)
    # Columns that others determine are no dimensions.
    independent = min(statistic.n_features, details.sphering.rank)
    tests = wilks_tests(details.scatter_eigenvalues, n, independent, len(labels))
    facts = {
        "Rows": int(statistic.rows.sum()),
        "Columns": statistic.n_features,
        "Classes": len(labels),
        "Normalization": model.normalization,
        "Shrinkage": getattr(model, "shrinkage_", model.shrinkage) or "none",
        "Wilks' lambda": tests.wilks_lambda,
    }
    f, p_value = univariate_f(statistic.weight, statistic.mean, details.pooled_squares(), n)
    groups = np.column_stack([model.priors_, statistic.rows, model.means_])
    tables = [
        Table("Coefficients of linear discriminants", names, dimensions, model.scalings_),
        Table("Groups", labels, ["prior", "rows", *names], groups),
        Table("Columns, one at a time", names, ["F", "Pr(>F)"], np.column_stack([f, p_value]), p_columns=("Pr(>F)",)),
    ]
    if dimensions:
        tables.insert(0, _dimension_table(model, details, tests, dimensions))
    return Summary(
        "Linear discriminant analysis", facts, tables, names=names, scalings=model.scalings_,
        proportion_of_trace=model.explained_variance_ratio_, wilks_lambda=tests.wilks_lambda,
        canonical_correlations=model.canonical_correlations_, f_statistic=f, p_value=p_value,
    )  # fmt: skip


def group_summary(model: Any, names: list[str], title: str, facts: dict[str, object]) -> Summary:
    """Priors, rows and determinants of the groups, and their means."""
    statistic = model.statistic_
    details: QuadraticDetails = model.details()
    labels = [str(label) for label in model.classes_]
    about = {"Rows": int(statistic.rows.sum()), "Columns": statistic.n_features, "Classes": len(labels)}
    values = np.column_stack([model.priors_, statistic.rows, details.log_det])
    groups = Table("Groups", labels, ["prior", "rows", "log det"], values)
    means = Table("Group means", labels, names, model.means_)
    return Summary(title, {**about, **facts}, [groups, means], log_det=details.log_det, names=names)


def _dimension_table(model: Any, details: LdaDetails, tests: Any, dimensions: list[str]) -> Table:
    size = len(dimensions)
    columns = ["prop. of trace", "canonical corr.", "Wilks", "chi-sq", "df", "Pr(>chi-sq)"]
    values = np.column_stack(
        [
            details.canonical.explained[:size], model.canonical_correlations_[:size], tests.lambdas[:size],
            tests.chi2[:size], tests.df[:size], tests.p_value[:size],
        ]
    )  # fmt: skip
    return Table("Discriminant dimensions (each row tests it and those below)", dimensions, columns, values,
                 p_columns=("Pr(>chi-sq)",))  # fmt: skip
