"""Gradient descent: minima of every loss, penalties, containers, streams, and words for how it ended."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import discrim
from discrim import LogisticRegression
from discrim.errors import DataError, DiscrimWarning, ParameterError, UnfinishedWarning
from discrim.families.online.criterion import RowSums
from discrim.losses import LOSSES
from discrim.models.online.gradient_descent import GradientDescentClassifier


@pytest.fixture(scope="module")
def two():
    """Two classes that overlap, with columns of very different sizes and places."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    x = rng.normal(size=(300, 3)) + np.outer(y, [1.0, -0.7, 0.0])
    return x * [1.0, 1000.0, 0.001] + [0.0, 5e4, 3.0], np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=300)
    return rng.normal(size=(300, 4)) + np.eye(3, 4)[y], y


def objective(model, x, y, theta):
    """The mean loss of b + w'x with penalties, from the formulas alone."""
    loss = LOSSES[model.loss]
    target = np.where(y == model.classes_[1], loss.targets[1], loss.targets[0])
    value = loss.value(theta[0] + x @ theta[1:], target).mean()
    return value + model.l1 * np.abs(theta[1:]).sum() + 0.5 * model.l2 * (theta[1:] ** 2).sum()


def weights(model):
    return np.append(model.intercept_[0], model.coef_[0])


@pytest.mark.parametrize("loss", ["squared", "cross_entropy", "log", "squared_hinge", "modified_huber"])
def test_a_smooth_loss_is_minimised(loss, two):
    x, y = two[0][:, [0]], two[1]
    model = GradientDescentClassifier(loss, l2=0.01).fit(x, y)
    assert model.converged_
    found = optimize.minimize(lambda t: objective(model, x, y, t), np.zeros(2), method="BFGS", tol=1e-9)
    assert model.objective_ == pytest.approx(found.fun, abs=1e-9)
    assert objective(model, x, y, weights(model)) == pytest.approx(model.objective_, abs=1e-12)


def test_the_hinge_loss_comes_close_to_the_minimum_of_a_linear_program(two):
    x = (two[0] - two[0].mean(axis=0)) / two[0].std(axis=0)
    sign = np.where(two[1] == "yes", 1.0, -1.0)
    n, p = x.shape
    rows = np.hstack([sign[:, None] * x, -sign[:, None] * x, sign[:, None], -sign[:, None], np.eye(n)])
    program = optimize.linprog(np.append(np.zeros(2 * p + 2), np.full(n, 1 / n)), A_ub=-rows, b_ub=-np.ones(n))
    model = GradientDescentClassifier("hinge").fit(*two)
    assert program.fun <= model.objective_ < 1.02 * program.fun


