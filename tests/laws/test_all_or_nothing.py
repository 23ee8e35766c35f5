"""A call that fails or is interrupted leaves the model exactly as it was, fitted or not."""

from __future__ import annotations

import linecache
import pickle
import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import SGDClassifier as ForeignSGD
from sklearn.naive_bayes import GaussianNB as ForeignNB

import discrim
from discrim import basis, parallel
from discrim.decision import CostSensitiveClassifier, PriorShiftClassifier, RejectingClassifier, ThresholdClassifier
from discrim.errors import DataError
from discrim.text import WordCounts

pytestmark = pytest.mark.traces

HOME = str(Path(discrim.__file__).parent)
RNG = np.random.default_rng(0)
LABELS = np.repeat(["a", "b", "c"], 20)
NUMBERS = RNG.normal(size=(60, 3)) + np.repeat(np.arange(3.0), 20)[:, None]
COUNTS = RNG.poisson(2.0 + np.repeat(np.arange(3.0), 20)[:, None], size=(60, 3)).astype(float)
TEXTS = np.array([f"{('red', 'blue', 'green')[i // 20]} word{i % 7} word{i % 5}" for i in range(60)])

ONLINE = {
    "sgd": discrim.SGDClassifier(random_state=0, max_iter=20),
    "sgd elasticnet averaged": discrim.SGDClassifier(
        penalty="elasticnet", average=True, random_state=np.random.RandomState(0), max_iter=20
    ),
    "one pass": discrim.OnePassLogisticRegression(random_state=np.random.RandomState(3)),
    "sgd auto": discrim.SGDClassifier(learning_rate="auto", random_state=0, max_iter=20),
    "sgd stopped early": discrim.SGDClassifier(early_stopping=True, random_state=0, max_iter=20),
    "sgd warm": discrim.SGDClassifier(warm_start=True, random_state=0, max_iter=20),
    "perceptron": discrim.Perceptron(max_iter=20),
    "perceptron of all classes": discrim.Perceptron(multi_class="multinomial", max_iter=20),
    "passive aggressive": discrim.PassiveAggressiveClassifier(random_state=0, max_iter=20),
    "arow": discrim.AROWClassifier(random_state=0, max_iter=20),
}
ON_NUMBERS = {
    "lda": discrim.LinearDiscriminantAnalysis(),
    "lda shrunk": discrim.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "qda": discrim.QuadraticDiscriminantAnalysis(),
    "rda": discrim.RegularizedDiscriminantAnalysis(),
    "rda tuned": discrim.RegularizedDiscriminantAnalysis("cv", "cv", cv=3),
    "bayesian lda": discrim.BayesianLinearDiscriminantAnalysis(),
    "bayesian qda": discrim.BayesianQuadraticDiscriminantAnalysis(),
    "gaussian nb": discrim.GaussianNB(),
    "nearest centroid": discrim.NearestCentroid(shrink_threshold=0.2),
    "nearest medians": discrim.NearestCentroid("manhattan"),
    "nearest centroid tuned": discrim.NearestCentroid(shrink_threshold="cv", rule="pamr", cv=3),
    "mixed nb": discrim.MixedNB(likelihoods={0: "kernel", 1: "student-t"}),
    "least squares": discrim.LeastSquaresClassifier(),
    "ridge": discrim.RidgeClassifier(),
    "lasso": discrim.LassoClassifier(),
    "logistic": discrim.LogisticRegression(),
    "logistic by maximum likelihood": discrim.LogisticRegression(C=np.inf),
    "logistic lasso": discrim.LogisticRegression(l1_ratio=1.0, solver="saga"),
    "logistic warm": discrim.LogisticRegression(warm_start=True),
    "logistic cv": discrim.LogisticRegressionCV(Cs=3, cv=3, use_legacy_attributes=False),
    "gradient descent": discrim.GradientDescentClassifier(max_iter=30, trace=True),
    "gradient descent by batches": discrim.GradientDescentClassifier(
        max_iter=10, batch_size=8, random_state=np.random.default_rng(3)
    ),
    "rosenblatt": discrim.RosenblattPerceptron("chicago", pocket=True, trace="epoch", max_iter=20),
    "one vs rest": discrim.OneVsRestClassifier(discrim.LinearDiscriminantAnalysis()),
    "one vs rest online": discrim.OneVsRestClassifier(discrim.SGDClassifier(random_state=0, max_iter=5)),
    "one vs one": discrim.OneVsOneClassifier(discrim.GaussianNB()),
    "one vs one of others": discrim.OneVsOneClassifier(ForeignNB()),
    "one vs rest of others": discrim.OneVsRestClassifier(ForeignSGD(random_state=0, max_iter=5, tol=None)),
    "output code": discrim.OutputCodeClassifier(discrim.LogisticRegression(), random_state=np.random.RandomState(1)),
    "cost sensitive": CostSensitiveClassifier(discrim.GaussianNB()),
    "rejecting": RejectingClassifier(discrim.GaussianNB()),
    "prior shift": PriorShiftClassifier(discrim.GaussianNB()),
    **ONLINE,
}
ON_COUNTS = {
    "multinomial nb": discrim.MultinomialNB(),
    "multinomial nb tuned": discrim.MultinomialNB(alpha="loo"),
    "bernoulli nb": discrim.BernoulliNB(binarize=1.0),
    "complement nb": discrim.ComplementNB(),
    "categorical nb": discrim.CategoricalNB(),
    "mixed nb of counts": discrim.MixedNB(likelihoods={0: "poisson", 1: "categorical"}),
}
ON_TEXT = {
    "text": discrim.TextClassifier(),
    "hashed text": discrim.TextClassifier(discrim.SGDClassifier(random_state=0), WordCounts(buckets=64)),
    "text for others": discrim.TextClassifier(ForeignSGD(random_state=0), WordCounts(buckets=64)),
}
MAPS = {
    "polynomial": basis.PolynomialBasis(2),
    "splines": basis.SplineBasis(),
    "bumps": basis.RadialBasis(),
}
CLASSIFIERS = {
    **{name: (model, NUMBERS) for name, model in ON_NUMBERS.items()},
    **{name: (model, COUNTS) for name, model in ON_COUNTS.items()},
    **{name: (model, TEXTS) for name, model in ON_TEXT.items()},
}


