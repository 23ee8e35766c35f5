"""What the models assume of the rows, whether these rows are like that, and what it means for which models.

The tests need sums over the rows alone; one that cannot be made is NaN.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import special

from discrim.block import Block
from discrim.engines import RowPasses, reduce, reduce_blocks
from discrim.errors import DataError, DiscrimError, name_list, plural
from discrim.families.gaussian.covariance import rounding_noise, sphere_matrix
from discrim.families.gaussian.lda import full_rule
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.families.logistic.separation import find_separation
from discrim.families.rule import Output, score_rows
from discrim.inference.discriminant import box_m
from discrim.inference.render import WIDTH, html_page, write_p_value
from discrim.inference.spread_test import random_rows, rows_to_test, spread_test
from discrim.inference.summary import Table
from discrim.sources import Rows, find_non_finite, open_rows
from discrim.statistics import ClassMoments, Depth
from discrim.statistics.moments import MomentsOf, grand_mean
from discrim.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

Level = Literal["fine", "doubtful", "problem", "unknown"]

# Entries that the class scatters may have together; with more, only the sizes are checked.
MOST_NUMBERS = 1 << 24
# Log-likelihood a row that a covariance for each class adds: below the first hardly any row changes its class.
SMALL_GAIN, LARGE_GAIN = 0.02, 0.1
# Skewness and excess kurtosis of a column, and the relative excess of Mardia's kurtosis: small, and large.
SMALL_SHAPE, LARGE_SHAPE = np.array([0.5, 1.0, 0.1]), np.array([1.0, 3.0, 0.3])
# Variance inflation that is worth a word, and that costs digits.
SOME_INFLATION, MUCH_INFLATION = 10.0, 1000.0
# Rows a column and class.
FEW_ROWS, MANY_ROWS = 2.0, 10.0
# Multiplications of one pass for a linear program that are no reason to avoid it.
SHORT_SEARCH = 2e7
# Columns up to which the tensor of third moments is kept: p^3 numbers a class, n p^3 multiplications.
TENSOR_COLUMNS = 30
# Products of two coordinates that are held at once.
_HELD = 1 << 20


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
    meaning: str
    implication: str
    effect_name: str
    effect: float = np.nan
    statistic: float = np.nan
    df: float = np.nan
    p_value: float = np.nan
    columns: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return textwrap.fill(
            f"{self.name} ({self.level}): {self.meaning} {self.implication}", WIDTH, subsequent_indent="  "
        )


class AssumptionChecks(dict[str, AssumptionCheck]):
    """The checks by name: 'equal covariances', 'normality', 'separation', 'collinearity', 'rows and columns'."""

    def to_frame(self) -> pd.DataFrame:
        """A row a check."""
        columns = ["level", "statistic", "df", "p_value", "effect_name", "effect", "meaning", "implication"]
        values = [[getattr(check, name) for name in columns] for check in self.values()]
        return Table("Assumptions", list(self), columns, values).to_frame()

    def __repr__(self) -> str:
        return "\n".join(str(check) for check in self.values())

    def _repr_html_(self) -> str:
        items = [
            f"<dt>{html.escape(check.name)} ({check.level})</dt>"
            f"<dd>{html.escape(check.meaning)} {html.escape(check.implication)}</dd>"
            for check in self.values()
        ]
        return html_page([f"<dl>{''.join(items)}</dl>"])


def assumption_checks(X: Any, y: Any = None, sample_weight: Any = None) -> AssumptionChecks:
    """Check rows X with labels y, or a ``scan``, for what the classical models assume of them.

    Equal covariances by Box's M and a Levene test of whole matrices by permutation (up to 30 columns, on some 2,000
    rows at most, unweighted); normality within classes by Mardia's kurtosis, his skewness (up to 30 columns: it
    needs p^3 sums a class) and each column's skewness and kurtosis; separation by a linear program where that is
    small, else by the training error of a linear rule; collinearity by variance inflation within classes; and the
    numbers of rows against columns. Weights count rows.

    Everything comes from sums over blocks of rows, so that files larger than memory are read block by block. Cost: a
    pass for the class moments, n p^2 / 2 multiplications, and one for third and fourth powers, n p^2.

    Examples
    --------
    >>> from discrim import datasets
    >>> from discrim.inference import assumption_checks
    >>> X, y = datasets.load_iris().xy
    >>> box = assumption_checks(X, y)["equal covariances"]
    >>> round(box.statistic, 2), box.df, box.level
    (140.94, 20.0, 'problem')
    """
    rows = open_rows(X, y, sample_weight)
    if not rows.labelled:
        raise DataError("Labels are needed: pass y, or a scan that names its target.")
    return checks_of_rows(rows)


def checks_of_rows(rows: Rows) -> AssumptionChecks:
    """The checks of rows that are open already."""
    p = rows.design.n_out
    if rows.classes is not None and rows.n_rows is not None and len(rows.classes) * p * p > MOST_NUMBERS:
        weight = np.zeros(len(rows.classes))
        for block in rows.blocks():
            weight += np.bincount(block.codes, block.weight, len(weight))
        return AssumptionChecks({"rows and columns": size_check(_sizes(rows.classes, weight), p)})
    moments = reduce(rows, MomentsOf(Depth.FULL))
    if not moments.finite:
        raise find_non_finite(rows) or DataError("The sums of squares of X overflow. Scale the columns.")
    names = rows.design.names_out
    sizes = _sizes(moments.classes, moments.weight)
    if len(sizes) < 2:
        raise DataError(f"y has only the class {name_list(sizes)}; the assumptions are about two classes at least.")
    present = moments.select(moments.weight > 0)
    if not rows.rereadable:
        checks = [covariance_check(present, names)]
    else:
        shapes = class_shapes(rows, present)
        checks = [
            covariance_check(present, names, relative_kurtosis(shapes), _levene(rows, present)),
            normality_check(shapes, present, names),
            separation_check(rows, present),
        ]
    checks += [collinearity_check(present, names), size_check(sizes, p)]
    return AssumptionChecks({check.name: check for check in checks})


def _sizes(classes: Any, weight: Any) -> dict[str, float]:
    return {str(label): float(n) for label, n in zip(classes, weight, strict=True) if n > 0}


def covariance_check(
    moments: ClassMoments, names: list[str], kurtosis: float = np.nan, levene: float = np.nan
) -> AssumptionCheck:
    """Box's M; its effect is the log-likelihood that a matrix for each class adds to a row.

    Long tails make M large where covariances are equal, so that the level follows the p-value of ``levene`` (see
    ``spread_test``). Where that is NaN it follows M itself: with the relative ``kurtosis`` k of an elliptical
    distribution its mean is larger by 1 + k + k / (p + 1), and it is divided by that. So is the effect by which
    differences are said to matter.
    """
    test = box_m(moments.weight, moments.scatter)
    needs = "LDA and its relatives assume equal covariances; QDA, RDA, naive Bayes and logistic regression do not."
    title, effect = "equal covariances", "log-likelihood a row that own covariances add"
    if not np.isfinite(test.chi2):
        p, small = moments.n_features, int(np.argmin(moments.rows))
        found = f"class '{moments.classes[small]}' has {plural(int(moments.rows[small]), 'row')} for {p} columns"
        why = found if moments.rows[small] <= p + 1 else "within a class some columns are constant or dependent"
        return AssumptionCheck(title, "unknown", f"Box's M cannot be computed: {why}.", needs, effect, df=test.df)
    column, label, ratio = _largest_ratio(moments, names)
    small_classes = moments.weight.min() < 20 and np.isfinite(test.f_p_value)
    p_value = test.f_p_value if small_classes else test.p_value
    tails = 1.0 + max(kurtosis, 0.0) * (1.0 + 1.0 / (moments.n_features + 1)) if np.isfinite(kurtosis) else 1.0
    robust = levene if np.isfinite(levene) else max(float(special.chdtrc(test.df, test.chi2 / tails)), p_value)
    kind = "Levene's test by permutation:" if np.isfinite(levene) else "allowing for long tails"
    allowing = f"; {kind} p {write_p_value(robust)}" if np.isfinite(levene) or tails > 1.0 + SMALL_SHAPE[2] else ""
    found = f"(Box's M: chi-sq {test.chi2:,.1f} on {test.df:,.0f} df, p {write_p_value(p_value)}{allowing})"
    gain = max(test.chi2 / tails - test.df, 0.0) / (2.0 * moments.total_weight)
    level: Level = "doubtful" if gain < LARGE_GAIN else "problem"
    if robust >= 0.05 or gain < SMALL_GAIN:
        level, words = "fine", f"The covariances of the classes {_alike(p_value, robust, gain, tails)} {found}."
        needs = "As LDA and its relatives assume; a covariance matrix for each class gains little."
    else:
        much = "somewhat" if level == "doubtful" else "clearly"
        words = (
            f"The covariances of the classes differ {much} {found}: in '{column}' class '{label}' has {ratio:.2g} "
            "times the common variance."
        )
    details = {
        "m": test.m, "f": test.f, "f_df2": test.df2, "f_p_value": test.f_p_value, "largest_ratio": ratio,
        "robust_p_value": robust, "robust_test": kind,
    }  # fmt: skip
    return AssumptionCheck(
        title, level, words, needs, effect, test.gain, test.chi2, test.df, p_value, (column,), details
    )


def _alike(p_value: float, robust: float, gain: float, tails: float) -> str:
    """In what sense covariances may be taken as equal."""
    if p_value >= 0.05 and robust >= 0.05:
        return "show no difference"
    if robust >= 0.05 and tails > 1.0 + SMALL_SHAPE[2]:
        return "differ no more than long tails explain"
    return "differ, but too little to matter" if gain < SMALL_GAIN else "differ by Box's M alone"


def _levene(rows: Rows, moments: ClassMoments) -> float:
    """The p-value of ``spread_test`` on these rows, or on a sample of them; NaN where it does not apply."""
    p = moments.n_features
    wanted = rows_to_test(p)
    noise = rounding_noise(moments.mean, np.finfo(float).eps)
    sphering = sphere_matrix(moments.scatter.sum(axis=0) / moments.total_weight, noise, may_reread=False)
    if not wanted or sphering.rank < p:
        return np.nan
    return spread_test(random_rows(rows, int(moments.rows.sum()), wanted), sphering.backward(np.eye(p)))


def _largest_ratio(moments: ClassMoments, names: list[str]) -> tuple[str, Any, float]:
    """The column and class whose variance is farthest from the common one, and their ratio."""
    own = np.diagonal(moments.scatter, axis1=1, axis2=2) / (moments.weight[:, None] - 1)
    common = np.diagonal(moments.scatter.sum(axis=0)) / (moments.total_weight - len(moments.classes))
    ratio = own / common
    k, j = np.unravel_index(np.argmax(np.abs(np.log(ratio))), ratio.shape)
    return names[j], moments.classes[k], float(ratio[k, j])


def normality_check(shapes: ClassShapes, moments: ClassMoments, names: list[str]) -> AssumptionCheck:
    """Mardia's coefficients, and the column that is farthest from normal; the effect is the largest skewness."""
    statistic, df, p_value, details = mardia_test(shapes)
    skewness, kurtosis, omnibus, column_p = column_shapes(shapes)
    needs = "QDA suffers most where it fails; LDA is less sensitive; logistic regression does not assume it."
    varies = np.diagonal(moments.scatter.sum(axis=0)) > 0
    found = f"Mardia: chi-sq {statistic:,.1f} on {df:,.0f} df, p {write_p_value(p_value)}"
    omnibus = np.where(varies & np.isfinite(omnibus), omnibus, -1.0)
    worst = int(omnibus.argmax())
    if varies.any() and omnibus[worst] >= 0:
        # In many columns and few rows Mardia's coefficients see little of what single columns show.
        alone = float(min(column_p[worst] * len(names), 1.0))
        if not min(2.0 * p_value, 1.0) <= min(2.0 * alone, 1.0):
            both = 1.0 if np.isnan(p_value) else 2.0
            statistic, df, p_value = float(omnibus[worst]), 2.0, min(both * alone, 1.0)
            found = f"D'Agostino and Pearson for '{names[worst]}', adjusted: p {write_p_value(p_value)}"
    if not varies.any() or np.isnan(p_value):
        unknown = "There are too few rows to test whether the columns are normal within classes."
        unknown = unknown if varies.any() else "All columns are constant within the classes."
        return AssumptionCheck("normality", "unknown", unknown, needs, "largest skewness")
    skew, tails = np.where(varies, skewness, 0.0), np.where(varies, kurtosis, 0.0)
    a, b = int(np.abs(skew).argmax()), int(np.abs(tails).argmax())
    sizes = np.abs([skew[a], tails[b], details["mardia_excess"]])
    level = _normality_level(sizes, p_value, float(shapes.weight.sum()))
    if level == "fine":
        needs = "As the Gaussian models assume: LDA, QDA, RDA and their Bayesian forms."
    much = {
        "fine": "depart from normal too little to matter" if p_value < 0.05 else "show no departure from normal",
        "doubtful": "are not quite normal", "problem": "are far from normal",
        "unknown": "show no departure from normal, but there are too few rows to notice a large one",
    }  # fmt: skip
    words = (
        f"The largest skewness within classes is {skew[a]:.2g} in '{names[a]}', the largest excess kurtosis "
        f"{tails[b]:.2g} in '{names[b]}': the columns {much[level]} ({found})."
    )
    details |= {"column_skewness": skewness, "column_excess_kurtosis": kurtosis, "column_p_value": column_p}
    stand_out = () if level == "fine" else tuple(dict.fromkeys([names[a], names[b]]))
    effect = float(sizes[0])
    return AssumptionCheck(
        "normality", level, words, needs, "largest skewness", effect, statistic, df, p_value, stand_out, details
    )


