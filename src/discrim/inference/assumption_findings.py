"""Each assumption in words: what was found, and what it means for which models."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from discrim.engines import RowPasses
from discrim.errors import DiscrimError, name_list, plural
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.families.logistic.separation import find_separation
from discrim.inference.assumption_shapes import ClassShapes
from discrim.inference.assumption_tests import box_test, collinearity, column_shapes, mardia_test
from discrim.inference.figures import write_p_value
from discrim.inference.render import WIDTH
from discrim.sources import Rows
from discrim.statistics import ClassMoments

Level = Literal["fine", "doubtful", "problem", "unknown"]

# Log-likelihood a row that a covariance for each class adds: below the first hardly any row changes its class.
SMALL_GAIN, LARGE_GAIN = 0.02, 0.1
# Skewness and excess kurtosis of a column, and the relative excess of Mardia's kurtosis.
SMALL_SKEW, LARGE_SKEW = 0.5, 1.0
SMALL_TAILS, LARGE_TAILS = 1.0, 3.0
SMALL_KURTOSIS, LARGE_KURTOSIS = 0.1, 0.3
# Variance inflation that is worth a word, and that costs digits.
SOME_INFLATION, MUCH_INFLATION = 10.0, 1000.0
# Rows a column and class.
FEW_ROWS, MANY_ROWS = 2.0, 10.0
# Multiplications of one pass for a linear program that are no reason to avoid it.
SHORT_SEARCH = 2e7


@dataclass(frozen=True)
class AssumptionCheck:
    """One assumption: the test of it, how much it matters, and what follows.

    ``level`` follows the size of the ``effect`` (named ``effect_name``) and not the ``p_value`` alone, since with many
    rows every test rejects. ``statistic``, ``df`` and ``p_value`` are NaN where there is no test. ``meaning`` says
    what was found, ``implication`` what it means for which models, ``columns`` are those that stand out, and
    ``details`` has further figures by name.
    """

    name: str
    level: Level
    statistic: float
    df: float
    p_value: float
    effect_name: str
    effect: float
    meaning: str
    implication: str
    columns: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return textwrap.fill(
            f"{self.name} ({self.level}): {self.meaning} {self.implication}", WIDTH, subsequent_indent="  "
        )


def covariance_check(moments: ClassMoments, names: list[str]) -> AssumptionCheck:
    """Box's M; its effect is the log-likelihood that a matrix for each class adds to a row."""
    test = box_test(moments.weight, moments.scatter)
    p = moments.n_features
    needs = "LDA and its relatives assume equal covariances; QDA, RDA, naive Bayes and logistic regression do not."
    title, effect = "equal covariances", "log-likelihood a row that own covariances add"
    if not np.isfinite(test.chi2):
        small = int(np.argmin(moments.rows))
        found = f"class '{moments.classes[small]}' has {plural(int(moments.rows[small]), 'row')} for {p} columns"
        why = found if moments.rows[small] <= p + 1 else "within a class some columns are constant or dependent"
        return AssumptionCheck(
            title, "unknown", np.nan, test.df, np.nan, effect, np.nan, f"Box's M cannot be computed: {why}.", needs
        )
    column, label, ratio = _largest_ratio(moments, names)
    small_classes = moments.weight.min() < 20 and np.isfinite(test.f_p_value)
    p_value = test.f_p_value if small_classes else test.chi2_p_value
    told = f"Box's M: chi-sq {test.chi2:,.1f} on {test.df:,.0f} df, p {write_p_value(p_value)}"
    level: Level
    if p_value >= 0.05 or test.gain < SMALL_GAIN:
        much = "show no difference" if p_value >= 0.05 else "differ, but too little to matter"
        level, words = "fine", f"The covariances of the classes {much} ({told})."
        needs = "As LDA and its relatives assume; a covariance matrix for each class gains little."
    else:
        level = "doubtful" if test.gain < LARGE_GAIN else "problem"
        much = "somewhat" if level == "doubtful" else "clearly"
        words = (
            f"The covariances of the classes differ {much} ({told}): in '{column}' class '{label}' has {ratio:.2g} "
            "times the common variance."
        )
    details = {"m": test.m, "f": test.f, "f_df2": test.df2, "f_p_value": test.f_p_value, "largest_ratio": ratio}
    return AssumptionCheck(
        title, level, test.chi2, test.df, p_value, effect, test.gain, words, needs, (column,), details
    )


