"""What online classifiers do beyond scikit-learn: streams of classes, scans, a rate of its own, interruptions."""

import pickle

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression as Batch
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import discrim
from discrim import (
    AROWClassifier,
    OnePassLogisticRegression,
    PassiveAggressiveClassifier,
    Perceptron,
    RosenblattPerceptron,
    SGDClassifier,
    datasets,
)
from discrim.engines.orders import InMemory
from discrim.engines.walk import Lane
from discrim.errors import DataError, NotSeparatedWarning, ParameterError
from discrim.families.online import updates

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MODELS = [
    SGDClassifier(random_state=0, alpha=0.01),
    SGDClassifier(loss="log_loss", random_state=0, learning_rate="auto", average=True),
    Perceptron(),
    Perceptron(multi_class="multinomial", average=True),
    OnePassLogisticRegression(random_state=0),
    PassiveAggressiveClassifier(random_state=0, C=0.1),
    AROWClassifier(random_state=0),
]
AUTO = {"loss": "log_loss", "learning_rate": "auto", "average": True, "max_iter": 1, "tol": None, "random_state": 0}


def iris():
    X, y = datasets.load_iris().xy
    return (X - X.mean(axis=0)) / X.std(axis=0), np.unique(y, return_inverse=True)[1]


def logistic_rows(n=20_000, p=8, seed=0):
    """Correlated columns of very different sizes, far from zero."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    y = (z @ rng.normal(size=p) + rng.logistic(size=n) > 0).astype(int)
    return z * 10.0 ** np.arange(-4, p - 4) + 10.0 ** np.arange(-4, p - 4) * 30, y


def log_loss(model, X, y):
    p = model.predict_proba(X)[np.arange(len(y)), y]
    return -np.log(p).mean()


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_every_model_separates_iris_mostly(model):
    X, y = iris()
    assert clone(model).fit(X, y).score(X, y) > 0.85


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_containers_and_memory_layouts_do_not_change_the_answer(model):
    X, y = iris()
    expected = clone(model).fit(X, y).coef_
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.zeros((len(X), 8))
    wide[:, ::2] = X
    names = list("abcd")
    for other in (np.asfortranarray(X), frozen, wide[:, ::2], X.tolist(), pl.DataFrame(X, schema=names)):
        assert_allclose(clone(model).fit(other, y).coef_, expected, rtol=1e-10)
    text = np.array(["x", "yy", "z"], dtype=object)[y]
    labelled = clone(model).fit(X, text)
    assert_allclose(labelled.coef_, expected, rtol=1e-12)
    assert set(labelled.predict(X)) <= {"x", "yy", "z"}


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_copy_by_pickle_predicts_and_learns_on_alike(model):
    X, y = iris()
    first = clone(model).partial_fit(X, y)
    second = pickle.loads(pickle.dumps(first))
    assert_array_equal(first.decision_function(X), second.decision_function(X))
    assert_array_equal(first.partial_fit(X, y).coef_, second.partial_fit(X, y).coef_)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_classes_join_a_stream_one_after_another(model):
    X, y = iris()
    growing = clone(model)
    for k in range(3):
        growing.partial_fit(X[y == k], y[y == k])
        assert_array_equal(growing.classes_, np.arange(k + 1))
        assert growing.coef_.shape == (1 if k < 2 else 3, 4)
        assert set(growing.predict(X)) <= set(range(k + 1))
    for _ in range(10):
        growing.partial_fit(X, y)
    assert growing.score(X, y) > 0.75


def test_a_second_class_that_sorts_first_turns_the_sign():
    X, y = iris()
    model = SGDClassifier(random_state=0, alpha=0.01)
    model.partial_fit(X[50:100], y[50:100])
    alone = model.decision_function(X)
    before = model.coef_.copy()
    model.partial_fit(X[:1], y[:1], sample_weight=[1e-300])
    assert_array_equal(model.classes_, [0, 1])
    kept = model.coef_ / -before
    assert_allclose(kept, kept[0, 0], rtol=1e-9)
    assert (alone < 0).all() or (alone <= 0).mean() > 0.3


def test_a_third_class_leaves_what_was_known_of_the_first_two():
    X, y = iris()
    model = SGDClassifier(random_state=0, alpha=0.01).partial_fit(X[:100], y[:100])
    scores, known = model.decision_function(X[:100]), model.predict(X[:100])
    model.partial_fit(X[100:101], y[100:101], sample_weight=[1e-300])
    grown = model.decision_function(X[:100])
    ratio = (grown[:, 1] - model.intercept_[1]) / (scores - (scores - X[:100] @ model.coef_[1]))
    assert np.isfinite(ratio).all()
    assert_array_equal(grown[:, :2].argmax(axis=1), known)


def test_declared_classes_are_kept_to():
    X, y = iris()
    model = SGDClassifier().partial_fit(X[:100], y[:100], classes=[0, 1])
    with pytest.raises(ValueError, match=r"label\(s\) '2' in y do not exist in the initial classes"):
        model.partial_fit(X, y)
    with pytest.raises(ParameterError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    early = SGDClassifier().partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    assert early.coef_.shape == (3, 4)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_named_and_leave_the_model_alone(model, value):
    X, y = iris()
    dirty = X.copy()
    dirty[[3, 60], 2] = value
    word = "2 NaN" if np.isnan(value) else "2 infinite"
    for rows in (dirty, sparse.csr_array(dirty)):
        with pytest.raises(DataError, match=f"column 'x2' has {word}"):
            clone(model).fit(rows, y)
    fitted = clone(model).partial_fit(X, y)
    before = fitted.coef_.copy(), fitted.t_
    with pytest.raises(DataError, match="column 'x2'"):
        fitted.partial_fit(dirty, y)
    assert_array_equal(fitted.coef_, before[0])
    assert fitted.t_ == before[1]
    expected = clone(model).partial_fit(X, y).partial_fit(X, y)
    assert_allclose(fitted.partial_fit(X, y).coef_, expected.coef_, rtol=1e-12)
    with pytest.raises(DataError, match="column 'x2'"):
        fitted.predict(dirty)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "log"}, "The 'loss' parameter is 'log'"),
        ({"alpha": -1}, "The 'alpha' parameter is -1"),
        ({"penalty": "L2"}, "The 'penalty' parameter"),
        ({"l1_ratio": 2}, "The 'l1_ratio' parameter"),
        ({"eta0": 0}, "The 'eta0' parameter is 0; it must be a finite number above 0"),
        ({"learning_rate": "fast"}, "The 'learning_rate' parameter"),
        ({"learning_rate": "newton"}, "one pass by Newton's method is OnePassLogisticRegression"),
        ({"validation_fraction": 1.0}, "above 0 and below 1"),
        ({"max_iter": 0}, "The 'max_iter' parameter"),
        ({"tol": "small"}, "The 'tol' parameter"),
        ({"average": 0.5}, "The 'average' parameter"),
        ({"class_weight": "even"}, "The 'class_weight' parameter"),
        ({"alpha": 0.0}, "alpha must be > 0 since learning_rate is 'optimal'"),
        ({"learning_rate": "pa1", "loss": "log_loss"}, "only works with loss 'hinge'"),
        ({"penalty": "elasticnet", "l1_ratio": None}, "l1_ratio must be set"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_used_are_named(options, words):
    with pytest.raises(ParameterError, match=words):
        SGDClassifier(**options).fit(*iris())


def test_one_class_and_bad_starts_are_refused():
    X, y = iris()
    with pytest.raises(DataError, match="number of classes has to be greater than one; got 1 class: 0"):
        SGDClassifier().fit(X[:50], y[:50])
    with pytest.raises(ParameterError, match=r"coef_init does not match dataset: it has shape \(2, 4\), not \(3, 4\)"):
        SGDClassifier().fit(X, y, coef_init=np.ones((2, 4)))
    with pytest.raises(ParameterError, match="intercept_init does not match"):
        SGDClassifier().fit(X, y, intercept_init=np.ones(2))
    with pytest.raises(ParameterError, match="early_stopping should be False with partial_fit"):
        SGDClassifier(early_stopping=True).partial_fit(X, y)


def test_early_stopping_holds_rows_out_and_stops_by_them():
    X, y = iris()
    model = SGDClassifier(early_stopping=True, random_state=0, validation_fraction=0.3, n_iter_no_change=3).fit(X, y)
    assert 3 < model.n_iter_ < 1000
    assert model.t_ == 1 + model.n_iter_ * 150
    assert model.score(X, y) > 0.8


def test_a_key_press_comes_out_and_changes_nothing(monkeypatch):
    X, y = iris()
    model = SGDClassifier(shuffle=False, tol=None, max_iter=2).fit(X, y)
    before, calls = model.coef_.copy(), []

    as_before = InMemory.epoch

    def pressed(self):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return as_before(self)

    monkeypatch.setattr(InMemory, "epoch", pressed)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(max_iter=50).fit(X[:140], y[:140])
    assert_array_equal(model.coef_, before)
    assert_array_equal(model.classes_, np.unique(y))
    assert (model.n_iter_, model.t_) == (2, 301.0)


def test_a_key_press_between_epochs_of_one_problem_comes_out_too(monkeypatch):
    X, y = iris()
    model = SGDClassifier(random_state=0).fit(X, y)
    before, calls = model.coef_.copy(), []
    as_before = updates.kernels.learn_epochs

    def pressed(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return as_before(*arguments)

    monkeypatch.setattr(updates.kernels, "learn_epochs", pressed)
    monkeypatch.setattr(updates, "STEP_NUMBERS", 1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:100], y[:100])
    assert_array_equal(model.coef_, before)


@pytest.mark.parametrize(
    "model",
    [
        SGDClassifier(random_state=0),
        SGDClassifier(random_state=0, loss="log_loss", average=True, class_weight="balanced"),
        SGDClassifier(random_state=0, learning_rate="adaptive", eta0=0.1, tol=0.01, penalty="elasticnet"),
        SGDClassifier(random_state=0, max_iter=4, shuffle=False),
        Perceptron(random_state=0, n_iter_no_change=2),
        PassiveAggressiveClassifier(random_state=0),
        AROWClassifier(random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", [slice(0, 100), slice(0, 150)])
def test_epochs_by_themselves_end_where_epochs_one_by_one_do(model, rows, monkeypatch):
    """All epochs of a problem are one call; the general walk, which goes from epoch to epoch, gives the same bits."""
    X, y = (values[rows] for values in iris())
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    for x in (X, sparse.csr_array(X)):
        fitted = [clone(model).fit(x, y), clone(model).fit(x, y, sample_weight=weight)]
        with monkeypatch.context() as patch:
            patch.setattr("discrim.models.online.stream.Lane", lambda problems, order, _: Lane(problems, order))
            one_by_one = [clone(model).fit(x, y), clone(model).fit(x, y, sample_weight=weight)]
        for a, b in zip(fitted, one_by_one, strict=True):
            assert a.n_iter_ == b.n_iter_
            assert_array_equal(a.coef_, b.coef_)
            assert_array_equal(a.intercept_, b.intercept_)


def test_one_averaged_pass_with_its_own_rate_is_as_good_as_the_batch_optimum():
    X, y = logistic_rows()
    train, test = slice(0, 15_000), slice(15_000, None)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    best = Batch(C=1e6).fit(z[train], y[train])
    model = SGDClassifier(**AUTO).fit(X[train], y[train])
    assert model.score(X[test], y[test]) > best.score(z[test], y[test]) - 0.01
    assert log_loss(model, X[test], y[test]) < 1.01 * log_loss(best, z[test], y[test])
    assert model.n_iter_ == 1


@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_one_pass_over_real_rows_errs_at_most_a_point_more_than_the_batch_optimum(loss):
    X, y = load_breast_cancer(return_X_y=True)
    more = []
    for seed in range(8):
        train, test, of_train, of_test = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=y)
        best = make_pipeline(StandardScaler(), Batch()).fit(train, of_train)
        model = SGDClassifier(**{**AUTO, "loss": loss}).fit(train, of_train)
        more.append(best.score(test, of_test) - model.score(test, of_test))
    assert np.mean(more) < 0.01


def test_units_do_not_matter_to_the_automatic_rate():
    X, y = logistic_rows(2000)
    units = 10.0 ** np.arange(8)
    one, other = SGDClassifier(**AUTO).fit(X, y), SGDClassifier(**AUTO).fit(X * units - 5.0, y)
    assert_allclose(other.coef_ * units, one.coef_, rtol=1e-6)
    assert_allclose(other.predict_proba(X * units - 5.0), one.predict_proba(X), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("loss", SGDClassifier.loss_functions)
def test_the_automatic_rate_serves_every_loss(loss):
    X, y = logistic_rows(6000)
    model = SGDClassifier(**{**AUTO, "loss": loss}).fit(X, y)
    assert model.score(X, y) > 0.75
    assert SGDClassifier(**{**AUTO, "loss": loss}).partial_fit(X, y).score(X, y) > 0.75


@pytest.mark.parametrize("model", [PassiveAggressiveClassifier(), AROWClassifier()], ids=str)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_too_long_to_be_squared_are_told_rather_than_passed_over(model, make):
    X, y = iris()
    with pytest.raises(DataError, match="overflow occurred at epoch #1"):
        clone(model).fit(make(X * [1.0, 1e200, 1.0, 1.0]), y)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_the_automatic_rate_suits_columns_whose_squares_overflow(make):
    X, y = iris()
    one, other = (
        SGDClassifier(**AUTO).fit(make(X), y),
        SGDClassifier(**AUTO).fit(make(X * [1.0, 1e200, 1.0, 1e-200]), y),
    )
    assert_allclose(other.coef_ * [1.0, 1e200, 1.0, 1e-200], one.coef_, rtol=1e-6)


def test_the_automatic_rate_suits_columns_far_from_zero():
    X, y = iris()
    for model in (SGDClassifier(**AUTO), OnePassLogisticRegression()):
        assert model.fit(X + 1e12, y).score(X + 1e12, y) > 0.85


def test_coefficients_that_single_precision_cannot_hold_are_told():
    x = np.array([[1e30], [2e30], [3e30]], dtype=np.float32)
    with pytest.raises(DataError, match="too large for the precision float32"), pytest.warns(NotSeparatedWarning):
        RosenblattPerceptron("chicago", max_iter=1).fit(x, [0, 0, 1])


def test_a_constant_column_and_sparse_rows_suit_the_automatic_rate():
    X, y = logistic_rows(3000)
    constant = np.column_stack([X, np.full(len(X), 1e6)])
    model = SGDClassifier(**AUTO).fit(constant, y)
    assert model.coef_[0, -1] == 0
    assert model.score(constant, y) > 0.75
    assert SGDClassifier(**AUTO).fit(sparse.csr_array(X - X.mean(axis=0)), y).score(X - X.mean(axis=0), y) > 0.75


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_file_is_learned_in_passes(model, tmp_path):
    X, y = iris()
    frame = pl.DataFrame(X, schema=list("abcd")).with_columns(species=pl.Series([f"kind {k}" for k in y]))
    path = tmp_path / "iris.parquet"
    frame.write_parquet(path)
    rows = discrim.scan(path, target="species", batch_rows=32)
    fitted = clone(model).fit(rows)
    assert_array_equal(fitted.classes_, ["kind 0", "kind 1", "kind 2"])
    assert fitted.score(frame.drop("species"), frame["species"].to_numpy()) > 0.75
    assert fitted.n_iter_ >= 1
    part = clone(model).partial_fit(rows)
    assert part.classes_.tolist() == fitted.classes_.tolist()
    assert part.t_ == 151


@pytest.mark.parametrize(
    "model",
    [
        SGDClassifier(shuffle=False, max_iter=7, tol=None, alpha=0.01),
        SGDClassifier(shuffle=False, alpha=0.01),
        Perceptron(shuffle=False),
        Perceptron(shuffle=False, multi_class="multinomial"),
        PassiveAggressiveClassifier(shuffle=False),
        AROWClassifier(shuffle=False),
    ],
    ids=str,
)
def test_a_file_in_turn_is_learned_as_an_array_in_turn(model, tmp_path):
    """Each class stops after the same epoch, too."""
    X, y = iris()
    path = tmp_path / "iris.parquet"
    pl.DataFrame(X, schema=list("abcd")).with_columns(y=pl.Series(y)).write_parquet(path)
    scanned, whole = clone(model).fit(discrim.scan(path, target="y", batch_rows=32)), clone(model).fit(X, y)
    assert_allclose(scanned.coef_, whole.coef_, rtol=1e-10)
    assert (scanned.n_iter_, scanned.t_) == (whole.n_iter_, whole.t_)


def test_a_scan_refuses_what_it_cannot_do(tmp_path):
    X, y = iris()
    path = tmp_path / "iris.parquet"
    frame = pl.DataFrame(X, schema=list("abcd")).with_columns(y=pl.Series(y))
    frame.write_parquet(path)
    with pytest.raises(
        ParameterError, match="early_stopping holds out rows in memory; it is not available with a scan"
    ):
        SGDClassifier(early_stopping=True).fit(discrim.scan(path, target="y"))
    with pytest.raises(DataError, match="got 1 class: 0"):
        SGDClassifier().fit(discrim.scan(frame[:50], target="y"))


@pytest.mark.parametrize("changed", [{"average": True}, {"penalty": "l1"}])
def test_a_parameter_that_needs_more_than_was_kept_is_refused_after_learning_began(changed):
    X, y = iris()
    model = SGDClassifier(random_state=0).fit(X, y).set_params(**changed)
    (name,) = changed
    message = (
        f"'{name}' was changed after learning began.*Set it before the first partial_fit or learn_one, or call fit"
    )
    coef = model.coef_.copy()
    for learn in (lambda: model.partial_fit(X, y), lambda: model.learn_one({"x0": 1.0}, y[0])):
        with pytest.raises(ParameterError, match=message):
            learn()
    assert_array_equal(model.coef_, coef)
    assert model.fit(X, y).partial_fit(X, y).t_ > len(X)


def test_the_start_of_a_scan_is_what_was_given():
    X, y = iris()
    frame = pl.DataFrame(X, schema=list("abcd")).with_columns(y=pl.Series(y))
    start = {"coef_init": np.ones((3, 4)), "intercept_init": np.ones(3)}
    model = SGDClassifier(max_iter=1, tol=None, shuffle=False)
    scanned, whole = clone(model).fit(discrim.scan(frame, target="y"), **start), clone(model).fit(X, y, **start)
    assert_allclose(scanned.coef_, whole.coef_, rtol=1e-10)


def test_coefficients_that_the_user_wrote_are_where_learning_goes_on():
    X, y = iris()
    model = SGDClassifier(random_state=0).partial_fit(X[:100], y[:100])
    model.coef_ = np.array([[1.0, 2.0, 3.0, 4.0]])
    assert_allclose(model.decision_function(X), X @ [1.0, 2.0, 3.0, 4.0] + model.intercept_[0])
    model.partial_fit(X[:1], y[:1], sample_weight=[1e-300])
    assert_allclose(model.coef_ / model.coef_[0, 0], [[1.0, 2.0, 3.0, 4.0]], rtol=1e-9)


def test_the_summary_tells_coefficients_epochs_and_updates():
    X, y = iris()
    summary = SGDClassifier(random_state=0).fit(X, y).summary()
    assert summary.coef.shape == (5, 3)
    assert summary.names[0] == "(Intercept)"
    assert "Updates" in str(summary)
