"""learn_one and predict_one on dicts, whose features and labels may come at any time."""

import pickle
import tracemalloc

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from discrim import AROWClassifier, PassiveAggressiveClassifier, Perceptron, SGDClassifier, datasets
from discrim.errors import DataError, ParameterError

MODELS = [
    SGDClassifier(shuffle=False, alpha=0.01),
    SGDClassifier(loss="log_loss", shuffle=False, alpha=0.01, average=True),
    Perceptron(shuffle=False),
    Perceptron(shuffle=False, multi_class="multinomial"),
    PassiveAggressiveClassifier(shuffle=False, C=0.1),
    AROWClassifier(shuffle=False),
]
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


def iris():
    X, y = datasets.load_iris().xy
    order = np.random.default_rng(0).permutation(len(y))
    return (X - X.mean(axis=0))[order], np.unique(y, return_inverse=True)[1][order]


def as_dicts(X):
    return [dict(zip(NAMES, row.tolist(), strict=True)) for row in X]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_as_dicts_are_learned_as_rows_of_an_array(model):
    X, y = iris()
    stream, whole = clone(model), clone(model)
    # All classes are there from the first rows on, so that both know them equally long.
    first = [int(np.flatnonzero(y == k)[0]) for k in range(3)]
    order = [*first, *(i for i in range(len(y)) if i not in first)]
    whole.partial_fit(X[order[:3]], y[order[:3]])
    stream.partial_fit(X[order[:3]], y[order[:3]])
    for i, row in zip(order[3:], as_dicts(X[order[3:]]), strict=True):
        stream.learn_one({f"x{j}": value for j, value in enumerate(row.values())}, int(y[i]))
    whole.partial_fit(X[order[3:]], y[order[3:]])
    assert_allclose(stream.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    assert_allclose(stream.intercept_, whole.intercept_, rtol=1e-8, atol=1e-10)
    assert stream.t_ == whole.t_ == 151


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_predictions_of_dicts_and_of_arrays_agree(model):
    X, y = iris()
    stream = clone(model)
    assert stream.predict_one({"a": 1.0}) is None
    for row, label in zip(as_dicts(X), y.tolist(), strict=True):
        stream.learn_one(row, label)
    one = [stream.predict_one(row) for row in as_dicts(X)]
    named = pl.DataFrame(X, schema=NAMES)
    assert_array_equal(one, stream.predict(named))
    assert np.mean(np.array(one) == y) > 0.6
    assert_array_equal(stream.feature_names_in_, NAMES)
    if hasattr(stream, "predict_proba"):
        shares = [list(stream.predict_proba_one(row).values()) for row in as_dicts(X)]
        assert_allclose(shares, stream.predict_proba(named), rtol=1e-9)
    else:
        with pytest.raises(AttributeError, match="probabilit"):
            stream.predict_proba_one({"a": 1.0})


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_looking_at_the_coefficients_on_the_way_changes_nothing(penalty):
    X, y = iris()
    watched, unwatched = (SGDClassifier(alpha=0.01, penalty=penalty, average=penalty == "l2") for _ in range(2))
    for row, label in zip(as_dicts(X), y.tolist(), strict=True):
        assert watched.learn_one(row, label).coef_.shape[1] == 4
        unwatched.learn_one(row, label)
    assert_allclose(watched.coef_, unwatched.coef_, rtol=1e-9)


def test_a_stream_goes_on_after_a_copy_by_pickle_and_after_a_part():
    X, y = iris()
    for average in (False, True):
        one = SGDClassifier(shuffle=False, alpha=0.01, average=average).partial_fit(X[:50], y[:50])
        for row, label in zip(X[50:80], y[50:80].tolist(), strict=True):
            one.learn_one({f"x{j}": v for j, v in enumerate(row.tolist())}, label)
        other = pickle.loads(pickle.dumps(one))
        for model in (one, other):
            model.partial_fit(X[80:100], y[80:100])
            model.learn_one({f"x{j}": v for j, v in enumerate(X[100].tolist())}, int(y[100]))
        whole = SGDClassifier(shuffle=False, alpha=0.01, average=average).partial_fit(X[:101], y[:101])
        assert_allclose(one.coef_, whole.coef_, rtol=1e-8)
        assert_allclose(other.coef_, whole.coef_, rtol=1e-8)


def test_a_model_that_scales_its_columns_predicts_dicts_in_the_users_units():
    X, y = iris()
    model = SGDClassifier(loss="log_loss", learning_rate="auto", average=True, random_state=0)
    for _ in range(2):
        model.partial_fit(100.0 * X + 7.0, y)
        one = [model.predict_one({f"x{j}": 100.0 * v + 7.0 for j, v in enumerate(row)}) for row in X.tolist()]
        assert_array_equal(one, model.predict(100.0 * X + 7.0))


def test_features_and_labels_join_when_they_appear():
    model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.5, penalty=None)
    for _ in range(20):
        model.learn_one({"free": 1, "money": 1}, "spam")
        model.learn_one({"noon": 1}, "ham")
    assert model.predict_one({"money": 1}) == "spam"
    assert model.predict_one({"noon": 1, "never seen": 1}) == "ham"
    assert model.coef_.shape == (1, 3)
    for _ in range(40):
        model.learn_one({"match": 1, "goal": 2}, "sport")
        model.learn_one({"free": 1, "money": 1}, "spam")
    assert model.predict_one({"goal": 1}) == "sport"
    assert model.predict_one({"money": 1}) == "spam"
    assert model.coef_.shape == (3, 5)
    assert_array_equal(model.feature_names_in_, ["free", "money", "noon", "match", "goal"])
    assert abs(sum(model.predict_proba_one({"goal": 1}).values()) - 1) < 1e-12


