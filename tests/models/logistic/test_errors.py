"""What cannot be fitted is said in words that name the column, the class or the parameter."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from discrim import LogisticRegression, LogisticRegressionCV, datasets, scan
from discrim.errors import DataError, DiscrimError, ParameterError

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (np.random.default_rng(1).random(60) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
Y3 = np.arange(60) % 3
HOLES = np.where((np.arange(60) == 3) | (np.arange(60) == 8), np.nan, 0.0)


def refused(words, *, X=X, y=Y, error=ValueError, fit=None, **parameters):
    with pytest.raises(error, match=words):
        LogisticRegression(**parameters).fit(X, y, **(fit or {}))


@pytest.mark.parametrize("parameters", [{}, {"C": np.inf}, {"l1_ratio": 1.0}, {"C": np.inf, "bias_reduction": "firth"}])
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "column 'x1' has 2 NaN"), (np.inf, "column 'x1' has 2 infinite")]
)
def test_columns_with_nan_or_infinity_are_named(parameters, hold, value, words):
    dirty = X.copy()
    dirty[[3, 7], 1] = value
    refused(words, X=hold(dirty), error=DataError, **parameters)


def test_columns_with_nan_are_named_where_rows_are_fewer_than_columns():
    dirty = np.random.default_rng(2).normal(size=(6, 20))
    dirty[2, 4] = np.nan
    refused("column 'x4' has 1 NaN", X=dirty, y=np.arange(6) % 2, error=DataError)


def test_columns_with_nan_are_named_in_a_frame_and_a_file(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["age", "dose", "time"])
    frame.loc[5, "dose"] = np.nan
    refused("'dose' has 1 NaN", X=frame, C=np.inf)
    pytest.importorskip("pyarrow")
    frame.assign(y=Y).to_csv(tmp_path / "t.csv", index=False)
    refused("'dose'", X=scan(tmp_path / "t.csv", target="y"), y=None, C=np.inf)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("C", 0), ("C", -1.0), ("C", "1"), ("C", np.nan), ("C", -np.inf), ("l1_ratio", 1.5), ("l1_ratio", "half"),
        ("tol", -1), ("max_iter", -1), ("max_iter", 1.5), ("solver", "gradient"), ("penalty", "l3"),
        ("class_weight", "even"), ("fit_intercept", "yes"), ("inference", "maybe"), ("bias_reduction", "jeffreys"),
        ("aliased", "keep"), ("warm_start", 2), ("n_jobs", 1.5), ("random_state", "dice"), ("intercept_scaling", -1),
    ],
)  # fmt: skip
def test_a_parameter_that_cannot_be_is_named_with_its_value(name, value):
    refused(f"The '{name}' parameter is", error=ParameterError, **{name: value})


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        ("does not go with another one. Set C=np.inf", {"bias_reduction": "firth"}),
        ("does not go with another one", {"bias_reduction": "firth", "l1_ratio": 1.0}),
        ("class_weight names the classes 9, which are not in y", {"class_weight": {9: 2.0}}),
        ("class_weight names the classes '1', which are not in y: it has 0, 1", {"class_weight": {"1": 2.0}}),
        ("'reference' parameter is 'c'; it must be one of 0, 1", {"reference": "c"}),
        ("'reference' parameter is '1'; it must be one of 0, 1", {"reference": "1"}),
        ("'C' parameter is 0; it must be a finite number above 0 or np.inf", {"C": 0}),
        ("C=np.inf .* not supported for the liblinear", {"solver": "liblinear", "C": np.inf}),
        ("lbfgs supports only 'l2'", {"solver": "lbfgs", "l1_ratio": 1.0}),
        ("supports only dual=False", {"dual": True}),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(words, parameters):
    refused(words, error=ParameterError, **parameters)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, "heavy"])
def test_class_weights_that_are_not_weights_are_refused(weight):
    refused("class_weight", class_weight={0: weight})


def test_an_intercept_that_is_scaled_to_nothing_is_refused():
    refused("intercept_scaling", solver="liblinear", intercept_scaling=0)


def test_liblinear_is_for_two_classes():
    refused("'liblinear' solver does not support multiclass", y=Y3, solver="liblinear", error=ParameterError)


def test_labels_must_be_there_and_of_two_classes():
    refused("only one class: 0", y=np.zeros(60, int), error=DataError)
    refused("requires y to be passed", y=None)
    refused("Unknown label type", y=X[:, 0])
    refused("inconsistent numbers of samples", y=Y[:9])
    refused("only one class: 1", X=X[:1], y=[1], error=DataError)
    refused("labels contain NaN", y=np.where(np.arange(60) == 1, np.nan, Y))


def test_tables_without_rows_or_columns_are_refused():
    refused("0 sample", X=X[:0], y=Y[:0])
    refused("0 feature", X=X[:, :0])
    refused("Expected 2D array", X=X[:, 0])


@pytest.mark.parametrize(
    ("words", "fit"),
    [
        ("negative", {"sample_weight": -np.ones(60)}),
        ("NaN", {"sample_weight": np.full(60, np.nan)}),
        ("zero in every row", {"sample_weight": np.zeros(60)}),
        ("3 entries", {"sample_weight": np.ones(3)}),
        ("'offset' parameter .* 60 finite numbers", {"offset": np.ones(3)}),
        ("'offset' parameter .* 2 entries are NaN or infinite, the first in row 3", {"offset": HOLES}),
        ("'offset' parameter .* 60 entries", {"offset": np.nan}),
        (r"'offset' parameter has the shape \(60, 2\)", {"offset": np.ones((60, 2))}),
        ("row 0 has [56] successes out of 2", {"trials": 2}),
        ("two lists of one length", {"trials": [3, 4]}),
        ("3 entries", {"trials": 1, "sample_weight": np.ones(3)}),
    ],
)
def test_weights_offsets_and_trials_that_cannot_be_are_refused(words, fit):
    refused(words, y=Y + 5 if fit.get("trials") == 2 else Y, fit=fit)


def test_an_offset_is_for_two_classes():
    refused("offset is for two classes; y has 3", y=Y3, fit={"offset": np.zeros(60)}, error=ParameterError)
    model = LogisticRegression().fit(X, Y3)
    with pytest.raises(ParameterError, match="offset is for two classes"):
        model.predict(X, offset=1.0)
    with pytest.raises(ParameterError, match="60 numbers"):
        LogisticRegression().fit(X, Y).predict_proba(X, offset=[1.0, 2.0])


def test_a_model_that_was_not_fitted_says_so():
    for question in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(LogisticRegression(), question)(X)
    for question in ("summary", "confint", "drop1", "step", "leverage"):
        with pytest.raises(NotFittedError):
            getattr(LogisticRegression(), question)()


def test_rows_of_another_width_are_refused_by_predict():
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2])
    dirty = X.copy()
    dirty[0, 2] = np.nan
    with pytest.raises(DataError, match="'x2' has 1 NaN"):
        model.predict_proba(dirty)


def test_inference_that_was_not_kept_is_said_to_be_missing():
    with pytest.raises(ParameterError, match="Fit it with inference=True"):
        LogisticRegression(inference=False).fit(X, Y).summary()


def test_after_l1_there_are_no_naive_standard_errors():
    model = LogisticRegression(l1_ratio=1.0, C=0.5).fit(X, Y)
    assert np.isnan(model.summary().std_error).all()
    with pytest.raises(DiscrimError, match="penalty"):
        model.vcov  # noqa: B018


def test_a_stream_that_is_read_once_is_refused():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": X[:, 0], "y": Y})
    refused("read once", X=scan(table.to_reader(), target="y"), y=None, error=DataError)


def test_trials_are_blamed_for_what_is_wrong_with_trials():
    refused("With `trials`, y must hold the number of successes", y=None, fit={"trials": 2})
    refused("y and trials have 3 entries, X has 60 rows", y=Y[:3], fit={"trials": [1, 1, 1]}, error=DataError)
    refused("trials is zero in every row", y=np.zeros(60), fit={"trials": 0}, error=DataError)
    pa = pytest.importorskip("pyarrow")
    rows = scan(pa.table({"a": Y, "b": Y}), target="a")
    refused("`trials` cannot be given with a scan", X=rows, y=None, fit={"trials": 2})


def test_a_path_is_told_to_be_scanned(tmp_path):
    refused("Read the file with discrim.scan.*target='y'", X="trips.parquet", y="y", error=DataError)
    refused("Read the file with discrim.scan.*target=...", X=tmp_path / "trips.parquet", error=DataError)


def test_infinity_of_any_type_is_no_penalty():
    model = LogisticRegression(C=np.float32("inf")).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, LogisticRegression(C=np.inf).fit(X, Y).coef_)
    for value in (float("nan"), np.float32(-1), True, -np.inf):
        refused("'C' parameter", C=value)


def test_too_few_steps_for_firth_are_told():
    X, y = datasets.load_endometrial().xy
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = LogisticRegression(C=np.inf, bias_reduction="firth", max_iter=1).fit(X, y)
    assert model.n_iter_.tolist() == [1]


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("parameters", [{}, {"l1_ratio": 1.0}, {"l1_ratio": 0.5}, {"C": np.inf}])
def test_columns_whose_squares_overflow_are_told(parameters, hold):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused("squares of X overflow. Scale the columns", X=hold(X * 1e200), error=DataError, **parameters)


def test_rows_fewer_than_columns_whose_squares_overflow_are_told():
    refused("squares of X overflow", X=np.hstack([X[:8]] * 9) * 1e200, y=Y[:8], error=DataError)


def test_class_weights_may_name_a_class_that_these_rows_lack():
    found = LogisticRegression(class_weight={0: 1.0, 1: 2.0, 9: 3.0}).fit(X, Y)
    assert_array_equal(found.coef_, LogisticRegression(class_weight={0: 1.0, 1: 2.0}).fit(X, Y).coef_)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("model", [LogisticRegression, LogisticRegressionCV])
def test_a_bad_penalty_is_answered_with_the_real_choices(model):
    with pytest.raises(ParameterError, match="one of 'l1', 'l2', 'elasticnet'") as caught:
        model(penalty="l3").fit(X, Y)
    assert "deprecated" not in str(caught.value)
    assert "deprecated" not in model.__doc__
    # The default has that value, also after a round trip that makes another object of it.
    pickle.loads(pickle.dumps(model())).set_params(max_iter=200).fit(X, Y)