def state_of(thing: Any, above: tuple[int, ...] = ()) -> Any:
    """Values that are equal where the states are: arrays by type, shape and bytes, objects by their attributes."""
    if thing is None or isinstance(thing, (bool, int, float, str, bytes, np.dtype, type)):
        return repr(thing)
    if id(thing) in above:
        return "itself"
    above = (*above, id(thing))
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        return "array", str(thing.dtype), thing.shape, thing.tobytes()
    if sparse.issparse(thing):
        return "sparse", thing.shape, thing.toarray().tobytes()
    if isinstance(thing, dict):
        return "dict", [(repr(key), state_of(value, above)) for key, value in thing.items()]
    if isinstance(thing, (list, tuple, np.ndarray)):
        return type(thing).__name__, [state_of(value, above) for value in thing]
    if isinstance(thing, np.random.RandomState):
        return "generator", state_of(thing.get_state(), above)
    if isinstance(thing, np.random.Generator):
        return "generator", state_of(thing.bit_generator.state, above)
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(thing, name) for name in slots if hasattr(thing, name)} | getattr(thing, "__dict__", {})
    # What a stream keeps at hand is made again from the weights; the other is a note of scikit-learn's counter.
    names = sorted(held.keys() - {"_live", "_stop_words_id"})
    return type(thing).__name__, {name: state_of(held[name], above) for name in names}


@cache
def leaves_a_block(file: str, line: int) -> bool:
    """May this be a ``with`` that is about to call ``__exit__``? No signal arrives there, but a tracer does."""
    return linecache.getline(file, line).lstrip().startswith("with ")