def test_a_thousand_features_cost_what_a_row_has():
    model = AROWClassifier()
    rng = np.random.default_rng(0)
    for i in range(2000):
        words = {f"w{j}": 1.0 for j in rng.integers(0, 1000, 5)}
        model.learn_one({**words, f"mark{i % 2}": 1.0}, i % 2)
    assert model.predict_one({"mark1": 1.0}) == 1
    assert model.predict_one({"mark0": 1.0}) == 0
    assert model.variance_.shape == model.coef_.shape
    assert (model.variance_ <= 1).all()
    assert (model.variance_ > 0).all()


def test_a_weight_counts_as_in_partial_fit():
    one, other = SGDClassifier(shuffle=False), SGDClassifier(shuffle=False)
    for model in (one, other):
        model.partial_fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    one.learn_one({"x0": 2.0, "x1": 1.0}, "b", w=3.0)
    other.partial_fit([[2.0, 1.0]], ["b"], sample_weight=[3.0])
    assert_allclose(one.coef_, other.coef_, rtol=1e-12)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ({"a": "red"}, 1, "Feature 'a' is 'red', not a number"),
        ({"a": None}, 1, "Feature 'a' is None. Leave out what is not known"),
        ({"b": float("nan")}, 1, "Feature 'b' is NaN"),
        ({"a": np.str_("red")}, 1, "Feature 'a' is .*'red'.*, not a number"),
        ({"a": np.array([1.0, 2.0])}, 1, "Feature 'a' is .*, not a number"),
        ([1.0, 2.0], 1, "One row is a dict of feature to number; found list"),
        ({"a": 1.0}, ["b"], "a row has one label"),
        ({"a": 1.0}, None, "label is missing"),
        ({"a": 1.0}, float("nan"), "label is missing"),
    ],
)
def test_rows_that_cannot_be_used_are_named(x, y, words):
    with pytest.raises(DataError, match=words):
        SGDClassifier().learn_one(x, y)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ({"a": np.str_("red")}, "Feature 'a' is .*'red'.*, not a number"),
        ({"a": np.array([1.0, 2.0])}, "Feature 'a' is .*, not a number"),
        ({"a": None}, "Feature 'a' is None. Leave out what is not known"),
        ({"a": float("nan")}, "Feature 'a' is NaN or infinite"),
        ({"a": 1e308, "b": 1e308}, "too large to be added"),
        (3, "One row is a dict of feature to number; found int"),
    ],
)
def test_questions_that_cannot_be_answered_are_named(x, words):
    with pytest.raises(DataError, match=words):
        SGDClassifier().learn_one({"a": 1.0, "b": 1.0}, 0).learn_one({"a": 2.0}, 1).predict_one(x)


