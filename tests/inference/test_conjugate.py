"""Posteriors: the numbers of the Oxford lecture, SciPy's distributions, classical intervals, and sums done in parts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import betaln, gammaln, softmax

from discrim import BernoulliNB, CategoricalNB, MixedNB, MultinomialNB
from discrim.errors import DataError, ParameterError
from discrim.inference.conjugate import (
    BetaPosterior,
    DirichletPosterior,
    GammaPosterior,
    InverseGammaPosterior,
    NormalPosterior,
    StudentPosterior,
    log_odds_moments,
)

X = np.array([[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0], [0, 2, 4]])
y = np.array(["ham", "ham", "spam", "spam", "spam"])


def test_three_successes_in_twenty_turn_beta_2_2_into_beta_5_19():
    assert BetaPosterior(2, 2).update(3, 20) == BetaPosterior(5, 19)
    assert BetaPosterior(5, 2).update(11, 24) == BetaPosterior(16, 15)


@pytest.mark.parametrize(("a", "b"), [(5.0, 19.0), (1.0, 1.0), (0.3, 4.0), (200.0, 3.0)])
def test_mean_variance_and_intervals_are_those_of_the_beta_distribution(a, b):
    found, known = BetaPosterior(a, b), stats.beta(a, b)
    assert_allclose([found.mean, found.variance], known.stats("mv"))
    assert_allclose(found.interval(0.9), known.ppf([0.05, 0.95]), rtol=1e-9)
    ends = known.ppf([0.025, 0.975])
    assert_allclose(found.log_odds_interval(), np.log(ends / (1 - ends)), rtol=1e-8)
    draws = known.rvs(400_000, random_state=0)
    logits = np.log(draws / (1 - draws))
    mean, variance = log_odds_moments(np.array(a), np.array(b))
    assert_allclose([mean, variance], [logits.mean(), logits.var()], rtol=0.02, atol=0.02)
    assert_allclose(found.log_odds, mean)


def test_the_mode_is_the_top_of_the_density():
    grid = np.linspace(0, 1, 100_001)
    assert_allclose(BetaPosterior(5, 19).mode, grid[stats.beta(5, 19).pdf(grid).argmax()], atol=1e-5)
    assert [BetaPosterior(1, 3).mode, BetaPosterior(3, 1).mode] == [0, 1]
    assert np.isnan(BetaPosterior(1, 1).mode)
    assert np.isnan(BetaPosterior(0.5, 0.2).mode)


def test_the_dirichlet_distribution_is_a_beta_for_each_share():
    alpha = np.array([4.0, 1.5, 2.5])
    found, known = DirichletPosterior(alpha), stats.dirichlet(alpha)
    assert_allclose(found.mean, known.mean())
    assert_allclose(found.variance, known.var())
    assert_allclose(found.interval(), [found.marginal(j).interval() for j in range(3)])
    assert_allclose(found.log_odds_interval(0.5)[1], found.marginal(1).log_odds_interval(0.5))
    assert_allclose(found.mode, (alpha - 1) / 5)
    assert np.isnan(DirichletPosterior([1.0, 0.5]).mode).all()
    assert_allclose(found.update([1, 0, 2]).alpha, [5, 1.5, 4.5])


def test_no_doubt_is_left_where_a_parameter_is_zero():
    assert BetaPosterior(0.0, 3.0).interval() == (0.0, 0.0)
    assert BetaPosterior(3.0, 0.0).interval() == (1.0, 1.0)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_level_outside_of_0_and_1_is_refused(level):
    with pytest.raises(ParameterError, match="'level' parameter"):
        BetaPosterior(1, 1).interval(level)


def test_models_tell_the_posteriors_of_their_parameters():
    bernoulli = BernoulliNB(beta=(2, 3)).fit(X, y)
    assert bernoulli.posterior(feature=0, cls="ham") == BetaPosterior(2 + 2, 3 + 0)
    assert bernoulli.posterior("x2", "spam") == BetaPosterior(2 + 2, 3 + 1)
    assert_allclose(bernoulli.posterior(2, "spam").mean, np.exp(bernoulli.feature_log_prob_[1, 2]))
    multinomial = MultinomialNB(alpha=0.5, class_alpha=1.0).fit(X, y)
    assert_allclose(multinomial.feature_posterior("ham").alpha, [3.5, 0.5, 1.5])
    assert multinomial.posterior(0, "ham") == BetaPosterior(3.5, 2.0)
    assert_allclose(multinomial.feature_posterior("spam").mean, np.exp(multinomial.feature_log_prob_[1]))
    assert_allclose(multinomial.class_posterior().alpha, [3, 4])
    assert_allclose(multinomial.class_posterior().mean, np.exp(multinomial.class_log_prior_))
    with pytest.raises(ParameterError, match="no column 'money'; there are 'x0', 'x1', 'x2'"):
        bernoulli.posterior("money", "ham")
    with pytest.raises(ParameterError, match="no class 'eggs'"):
        bernoulli.posterior(0, "eggs")


VALUES = np.array([3.1, 4.7, 2.2, 5.9, 4.4, 3.8, 6.0])


@pytest.mark.parametrize(("shape", "rows"), [(12.0, 5.0), (0.4, 2.0), (300.0, 0.5)])
def test_a_rate_has_the_gamma_distribution(shape, rows):
    found, known = GammaPosterior(shape, rows), stats.gamma(shape, scale=1 / rows)
    assert_allclose([found.mean, found.variance], known.stats("mv"))
    assert_allclose(found.interval(0.9), known.ppf([0.05, 0.95]), rtol=1e-9)
    grid = np.linspace(1e-9, known.ppf(0.999), 200_001)
    assert_allclose(found.mode, grid[known.pdf(grid).argmax()], atol=grid[1])


@pytest.mark.parametrize("df", [0.8, 1.5, 3.0, 40.0])
def test_a_mean_has_students_distribution(df):
    found, known = StudentPosterior(df, 2.0, 0.5), stats.t(df, 2.0, 0.5)
    assert_allclose(found.interval(0.9), known.ppf([0.05, 0.95]), rtol=1e-9)
    assert_allclose(found.mean, 2.0 if df > 1 else np.nan)
    assert_allclose(found.variance, known.var() if df > 2 else np.inf)
    assert found.mode == 2.0


@pytest.mark.parametrize("shape", [0.7, 1.5, 3.0, 40.0])
def test_a_variance_has_the_inverse_gamma_distribution(shape):
    found, known = InverseGammaPosterior(shape, 4.0), stats.invgamma(shape, scale=4.0)
    assert_allclose(found.interval(0.9), known.ppf([0.05, 0.95]), rtol=1e-9)
    assert_allclose(found.mean, known.mean() if shape > 1 else np.inf)
    assert_allclose(found.variance, known.var() if shape > 2 else np.inf)
    assert_allclose(found.mode, 4.0 / (shape + 1))


def test_without_a_prior_the_intervals_are_the_classical_ones():
    n, scatter = len(VALUES), VALUES.var() * len(VALUES)
    posterior = NormalPosterior.of(n, VALUES.mean(), scatter)
    known = stats.ttest_1samp(VALUES, 0.0).confidence_interval(0.95)
    assert_allclose(posterior.of_mean.interval(), [known.low, known.high])
    assert_allclose(posterior.of_variance.interval(0.9), scatter / stats.chi2(n - 1).ppf([0.95, 0.05]))


def test_values_in_two_parts_say_what_they_say_together():
    prior = NormalPosterior(1.0, 2.0, 3.0, 4.0)
    parts = [(len(v), v.mean(), v.var() * len(v)) for v in (VALUES[:3], VALUES[3:], VALUES)]
    twice, once = prior.update(*parts[0]).update(*parts[1]), prior.update(*parts[2])
    assert_allclose([twice.location, twice.rows, twice.df], [once.location, once.rows, once.df])
    assert_allclose(twice.spread, once.spread)
    assert GammaPosterior(1.0, 2.0).update(3, 4).update(5, 6) == GammaPosterior(9.0, 12.0)


def test_the_normal_posterior_is_proportional_to_prior_times_likelihood():
    prior = NormalPosterior(1.0, 2.0, 3.0, 4.0)
    posterior = prior.update(len(VALUES), VALUES.mean(), VALUES.var() * len(VALUES))

    def log_density(p, mu, variance):
        spread = stats.invgamma(p.of_variance.shape, scale=p.of_variance.scale).logpdf(variance)
        return spread + stats.norm(p.location, np.sqrt(variance / p.rows)).logpdf(mu)

    points = [(0.5, 1.0), (4.0, 2.0), (3.0, 9.0)]
    gaps = [
        log_density(prior, mu, v) + stats.norm(mu, np.sqrt(v)).logpdf(VALUES).sum() - log_density(posterior, mu, v)
        for mu, v in points
    ]
    assert_allclose(gaps, gaps[0])


def test_a_rate_of_which_nothing_can_be_doubted():
    assert GammaPosterior(0.0, 3.0).interval() == (0.0, 0.0)


@pytest.mark.parametrize("posterior", [GammaPosterior(1, 1), StudentPosterior(3, 0, 1), InverseGammaPosterior(2, 1)])
def test_every_posterior_refuses_a_level_outside_of_0_and_1(posterior):
    with pytest.raises(ParameterError, match="'level' parameter"):
        posterior.interval(1.0)


@pytest.fixture
def mixed():
    """Columns of every kind, some values missing; class b has a single size."""
    size = np.array([1.0, 2.0, 4.0, np.nan, 3.0, np.nan])
    visits = np.array([0.0, 2.0, 1.0, 5.0, 3.0, 4.0])
    member = np.array([1.0, 0.0, 1.0, np.nan, 0.0, 0.0])
    town = np.array([0.0, 2.0, 0.0, 1.0, 1.0, np.nan])
    X = np.column_stack([size, visits, member, town, size, size, visits])
    kinds = ("gaussian", "poisson", "bernoulli", "categorical", "student-t", "kernel", "gamma-poisson")
    likelihoods = dict(enumerate(kinds))
    return MixedNB(alpha=0.5, likelihoods=likelihoods).fit(X, list("aaabbb")), X


def test_mixed_columns_have_the_posteriors_of_their_parameters(mixed):
    model, X = mixed
    assert model.posterior("x2", "a") == BetaPosterior(2.5, 1.5)
    assert model.posterior(2, "b") == BetaPosterior(0.5, 2.5)
    assert isinstance(model.posterior(3, "a"), DirichletPosterior)
    assert_allclose(model.posterior(3, "a").alpha, [2.5, 0.5, 1.5])
    for column in (1, 6):
        assert model.posterior(column, "b") == GammaPosterior(0.5 * 2.5 + 12, 0.5 + 3)
    gaussian = model.posterior(0, "a")
    assert_allclose([gaussian.location, gaussian.spread], [7 / 3, np.var([1, 2, 4], ddof=1)])
    assert (gaussian.rows, gaussian.df) == (3, 2)
    total = np.nanvar(X[:, 0])
    student = NormalPosterior(2.5, 0.5, 0.5, total).update(1, 3.0, 0.0)
    assert_allclose(model.posterior(4, "b").location, student.location)
    assert_allclose(model.posterior(4, "b").spread, student.spread)


def test_estimates_are_the_posteriors_means(mixed):
    model, X = mixed
    scores = model.contributions(np.where(np.isnan(X), 0.0, X))
    assert_allclose(np.exp(scores[0, 0, 2]), model.posterior(2, "a").mean)
    assert_allclose(np.exp(scores[0, 1, 3]), model.posterior(3, "b").mean[0])
    rate = model.posterior(1, "a").mean
    assert_allclose(scores[1, 0, 1], stats.poisson(rate).logpmf(2))
    normal = model.posterior(4, "a")
    predicted = stats.t(normal.df, normal.location, np.sqrt(normal.spread * (1 + 1 / normal.rows)))
    assert_allclose(scores[0, 0, 4], predicted.logpdf(1.0))


def test_what_has_no_posterior_is_named(mixed):
    model, _ = mixed
    with pytest.raises(DataError, match="Column 'x0' has 1 values in class 'b': without a prior nothing can be said"):
        model.posterior(0, "b")
    with pytest.raises(ParameterError, match="Column 'x5' has a kernel density, which has no parameters"):
        model.posterior("x5", "a")
    with pytest.raises(ParameterError, match="no class 'c'; there are 'a', 'b'"):
        model.posterior(0, "c")
    with pytest.raises(ParameterError, match="no column 'x9'"):
        model.posterior("x9", "a")


def test_categories_have_a_dirichlet_posterior():
    model = CategoricalNB(alpha=0.5).fit([[0, 1], [2, 0], [0, 0], [1, 1]], ["a", "a", "b", "b"])
    assert_allclose(model.posterior("x0", "a").alpha, [1.5, 0.5, 1.5])
    assert_allclose(model.posterior(1, "b").mean, np.exp(model.feature_log_prob_[1][1]))


def test_summaries_show_which_levels_speak_for_a_class():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 300)
    X = np.column_stack([rng.integers(0, 3, 300), np.where(y == "yes", rng.integers(0, 2, 300), 0)]).astype(float)
    mixed = MixedNB(likelihoods={0: "categorical", 1: "bernoulli"}).fit(X, y)
    for model in (mixed, CategoricalNB().fit(X.astype(int), y)):
        table = model.summary().to_frame("Most distinctive levels, class against the others")
        found = table[table["class"] == "yes"]
        assert found.index[0] == "x1 = 1"
        ones = X[y == "yes", 1].sum()
        inside, outside = (ones + 1, (y == "yes").sum() - ones + 1), (1, (y == "no").sum() + 1)
        draws = stats.beta(*inside).rvs(200_000, random_state=1), stats.beta(*outside).rvs(200_000, random_state=2)
        ratio = np.log(draws[0] / (1 - draws[0])) - np.log(draws[1] / (1 - draws[1]))
        assert_allclose(found["log odds ratio"].iloc[0], ratio.mean(), rtol=0.02)
        half = stats.norm.ppf(0.975) * ratio.std()
        assert_allclose(found["upper"].iloc[0] - found["lower"].iloc[0], 2 * half, rtol=0.02)
    assert "Most telling levels" not in str(CategoricalNB().fit(X[:1].astype(int), ["a"]).summary())


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1, 1), (2, 5), (8, 4)])
def test_beta_densities_and_draws_are_those_of_scipy(a, b):
    known, points = stats.beta(a, b), np.array([-0.1, 0.05, 0.5, 0.9, 1.2])
    assert_allclose(BetaPosterior(a, b).pdf(points), known.pdf(points), rtol=1e-12)
    assert stats.kstest(BetaPosterior(a, b).rvs(2000, random_state=0), known.cdf).pvalue > 0.01
    assert BetaPosterior(1, 1).pdf(0.3) == pytest.approx(1.0)


def test_the_predictive_of_successes_is_beta_binomial():
    found = BetaPosterior(2, 2).update(3, 20).predictive(10)
    known = stats.betabinom(10, 5, 19)
    assert_allclose(found.pmf(), known.pmf(np.arange(11)), rtol=1e-10)
    assert_allclose(found.pmf([-1, 2.5, 11]), 0)
    assert (found.mean, found.variance) == (pytest.approx(known.mean()), pytest.approx(known.var()))
    draws = found.rvs(20_000, random_state=0)
    assert draws.mean() == pytest.approx(known.mean(), abs=0.05)
    assert BetaPosterior(3, 1).predictive().pmf(1) == pytest.approx(0.75)
    with pytest.raises(ParameterError, match="whole number of trials"):
        BetaPosterior(1, 1).predictive(2.5)


def test_dirichlet_densities_draws_and_predictives_are_those_of_scipy():
    alpha, points = [2.0, 0.5, 3.0], np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
    found = DirichletPosterior(alpha)
    assert_allclose(found.pdf(points), stats.dirichlet(alpha).pdf(points.T), rtol=1e-10)
    assert found.pdf([0.5, 0.5, 0.5]) == 0.0
    assert_allclose(found.rvs(20_000, random_state=0).mean(axis=0), found.mean, atol=0.01)
    counts = np.array([[1, 0, 2], [0, 3, 0], [1, 1, 0]])
    expected = [*stats.dirichlet_multinomial(alpha, 3).pmf(counts[:2]), 0.0]
    assert_allclose(found.predictive(3).pmf(counts), expected, rtol=1e-9)
    assert found.predictive(3).rvs(4, random_state=0).sum(axis=1).tolist() == [3] * 4
    assert_allclose(found.predictive(11).mean, [4, 1, 6])
    with pytest.raises(ParameterError, match="rows of 3 probabilities"):
        found.pdf([0.5, 0.5])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: BetaPosterior(-1, 2), "'a' parameter is -1"),
        (lambda: BetaPosterior("2", "two"), "'b' parameter is 'two'"),
        (
            lambda: BetaPosterior(2, 2).update(5, 3),
            "'successes' parameter is 5; it must be a number from 0 to the 3",
        ),
        (lambda: BetaPosterior(2, 2).update(-1, 3), "'successes' parameter is -1"),
        (lambda: BetaPosterior(2, 2).update(0, np.nan), "'trials' parameter is nan"),
        (lambda: BetaPosterior(2, 2).rvs(3, random_state="one"), "'random_state' parameter is 'one'"),
        (lambda: DirichletPosterior([1, -1]), "'alpha' parameter"),
        (lambda: DirichletPosterior([[1, 2], [3, 4]]), "at least two numbers"),
        (lambda: DirichletPosterior([1, 1, 1]).update([1, 2]), "counts has the shape"),
        (lambda: DirichletPosterior([1, 1, 1]).update([1, -2, 0]), "'counts' parameter"),
        (lambda: DirichletPosterior([1, 1]).predictive(True), "whole number of trials"),
        (lambda: DirichletPosterior([1, 1]).predictive(2).pmf([1, 1, 0]), "rows of 2 counts"),
    ],
)
def test_what_is_no_count_is_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()


def test_the_predictive_of_many_outcomes_has_the_moments_of_its_probabilities():
    found = DirichletPosterior([2.0, 0.5, 3.0]).predictive(3)
    counts = np.array([[i, j, 3 - i - j] for i in range(4) for j in range(4 - i)])
    chance = found.pmf(counts)
    assert chance.sum() == pytest.approx(1.0)
    assert_allclose(chance @ counts, found.mean, rtol=1e-12)
    assert_allclose(chance @ (counts - found.mean) ** 2, found.variance, rtol=1e-12)
    assert found.pmf([0.5, 1.5, 1.0]) == 0.0
    assert DirichletPosterior([2.0, 3.0]).predictive(4).variance[0] == pytest.approx(
        BetaPosterior(2, 3).predictive(4).variance
    )


def test_words_and_classes_together_are_predicted_by_the_ratio_of_marginal_likelihoods():
    """Beta on the words and Dirichlet on the classes: P(y = k | x, data) is p(data, x, k) / sum_l p(data, x, l)."""
    rng = np.random.default_rng(1)
    words, labels = (rng.random((30, 6)) < 0.3).astype(int), rng.integers(0, 3, 30)
    (a, b), alpha = (0.7, 1.3), np.array([1.0, 2.0, 0.5])
    model = BernoulliNB(beta=(a, b), class_alpha=alpha).fit(words, labels)

    def log_evidence(n, hits):
        columns = sum(betaln(a + hits[k], b + n[k] - hits[k]).sum() for k in range(3))
        return columns + gammaln(alpha + n).sum() - gammaln(alpha.sum() + n.sum())

    n, hits = np.bincount(labels, minlength=3), np.array([words[labels == k].sum(axis=0) for k in range(3)])
    unit = np.eye(3, dtype=int)
    row = words[0]
    scores = np.array([log_evidence(n + unit[k], hits + np.outer(unit[k], row)) for k in range(3)])
    assert_allclose(model.predict_proba(row[None])[0], softmax(scores), rtol=1e-10)
    assert_allclose(model.class_posterior().mean, (n + alpha) / (30 + alpha.sum()), rtol=1e-12)
    assert_allclose(np.exp(model.class_log_prior_), model.class_posterior().mean, rtol=1e-12)
