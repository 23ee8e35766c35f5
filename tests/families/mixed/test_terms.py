"""Each likelihood against SciPy's distributions, and the information of a column against integrals done another way."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats

from discrim.families.mixed.estimates import (
    Cells,
    bernoulli_term,
    gamma_poisson_term,
    gaussian_term,
    information,
    kernel_term,
    leave_one_out_alpha,
    log_probabilities,
    poisson_term,
    student_term,
)
from discrim.families.mixed.rule import GaussianTerm, LevelTerm, PoissonTerm
from discrim.statistics import ClassBins

VALUES = np.array([-3.0, 0.0, 0.5, np.nan, 2.0, 40.0])
COUNTS = np.array([0.0, 1.0, 5.0, np.nan, 23.0])


def cells(*samples):
    """One column, with the sample of each class."""
    everything = np.concatenate(samples)
    return Cells(
        np.array([len(x) for x in samples], dtype=float),
        np.array([x.mean() if len(x) else 0.0 for x in samples]),
        np.array([((x - x.mean()) ** 2).sum() if len(x) else 0.0 for x in samples]),
        float(everything.mean()),
        float(everything.var()),
    )


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    return rng.normal(1.0, 2.0, 40), rng.normal(-1.0, 0.5, 7), np.empty(0)


def present(values, logs):
    """The rows of values that are there; where one is missing nothing is added."""
    assert (logs[:, np.isnan(values)] == 0).all()
    return logs[:, ~np.isnan(values)]


def test_gaussian_columns(samples):
    a, b, _ = samples
    found = present(VALUES, gaussian_term(cells(*samples), 0.0, 0.0).log_likelihood(VALUES))
    x, everything = VALUES[~np.isnan(VALUES)], np.concatenate(samples)
    expected = [stats.norm.logpdf(x, s.mean(), s.std()) for s in (a, b, everything)]
    assert_allclose(found, expected, rtol=1e-10)


def test_student_is_the_predictive_density_that_the_prior_and_the_rows_give(samples):
    """By integrating the Gaussian over the posterior of its mean and variance."""
    b, everything, alpha = samples[1], np.concatenate(samples), 1.5
    m, s2 = everything.mean(), everything.var()
    x = np.array([-2.0, 0.3])
    found = np.exp(student_term(cells(*samples), alpha).log_likelihood(x))[1]

    def posterior(v):
        """Of the variance v, with the mean integrated out, up to a constant, and the mean's law given v."""
        kappa = alpha + len(b)
        centre = (alpha * m + b.sum()) / kappa
        spread = alpha * s2 + ((b - b.mean()) ** 2).sum() + alpha * len(b) / kappa * (b.mean() - m) ** 2
        return v ** (-(alpha + len(b)) / 2 - 1) * np.exp(-spread / (2 * v)), centre, kappa

    def predictive(v, at):
        density, centre, kappa = posterior(v)
        return density * stats.norm.pdf(at, centre, np.sqrt(v * (1 + 1 / kappa)))

    total = integrate.quad(lambda v: posterior(v)[0], 0, np.inf)[0]
    expected = [integrate.quad(predictive, 0, np.inf, args=(at,))[0] / total for at in x]
    assert_allclose(found, expected, rtol=1e-6)


def test_student_of_a_class_without_values_is_the_prior_alone(samples):
    everything = np.concatenate(samples)
    found = student_term(cells(*samples), 2.0).log_likelihood(np.array([0.7]))[2]
    expected = stats.t.logpdf(0.7, 2.0, everything.mean(), np.sqrt(everything.var() * 1.5))
    assert_allclose(found, expected, rtol=1e-12)


def test_poisson_and_gamma_poisson_columns():
    a, b = np.array([0.0, 2, 3, 3, 9]), np.array([0.0, 0.0])
    column, alpha, m = cells(a, b), 1.0, 17 / 7
    rates = np.array([(17 + alpha * m) / (5 + alpha), alpha * m / (2 + alpha)])
    x = COUNTS[~np.isnan(COUNTS)]
    found = present(COUNTS, poisson_term(column, alpha).log_likelihood(COUNTS))
    assert_allclose(found, [stats.poisson.logpmf(x, rate) for rate in rates], rtol=1e-10)
    found = present(COUNTS, gamma_poisson_term(column, alpha).log_likelihood(COUNTS))
    shapes, rows = [17 + alpha * m, alpha * m], [5 + alpha, 2 + alpha]
    expected = [stats.nbinom.logpmf(x, r, n / (n + 1)) for r, n in zip(shapes, rows, strict=True)]
    assert_allclose(found, expected, rtol=1e-10)


def test_counts_that_are_all_zero_say_nothing():
    assert (poisson_term(cells(np.zeros(3), np.zeros(4)), 1.0).log_likelihood(COUNTS) == 0).all()
    assert (gamma_poisson_term(cells(np.zeros(3), np.zeros(4)), 1.0).log_likelihood(COUNTS) == 0).all()


def test_bernoulli_columns():
    x = np.array([0.0, 1.0, np.nan])
    found = bernoulli_term(cells(np.array([1.0, 1, 0]), np.zeros(2), np.empty(0)), 0.5).log_likelihood(x)
    p = np.array([2.5 / 4, 0.5 / 3, 0.5])
    assert_allclose(found, np.column_stack([np.log(1 - p), np.log(p), np.zeros(3)]), rtol=1e-12)