@pytest.mark.parametrize("w", [-1.0, np.nan, np.inf, "much"])
def test_a_weight_is_finite_and_not_negative(w):
    with pytest.raises(ParameterError, match="The 'w' parameter is"):
        SGDClassifier().learn_one({"a": 1.0}, 0, w=w)


@pytest.mark.parametrize("y", [[1, 2], {"k": 1}, {1, 2}, np.array([1, 2]), (1, (2, 3))], ids=str)
def test_a_label_of_several_is_named_on_every_row(y):
    model = SGDClassifier()
    for _ in range(2):
        with pytest.raises(DataError, match="of several; a row has one label"):
            model.learn_one({"a": 1.0}, y)
        model.learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1)


def test_a_missing_label_is_named_on_every_row():
    pd = pytest.importorskip("pandas")
    model = SGDClassifier().learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1)
    for y in (None, float("nan"), pd.NA, pd.NaT):
        with pytest.raises(DataError, match="label is missing"):
            model.learn_one({"a": 1.0}, y)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_blocks_may_follow_single_rows_at_once(model):
    stream, read = clone(model), clone(model)
    for each in (stream, read):
        each.learn_one({"a": 1.0, "b": 2.0}, 0).learn_one({"a": -1.0}, 1)
    assert read.coef_.shape == (1, 2)
    assert_allclose(stream.partial_fit([[1.0, 3.0]], [1]).coef_, read.partial_fit([[1.0, 3.0]], [1]).coef_)


@pytest.mark.parametrize("model", [PassiveAggressiveClassifier(), AROWClassifier()], ids=str)
def test_a_row_too_long_to_be_squared_is_told(model):
    stream = clone(model).learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1)
    with pytest.raises(DataError, match="weights overflow"):
        stream.learn_one({"a": 1e200}, 1)


def test_labels_without_a_common_order_are_told():
    with pytest.raises(DataError, match="types 'int', 'str', which have no common order"):
        SGDClassifier().learn_one({"a": 1.0}, "b").learn_one({"a": 2.0}, 1)


def test_known_features_are_checked_too_and_the_model_stays():
    model = SGDClassifier().learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1)
    other = SGDClassifier().learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1)
    for value in (np.nan, np.inf):
        with pytest.raises(DataError, match="Feature 'a' is NaN or infinite"):
            model.learn_one({"a": value}, 0)
    assert_array_equal(model.coef_, other.coef_)
    assert model.t_ == other.t_


def test_the_automatic_rate_and_declared_classes_in_a_stream():
    X, y = iris()
    with pytest.raises(ParameterError, match="learning_rate='auto' knows the size of the columns from many rows"):
        SGDClassifier(learning_rate="auto").learn_one({"a": 1.0}, 0)
    model = SGDClassifier().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(DataError, match="do not exist in the initial classes"):
        model.learn_one({"x0": 1.0}, 7)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_fit_after_single_rows_begins_anew(model):
    X, y = iris()
    stream = clone(model)
    for row, label in zip(as_dicts(X[:20]), y[:20].tolist(), strict=True):
        stream.learn_one(row, label)
    stream.fit(X[:, :2], y)
    assert_array_equal(stream.coef_, clone(model).fit(X[:, :2], y).coef_)
    assert stream.n_features_in_ == 2


@pytest.mark.parametrize("early_stopping", [False, True])
def test_many_classes_keep_no_order_of_the_rows_each(early_stopping):
    x, y = np.random.default_rng(0).normal(size=(10_000, 2)), np.arange(10_000) % 500
    model = SGDClassifier(max_iter=1, tol=None, early_stopping=early_stopping, random_state=0)
    tracemalloc.start()
    model.fit(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.4 * len(x) * 500 * 4