def run_traced(call: Callable[[], Any], line: int, error: type[BaseException] = KeyboardInterrupt) -> int:
    """Raise before the so manyth line within the library; the number of lines that were run in this thread."""
    seen, raised = 0, False

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen, raised
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        if event == "line" and not leaves_a_block(frame.f_code.co_filename, frame.f_lineno):
            seen += 1
            if seen == line:
                raised = True
                raise error("stopped on the way")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
        # A lock that is left taken would stop other tests of this process for ever.
        assert not parallel._owner.lock._is_owned()
    assert not raised, f"the interrupt at line {line} did not come out"
    return seen


def assert_all_or_nothing(
    model: Any, call: Callable[[Any], Any], points: int, copied: Callable[[Any], Any] = deepcopy
) -> None:
    """Stop the call at points spread over its lines: the model is then what it was."""
    call(copied(model))  # whatever is imported or remembered for good is so now
    trial = copied(model)
    lines = run_traced(lambda: call(trial), -1)
    stops = np.unique(np.concatenate([[1, 2, 3, lines], np.linspace(4, lines - 1, points)]).astype(int))
    for line in stops.tolist():
        trial = copied(model)
        before = state_of(trial)
        try:
            run_traced(lambda trial=trial: call(trial), line)
        except KeyboardInterrupt:
            assert state_of(trial) == before, f"stopped at line {line} of {lines}"


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# These need all rows at once, and learn nothing from parts alone.
ALL_ROWS = {"multinomial nb tuned", "rda tuned", "nearest centroid tuned", "nearest medians", "sgd stopped early"}


def half(X: Any) -> Any:
    return X[::2]


def fitted(name: str) -> Any:
    model, X = CLASSIFIERS[name]
    return deepcopy(model).fit(X, LABELS)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_an_interrupted_fit_leaves_the_fitted_model(name):
    _, X = CLASSIFIERS[name]
    assert_all_or_nothing(fitted(name), lambda m: m.fit(half(X), half(LABELS)), 8)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_an_interrupted_fit_leaves_an_unfitted_model_unfitted(name):
    model, X = CLASSIFIERS[name]
    assert_all_or_nothing(model, lambda m: m.fit(X, LABELS), 5)


IN_PARTS = [name for name, (model, _) in CLASSIFIERS.items() if hasattr(model, "partial_fit")]


@pytest.mark.parametrize("name", IN_PARTS)
def test_an_interrupted_part_leaves_the_model(name):
    model, X = CLASSIFIERS[name]
    if name in ALL_ROWS:
        pytest.skip("needs all rows at once")
    first = {} if name.startswith(("text", "sgd warm")) else {"classes": np.unique(LABELS)}
    model = deepcopy(model).fit(X, LABELS) if not first else deepcopy(model).partial_fit(half(X), half(LABELS), **first)
    assert_all_or_nothing(model, lambda m: m.partial_fit(X[1::2], LABELS[1::2]), 8)


GROWING = [name for name in IN_PARTS if hasattr(CLASSIFIERS[name][0], "forget") or name in ONLINE]


@pytest.mark.parametrize("name", GROWING)
def test_an_interrupted_part_with_a_new_class_leaves_the_model(name):
    model, X = CLASSIFIERS[name]
    if name in ALL_ROWS:
        pytest.skip("needs all rows at once")
    if name == "text":
        pytest.skip("the words are those of fit")
    known = LABELS != "b"
    model = deepcopy(model).partial_fit(X[known], LABELS[known])
    assert_all_or_nothing(model, lambda m: m.partial_fit(X, LABELS), 10)


FORGETTING = [name for name, (model, _) in CLASSIFIERS.items() if hasattr(model, "forget")]


@pytest.mark.parametrize("name", FORGETTING)
def test_interrupted_forgetting_leaves_the_model(name):
    _, X = CLASSIFIERS[name]
    assert_all_or_nothing(fitted(name), lambda m: m.forget(X[:5], LABELS[:5]), 8)


