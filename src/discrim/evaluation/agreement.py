"""Do probabilities agree with what happens: Hosmer and Lemeshow's test, calibration line, net benefit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from discrim.errors import DataError, ParameterError, plural
from discrim.evaluation.probability_scores import binary_probabilities
from discrim.inference.conjugate import tails
from discrim.inference.summary import Table
from discrim.typing import Floats

# Newton steps of a line through log-odds, and the size of a step that changes nothing.
STEPS, STILL = 100, 1e-12


@dataclass(frozen=True, eq=False)
class HosmerLemeshow:
    """``statistic`` = sum over groups of (observed - expected)^2 / (expected (1 - expected / n)), chi-squared with
    ``df``; ``groups`` is the table of what was observed and expected.
    """

    statistic: float
    df: int
    p_value: float
    groups: Table

    def __repr__(self) -> str:
        return f"Hosmer-Lemeshow: chi-squared {self.statistic:.4g} on {self.df} df, p = {self.p_value:.3g}"


def hosmer_lemeshow(
    y: Any, probability: Any, *, positive: Any = None, groups: int = 10, fitted: bool = True
) -> HosmerLemeshow:
    """Test of whether the positive class is as frequent as its probabilities say, in groups of about equal size.

    Groups end at quantiles of the probability, as in R's ``hoslem.test``. The probabilities are those of a model
    ``fitted`` on these rows (groups - 2 degrees of freedom) or not (as many as groups). A small p-value speaks against
    the probabilities; a large one says little with few rows, and the answer depends on the number of groups, so look at
    ``calibration_line`` too. Cost: one sort.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.repeat([0.1, 0.3, 0.7, 0.9], 10)
    >>> y = np.tile(np.arange(10), 4) < 10 * p
    >>> hosmer_lemeshow(y, p, groups=4).statistic.__round__(9)
    0.0
    """
    if not isinstance(groups, int) or groups < 3:
        raise ParameterError.bad_value("groups", groups, "an integer of at least 3")
    happened, p, _ = binary_probabilities(y, probability, positive)
    edges = np.unique(np.quantile(p, np.linspace(0, 1, groups + 1)))
    group = np.clip(np.searchsorted(edges, p, side="left") - 1, 0, None)
    n = np.bincount(group)
    kept = n > 0
    observed, expected, n = np.bincount(group, happened)[kept], np.bincount(group, p)[kept], n[kept]
    df = len(n) - 2 if fitted else len(n)
    if df < 1:
        raise DataError(
            f"The probabilities fall into {plural(len(n), 'group')}; Hosmer and Lemeshow's test needs three at least."
        )
    spread = expected * (1.0 - expected / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(observed == expected, 0.0, (observed - expected) ** 2 / spread)
    statistic = float(parts.sum())
    names = [f"group {i + 1}" for i in range(len(n))]
    table = Table("Groups", names, ["rows", "observed", "expected"], np.column_stack([n, observed, expected]))
    return HosmerLemeshow(statistic, df, float(special.chdtrc(df, statistic)), table)


@dataclass(frozen=True, eq=False)
class CalibrationLine:
    """log-odds of the positive class = ``intercept`` + ``slope`` x the log-odds that were predicted.

    A slope below 1 says that probabilities are too extreme, as those of an overfitted model are. ``in_the_large`` is
    the intercept where the slope is held at 1: above 0 the class is more frequent than predicted on average.
    ``p_value`` is that of the likelihood-ratio test of intercept 0 and slope 1 (``statistic``, 2 degrees of freedom).
    """

    intercept: float
    slope: float
    in_the_large: float
    std_error: Floats
    statistic: float
    p_value: float

    def ci(self, level: float = 0.95) -> Table:
        """Intervals of the three: estimate -+ z standard errors."""
        z = float(special.ndtri(tails(level)[1]))
        values = np.array([self.intercept, self.slope, self.in_the_large])
        ends = np.column_stack([values, values - z * self.std_error, values + z * self.std_error])
        names = ["intercept", "slope", "in the large"]
        return Table(f"Calibration with intervals of level {level:g}", names, ["estimate", "lower", "upper"], ends)

    def __repr__(self) -> str:
        return (
            f"CalibrationLine(intercept {self.intercept:.4f}, slope {self.slope:.4f}, in the large "
            f"{self.in_the_large:.4f}, p = {self.p_value:.3g})"
        )


def calibration_line(y: Any, probability: Any, *, positive: Any = None, sample_weight: Any = None) -> CalibrationLine:
    """Cox's calibration intercept and slope, by logistic regression of what happened on the predicted log-odds.

    ``std_error`` are those of intercept, slope and calibration in the large. Use it on rows that the model was not
    fitted on: a fit by maximum likelihood has intercept 0 and slope 1 on its own. Cost: a few passes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> eta = rng.normal(size=2000)
    >>> y = rng.uniform(size=2000) < 1 / (1 + np.exp(-eta))
    >>> calibration_line(y, 1 / (1 + np.exp(-2 * eta)))
    CalibrationLine(intercept 0.0582, slope 0.5069, in the large 0.0958, p = 1.2e-47)
    """
    happened, p, w = binary_probabilities(y, probability, positive, sample_weight)
    certain = int(((p <= 0) | (p >= 1)).sum())
    if certain:
        raise DataError(
            f"{plural(certain, 'probability', 'probabilities')} of exactly 0 or 1 has infinite log-odds. Leave these "
            "rows out, or cut the probabilities to 1e-6 and 1 - 1e-6, say."
        )
    eta = special.logit(p)
    if np.ptp(eta) <= 1e-9 * np.abs(eta).max():
        raise DataError("All probabilities are the same, so that there is no slope.")
    both, spread, loss = _line(np.column_stack([np.ones_like(eta), eta]), happened, w, np.zeros_like(eta))
    large, alone, _ = _line(np.ones((len(eta), 1)), happened, w, eta)
    at_start = _loss(eta, happened, w)
    statistic = max(2.0 * (at_start - loss), 0.0)
    errors = np.sqrt(np.append(np.diag(spread), alone[0, 0]))
    return CalibrationLine(
        float(both[0]), float(both[1]), float(large[0]), errors, statistic, float(special.chdtrc(2, statistic))
    )


def _loss(eta: Floats, happened: Floats, weight: Floats) -> float:
    return float(weight @ (np.logaddexp(0.0, eta) - happened * eta))


def _line(z: Floats, happened: Floats, weight: Floats, offset: Floats) -> tuple[Floats, Floats, float]:
    """Coefficients, their covariance and the loss of a logistic regression on z, by Newton's method."""
    theta = np.zeros(z.shape[1])
    loss = _loss(offset, happened, weight)
    for _ in range(STEPS):
        mu = special.expit(z @ theta + offset)
        hessian = (z.T * (weight * mu * (1.0 - mu))) @ z
        if np.linalg.cond(hessian) > 1e14:
            break
        step = np.linalg.solve(hessian, z.T @ (weight * (happened - mu)))
        length = 1.0
        while (new := _loss(z @ (theta + length * step) + offset, happened, weight)) > loss + 1e-12 * abs(loss):
            length /= 2.0
        theta, loss = theta + length * step, new
        if np.abs(step).max() <= STILL * max(1.0, float(np.abs(theta).max())):
            return theta, np.asarray(np.linalg.inv(hessian), np.float64), loss
    raise DataError("The probabilities separate the classes: calibration slope and intercept are infinite.")


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """At each of ``thresholds`` t: the ``net_benefit`` of acting where the probability is at least t, that of acting on
    all rows (``treat_all``; on none it is 0), and the ``std_error`` of the first.

    Net benefit is the share of true positives minus t / (1 - t) times that of false positives.
    """

    thresholds: Floats
    net_benefit: Floats
    treat_all: Floats
    std_error: Floats

    def ci(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Pointwise intervals: net benefit -+ z standard errors."""
        half = float(special.ndtri(tails(level)[1])) * self.std_error
        return self.net_benefit - half, self.net_benefit + half

    def table(self) -> Table:
        columns = ["net benefit", "std. error", "treat all"]
        values = np.column_stack([self.net_benefit, self.std_error, self.treat_all])
        return Table("Decision curve", [f"{t:g}" for t in self.thresholds], columns, values)

    def __repr__(self) -> str:
        return str(self.table())


def decision_curve(
    y: Any, probability: Any, thresholds: Any = None, *, positive: Any = None, sample_weight: Any = None
) -> DecisionCurve:
    """Net benefit of acting by a probability (Vickers and Elkin, 2006), at thresholds 0.01, 0.02, ..., 0.99 by default.

    A threshold t says that t / (1 - t) false alarms are worth one case found. The model is of use where its net benefit
    is above those of acting on all and on none. Cost: rows x thresholds.

    Examples
    --------
    >>> decision_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], [0.25, 0.5]).net_benefit.round(4)
    array([0.4167, 0.    ])
    """
    happened, p, w = binary_probabilities(y, probability, positive, sample_weight)
    at = np.linspace(0.01, 0.99, 99) if thresholds is None else np.atleast_1d(np.asarray(thresholds, np.float64))
    if at.ndim != 1 or not len(at) or not ((at > 0) & (at < 1)).all():
        raise ParameterError.bad_value("thresholds", thresholds, "probabilities between 0 and 1")
    share, price = w / w.sum(), at / (1.0 - at)
    gain = happened[:, None] - (1.0 - happened)[:, None] * price
    acted = np.where(p[:, None] >= at, gain, 0.0)
    benefit = share @ acted
    error = np.sqrt(share**2 @ (acted - benefit) ** 2)
    return DecisionCurve(at, benefit, share @ gain, error)
