"""Beta and Dirichlet posteriors: the numbers of the Oxford lecture, and those of SciPy's distributions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from discrim import BernoulliNB, MultinomialNB
from discrim.errors import ParameterError
from discrim.inference.conjugate import BetaPosterior, DirichletPosterior, log_odds_moments

X = np.array([[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0], [0, 2, 4]])
y = np.array(["ham", "ham", "spam", "spam", "spam"])


def test_three_successes_in_twenty_turn_beta_2_2_into_beta_5_19():
    assert BetaPosterior(2, 2).after(3, 20) == BetaPosterior(5, 19)
    assert BetaPosterior(5, 2).after(11, 24) == BetaPosterior(16, 15)


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
    assert_allclose(found.after([1, 0, 2]).alpha, [5, 1.5, 4.5])


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