def _largest_ratio(moments: ClassMoments, names: list[str]) -> tuple[str, Any, float]:
    """The column and class whose variance is farthest from the common one, and their ratio."""
    own = np.diagonal(moments.scatter, axis1=1, axis2=2) / (moments.weight[:, None] - 1)
    common = np.diagonal(moments.scatter.sum(axis=0)) / (moments.total_weight - len(moments.classes))
    ratio = own / common
    k, j = np.unravel_index(np.argmax(np.abs(np.log(ratio))), ratio.shape)
    return names[j], moments.classes[k], float(ratio[k, j])


def normality_check(shapes: ClassShapes, moments: ClassMoments, names: list[str]) -> AssumptionCheck:
    """Mardia's coefficients, and the column that is farthest from normal; the effect is the largest skewness."""
    mardia, columns = mardia_test(shapes), column_shapes(shapes)
    p = moments.n_features
    needs = "QDA suffers most where it fails; LDA is less sensitive; logistic regression does not assume it."
    varies = np.diagonal(moments.scatter.sum(axis=0)) > 0
    if not varies.any():
        text = "All columns are constant within the classes."
        return AssumptionCheck("normality", "unknown", np.nan, np.nan, np.nan, "largest skewness", np.nan, text, needs)
    skew, tails = np.where(varies, columns.skewness, 0.0), np.where(varies, columns.excess_kurtosis, 0.0)
    a, b = int(np.abs(skew).argmax()), int(np.abs(tails).argmax())
    there = np.isfinite(mardia.kurtosis) & (shapes.weight > p + 1)
    excess = (
        float(np.average(mardia.kurtosis[there], weights=shapes.weight[there])) / (p * (p + 2)) - 1
        if (there.any())
        else 0.0
    )
    if np.isfinite(mardia.p_value):
        statistic, df, p_value = mardia.statistic, mardia.df, mardia.p_value
        told = f"Mardia: chi-sq {statistic:,.1f} on {df:,.0f} df, p {write_p_value(p_value)}"
    else:
        omnibus = np.where(varies & np.isfinite(columns.omnibus), columns.omnibus, np.nan)
        if np.isnan(omnibus).all():
            text = "There are too few rows to test whether the columns are normal within classes."
            return AssumptionCheck(
                "normality", "unknown", np.nan, np.nan, np.nan, "largest skewness", np.nan, text, needs
            )
        worst = int(np.nanargmax(omnibus))
        statistic, df = float(omnibus[worst]), 2.0
        p_value = float(min(columns.p_value[worst] * p, 1.0))
        told = f"D'Agostino and Pearson for '{names[worst]}': p {write_p_value(p_value)}"
    size = max(abs(skew[a]) / SMALL_SKEW, abs(tails[b]) / SMALL_TAILS, abs(excess) / SMALL_KURTOSIS)
    large = max(abs(skew[a]) / LARGE_SKEW, abs(tails[b]) / LARGE_TAILS, abs(excess) / LARGE_KURTOSIS)
    level: Level = "fine" if size < 1 or p_value >= 0.05 else "doubtful" if large < 1 else "problem"
    much = {"fine": "are near enough to normal", "doubtful": "are not quite normal", "problem": "are far from normal"}
    if level == "fine":
        needs = "As the Gaussian models assume: LDA, QDA, RDA and their Bayesian forms."
    words = (
        f"Within classes the columns {much[level]} ({told}); the largest skewness is {skew[a]:.2g} in '{names[a]}', "
        f"the largest excess kurtosis {tails[b]:.2g} in '{names[b]}'."
    )
    details = {
        "mardia_skewness": mardia.skewness, "mardia_kurtosis": mardia.kurtosis,
        "mardia_skewness_statistic": mardia.skewness_statistic, "mardia_kurtosis_z": mardia.kurtosis_z,
        "column_skewness": columns.skewness, "column_excess_kurtosis": columns.excess_kurtosis,
        "column_p_value": columns.p_value,
    }  # fmt: skip
    stand_out = tuple(dict.fromkeys([names[a], names[b]]))
    return AssumptionCheck(
        "normality", level, statistic, df, p_value, "largest skewness", float(abs(skew[a])), words, needs,
        () if level == "fine" else stand_out, details,
    )  # fmt: skip


