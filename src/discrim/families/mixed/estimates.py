"""What one column says of the classes, estimated from its part of the statistic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.errors import DataError
from discrim.families.gaussian.covariance import CONSTANT, last_place
from discrim.families.mixed.rule import (
    BernoulliTerm,
    GammaPoissonTerm,
    GaussianTerm,
    KernelTerm,
    LevelTerm,
    PoissonTerm,
    StudentTerm,
    Term,
)
from discrim.statistics import ClassBins, ClassCounts, MixedStatistic
from discrim.typing import Floats

# Below this, smoothing guards against a division by zero; from it on, it is meant to change the answer.
GUARD = 1e-6
EPS = float(np.finfo(float).eps)
# Where the strength of a Dirichlet prior is looked for, as logarithms.
_RANGE = np.linspace(np.log(1e-3), np.log(1e6), 73)


@dataclass(frozen=True)
class Cells:
    """One numeric column: weight, mean and scatter in each class, and the same of all classes together."""

    weight: Floats
    mean: Floats
    scatter: Floats
    centre: float
    total: float


def mixed_terms(statistic: MixedStatistic, alpha: float, smoothing: float) -> tuple[Term, ...]:
    """The term of each column by its likelihood; a column without any value is an error."""
    cells, known, centre, total = statistic.cells, *statistic.cells.pooled()
    terms: list[Term] = []
    bins = iter(statistic.bins)
    gaussian = [likelihood == "gaussian" for likelihood in statistic.likelihoods if likelihood != "categorical"]
    total = np.where(total <= (CONSTANT * last_place(cells.mean, EPS)).max(axis=0, initial=0.0) ** 2, 0.0, total)
    largest = float(total[gaussian].max(initial=0.0))
    for name, likelihood, j in zip(statistic.names, statistic.likelihoods, places_by_kind(statistic), strict=True):
        if likelihood == "categorical":
            terms.append(_level_term(name, statistic.counts, j, alpha))
            continue
        if known[j] == 0:
            raise DataError.empty_column(name)
        column = Cells(cells.weight[:, j], cells.mean[:, j], cells.scatter[:, j], float(centre[j]), float(total[j]))
        if likelihood == "gaussian":
            terms.append(gaussian_term(column, smoothing, largest))
        elif likelihood == "kernel":
            terms.append(kernel_term(column, next(bins)))
        else:
            terms.append(_TERMS[likelihood](column, alpha))
    return tuple(terms)


def places_by_kind(statistic: MixedStatistic) -> list[int]:
    """The place of each column among the columns of levels, or among those of numbers."""
    levels = np.array([likelihood == "categorical" for likelihood in statistic.likelihoods], dtype=bool)
    return list((np.where(levels, np.cumsum(levels), np.cumsum(~levels)) - 1).tolist())


def log_probabilities(count: Floats, sizes: Sequence[int], alphas: Any) -> tuple[Floats, Floats]:
    """log (N_kl + alpha_j) / (N_k + alpha_j L_j), of counts K x (L_1 + L_2 + ...) of the ``sizes`` L_j of columns.

    They are alike for all levels of a column where there is nothing to go by. Second, K x p, what a level that no row
    had is given: log alpha_j / (N_k + alpha_j L_j); zeros with alpha_j = 0.
    """
    width = np.asarray(sizes)
    alpha = np.broadcast_to(np.asarray(alphas, dtype=np.float64), width.shape)
    filled, total = width > 0, np.zeros((len(count), len(width)))
    total[:, filled] = np.add.reduceat(count, (np.cumsum(width) - width)[filled], axis=1) if filled.any() else 0.0
    total += alpha * np.maximum(width, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_total = np.log(total)
        log_prob = np.log(count + np.repeat(alpha, width)) - np.repeat(log_total, width, axis=1)
        unseen = np.where(alpha == 0, 0.0, np.log(alpha) - log_total)
    empty = np.repeat(total <= 0, width, axis=1)
    return np.where(empty, -np.log(np.repeat(width, width)), log_prob) if empty.any() else log_prob, unseen


def leave_one_out_alpha(count: Floats) -> float:
    """The alpha under which each row is likeliest, in its class, given all others.

    Without one of the N_kl rows its probability is (N_kl - 1 + alpha) / (N_k - 1 + alpha L): the sum over the rows of
    its logarithm needs the counts alone. The maximum is found on a grid of 1e-3 to 1e6 and refined. A single
    level has nothing to choose. Weights count as rows.
    """
    if count.shape[1] < 2 or not count.any():
        return 1.0

    def loss(log_alpha: float) -> float:
        alpha = np.exp(log_alpha)
        left = np.maximum(count - 1.0, 0.0)
        others = np.maximum(count.sum(axis=1, keepdims=True) - 1.0, 0.0)
        return -float((count * (np.log(left + alpha) - np.log(others + alpha * count.shape[1]))).sum())

    losses = [loss(log_alpha) for log_alpha in _RANGE]
    best = int(np.argmin(losses))
    if best in (0, len(_RANGE) - 1):
        return float(np.exp(_RANGE[best]))
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        loss, bounds=(_RANGE[best - 1], _RANGE[best + 1]), method="bounded", options={"xatol": 1e-9}
    )
    return float(np.exp(found.x))


def _level_term(name: str, counts: ClassCounts, j: int, alpha: float) -> LevelTerm:
    """Dirichlet(alpha, ..., alpha) over the levels that were met in any class."""
    assert counts.levels is not None
    count = counts.of_feature(j)
    if not count.any():
        raise DataError.empty_column(name)
    log_prob, unseen = log_probabilities(count, [count.shape[1]], alpha)
    return LevelTerm(counts.levels[j], log_prob, unseen[:, 0])


def gaussian_term(cells: Cells, smoothing: float, largest: float) -> GaussianTerm:
    """Means and variances, smoothed as Gaussian naive Bayes does; a class without a value has those of all rows."""
    variance = _variances(cells)
    if smoothing >= GUARD:
        variance = variance + smoothing * largest
    else:
        variance = np.where(variance > 0, variance + smoothing * cells.total, _guard(cells))
    seen = cells.weight > 0
    return GaussianTerm(np.where(seen, cells.mean, cells.centre), np.where(seen, variance, cells.total))


def student_term(cells: Cells, alpha: float) -> StudentTerm:
    """The predictive density of the next value, with a conjugate prior worth ``alpha`` rows.

    Variance ~ scaled inverse chi-squared (alpha, total variance), mean ~ N(mean of all rows, variance / alpha).
    Then the next value of class k is Student-t with nu = alpha + n_k degrees of freedom, location
    (alpha m + n_k mu_k) / kappa and scale^2 = (alpha s^2 + S_k + alpha n_k (mu_k - m)^2 / kappa) / nu (1 + 1 / kappa),
    kappa = alpha + n_k.
    """
    n = cells.weight
    kappa = np.where(alpha + n > 0, alpha + n, 1.0)
    gap = np.where(n > 0, cells.mean - cells.centre, 0.0)
    scatter = np.where(_variances(cells) > 0, cells.scatter, 0.0)
    variance = (alpha * cells.total + scatter + alpha * n / kappa * gap**2) / kappa
    variance = np.where(variance > 0, variance, np.where(n > 0, _guard(cells), cells.total))
    return StudentTerm(kappa, cells.centre + n / kappa * gap, np.sqrt(variance * (1.0 + 1.0 / kappa)))


def poisson_term(cells: Cells, alpha: float) -> PoissonTerm:
    """The rate (N_k + alpha m) / (n_k + alpha): ``alpha`` rows at the mean m of all rows are added."""
    gamma = gamma_poisson_term(cells, alpha)
    return PoissonTerm(gamma.shape / gamma.rows)


def gamma_poisson_term(cells: Cells, alpha: float) -> GammaPoissonTerm:
    """The predictive probability of the next count: the rate is Gamma(N_k + alpha m, n_k + alpha)."""
    n = cells.weight
    seen = n + alpha > 0
    shape = np.where(seen, n * cells.mean + alpha * cells.centre, cells.centre)
    return GammaPoissonTerm(shape, np.where(seen, n + alpha, 1.0))


def bernoulli_term(cells: Cells, alpha: float) -> BernoulliTerm:
    """(N_k + alpha) / (n_k + 2 alpha): the predictive mean with Beta(alpha, alpha)."""
    ones = np.clip(np.where(cells.weight > 0, cells.mean, 0.0), 0.0, 1.0) * cells.weight
    logs, _ = log_probabilities(np.column_stack([cells.weight - ones, ones]), [2], alpha)
    return BernoulliTerm(logs[:, 1], logs[:, 0])


def kernel_term(cells: Cells, bins: ClassBins) -> KernelTerm:
    """Gaussian kernels on the bins, with Silverman's bandwidth 0.9 min(sd, IQR / 1.34) n_k^(-1/5).

    A class without a value has the density of all rows.
    """
    weight = np.where(cells.weight[:, None] > 0, bins.weight, bins.weight.sum(axis=0))
    n = weight.sum(axis=1)
    share = weight / n[:, None]
    variance = np.where(cells.weight > 0, _variances(cells), cells.total)
    deviation = np.sqrt(np.where(variance > 0, variance, _guard(cells)))
    quartiles = np.array([[_quantile(bins.centres, row, q) for q in (0.25, 0.75)] for row in weight])
    middle = (quartiles[:, 1] - quartiles[:, 0]) / 1.34
    spread = np.where(middle > 0, np.minimum(deviation, middle), deviation)
    return KernelTerm(bins.centres, share, 0.9 * spread * n**-0.2)


def information(term: Term, priors: Floats) -> float:
    """Mutual information of the column and the class, in bits."""
    points, width = term.support()
    logs = term.log_likelihood(points)
    with np.errstate(divide="ignore", invalid="ignore"):
        mixture = np.logaddexp.reduce(logs + np.log(priors)[:, None], axis=0)
        gain = np.where(np.isfinite(logs), np.exp(logs) * (logs - mixture), 0.0)
    return max(float(priors @ (gain @ width) / np.log(2.0)), 0.0)


def _variances(cells: Cells) -> Floats:
    """S_k / n_k; what rounding alone leaves of a constant column is zero."""
    raw = cells.scatter / np.where(cells.weight > 0, cells.weight, 1.0)
    return np.where(raw <= (CONSTANT * last_place(cells.mean, EPS)) ** 2, 0.0, raw)


def _guard(cells: Cells) -> Floats:
    """The variance of a column that is constant within a class: in so many rows it has not varied."""
    return np.asarray(cells.total / np.maximum(cells.weight, 1.0))


def _quantile(centres: Floats, weight: Floats, q: float) -> float:
    """The first bin up to which a share q of the weight lies."""
    upto = np.cumsum(weight)
    return float(centres[int(np.searchsorted(upto, (1.0 - 1e-12) * q * upto[-1]))])


_TERMS: dict[str, Callable[[Cells, float], Term]] = {
    "student-t": student_term,
    "poisson": poisson_term,
    "gamma-poisson": gamma_poisson_term,
    "bernoulli": bernoulli_term,
}