@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.parametrize("row", [({0: 1.0, 1: 2.0}, "a"), ({"new": 1.0, 1: 2.0}, "a"), ({"new": 1.0}, "d")])
def test_an_interrupted_row_leaves_the_model(name, row):
    model = deepcopy(ONLINE[name])
    if name in {"one pass", "sgd auto", "sgd stopped early"}:
        pytest.skip("does not learn single rows")
    for i in range(0, 60, 2):
        model.learn_one(dict(enumerate(NUMBERS[i])), LABELS[i])
    assert_all_or_nothing(model, lambda m: m.learn_one(*row), 20)
    assert_all_or_nothing(model, lambda m: m.learn_one(*row), 20, copied=at_work)
    assert_all_or_nothing(deepcopy(ONLINE[name]), lambda m: m.learn_one(*row), 20)


def at_work(model: Any) -> Any:
    """A copy that has the stream at hand, as one has that has learned a row before."""
    copied = deepcopy(model)
    copied.predict_one({})
    return copied


@pytest.mark.parametrize("name", ["sgd", "perceptron", "perceptron of all classes", "passive aggressive", "arow"])
def test_a_row_that_overflows_leaves_the_model(name):
    model = deepcopy(ONLINE[name])
    for i in range(0, 60, 3):
        model.learn_one(dict(enumerate(NUMBERS[i])), LABELS[i])
    before = state_of(model)
    for row in ({0: 1e300, 1: -1e300}, {0: 1e308}, {0: np.inf}, {0: np.nan}, {"new": "text"}, {"new": None}):
        try:
            model.learn_one(row, "a", 1e9)
        except DataError:
            assert state_of(model) == before
        else:
            model = deepcopy(model)
            before = state_of(model)
    assert model.predict_one({0: 1.0}) in {"a", "b", "c"}
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("name", MAPS)
def test_an_interrupted_map_is_what_it_was(name):
    model = deepcopy(MAPS[name]).fit(NUMBERS)
    assert_all_or_nothing(model, lambda m: m.fit(half(NUMBERS)), 10)
    assert_all_or_nothing(model, lambda m: m.fit_transform(half(NUMBERS)), 10)


def test_an_interrupted_vocabulary_is_what_it_was():
    model = WordCounts().fit(TEXTS)
    assert_all_or_nothing(model, lambda m: m.fit(["other words", "still other words"]), 15)


def test_an_interrupted_adaptation_is_what_it_was():
    model = PriorShiftClassifier(discrim.GaussianNB()).fit(NUMBERS, LABELS)
    assert_all_or_nothing(model, lambda m: m.adapt(NUMBERS[10:]), 15)


def test_an_interrupted_threshold_is_what_it_was():
    two = LABELS != "c"
    model = ThresholdClassifier(discrim.GaussianNB(), cv=3).fit(NUMBERS[two], LABELS[two])
    assert_all_or_nothing(model, lambda m: m.fit(NUMBERS[~two | two][:40][::2], LABELS[:40][::2]), 15)


def test_every_public_estimator_is_tried():
    public = {name for name in discrim.__all__ if hasattr(getattr(discrim, name), "fit")}
    # A formula takes a table with its labels: see tests/models/test_formula.py.
    assert public - {"FormulaClassifier"} <= {type(model).__name__ for model, _ in CLASSIFIERS.values()}


TAKEN = ("columns of times", "one vs rest of others")