def separation_check(rows: Rows, moments: ClassMoments) -> AssumptionCheck:
    """Does a linear rule put every row on its side? The effect is its share of training rows that are wrong."""
    classes, p = len(moments.classes), moments.n_features
    n = int(moments.rows.sum())
    size = (p + 1) * (1 if classes == 2 else classes)
    # With as many columns as rows a linear rule has every one right.
    wrong = 0 if n <= p + 1 else _linear_errors(rows, moments)
    share = wrong / max(n, 1)
    title, effect = "separation", "training rows that a linear rule has wrong"
    needs = "Unpenalised logistic regression has infinite estimates then; a penalty, LDA and naive Bayes are not hurt."
    if n <= p + 1 or wrong == 0:
        why = f"{n} rows in {p} columns always are" if n <= p + 1 else "a linear rule has every training row right"
        words = f"The classes are completely separated: {why}."
        return AssumptionCheck(title, "problem", np.nan, np.nan, np.nan, effect, share, words, needs)
    if n * size**2 > SHORT_SEARCH:
        words = (
            f"A linear rule has {wrong:,} of {n:,} training rows wrong; whether some direction separates classes "
            f"partly was not searched, since {size} coefficients make that long."
        )
        return AssumptionCheck(title, "unknown", np.nan, np.nan, np.nan, effect, share, words, needs)
    spread = np.sqrt(np.diagonal(moments.scatter.sum(axis=0)) / n)
    centre = moments.weight @ moments.mean / moments.total_weight
    coordinates = Coordinates(centre, np.where(spread > 0, spread, 1.0), intercept=True)
    try:
        found = find_separation(Objective(RowPasses(rows), moments.classes, coordinates, softmax=classes > 2))
    except DiscrimError:
        words = (
            f"A linear rule has {wrong:,} of {n:,} training rows wrong; the search for a direction that separates "
            "classes partly failed."
        )
        return AssumptionCheck(title, "unknown", np.nan, np.nan, np.nan, effect, share, words, needs)
    if not found.separated:
        words = f"The classes overlap: the best linear rule leaves rows on the wrong side ({share:.1%} by LDA's)."
        needs = "The maximum-likelihood estimates of logistic regression are finite."
        return AssumptionCheck(title, "fine", np.nan, np.nan, np.nan, effect, share, words, needs)
    columns = tuple(rows.design.names_out[j - 1] for j in found.columns if j > 0)
    words = f"The classes are {'completely' if found.complete else 'partly'} separated along {name_list(columns)}."
    return AssumptionCheck(title, "problem", np.nan, np.nan, np.nan, effect, share, words, needs, columns)


