"""The rules of the schemes, against scikit-learn's classes and the definitions written out."""

import pickle
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context, multiclass
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB as PeerNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from discrim import LinearDiscriminantAnalysis, datasets
from discrim.decision.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from discrim.errors import ParameterError

MODELS = [LinearDiscriminantAnalysis(), LogisticRegression(), PeerNB(), LinearSVC(), Perceptron(random_state=0)]
RULES = [OneVsRestClassifier(None, rule="positive-only"), OneVsOneClassifier(None, rule="all-positive")]


@pytest.fixture(scope="module")
def iris():
    return datasets.load_iris().xy


@pytest.fixture(scope="module")
def overlapping():
    """Four classes on a circle, whose pairs can disagree in a ring."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 4, 300)
    X = rng.normal(size=(300, 2)) + 1.2 * np.column_stack([np.cos(y * np.pi / 2), np.sin(y * np.pi / 2)])
    return X, y


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("name", ["OneVsRestClassifier", "OneVsOneClassifier", "OutputCodeClassifier"])
def test_the_answers_are_those_of_scikit_learn(name, model, overlapping):
    X, y = overlapping
    options = {"random_state": 1, "code_size": 2} if name == "OutputCodeClassifier" else {}
    ours = {c.__name__: c for c in (OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier)}[name]
    found = ours(clone(model), **options).fit(X, y)
    peer = getattr(multiclass, name)(clone(model), **options).fit(X, y)
    assert_array_equal(found.predict(X), peer.predict(X))
    for method in ("decision_function", "predict_proba"):
        if hasattr(peer, method):
            assert_allclose(getattr(found, method)(X), getattr(peer, method)(X), rtol=1e-9, atol=1e-9)
    if name == "OutputCodeClassifier":
        assert_array_equal(found.code_book_, peer.code_book_)


def test_positive_only_answers_where_one_model_alone_says_yes(overlapping):
    X, y = overlapping
    model = OneVsRestClassifier(LinearDiscriminantAnalysis(), rule="positive-only").fit(X, y)
    scores = np.column_stack([LinearDiscriminantAnalysis().fit(X, y == k).decision_function(X) for k in range(4)])
    expected = [int(np.flatnonzero(row > 0)[0]) if (row > 0).sum() == 1 else -1 for row in scores]
    assert_array_equal(model.predict(X), expected)
    assert 0 < np.mean(model.predict(X) == model.ambiguous_label_) < 1
    argmax = OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(X, y).predict(X)
    answered = model.predict(X) >= 0
    assert_array_equal(argmax[answered], model.predict(X)[answered])


def pair_scores(X, y):
    found = {}
    for i, j in combinations(range(4), 2):
        pair = (y == i) | (y == j)
        found[i, j] = LinearDiscriminantAnalysis().fit(X[pair], y[pair]).decision_function(X)
    return found


def test_all_positive_answers_where_one_class_wins_all_its_pairs(overlapping):
    X, y = overlapping
    model = OneVsOneClassifier(LinearDiscriminantAnalysis(), rule="all-positive").fit(X, y)
    wins = np.zeros((len(X), 4))
    for (i, j), score in pair_scores(X, y).items():
        wins[:, j] += score > 0
        wins[:, i] += score <= 0
    expected = np.where(wins.max(axis=1) == 3, wins.argmax(axis=1), -1)
    assert_array_equal(model.predict(X), expected)


def test_three_classes_on_a_ring_leave_a_region_unassigned():
    """Each pair votes in a circle at the centre when its threshold is moved: no class wins both its pairs."""
    X, y = np.array([[0.0], [1.0], [2.0]] * 4), np.array(["a", "b", "c"] * 4)
    model = OneVsOneClassifier(PeerNB(), rule="all-positive").fit(X + np.arange(12)[:, None] * 1e-3, y)

    class Says(ClassifierMixin, BaseEstimator):
        def __init__(self, answer):
            self.answer = answer

        def predict(self, X):
            return np.full(len(X), self.answer)

        def decision_function(self, X):
            return np.full(len(X), 2.0 * self.answer - 1.0)

    model.estimators_ = [Says(0), Says(1), Says(0)]  # a beats b, c beats a, b beats c
    assert model.predict([[1.0]]).tolist() == ["unassigned"]
    assert model.set_params(rule="votes").predict([[1.0]]).tolist() == ["a"]


def test_scores_take_the_largest_sum_of_signed_scores(overlapping):
    X, y = overlapping
    model = OneVsOneClassifier(LinearDiscriminantAnalysis(), rule="scores").fit(X, y)
    sums = np.zeros((len(X), 4))
    for (i, j), score in pair_scores(X, y).items():
        sums[:, j] += score
        sums[:, i] -= score
    assert_allclose(model.decision_function(X), sums, rtol=1e-9, atol=1e-9)
    assert_array_equal(model.predict(X), sums.argmax(axis=1))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([0, 1, 2], -1), ([-1, 3, 5], -2), ([1.0, 2.0, 4.0], -1), (["x", "y", "z"], "none"), ([True, False, True], None)],
)
def test_the_spare_label_is_of_the_type_of_the_classes(labels, expected, iris):
    X, _ = iris
    y = np.repeat(np.array(labels), 50)
    for scheme, text in zip(RULES, ("ambiguous", "unassigned"), strict=True):
        model = clone(scheme).set_params(estimator=LinearDiscriminantAnalysis()).fit(X, y)
        label = model.ambiguous_label_ if text == "ambiguous" else model.unassigned_label_
        assert label == (text if expected in (None, "none") else expected)


def test_a_spare_label_that_is_a_class_is_refused(iris):
    with pytest.raises(ValueError, match="'ambiguous_label' parameter is 'setosa'; it must be none of the classes"):
        OneVsRestClassifier(LinearDiscriminantAnalysis(), ambiguous_label="setosa").fit(*iris)


@pytest.mark.parametrize("pair", [("none", "none"), ("none",), ("none", "one", "several")])
def test_none_and_several_have_two_labels(pair, iris):
    with pytest.raises(ParameterError, match="for none and for several"):
        OneVsRestClassifier(LinearDiscriminantAnalysis(), ambiguous_label=pair).fit(*iris)


def test_an_answer_of_another_type_than_the_labels_does_not_change_these(overlapping):
    X, y = overlapping
    model = OneVsRestClassifier(LinearDiscriminantAnalysis(), rule="positive-only", ambiguous_label="?").fit(X, y)
    answers = model.predict(X)
    assert answers.dtype == object
    assert {type(answer) for answer in answers} == {int, str}


@pytest.mark.parametrize("coupling", ["wu-lin-weng", "hastie-tibshirani"])
def test_coupling_returns_probabilities_that_agree_with_consistent_pairs(coupling):
    """Pairs r_ij = p_i / (p_i + p_j) of a distribution p are coupled to p again."""
    from discrim.decision.multiclass.one_vs_one import couple

    p = np.random.default_rng(0).dirichlet(np.ones(5), size=40)
    r = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    assert_allclose(couple(r, coupling, np.array([1.0, 2.0, 3.0, 4.0, 5.0])), p, rtol=0, atol=1e-8)


def test_coupling_by_least_squares_is_the_minimum_found_by_a_general_optimiser():
    from scipy.optimize import minimize

    from discrim.decision.multiclass.one_vs_one import couple

    rng = np.random.default_rng(1)
    r = rng.uniform(0.05, 0.95, size=(3, 4, 4))
    r = np.triu(r, 1) + np.tril(1 - r.transpose(0, 2, 1), -1)

    def loss(p, matrix):
        return sum((matrix[j, i] * p[i] - matrix[i, j] * p[j]) ** 2 for i, j in combinations(range(4), 2))

    for matrix, found in zip(r, couple(r.copy(), "wu-lin-weng", np.ones(4)), strict=True):
        bounds, total = [(0, 1)] * 4, {"type": "eq", "fun": lambda p: p.sum() - 1}
        best = minimize(loss, np.full(4, 0.25), args=(matrix,), bounds=bounds, constraints=total, tol=1e-14)
        assert_allclose(found, best.x, atol=1e-5)


def test_coupling_by_hastie_and_tibshirani_fits_the_expected_wins():
    """At the solution sum_j n_ij mu_ij = sum_j n_ij r_ij for every class."""
    from discrim.decision.multiclass.one_vs_one import couple

    rng = np.random.default_rng(2)
    r = rng.uniform(0.05, 0.95, size=(5, 4, 4))
    r = np.triu(r, 1) + np.tril(1 - r.transpose(0, 2, 1), -1)
    weight = np.array([10.0, 20.0, 5.0, 1.0])
    p = couple(r.copy(), "hastie-tibshirani", weight)
    n = weight[:, None] + weight[None, :] - 2 * np.diag(weight)
    mu = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    assert_allclose((n * mu).sum(axis=2), (n * r).sum(axis=2), rtol=1e-8)


def test_certain_pairs_are_coupled_without_a_warning_even_in_a_circle():
    from discrim.decision.multiclass.one_vs_one import couple

    ring = np.array([[[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[0, 1, 1], [0, 0, 1], [0, 0, 0]]], dtype=float)
    for method in ("wu-lin-weng", "hastie-tibshirani"):
        p = couple(ring.copy(), method, np.ones(3))
        assert_allclose(p[0], 1 / 3, atol=1e-6)
        assert p[1].argmax() == 0
        assert_allclose(p.sum(axis=1), 1)


def test_one_class_is_refused_by_pairs_and_answered_by_the_others(iris):
    X, _ = iris
    y = np.array(["only"] * len(X))
    with pytest.raises(ValueError, match="when only one class is present"):
        OneVsOneClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    with pytest.warns(UserWarning, match="Label not only is present in all"):
        model = OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    assert set(model.predict(X)) == {"only"}


def test_weights_count_rows_several_times(overlapping):
    X, y = overlapping
    times = np.random.default_rng(0).integers(0, 3, len(y))
    for scheme in (OneVsRestClassifier, partial(OneVsOneClassifier, methods="all")):
        for inner in (LinearDiscriminantAnalysis(), PeerNB()):
            weighted = scheme(inner).fit(X, y, sample_weight=times.astype(float))
            repeated = scheme(inner).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
            assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-8)


def test_an_estimator_without_weights_refuses_them_by_name(iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"KNeighborsClassifier\.fit takes no sample_weight"):
        OneVsRestClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))


def test_weights_are_routed_as_requested(iris):
    X, y = iris
    weight = np.linspace(0.1, 2, len(y))
    with config_context(enable_metadata_routing=True):
        inner = LinearDiscriminantAnalysis().set_fit_request(sample_weight=True)
        routed = OneVsRestClassifier(inner).fit(X, y, sample_weight=weight)
        plain = OneVsRestClassifier(LinearDiscriminantAnalysis().set_fit_request(sample_weight=False))
        with pytest.raises(TypeError, match="not routed to any object"):
            plain.fit(X, y, sample_weight=weight)
    direct = OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(X, y, sample_weight=weight)
    assert_allclose(routed.predict_proba(X), direct.predict_proba(X))


def test_a_fitted_scheme_survives_a_pickle_and_a_clone_forgets(iris):
    X, y = iris
    model = OneVsOneClassifier(LinearDiscriminantAnalysis(), rule="scores").fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert not hasattr(clone(model), "estimators_")
    assert clone(model).get_params()["rule"] == "scores"


def test_a_frozen_estimator_stays_as_it_is(iris):
    X, y = iris
    fitted = LinearDiscriminantAnalysis().fit(X[50:], (y[50:] == "virginica").astype(int))
    model = OneVsRestClassifier(FrozenEstimator(fitted)).fit(X, y)
    assert all(part.estimator is fitted for part in model.estimators_)


def test_ties_of_the_majority_vote_are_unassigned():
    _X, _y = datasets.load_iris().xy
    rng = np.random.default_rng(0)
    angle = np.deg2rad([90, 210, 330])
    means = 3 * np.column_stack([np.cos(angle), np.sin(angle)])
    x, labels = np.vstack([rng.normal(m, 1.5, (40, 2)) for m in means]), np.repeat(["a", "b", "c"], 40)
    model = OneVsOneClassifier(LinearDiscriminantAnalysis(), rule="majority").fit(x, labels)
    grid = rng.uniform(-6, 6, (4000, 2))
    wins = np.zeros((4000, 3), dtype=int)
    for (i, j), pair in zip([(0, 1), (0, 2), (1, 2)], model.estimators_, strict=True):
        second = pair.decision_function(grid) > 0
        wins[:, i] += ~second
        wins[:, j] += second
    tied = (wins == 1).all(axis=1)
    assert_array_equal(model.predict(grid) == "unassigned", tied)
    assert_array_equal(model.predict(grid)[~tied], np.array(["a", "b", "c"])[wins.argmax(axis=1)][~tied])


def test_none_and_several_are_kept_apart_and_k_minus_1_rules_leave_overlaps_only():
    X, y = datasets.load_iris().xy
    scores = OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(X, y).decision_function(X) > 0
    count = scores.sum(axis=1)
    model = OneVsRestClassifier(LinearDiscriminantAnalysis(), rule="positive-only", ambiguous_label=("none", "several"))
    found = model.fit(X, y).predict(X)
    assert_array_equal(found == "none", count == 0)
    assert_array_equal(found == "several", count > 1)
    assert (count == 0).any()
    numbers = OneVsRestClassifier(LinearDiscriminantAnalysis(), rule="positive-only", ambiguous_label=(-1, -2))
    answers = numbers.fit(X, np.repeat([0, 1, 2], 50)).predict(X)
    assert_array_equal(answers == -1, count == 0)
    assert_array_equal(answers == -2, count > 1)
    fewer = OneVsRestClassifier(LinearDiscriminantAnalysis(), rule="all-but-last", ambiguous_label="several").fit(X, y)
    first = scores[:, :2].sum(axis=1)
    assert_array_equal(fewer.predict(X) == "several", first == 2)
    assert_array_equal(fewer.predict(X) == "virginica", first == 0)
