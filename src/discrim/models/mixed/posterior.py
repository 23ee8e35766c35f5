"""What is known of the parameters of one column in one class, whatever kind of column it is."""

from __future__ import annotations

from discrim.errors import DataError, ParameterError
from discrim.inference.conjugate import BetaPosterior, DirichletPosterior
from discrim.inference.conjugate_numbers import GammaPosterior, NormalPosterior
from discrim.statistics import MixedStatistic

# What the mean of whole numbers may lose.
ROUNDING = 1e-12

Posterior = BetaPosterior | DirichletPosterior | GammaPosterior | NormalPosterior


def mixed_posterior(statistic: MixedStatistic, j: int, k: int, alpha: float) -> Posterior:
    """The posterior of column j in class k, with the priors of the likelihoods."""
    likelihood = statistic.likelihoods[j]
    levelled = [likelihood == "categorical" for likelihood in statistic.likelihoods]
    if levelled[j]:
        return DirichletPosterior(statistic.counts.of_feature(sum(levelled[:j]))[k] + alpha)
    if likelihood == "kernel":
        raise ParameterError(f"Column '{statistic.names[j]}' has a kernel density, which has no parameters.")
    at, cells = j - sum(levelled[:j]), statistic.cells
    n, mean, scatter = float(cells.weight[k, at]), float(cells.mean[k, at]), float(cells.scatter[k, at])
    _, centre, total = (float(values[at]) for values in cells.pooled())
    if likelihood == "bernoulli":
        return BetaPosterior(alpha, alpha).after(_sum(n, mean), n)
    if likelihood in ("poisson", "gamma-poisson") and n + alpha > 0:
        return GammaPosterior(alpha * centre, alpha).after(_sum(n, mean), n)
    if likelihood == "student-t" and alpha > 0:
        prior = NormalPosterior(centre, alpha, alpha, total)
        return prior.after(n, mean, scatter) if n > 0 else prior
    if n <= 1:
        raise DataError(
            f"Column '{statistic.names[j]}' has {n:g} values in class '{statistic.classes[k]}': without a prior "
            "nothing can be said of its parameters."
        )
    return NormalPosterior.of(n, mean, scatter)


def _sum(n: float, mean: float) -> float:
    """n times the mean; a whole number where only rounding keeps it from being one."""
    total = n * mean
    return float(round(total)) if abs(total - round(total)) <= ROUNDING * n else total