def _linear_errors(rows: Rows, moments: ClassMoments) -> int:
    """Rows that the linear discriminant rule of these moments puts in another class."""
    scatter = moments.scatter.sum(axis=0)
    scale = np.sqrt(np.diagonal(scatter))
    scale = np.where(scale > 0, scale, 1.0)
    # Least squares rather than an inverse: dependent columns share their part.
    inverse = np.linalg.pinv(scatter / scale[:, None] / scale, rcond=1e-10, hermitian=True)
    centre = moments.weight @ moments.mean / moments.total_weight
    gaps = (moments.mean - centre) / scale
    coef = moments.total_weight * gaps @ inverse / scale
    offset = np.log(moments.weight) - 0.5 * np.einsum("kj,kj->k", coef, moments.mean - centre)
    wrong = 0
    for block in rows.blocks():
        x = block.x if isinstance(block.x, np.ndarray) else block.x.toarray()
        own = np.searchsorted(moments.classes, block.classes)[block.codes]
        counted = slice(None) if block.weight is None else block.weight > 0
        wrong += int((((x - centre) @ coef.T + offset).argmax(axis=1) != own)[counted].sum())
    return wrong


def collinearity_check(moments: ClassMoments, names: list[str]) -> AssumptionCheck:
    """Variance inflation within classes; the effect is the largest factor."""
    degrees = moments.total_weight - len(moments.classes)
    found = collinearity(moments.scatter.sum(axis=0), degrees)
    constant = [names[j] for j in np.flatnonzero(np.isnan(found.inflation))]
    known = np.where(np.isnan(found.inflation), 0.0, found.inflation)
    order = np.argsort(-known, kind="stable")
    high = tuple(names[j] for j in order if known[j] > SOME_INFLATION)
    largest = float(known.max(initial=0.0))
    also = (
        f" {name_list(constant)} {'is' if len(constant) == 1 else 'are'} constant within classes." if constant else ""
    )
    level: Level
    if np.isinf(largest):
        level, why = "problem", "there are not more rows than columns" if degrees < len(names) else "linear dependence"
        words = f"Some columns are determined by the others ({why}): {name_list(high)}."
    elif largest > SOME_INFLATION:
        level = "problem" if largest > MUCH_INFLATION else "doubtful"
        words = (
            f"Columns go closely together within classes: {name_list(high)}; the largest variance inflation is "
            f"{largest:,.0f}, the condition number {found.condition:,.0f}."
        )
    else:
        level = "doubtful" if constant else "fine"
        words = f"No column is nearly determined by the others; the largest variance inflation is {largest:.2g}."
    needs = "It makes coefficients uncertain more than predictions; shrinkage, ridge and priors help."
    needs = "No model is hindered by it." if level == "fine" else needs
    details = {"inflation": found.inflation, "condition": found.condition, "constant": tuple(constant)}
    return AssumptionCheck(
        "collinearity", level, np.nan, np.nan, np.nan, "largest variance inflation", largest, words + also, needs,
        (*high, *constant), details,
    )  # fmt: skip


def size_check(sizes: Mapping[str, float], p: int) -> AssumptionCheck:
    """Rows against columns, in the smallest class; the effect is its rows a column."""
    n = sum(sizes.values())
    label = min(sizes, key=lambda name: sizes[name])
    least = sizes[label] / max(p, 1)
    each = f"{n:,.0f} rows for {plural(p, 'column')}; the smallest class '{label}' has {sizes[label]:,.0f}"
    level: Level
    if least > MANY_ROWS:
        level, words = "fine", f"There are {each}, {least:.0f} for each column."
        needs = "Enough for a covariance matrix of every class, so that QDA can be estimated well."
    elif least > FEW_ROWS:
        level, words = "doubtful", f"There are {each}, only {least:.1f} for each column."
        needs = "Covariance matrices of single classes are uncertain; RDA, Bayesian QDA and the linear models help."
    else:
        level, words = "problem", f"There are only {each}."
        must = "cannot be estimated" if sizes[label] <= p else "can hardly be estimated"
        needs = f"QDA {must}; shrinkage, priors, ridge and naive Bayes are for such tables."
    return AssumptionCheck(
        "rows and columns", level, np.nan, np.nan, np.nan, "rows a column in the smallest class", least, words, needs,
        details={"n": n, "p": p, "smallest": label},
    )  # fmt: skip