@pytest.mark.parametrize("rate", ["line_search", "optimal"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_l2_is_that_of_logistic_regression(rate, C, three):
    x, y = three
    model = GradientDescentClassifier(l2=1 / (C * len(x)), learning_rate=rate, max_iter=5000, tol=1e-8).fit(x, y)
    peer = LogisticRegression(C=C).fit(x, y)
    np.testing.assert_allclose(model.predict_proba(x), peer.predict_proba(x), atol=1e-6)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)


def test_l1_is_that_of_logistic_regression_and_makes_zeros(three):
    x, y = three[0], (three[1] > 0).astype(int)
    model = GradientDescentClassifier(l1=0.1, tol=1e-9).fit(x, y)
    peer = LogisticRegression(l1_ratio=1.0, C=1 / (0.1 * len(x))).fit(x, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)
    assert ((model.coef_ == 0) == (peer.coef_ == 0)).all()
    assert 0 < (model.coef_ == 0).sum() < 4


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_gets_there_in_fewer_steps(nesterov, three):
    options = {"learning_rate": "optimal", "l2": 1e-3, "max_iter": 5000}
    # Columns that have much in common make a long valley.
    x, y = three[0] + 3 * three[0][:, [3]], three[1]
    plain = GradientDescentClassifier(**options).fit(x, y)
    fast = GradientDescentClassifier(momentum=0.8, nesterov=nesterov, **options).fit(x, y)
    assert fast.n_iter_ < 0.5 * plain.n_iter_
    assert fast.objective_ == pytest.approx(plain.objective_, abs=1e-8)


def test_heavy_ball_and_nesterov_step_by_step():
    # x = 1, r = 1, squared loss without intercept: slope w - 1, rate 0.5, momentum 0.5.
    x, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    options = {"scale": False, "fit_intercept": False, "learning_rate": "constant", "eta0": 0.5, "momentum": 0.5}
    with pytest.warns(UnfinishedWarning):
        ball = GradientDescentClassifier("squared", max_iter=3, trace=True, **options).fit(x, y).trace_.coef
    # 0.5; 0.5 + 0.25 + 0.5 * 0.5 = 1; 1 + 0 + 0.5 * 0.5 = 1.25.
    np.testing.assert_allclose(ball[:, 0], [0, 0.5, 1.0, 1.25])
    with pytest.warns(UnfinishedWarning):
        ahead = GradientDescentClassifier("squared", max_iter=3, nesterov=True, trace=True, **options).fit(x, y).trace_
    # 0.5; from 0.75: 0.75 + 0.125 = 0.875; from 0.875 + 0.1875 = 1.0625: 1.0625 - 0.03125.
    np.testing.assert_allclose(ahead.coef[:, 0], [0, 0.5, 0.875, 1.03125])


def test_each_function_against_the_others_is_the_model_of_two_classes(three):
    x, y = three
    model = GradientDescentClassifier("squared", tol=1e-10).fit(x, y)
    for k in range(3):
        alone = GradientDescentClassifier("squared", tol=1e-10).fit(x, y == k)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], rtol=1e-5)
    ovr = GradientDescentClassifier(multi_class="ovr").fit(x, y)
    np.testing.assert_allclose(ovr.predict_proba(x).sum(axis=1), 1.0)
    assert (ovr.predict_proba(x).argmax(axis=1) == ovr.predict(x)).all()


def test_mini_batches_come_close_to_the_minimum(three):
    x, y = three
    whole = GradientDescentClassifier(l2=0.01).fit(x, y)
    parts = GradientDescentClassifier(l2=0.01, batch_size=10, random_state=0, max_iter=200).fit(x, y)
    assert whole.objective_ < parts.objective_ < whole.objective_ + 2e-3
    again = GradientDescentClassifier(l2=0.01, batch_size=10, random_state=0, max_iter=200).fit(x, y)
    np.testing.assert_array_equal(parts.coef_, again.coef_)


def test_the_perceptron_loss_learns_what_can_be_separated():
    x = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = np.array([0, 1, 1, 0])
    with pytest.warns(UnfinishedWarning, match="some rows are still wrong, and it gets no better"):
        flat = GradientDescentClassifier("perceptron").fit(x, y)
    assert not flat.converged_
    curved = GradientDescentClassifier("perceptron").fit(np.column_stack([x, x.prod(axis=1)]), y)
    assert curved.converged_
    assert curved.score(np.column_stack([x, x.prod(axis=1)]), y) == 1


def test_trace_falls_to_the_end_in_the_units_of_the_columns(two):
    model = GradientDescentClassifier(trace=True).fit(*two)
    trace = model.trace_
    assert trace.step.tolist() == list(range(model.n_iter_ + 1))
    np.testing.assert_allclose(trace.coef[-1], model.coef_[0], rtol=1e-12)
    assert trace.intercept[-1] == pytest.approx(model.intercept_[0])
    assert (np.diff(trace.loss) <= 1e-12).all()
    assert trace.mistakes[-1] == (model.predict(two[0]) != two[1]).sum()
    assert list(trace.to_frame(["a", "b", "c"]).columns) == ["step", "loss", "mistakes", "(Intercept)", "a", "b", "c"]