def test_kernel_columns_are_sums_of_gaussians_with_the_bandwidth_of_r(samples):
    """bw.nrd0 of R is 0.9 min(sd, IQR / 1.34) n^(-1/5); here sd divides by n."""
    a, b, _ = samples
    codes = np.repeat([0, 1], [len(a), len(b)]).astype(np.int32)
    bins = ClassBins.of(np.concatenate([a, b]), codes, np.array(["a", "b"]), None).including(np.array(["c"]))
    term = kernel_term(cells(*samples), bins)
    quartiles = [np.quantile(a, q, method="inverted_cdf") for q in (0.25, 0.75)]
    h = 0.9 * min(a.std(), (quartiles[1] - quartiles[0]) / 1.34) * len(a) ** -0.2
    assert_allclose(term.bandwidth[0], h, rtol=1e-12)
    x = np.array([-300.0, -3.0, 0.5, 2.0])
    expected = [np.logaddexp.reduce(stats.norm.logpdf(at, a, h)) - np.log(len(a)) for at in x]
    assert_allclose(term.log_likelihood(x)[0], expected, rtol=1e-9)
    # The class without values has the density of all.
    assert_allclose(np.exp(term.log_likelihood(np.linspace(-20, 20, 4001))[2]).sum() * 0.01, 1.0, rtol=1e-3)


def test_levels_unknown_levels_and_missing_ones():
    count = np.array([[3.0, 1.0], [0.0, 4.0]])
    log_prob, unseen = log_probabilities(count, [2], 0.5)
    term = LevelTerm(np.array(["red", "sea"]), log_prob, unseen[:, 0])
    found = term.log_likelihood((np.array(["pea", "sea"]), np.array([1, 0, -1], np.int32)))
    assert_allclose(np.exp(found), [[1.5 / 5, 0.5 / 5, 1.0], [4.5 / 5, 0.5 / 5, 1.0]], rtol=1e-12)


def test_levels_without_a_prior_and_without_rows_are_alike():
    found, unseen = log_probabilities(np.array([[0.0, 0.0], [1.0, 0.0]]), [2], 0.0)
    assert_allclose(found, [[-np.log(2)] * 2, [0.0, -np.inf]])
    assert unseen.tolist() == [[0.0], [0.0]]


def test_columns_are_smoothed_together_as_each_by_itself():
    rng = np.random.default_rng(0)
    sizes, alphas = [3, 0, 5, 0], np.array([0.5, 1.0, 0.0, 2.0])
    count = rng.integers(0, 9, (2, 8)).astype(float)
    count[0, 3:] = 0.0  # nothing is known of the third column in the first class
    found, unseen = log_probabilities(count, sizes, alphas)
    starts = np.cumsum([0, *sizes])
    alone = [log_probabilities(count[:, starts[j] : starts[j + 1]], sizes[j : j + 1], alphas[j]) for j in range(4)]
    assert_allclose(found, np.hstack([logs for logs, _ in alone]), rtol=1e-12)
    assert_allclose(unseen, np.hstack([never for _, never in alone]), rtol=1e-12)
    assert_allclose(np.exp(found[:, :3]), (count[:, :3] + 0.5) / (count[:, :3] + 0.5).sum(axis=1, keepdims=True))
    assert_allclose(found[0, 3:], -np.log(5))


def test_the_alpha_of_leave_one_out_is_that_of_leaving_out_one_after_another():
    rng = np.random.default_rng(1)
    rows = rng.choice(12, size=40, p=rng.dirichlet(np.full(12, 0.4)))
    codes = rng.integers(0, 2, 40)
    count = np.zeros((2, 12))
    np.add.at(count, (codes, rows), 1)

    def brute(alpha):
        total = 0.0
        for i in range(40):
            left = count.copy()
            left[codes[i], rows[i]] -= 1
            total += log_probabilities(left, [12], alpha)[0][codes[i], rows[i]]
        return total

    grid = np.exp(np.linspace(np.log(1e-3), np.log(1e3), 401))
    best = grid[np.argmax([brute(alpha) for alpha in grid])]
    found = leave_one_out_alpha(count)
    assert abs(np.log(found / best)) < 0.04
    assert brute(found) >= brute(best) - 1e-9
    assert leave_one_out_alpha(count[:, :1]) == 1.0


@pytest.mark.parametrize("gap", [0.0, 1.0, 30.0])
def test_what_a_gaussian_column_tells_is_mutual_information(gap):
    term, priors = GaussianTerm(np.array([0.0, gap]), np.array([1.0, 0.25])), np.array([0.3, 0.7])

    def integrand(x):
        f = np.array([stats.norm.pdf(x), stats.norm.pdf(x, gap, 0.5)])
        mixture = priors @ f
        return sum(p * v * np.log2(v / mixture) for p, v in zip(priors, f, strict=True) if v > 0)

    expected = sum(integrate.quad(integrand, a, b, limit=200)[0] for a, b in [(-12, gap / 2), (gap / 2, gap + 12)])
    assert_allclose(information(term, priors), expected, rtol=1e-3)


def test_what_counts_and_levels_tell_is_mutual_information():
    priors, x = np.array([0.3, 0.7]), np.arange(200)
    f = np.array([stats.poisson.pmf(x, 2.0), stats.poisson.pmf(x, 5.0)])
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.nansum(priors[:, None] * f * np.log2(f / (priors @ f)))
    assert_allclose(information(PoissonTerm(np.array([2.0, 5.0])), priors), expected, rtol=1e-9)
    p = np.array([[0.2, 0.8, 0.0], [0.5, 0.25, 0.25]])
    with np.errstate(divide="ignore", invalid="ignore"):
        term = LevelTerm(np.arange(3.0), np.log(p), np.zeros(2))
        expected = np.nansum(priors[:, None] * p * np.log2(p / (priors @ p)))
    assert_allclose(information(term, priors), expected, rtol=1e-12)