def _normality_level(sizes: Floats, p_value: float, n: float) -> Level:
    """By the sizes where the test rejects; where it does not, 'unknown' if it would hardly notice a large departure."""
    if p_value < 0.05:
        if (sizes < SMALL_SHAPE).all():
            return "fine"
        return "doubtful" if (sizes < LARGE_SHAPE).all() else "problem"
    noticed = -special.ndtri(0.025) * np.sqrt(6.0 / max(n, 1.0)) <= 0.5 * LARGE_SHAPE[0]
    return "fine" if noticed and (sizes[:2] < LARGE_SHAPE[:2]).all() else "unknown"


def separation_check(rows: Rows, moments: ClassMoments) -> AssumptionCheck:
    """Does a linear rule put every row on its side? The effect is its share of training rows that are wrong."""
    classes, p = len(moments.classes), moments.n_features
    n = int(moments.rows.sum())
    size = (p + 1) * (1 if classes == 2 else classes)
    # With as many columns as rows a linear rule has every one right.
    wrong = 0 if n <= p + 1 else _linear_errors(rows, moments)
    share = wrong / max(n, 1)
    level: Level = "unknown"
    words = f"A linear rule has {wrong:,} of {n:,} training rows wrong; "
    needs = "Unpenalised logistic regression has infinite estimates then; a penalty, LDA and naive Bayes are not hurt."
    columns: tuple[str, ...] = ()
    if wrong == 0:
        why = f"{n} rows in {p} columns always are" if n <= p + 1 else "a linear rule has every training row right"
        level, words = "problem", f"The classes are completely separated: {why}."
    elif n * size**2 > SHORT_SEARCH:
        words += (
            "whether some direction separates classes partly was not searched, since "
            f"{size} coefficients make that long."
        )
    else:
        try:
            found = find_separation(_objective(rows, moments))
        except DiscrimError:
            words += "the search for a direction that separates classes partly failed."
        else:
            if found.separated:
                columns = tuple(rows.design.names_out[j - 1] for j in found.columns if j > 0)
                how = "completely" if found.complete else "partly"
                level, words = "problem", f"The classes are {how} separated along {name_list(columns)}."
            else:
                level, needs = "fine", "The maximum-likelihood estimates of logistic regression are finite."
                words = f"The classes overlap: the best linear rule has rows on the wrong side ({share:.1%} by LDA's)."
    return AssumptionCheck(
        "separation", level, words, needs, "training rows that a linear rule has wrong", share, columns=columns
    )