def test_every_container_gives_the_same(two, tmp_path):
    x, y = two
    table = pd.DataFrame(x, columns=["a", "b", "c"]).assign(y=y)
    table.to_parquet(tmp_path / "rows.parquet")
    whole = GradientDescentClassifier(l2=0.01, tol=1e-9).fit(x, y)
    for rows in (
        (table[["a", "b", "c"]], y),
        (np.asfortranarray(x), y),
        (x.tolist(), y.tolist()),
        (discrim.scan(tmp_path / "rows.parquet", target="y"),),
    ):
        other = GradientDescentClassifier(l2=0.01, tol=1e-9).fit(*rows)
        np.testing.assert_allclose(other.coef_, whole.coef_, rtol=1e-6)
        assert (other.predict(rows[0]) == whole.predict(x)).all()


def test_a_scan_can_be_read_in_mini_batches(two, tmp_path):
    pd.DataFrame(two[0], columns=["a", "b", "c"]).assign(y=two[1]).to_parquet(tmp_path / "rows.parquet")
    rows = discrim.scan(tmp_path / "rows.parquet", target="y")
    with pytest.warns(UnfinishedWarning, match="stopped after 30 epochs"):
        model = GradientDescentClassifier(batch_size=10, max_iter=30, random_state=0).fit(rows)
    assert (model.predict(rows) == two[1]).mean() > 0.7


def test_sparse_rows_are_those_they_stand_for(three):
    x = np.where(np.abs(three[0]) > 0.7, three[0], 0.0)
    dense = GradientDescentClassifier(l2=0.01, tol=1e-9).fit(x, three[1])
    thin = GradientDescentClassifier(l2=0.01, tol=1e-9).fit(sparse.csr_array(x), three[1])
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6)
    by_length = [
        GradientDescentClassifier(l2=0.01, tol=1e-9, normalize_rows=True, scale=False).fit(rows, three[1]).coef_
        for rows in (x, sparse.csr_array(x))
    ]
    np.testing.assert_allclose(*by_length, atol=1e-6)


def test_single_precision_answers_in_single_precision(two):
    model = GradientDescentClassifier().fit(two[0].astype(np.float32), two[1])
    assert model.coef_.dtype == np.float32
    assert model.predict_proba(two[0].astype(np.float32)).dtype == np.float32


def test_parts_make_one_step_each_from_where_they_are(three):
    x, y = three
    options = {"learning_rate": "constant", "eta0": 0.1, "scale": False}
    parts = GradientDescentClassifier(**options)
    for _ in range(5):
        parts.partial_fit(x, y)
    with pytest.warns(UnfinishedWarning):
        whole = GradientDescentClassifier(max_iter=5, **options).fit(x, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12)
    assert parts.n_iter_ == 5


def test_parts_know_classes_that_have_yet_to_come(three):
    x, y = three
    model = GradientDescentClassifier().partial_fit(x[y < 2], y[y < 2], classes=[0, 1, 2])
    assert model.coef_.shape == (3, 4)
    model.partial_fit(x, y)
    with pytest.raises(ParameterError, match="is not the same as on last call to partial_fit"):
        model.partial_fit(x, y, classes=[0, 1])
    with pytest.raises(ParameterError, match="y holds labels that `classes` does not: '7'"):
        model.partial_fit(x, np.full(len(y), 7))


@pytest.mark.parametrize("options", [{"learning_rate": "optimal"}, {"learning_rate": "line_search"}, {"batch_size": 5}])
def test_an_interrupt_comes_out_and_changes_nothing(two, options, monkeypatch):
    model = GradientDescentClassifier(**options, random_state=0).partial_fit(*two)
    before, count, plain = model.coef_.copy(), [0], RowSums.of

    def of(self, *given):
        count[0] += 1
        if count[0] == 6:
            raise KeyboardInterrupt
        return plain(self, *given)

    monkeypatch.setattr(RowSums, "of", of)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*two)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_iter_ == 1


def test_a_stop_before_the_minimum_is_said(two):
    with pytest.warns(UnfinishedWarning, match=r"stopped after 2 steps before it had converged; the largest") as seen:
        model = GradientDescentClassifier(max_iter=2).fit(*two)
    assert seen[0].filename == __file__
    assert (model.n_iter_, model.converged_) == (2, False)
    assert issubclass(UnfinishedWarning, DiscrimWarning)
    assert issubclass(UnfinishedWarning, ConvergenceWarning)