def bad_rows() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Rows of numbers that no model can take, for one reason or another."""
    missing = NUMBERS.copy()
    missing[-1, 1] = np.nan
    infinite = NUMBERS.copy()
    infinite[30, 2] = np.inf
    return {
        "infinity": (infinite, LABELS, {}),
        "no rows": (NUMBERS[:0], LABELS[:0], {}),
        "too few labels": (NUMBERS, LABELS[:-1], {}),
        "a missing label": (NUMBERS, np.array([*LABELS[:-1].tolist(), None], dtype=object), {}),
        "text": (NUMBERS.astype(str).astype(object)[:, :1] + "x", LABELS, {}),
        "one dimension": (NUMBERS[:, 0], LABELS, {}),
        "too few weights": (NUMBERS, LABELS, {"sample_weight": np.ones(59)}),
        "a missing weight": (NUMBERS, LABELS, {"sample_weight": np.append(np.ones(59), np.nan)}),
        "columns of times": (pd.DataFrame({"t": pd.date_range("2020", periods=60)}), LABELS, {}),
        "not a number": (missing, LABELS, {}),
    }


BAD_ROWS = bad_rows()


# One fitted model meets all reasons in turn: that it is as before after each of them is what is tested.
@pytest.mark.parametrize("name", [*ON_NUMBERS, *ON_COUNTS])
def test_a_failed_fit_leaves_the_old_model(name):
    original = fitted(name)
    model = deepcopy(original)
    before = state_of(model)
    for reason, (X, y, more) in BAD_ROWS.items():
        try:
            model.fit(X, y, **more)
        except (ValueError, TypeError):
            assert state_of(model) == before, reason
        else:
            # Some models take missing values, and somebody else's even times.
            assert reason in {"not a number", "infinity"} or (reason, name) == TAKEN, f"{reason}: these rows were taken"
            model = deepcopy(original)
            before = state_of(model)


@pytest.mark.parametrize("name", [name for name in IN_PARTS if name not in ON_TEXT])
def test_a_failed_part_leaves_the_model(name):
    original = fitted(name)
    model = deepcopy(original)
    before = state_of(model)
    for reason, (X, y, more) in BAD_ROWS.items():
        try:
            model.partial_fit(X, y, **more)
        except (ValueError, TypeError):
            assert state_of(model) == before, reason
        else:
            assert reason in {"not a number", "infinity"}, f"{reason}: these rows were taken"
            model = deepcopy(original)
            before = state_of(model)


def assert_unchanged_where_refused(model: Any, call: Callable[[], Any]) -> None:
    before = state_of(model)
    try:
        call()
    except (ValueError, TypeError, AttributeError):
        assert state_of(model) == before


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_fit_that_is_refused_for_its_labels_values_or_parameters_leaves_the_old_model(name):
    _, X = CLASSIFIERS[name]
    original = fitted(name)
    model = deepcopy(original)
    assert_unchanged_where_refused(model, lambda: model.fit(X, np.full(60, "a")))
    assert_unchanged_where_refused(model, lambda: model.fit(X, np.linspace(0.1, 5.0, 60)))
    if name not in ON_TEXT:
        assert_unchanged_where_refused(model, lambda: model.fit(-X, LABELS))
        assert_unchanged_where_refused(model, lambda: model.fit(X, LABELS, sample_weight=-np.ones(60)))
        assert_unchanged_where_refused(model, lambda: model.fit(X, LABELS, sample_weight=np.zeros(60)))
    for parameter in sorted(model.get_params(deep=False)):
        trial = deepcopy(original).set_params(**{parameter: "no such thing"})
        assert_unchanged_where_refused(trial, lambda trial=trial: trial.fit(X, LABELS))


@pytest.mark.parametrize("name", [name for name in IN_PARTS if name not in ON_TEXT])
def test_a_part_of_other_columns_or_classes_leaves_the_model(name):
    model, X = fitted(name), CLASSIFIERS[name][1]
    for method in ("partial_fit", "forget"):
        if hasattr(model, method):
            learn = getattr(model, method)
            assert_unchanged_where_refused(model, lambda learn=learn: learn(X[:, :2], LABELS))
            assert_unchanged_where_refused(model, lambda learn=learn: learn(np.hstack([X, X]), LABELS))
            assert_unchanged_where_refused(model, lambda learn=learn: learn(100.0 + X, LABELS[::-1].astype(object)))
    assert_unchanged_where_refused(model, lambda: model.partial_fit(X, LABELS, classes=["a", "b"]))


@pytest.mark.parametrize("name", [*ON_NUMBERS, *ON_COUNTS])
def test_a_failed_call_leaves_the_same_pickle(name: str) -> None:
    model, x = CLASSIFIERS[name]
    fitted = deepcopy(model).fit(x, LABELS)
    before = pickle.dumps(fitted)
    bad = x.copy()
    bad[5, 1] = np.inf
    for method in ("fit", "partial_fit", "forget"):
        if hasattr(fitted, method):
            with pytest.raises(ValueError, match=r"inf|NaN|early_stopping"):
                getattr(fitted, method)(bad, LABELS)
            assert pickle.dumps(fitted) == before, method
