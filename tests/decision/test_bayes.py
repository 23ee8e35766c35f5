"""The Bayes rule for known densities: intervals, risks and posteriors against formulas, quadrature and simulation."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats
from sklearn.base import clone

from discrim import LinearDiscriminantAnalysis
from discrim.decision import BayesClassifier

LECTURE = {1: stats.norm(-1, 1), 2: stats.norm(1, 1 / 3)}
ROOT = np.sqrt(9 + 4 * np.log(3)) / 4


def test_the_interval_of_the_oxford_lecture_is_found_to_the_last_digits():
    regions = BayesClassifier(LECTURE).regions()
    assert [region.action for region in regions] == [1, 2, 1]
    assert_allclose([regions[0].high, regions[1].high], [1.25 - ROOT, 1.25 + ROOT], rtol=1e-14)
    assert (regions[0].low, regions[-1].high) == (-np.inf, np.inf)
    assert all(a.high == b.low for a, b in pairwise(regions))


def test_the_risk_of_the_lecture_is_the_integral_of_the_smaller_joint_density():
    smaller = integrate.quad(
        lambda x: 0.5 * min(f.pdf(x) for f in LECTURE.values()), -9, 9, points=[1.25 - ROOT, 1.25 + ROOT], epsabs=1e-13
    )
    risk = BayesClassifier(LECTURE).risk()
    assert float(risk) == pytest.approx(smaller[0], abs=1e-12)
    assert risk.std_error == 0
    assert_allclose(risk.by_class.mean(), risk.value)


def test_equal_deviations_meet_in_the_middle_and_err_by_the_normal_tail():
    rule = BayesClassifier([stats.norm(-1), stats.norm(1)])
    assert rule.regions()[0].high == pytest.approx(0.0, abs=1e-15)
    assert float(rule.risk()) == pytest.approx(stats.norm.cdf(-1), rel=1e-14)
    shifted = BayesClassifier([stats.norm(-1), stats.norm(1)], priors=[0.8, 0.2])
    assert shifted.regions()[0].high == pytest.approx(0.5 * np.log(4), rel=1e-13)


def test_a_root_far_in_the_tail_is_found():
    """N(0, 1) against N(0.1, 1.1): the wider one wins on both sides, on the left beyond -3."""
    regions = BayesClassifier([stats.norm(0, 1), stats.norm(0.1, 1.1)]).regions()
    a, b, c = 0.5 - 0.5 / 1.21, 0.1 / 1.21, -0.005 / 1.21 - np.log(1.1)
    expected = np.sort(np.roots([a, b, c]))
    assert [region.action for region in regions] == [1, 0, 1]
    assert_allclose([regions[0].high, regions[1].high], expected, rtol=1e-12)
    near = BayesClassifier([stats.norm(0, 1), stats.norm(0.5, 1.0001)]).regions()
    assert near[0].high < -1000
    assert [region.action for region in near] == [1, 0, 1]


def test_many_classes_and_mixed_families_agree_with_a_fine_grid():
    densities = [
        stats.norm(0, 1),
        stats.t(3, loc=2),
        stats.gamma(2, loc=-1),
        stats.uniform(-4, 5),
        stats.laplace(1, 0.2),
    ]
    rule = BayesClassifier(densities, priors=[0.3, 0.2, 0.2, 0.2, 0.1])
    x = np.linspace(-12, 12, 20_001)
    expected = np.argmax([p * f.pdf(x) for p, f in zip(rule.priors_, densities, strict=True)], axis=0)
    assert_array_equal(rule.predict(x[:, None]), expected)
    for region in rule.regions():
        inside = (x > region.low + 1e-9) & (x < region.high - 1e-9)
        assert set(expected[inside]) <= {region.action}


def test_costs_move_the_ends_and_lower_the_cost():
    costs = np.array([[0.0, 1.0], [10.0, 0.0]])
    rule = BayesClassifier([stats.norm(-1), stats.norm(1)], costs=costs)
    assert rule.regions()[0].high == pytest.approx(-0.5 * np.log(10), rel=1e-13)
    plain = BayesClassifier([stats.norm(-1), stats.norm(1)])
    assert float(rule.risk()) < float(rule.risk(plain))
    tail = stats.norm.cdf(-1)
    assert float(rule.risk(plain)) == pytest.approx(0.5 * tail + 5 * tail)
    for shift in (-0.1, 0.1):
        moved = rule.risk(lambda x, s=shift: (x[:, 0] > -0.5 * np.log(10) + s).astype(int))
        assert float(moved) > float(rule.risk())


def test_more_actions_than_classes_are_taken():
    costs = np.column_stack([1 - np.eye(2), [0.2, 0.2]])
    rule = BayesClassifier({"a": stats.norm(-1), "b": stats.norm(1)}, costs=costs, actions=["a", "b", "ask"])
    regions = rule.regions()
    assert [region.action for region in regions] == ["a", "ask", "b"]
    assert_allclose([regions[0].high, regions[1].high], [-np.log(4) / 2, np.log(4) / 2], rtol=1e-12)
    assert rule.predict([[-3.0], [0.0], [3.0]]).tolist() == ["a", "ask", "b"]


def test_the_error_of_a_fitted_model_is_exact_and_above_that_of_bayes():
    rng = np.random.default_rng(0)
    y = rng.integers(1, 3, 500)
    X = np.where(y == 1, rng.normal(-1, 1, 500), rng.normal(1, 1 / 3, 500))[:, None]
    model = LinearDiscriminantAnalysis().fit(X, y)
    bayes = BayesClassifier(LECTURE)
    cut = -float(model.intercept_[0]) / float(model.coef_[0, 0])
    exact = 0.5 * stats.norm.sf(cut, -1, 1) + 0.5 * stats.norm.cdf(cut, 1, 1 / 3)
    assert float(bayes.risk(model)) == pytest.approx(exact, rel=1e-10)
    assert float(bayes.risk(model)) > float(bayes.risk())


def test_in_several_dimensions_the_risk_is_sampled_with_its_standard_error():
    sigma = np.array([[2.0, 0.6], [0.6, 1.0]])
    means = np.array([[0.0, 0.0], [1.5, -1.0]])
    rule = BayesClassifier([stats.multivariate_normal(m, sigma) for m in means])
    distance = np.sqrt((means[1] - means[0]) @ np.linalg.solve(sigma, means[1] - means[0]))
    risk = rule.risk()
    assert 0 < risk.std_error < 0.002
    assert abs(risk.value - stats.norm.cdf(-distance / 2)) < 4 * risk.std_error
    assert rule.risk(seed=1).value != risk.value
    assert rule.risk().value == risk.value
    assert rule.n_features_in_ == 2
    with pytest.raises(ValueError, match="densities of one dimension; these have more"):
        rule.regions()


def test_posteriors_are_the_ratio_of_the_joint_densities():
    rule = BayesClassifier(LECTURE, priors=[0.7, 0.3])
    x = np.linspace(-4, 4, 31)
    joint = np.column_stack([0.7 * stats.norm.pdf(x, -1, 1), 0.3 * stats.norm.pdf(x, 1, 1 / 3)])
    assert_allclose(rule.predict_proba(x[:, None]), joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    assert_allclose(rule.predict_joint_log_proba(x[:, None]), np.log(joint), rtol=1e-12)
    far = rule.predict_proba([[300.0]])
    assert_allclose(far, [[1.0, 0.0]])


def test_where_no_density_is_positive_the_priors_decide():
    rule = BayesClassifier([stats.uniform(0, 1), stats.uniform(2, 1)], priors=[0.4, 0.6])
    assert_allclose(rule.predict_proba([[10.0]]), [[0.4, 0.6]])
    assert float(rule.risk()) == pytest.approx(0.0, abs=1e-12)


class Triangle:
    """A density with nothing but ``pdf``."""

    def __init__(self, centre):
        self.centre = centre

    def pdf(self, x):
        return np.maximum(1 - np.abs(np.asarray(x) - self.centre), 0)


def test_any_object_with_a_density_will_do_when_the_range_to_search_is_given():
    rule = BayesClassifier([Triangle(0.0), Triangle(1.0)])
    with pytest.raises(ValueError, match=r"Triangle has no quantiles.*span=\(low, high\)"):
        rule.regions()
    assert rule.regions(span=(-0.9, 1.9))[0].high == pytest.approx(0.5, abs=1e-14)
    risk = BayesClassifier([Triangle(0.0), Triangle(1.0)]).risk(span=(-0.9, 1.9))
    assert float(risk) == pytest.approx(0.125, abs=1e-7)
    with pytest.raises(ValueError, match="'span' parameter"):
        rule.regions(span=(3, 1))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([1, 2],), "objects with 'logpdf' or 'pdf'"),
        (([],), "objects with 'logpdf' or 'pdf'"),
        (([stats.norm(), stats.norm()], [0.2, 0.3, 0.5]), "3 priors are given for 2 classes"),
        (([stats.norm(), stats.norm()], None, [[0, 1]]), "'costs' parameter is 1 x 2"),
        (([stats.norm(), stats.multivariate_normal([0, 0])],), "mixes 1 and 2 dimensions"),
    ],
)
def test_what_is_no_problem_of_known_densities_is_refused(arguments, text):
    rule = BayesClassifier(*arguments)
    with pytest.raises(ValueError, match=text):
        rule.fit().predict([[0.0]])


def test_rows_of_another_width_and_rules_of_other_answers_are_refused():
    rule = BayesClassifier(LECTURE)
    with pytest.raises(ValueError, match="X has 2 columns, the densities have 1 dimension"):
        rule.predict([[0.0, 1.0]])
    with pytest.raises(ValueError, match="answers 7, which is none of the actions"):
        rule.risk(lambda x: np.full(len(x), 7))


def test_it_can_be_cloned_and_needs_no_fit():
    rule = clone(BayesClassifier(LECTURE, [0.5, 0.5]))
    assert rule.predict([[0.1], [1.0]]).tolist() == [1, 2]
    assert rule.fit([[0.0]], [1]).score([[0.1], [1.0]], [1, 2]) == 1.0