@pytest.mark.parametrize("batch", [None, 5])
def test_a_divergence_is_said_instead_of_nan(batch, two):
    options = {"scale": False, "learning_rate": "constant", "eta0": 10.0, "batch_size": batch, "random_state": 0}
    with pytest.warns(UnfinishedWarning, match=r"diverged: the loss rose .* at the rate 10\."):
        model = GradientDescentClassifier("squared", **options).fit(*two)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.objective_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hing"}, "There is no loss 'hing'. Did you mean 'hinge'?"),
        ({"learning_rate": "fast"}, "The 'learning_rate' parameter is 'fast'; it must be one of 'auto'"),
        ({"momentum": 1.0}, "The 'momentum' parameter is 1.0; it must be a number of at least 0 and below 1"),
        ({"eta0": 0}, "The 'eta0' parameter is 0"),
        ({"learning_rate": "line_search", "batch_size": 3}, "does not go with 'batch_size'"),
        ({"loss": "hinge", "multi_class": "softmax"}, "multi_class='softmax' goes with the loss 'cross_entropy'"),
    ],
)
def test_parameters_that_cannot_be_are_named(options, message, two):
    with pytest.raises(ParameterError, match=re.escape(message)):
        GradientDescentClassifier(**options).fit(*two)


def test_bad_values_are_found_and_named(two):
    x = pd.DataFrame(two[0], columns=["a", "b", "c"])
    x.loc[5, "b"] = np.nan
    with pytest.raises(DataError, match="column 'b' has 1 NaN"):
        GradientDescentClassifier().fit(x, two[1])
    with pytest.raises(DataError, match="overflow"):
        GradientDescentClassifier().fit(two[0] * 1e200, two[1])
    with pytest.raises(DataError, match="classes has to be greater than one; got 1 class: 'yes'"):
        GradientDescentClassifier().fit(two[0], np.full(300, "yes"))
    with pytest.raises(DataError, match="classes has to be greater than one"):
        GradientDescentClassifier().partial_fit(two[0], np.full(300, "yes"))
    with pytest.raises(NotFittedError):
        GradientDescentClassifier().predict(two[0])


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::discrim.errors.UnfinishedWarning")
@pytest.mark.parametrize("size", [1e-150, 1e-100, 1e100, 1e150])
@pytest.mark.parametrize("loss", ["squared", "cross_entropy", "hinge"])
def test_columns_of_any_size_make_no_noise(loss, size, three):
    x, y = three[0] * size, three[1]
    for options in ({}, {"scale": False}, {"scale": False, "eta0": 1e10, "learning_rate": "constant", "max_iter": 5}):
        model = GradientDescentClassifier(loss, **options).fit(x, y)
        assert np.isfinite(model.objective_)
    here, there = (GradientDescentClassifier(loss).fit(rows, y).predict(rows) for rows in (x, three[0]))
    assert (here == there).mean() > 0.99


def test_a_constant_column_gets_no_weight(two):
    x = np.column_stack([two[0], np.full(300, 0.1)])
    model = GradientDescentClassifier().fit(x, two[1])
    assert model.converged_
    assert model.coef_[0, 3] == pytest.approx(0.0, abs=1e-9)


def test_probabilities_are_there_for_likelihoods_only(two):
    assert hasattr(GradientDescentClassifier("log"), "predict_proba")
    assert not hasattr(GradientDescentClassifier("hinge"), "predict_proba")
    model = GradientDescentClassifier("squared").fit(*two)
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(two[0])
    assert "gives no probabilities; 'cross_entropy' and 'log' do" in str(caught.value.__cause__)


def test_a_model_survives_pickling_and_goes_on_learning(two):
    model = pickle.loads(pickle.dumps(GradientDescentClassifier().partial_fit(*two)))
    before = model.coef_.copy()
    model.partial_fit(*two)
    assert model.n_iter_ == 2
    assert (model.coef_ != before).all()


def test_the_summary_tells_the_loss_and_the_weights(two):
    model = GradientDescentClassifier("squared").fit(*two)
    summary = model.summary()
    assert "Loss:" in str(summary)
    np.testing.assert_allclose(summary.coef[:, 0], weights(model))