def _objective(rows: Rows, moments: ClassMoments) -> Objective:
    spread = np.sqrt(np.diagonal(moments.scatter.sum(axis=0)) / moments.rows.sum())
    coordinates = Coordinates(grand_mean(moments.weight, moments.mean), np.where(spread > 0, spread, 1.0), True)
    return Objective(RowPasses(rows), moments.classes, coordinates, softmax=len(moments.classes) > 2)


def _linear_errors(rows: Rows, moments: ClassMoments) -> int:
    """Rows that the linear discriminant rule of these moments puts in another class."""
    noise = rounding_noise(moments.mean, np.finfo(float).eps)
    sphering = sphere_matrix(moments.scatter.sum(axis=0) / moments.total_weight, noise, may_reread=False)
    origin = grand_mean(moments.weight, moments.mean)
    rule = full_rule(sphering.both((moments.mean - origin).T), np.log(moments.weight), origin)
    wrong = 0
    for block in rows.blocks():
        own = np.searchsorted(moments.classes, block.classes)[block.codes]
        counted = slice(None) if block.weight is None else block.weight > 0
        wrong += int((score_rows(rule, block.x, Output.BEST)[0] != own)[counted].sum())
    return wrong


def collinearity_check(moments: ClassMoments, names: list[str]) -> AssumptionCheck:
    """Variance inflation within classes; the effect is the largest factor."""
    degrees = moments.total_weight - len(moments.classes)
    inflation, condition = collinearity(moments.scatter.sum(axis=0), degrees)
    constant = [names[j] for j in np.flatnonzero(np.isnan(inflation))]
    known = np.where(np.isnan(inflation), 0.0, inflation)
    high = tuple(names[j] for j in np.argsort(-known, kind="stable") if known[j] > SOME_INFLATION)
    largest = float(known.max(initial=0.0))
    level: Level = "problem" if largest > MUCH_INFLATION else "doubtful"
    needs = "It makes coefficients uncertain more than predictions; shrinkage, ridge and priors help."
    if np.isinf(largest):
        why = "there are not more rows than columns" if degrees < len(names) else "linear dependence"
        words = f"Some columns are determined by the others ({why}): {name_list(high)}."
    elif largest > SOME_INFLATION:
        words = (
            f"Columns are strongly correlated within classes: {name_list(high)}; the largest variance inflation is "
            f"{largest:,.0f}, the condition number {condition:,.0f}."
        )
    else:
        words = f"No column is nearly determined by the others; the largest variance inflation is {largest:.2g}."
        if not constant:
            level, needs = "fine", "No model is hindered by it."
    if constant:
        words += f" {name_list(constant)} {'is' if len(constant) == 1 else 'are'} constant within classes."
    details = {"inflation": inflation, "condition": condition, "constant": tuple(constant)}
    return AssumptionCheck(
        "collinearity", level, words, needs, "largest variance inflation", largest, columns=(*high, *constant),
        details=details,
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
    effect, details = "rows a column in the smallest class", {"n": n, "p": p, "smallest": label}
    return AssumptionCheck("rows and columns", level, words, needs, effect, least, details=details)


class ClassShapes(NamedTuple):
    """Sums over the rows of each class, about its mean, which an earlier pass has found.

    With u the residuals divided by the standard deviations of their class, and z = W'(x - mu_k) for Sigma_k^-1 = WW':
    ``third`` and ``fourth`` (K x p) sum u^3 and u^4, ``distance`` (K) sums |z|^4, and ``tensor`` (K x p x p x p) sums
    z_a z_b z_c; None with more than 30 columns. ``weight`` counts the rows. The shapes of two sets of rows about the
    same means are the sums of both.
    """

    weight: Floats
    third: Floats
    fourth: Floats
    distance: Floats
    tensor: Floats | None


def class_shapes(rows: Rows, moments: ClassMoments) -> ClassShapes:
    """One more pass over the rows, n p^2 multiplications (n p^3 with up to 30 columns); ``moments`` are full."""
    roots = [_inverse_root(moments, k) for k in range(len(moments.classes))]
    variances = np.diagonal(moments.scatter, axis1=1, axis2=2) / np.maximum(moments.weight, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        scales = np.where(variances > 0, 1.0 / np.sqrt(variances), 0.0)
    return reduce_blocks(rows, partial(_of_block, moments, scales, roots), _merged)


def mardia_test(shapes: ClassShapes) -> tuple[float, float, float, dict[str, Any]]:
    """Are the rows of each class multivariate normal? Statistic, degrees of freedom, p-value, and details by name.

    A class's skewness b_1 is |sum z z z|^2 / n_k^2, with c n_k b_1 / 6 about chi-squared with p (p + 1)(p + 2) / 6
    degrees of freedom, where c = (p + 1)(n_k + 1)(n_k + 3) / (n_k ((n_k + 1)(p + 1) - 6)) makes its mean right in small
    samples; NaN with too many columns. Its kurtosis is the mean of |z|^4, which has the mean
    p (p + 2)(n_k - 1) / (n_k + 1) and the variance
    8 p (p + 2)(n_k - 3)(n_k - p - 1)(n_k - p + 1) / ((n_k + 1)^2 (n_k + 3)(n_k + 5)) (Mardia 1974). The statistics of
    the classes are added; classes without an inverse covariance do not count.
    """
    n, p = shapes.weight, shapes.third.shape[1]
    safe, normal = np.where(n > 0, n, 1.0), p * (p + 2)
    kurtosis = shapes.distance / safe
    tested = np.isfinite(kurtosis) & (n > max(p + 1, 3))
    variance = 8.0 * normal * (n - 3) * (n - p - 1) * (n - p + 1) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    z = (kurtosis - normal * (n - 1) / (n + 1)) / np.sqrt(np.where(tested, variance, np.nan))
    skewness = np.full(len(n), np.nan)
    if shapes.tensor is not None:
        skewness = np.einsum("kabc,kabc->k", shapes.tensor, shapes.tensor) / safe**2
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = (p + 1) * (n + 1) * (n + 3) / (safe * ((n + 1) * (p + 1) - 6))
    chi2 = np.where(tested, exact, np.nan) * safe * skewness / 6
    skew_tested = tested & np.isfinite(chi2)
    statistic = float((z[tested] ** 2).sum() + chi2[skew_tested].sum()) if tested.any() else np.nan
    df = float(tested.sum() + skew_tested.sum() * p * (p + 1) * (p + 2) / 6) if tested.any() else np.nan
    details = {
        "mardia_skewness": skewness,
        "mardia_kurtosis": kurtosis,
        "mardia_skewness_statistic": chi2,
        "mardia_kurtosis_z": z,
        "mardia_excess": relative_kurtosis(shapes) if tested.any() else 0.0,
    }
    return statistic, df, float(special.chdtrc(df, statistic)), details


def relative_kurtosis(shapes: ClassShapes) -> float:
    """The mean of |z|^4 over what it is for normal rows, minus one: k of an elliptical distribution; NaN if unknown."""
    n, p = shapes.weight, shapes.third.shape[1]
    known = np.isfinite(shapes.distance) & (n > p + 1)
    if not known.any():
        return float("nan")
    expected = p * (p + 2) * (n[known] - 1) / (n[known] + 1)
    return float(np.average(shapes.distance[known] / n[known] / expected, weights=n[known]) - 1.0)


def column_shapes(shapes: ClassShapes) -> tuple[Floats, Floats, Floats, Floats]:
    """Of each column: skewness, kurtosis - 3, the omnibus statistic of D'Agostino and Pearson (1973) and its p-value.

    They are of the residuals of all classes together, in units of their class's standard deviation. The test needs 20
    rows.
    """
    n = float(shapes.weight.sum())
    skewness, kurtosis = shapes.third.sum(axis=0) / n, shapes.fourth.sum(axis=0) / n
    omnibus = np.full_like(skewness, np.nan)
    if n >= 20:
        omnibus = _skewness_z(skewness, n) ** 2 + _kurtosis_z(kurtosis, n) ** 2
    return skewness, kurtosis - 3.0, omnibus, special.chdtrc(2, omnibus)


def collinearity(pooled_scatter: Floats, degrees: float) -> tuple[Floats, float]:
    """Variance inflation and condition number, from the correlations within classes with ``degrees`` of freedom.

    The inflation (p) is 1 / (1 - R_j^2), infinite where the others determine a column, NaN where it is constant; the
    condition number is the root of the ratio of the largest to the smallest eigenvalue of the correlations.
    """
    variance = np.diagonal(pooled_scatter)
    alive = variance > 0
    inflation = np.full(len(variance), np.nan)
    if not alive.any():
        return inflation, np.nan
    if degrees < alive.sum():
        inflation[alive] = np.inf
        return inflation, np.inf
    scale = np.sqrt(variance[alive])
    values, vectors = np.linalg.eigh(pooled_scatter[np.ix_(alive, alive)] / scale[:, None] / scale)
    # Where another column takes part in a direction without variance, that column is determined by the others.
    lost = values <= 1e-10 * values[-1]
    found = (vectors**2 / np.where(lost, np.inf, values)).sum(axis=1)
    found[(vectors[:, lost] ** 2).sum(axis=1) > 1e-8] = np.inf
    inflation[alive] = found
    return inflation, np.inf if lost[0] else float(np.sqrt(values[-1] / values[0]))


def _of_block(moments: ClassMoments, scales: Floats, roots: Sequence[Floats | None], block: Block) -> ClassShapes:
    classes, p = moments.mean.shape
    weight, third, fourth = np.zeros(classes), np.zeros((classes, p)), np.zeros((classes, p))
    distance = np.zeros(classes)
    tensor = np.zeros((classes, p, p, p)) if p <= TENSOR_COLUMNS else None
    x = block.x if isinstance(block.x, np.ndarray) else block.x.toarray()
    # A block of a scan brings only the classes that it has met; rows of a class without weight are of none here.
    at = np.searchsorted(moments.classes, block.classes)[block.codes]
    at = at if block.weight is None else np.where(block.weight > 0, at, -1)
    for k in np.unique(at[at >= 0]):
        own = at == k
        gap = np.asarray(x[own], dtype=np.float64) - moments.mean[k]
        w = np.ones(len(gap)) if block.weight is None else block.weight[own]
        u = gap * scales[k]
        squares = u * u
        weight[k], third[k], fourth[k] = w.sum(), w @ (squares * u), w @ (squares * squares)
        root = roots[k]
        if root is None:
            distance[k] = np.nan
            continue
        z = gap @ root
        distance[k] = w @ np.einsum("ij,ij->i", z, z) ** 2
        if tensor is not None:
            tensor[k] = _third_moments(z, w)
    return ClassShapes(weight, third, fourth, distance, tensor)


def _third_moments(z: Floats, w: Floats) -> Floats:
    n, p = z.shape
    total, step = np.zeros((p, p * p)), max(_HELD // max(p * p, 1), 1)
    for start in range(0, n, step):
        part = z[start : start + step]
        pairs = (part[:, :, None] * part[:, None, :]).reshape(len(part), -1)
        total += (w[start : start + step, None] * part).T @ pairs
    return total.reshape(p, p, p)


def _merged(parts: Sequence[ClassShapes]) -> ClassShapes:
    sums: list[Any] = [None if values[0] is None else np.sum(values, axis=0) for values in zip(*parts, strict=True)]
    return ClassShapes(*sums)


def _inverse_root(moments: ClassMoments, k: int) -> Floats | None:
    """W with W'(S / n)W = I; None where the class has no inverse covariance."""
    p = moments.n_features
    if moments.weight[k] <= p:
        return None
    noise = rounding_noise(moments.mean[k : k + 1], np.finfo(float).eps)
    sphering = sphere_matrix(moments.scatter[k] / moments.weight[k], noise, may_reread=False)
    return sphering.backward(np.eye(p)) if sphering.rank == p else None


def _skewness_z(skewness: Floats, n: float) -> Floats:
    """D'Agostino's (1970) transformation of the skewness to a standard normal."""
    y = skewness * np.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    beta = 3 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    w2 = np.sqrt(2 * (beta - 1)) - 1
    return np.asarray(np.arcsinh(y / np.sqrt(2 / (w2 - 1))) / np.sqrt(0.5 * np.log(w2)))


def _kurtosis_z(kurtosis: Floats, n: float) -> Floats:
    """Anscombe and Glynn's (1983) transformation of the kurtosis to a standard normal."""
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (kurtosis - 3 * (n - 1) / (n + 1)) / np.sqrt(variance)
    skew = 6 * (n**2 - 5 * n + 2) / ((n + 7) * (n + 9)) * np.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6 + 8 / skew * (2 / skew + np.sqrt(1 + 4 / skew**2))
    below = 1 + x * np.sqrt(2 / (a - 4))
    with np.errstate(divide="ignore"):
        return np.asarray((1 - 2 / (9 * a) - np.cbrt((1 - 2 / a) / below)) / np.sqrt(2 / (9 * a)))
