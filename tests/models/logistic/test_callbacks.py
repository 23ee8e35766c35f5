"""Callbacks of scikit-learn see the steps of a logistic fit."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from discrim import LogisticRegression, LogisticRegressionCV

pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")


class Record:
    """Keeps what every hook was given."""

    def __init__(self):
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append(("setup", context, None))

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.calls.append(("begin", context, fitted_estimator))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.calls.append(("end", context, fitted_estimator))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context, None))

    def of(self, what):
        return [(context, model) for name, context, model in self.calls if name == what]


def table(n=120, columns=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    noise = rng.logistic(size=n)
    return x, np.digitize(x[:, 0] - x[:, 1] + noise, np.linspace(-1, 1, classes + 1)[1:-1])


CASES = {
    "small": (table(), {}),
    "three classes": (table(classes=3), {}),
    "no penalty": (table(), {"C": np.inf}),
    "no intercept": (table(), {"fit_intercept": False}),
    "fewer rows than columns": (table(30, 60), {}),
    "many rows": (table(60_000, 10), {}),
    "many columns": (table(3_000, 300), {"solver": "lbfgs"}),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_every_step_is_a_task_with_the_model_that_fewer_steps_would_give(case):
    (x, y), options = CASES[case]
    record = Record()
    model = LogisticRegression(**options).set_callbacks(record).fit(x, y)
    plain = LogisticRegression(**options).fit(x, y)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-6, atol=1e-8)
    steps = int(model.n_iter_[0])
    assert [name for name, _, _ in record.calls[:2]] == ["setup", "begin"]
    assert [name for name, _, _ in record.calls[-2:]] == ["end", "teardown"]
    # One task for the fit, one for each step, and an empty one.
    assert len(record.of("begin")) == len(record.of("end")) == 1 + max(steps, 1) + 1
    ends = [(context, fitted) for context, fitted in record.of("end") if "iter" in context.task_name]
    assert [context.task_id for context, _ in ends] == list(range(steps + 1))
    assert ends[-1][1] is None
    for i, (_, fitted) in enumerate(ends[:-1]):
        fewer = LogisticRegression(**options, max_iter=i + 1).fit(x, y)
        if case != "many rows" or i:  # a single step on many rows starts without a sample's curvature
            assert_allclose(fitted.coef_, fewer.coef_, rtol=1e-5, atol=1e-7)
            assert_allclose(fitted.intercept_, fewer.intercept_, rtol=1e-5, atol=1e-7)
        assert len(fitted.predict(x)) == len(x)
        assert_array_equal(fitted.classes_, model.classes_)


@pytest.mark.parametrize("options", [{"solver": "liblinear"}, {"solver": "saga", "l1_ratio": 1.0}])
def test_other_solvers_say_that_their_steps_are_not_seen(options):
    record, (x, y) = Record(), table()
    with pytest.warns(UserWarning, match="Callbacks are only supported in LogisticRegression for solver='lbfgs'"):
        model = LogisticRegression(**options).set_callbacks(record)
    model.fit(x, y)
    assert len(record.of("begin")) == len(record.of("end"))
    assert record.calls[-1][0] == "teardown"


def test_a_fit_that_fails_is_torn_down_and_leaves_nothing_of_the_callbacks_behind():
    record, (x, y) = Record(), table()
    model = LogisticRegression().set_callbacks(record)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(x > 2, np.nan, x), y)
    assert [name for name, _, _ in record.calls][-1] == "teardown"
    assert not hasattr(model, "_callback_fit_ctx")
    assert model.fit(x, y).score(x, y) > 0.5


def test_clones_keep_callbacks_and_none_takes_them_away():
    record, (x, y) = Record(), table()
    model = clone(LogisticRegression().set_callbacks(record)).fit(x, y)
    assert record.of("setup")
    count = len(record.calls)
    model.set_callbacks().fit(x, y)
    assert len(record.calls) == count
    with pytest.raises(TypeError, match="FitCallback protocol"):
        model.set_callbacks(object())


def test_a_model_with_callbacks_is_saved_without_what_the_fit_needed():
    x, y = table()
    model = LogisticRegression().set_callbacks(Quiet()).fit(x, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(x), model.predict(x))


class Quiet:
    """A callback that does nothing."""

    def setup(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context): ...

    def teardown(self, estimator, context): ...


def test_a_search_has_the_method_and_reports_no_steps():
    record, (x, y) = Record(), table()
    options = {"Cs": 2, "cv": 2, "use_legacy_attributes": False, "l1_ratios": (0,), "scoring": "neg_log_loss"}
    LogisticRegressionCV(**options, solver="lbfgs").set_callbacks(record).fit(x, y)
    assert not record.of("begin")


def test_steps_of_a_model_in_a_pipeline_are_seen():
    record, (x, y) = Record(), table()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression().set_callbacks(record)).fit(x, y)
    assert len(record.of("end")) == 2 + max(int(pipeline[-1].n_iter_[0]), 1)


def test_no_steps_at_all_are_reported_as_one():
    record, (x, y) = Record(), table()
    with pytest.warns(ConvergenceWarning):
        LogisticRegression(max_iter=0).set_callbacks(record).fit(x, y)
    assert len(record.of("begin")) == 3
