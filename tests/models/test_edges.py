"""Odd rows, labels and weights get an answer or a sentence: never a warning of NumPy, a word of LAPACK, or NaN."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from discrim import (
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
)
from discrim.errors import DataError, DiscrimError, DiscrimWarning, SingularClassError

L, Q, R = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis
NB = GaussianNB(methods="all")
RIDGE = RidgeClassifier(methods="all")
SETTINGS = [
    L(),
    L(solver="eigen"),
    L(shrinkage=0.3),
    L(shrinkage=1.0, target="diagonal"),
    L(shrinkage="auto"),
    L(shrinkage="oas"),
    L(shrinkage="nonlinear"),
    L(normalization="unbiased"),
    Q(),
    Q(reg_param=0.1),
    Q(shrinkage="auto"),
    Q(shrinkage=0.2, target="diagonal"),
    R(),
    R(0.0, 1.0),
    R(0.5, 0.5),
    R(1.0, 0.5),
    R(0.5, 0.0, target="diagonal"),
    GaussianNB(methods="all"),
    GaussianNB(var_smoothing=0.0, normalization="unbiased", methods="all"),
    LeastSquaresClassifier(),
    LeastSquaresClassifier(basis="quadratic"),
    RidgeClassifier(methods="all"),
    RidgeClassifier(alpha=0.0, methods="all"),
    RidgeClassifier(positive=True, methods="all"),
    RidgeClassifier(fit_intercept=False, methods="all"),
]
each = pytest.mark.parametrize("model", SETTINGS, ids=str)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)), np.arange(30) % 3
NAN = X.copy()
NAN[3, 1], NAN[4, 2], NAN[7, 1] = np.nan, np.inf, np.nan


def with_column(values):
    changed = X.copy()
    changed[:, 1] = values
    return changed


def relabelled(places, label):
    changed = Y % 2
    changed[places] = label
    return changed


@pytest.fixture(autouse=True)
def only_our_own_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DiscrimWarning)
        yield


def everything(model, rows):
    """All that a fitted model can be asked; posteriors are posteriors."""
    posterior = model.predict_proba(rows)
    assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)
    assert (posterior >= 0).all()
    for values in (model.decision_function(rows), model.predict_log_proba(rows)):
        assert not np.isnan(values).any()
    chosen = np.searchsorted(model.classes_, model.predict(rows))
    assert_allclose(posterior[np.arange(len(rows)), chosen], posterior.max(axis=1), rtol=1e-12)
    summary = model.summary()
    assert str(summary)
    assert summary._repr_html_()
    summary.to_frame()
    if isinstance(model, L):
        assert model.transform(rows).shape[0] == len(rows)
        assert not np.isnan(model.wilks_lambda_)
        assert model.structure_.shape == model.scalings_.shape


ODD = {
    "plain": (X, Y),
    "one row in a class": (X, relabelled([0], 2)),
    "constant column": (with_column(5.0), Y),
    "constant column far from zero": (with_column(1e8 + 0.1), Y),
    "column that is constant in each class": (with_column(0.1 * Y), Y),
    "column that is constant in one class": (with_column(np.where(Y == 1, 0.1, X[:, 1])), Y),
    "all rows equal": (np.ones((10, 2)), np.arange(10) % 2),
    "all rows zero": (np.zeros((10, 2)), np.arange(10) % 2),
    "equal class means": (np.vstack([X, X]), np.repeat([0, 1], 30)),
    "duplicated rows": (np.repeat(X[:6], 5, axis=0), np.repeat([0, 1], 15)),
    "one class": (X, np.zeros(30, int)),
    "one column": (X[:, :1], Y),
    "one column, two classes": (X[:, :1], Y > 0),
    "one row": (X[:1], [1]),
    "a row for each class": (X[:3], Y[:3]),
    "two rows of two classes, and one more": (X[:3], [0, 1, 1]),
    "more columns than rows": (RNG.normal(size=(6, 20)), [0, 0, 0, 1, 1, 1]),
    "many classes": (RNG.normal(size=(60, 2)), np.arange(60) // 3),
    "huge numbers": (X * 1e100, Y),
    "tiny numbers": (X * 1e-100, Y),
    "zeros and ones": ((X > 0).astype(float), Y),
}


@each
@pytest.mark.parametrize("case", ODD)
def test_odd_rows_get_an_answer_or_a_sentence(model, case, capfd):
    rows, labels = ODD[case]
    model = clone(model)
    if "huge" in case and getattr(model, "basis", None):
        rows = rows * 1e-50  # their squares are squared
    try:
        everything(model.fit(rows, labels), rows)
    except DiscrimError as error:
        sentence = str(error)
        assert case != "plain"
        assert len(sentence) > 30
        assert sentence.endswith(".")
    assert capfd.readouterr() == ("", ""), "LAPACK speaks to the terminal itself"


@pytest.mark.parametrize(
    ("model", "case", "sentence"),
    [
        (Q(), "one row in a class", "only 1 sample in class 2, covariance is ill defined"),
        (Q(), "constant column", r"class 0 is not full rank.*columns 'x1' are constant"),
        (Q(), "column that is constant in one class", r"class 1 is not full rank.*columns 'x1' are constant"),
        (Q(), "more columns than rows", "class 0 has 3 rows and 20 columns"),
        (Q(), "one class", r"has to be greater than one\. Got 1 class"),
        (R(), "one class", r"has to be greater than one\. Got 1 class"),
        (L(), "one class", r"has to be greater than one\. Got 1 class"),
        (L(shrinkage="auto", solver="lsqr"), "one class", r"has to be greater than one\. Got 1 class"),
        (L(), "one row", "more than the number of classes; found 1 sample of 1 class"),
        (L(), "a row for each class", "found 3 samples of 3 classes"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_sentence_says_what_is_wrong(model, case, sentence):
    with pytest.raises(DataError, match=sentence):
        clone(model).fit(*ODD[case])


def test_a_singular_class_is_a_linear_algebra_error_too():
    with pytest.raises(np.linalg.LinAlgError):
        Q().fit(*ODD["constant column"])
    assert issubclass(SingularClassError, ValueError)


@pytest.mark.parametrize("case", ["constant column", "constant column far from zero"])
@pytest.mark.parametrize(
    "model",
    [
        L(),
        R(),
        L(shrinkage="nonlinear"),
        GaussianNB(methods="all"),
        LeastSquaresClassifier(),
        RidgeClassifier(methods="all"),
    ],
    ids=str,
)
def test_a_constant_column_changes_nothing(model, case):
    rows = ODD[case][0]
    found, expected = clone(model).fit(rows, Y), clone(model).fit(X[:, [0, 2]], Y)
    assert_allclose(found.predict_proba(rows), expected.predict_proba(X[:, [0, 2]]), atol=1e-6)


@each
def test_equal_rows_say_nothing_but_the_priors(model):
    try:
        found = clone(model).fit(np.ones((10, 2)), [0] * 7 + [1] * 3).predict_proba(np.ones((2, 2)))
    except SingularClassError:
        assert isinstance(model, (Q, R))
        return
    if isinstance(model, (LeastSquaresClassifier, RidgeClassifier)):
        assert (found[:, 0] > found[:, 1]).all()
    else:
        assert_allclose(found, [[0.7, 0.3]] * 2, atol=1e-12)


# scikit-learn's discriminant analyses ask for two classes, and ours are like them.
@pytest.mark.parametrize("model", [model for model in SETTINGS if not isinstance(model, (L, Q, R))], ids=str)
def test_one_class_is_predicted_for_certain(model):
    model = clone(model).fit(X, ["only"] * 30)
    assert_array_equal(model.predict_proba(X), np.ones((30, 1)))
    assert set(model.predict(X)) == {"only"}
    assert model.decision_function(X).shape == (30,)


class TestEmpty:
    @each
    @pytest.mark.parametrize("rows", [X[:0], X[:, :0]], ids=["no rows", "no columns"])
    def test_nothing_to_learn_from(self, model, rows):
        with pytest.raises(ValueError, match=r"Found array with 0 (sample|feature)\(s\)"):
            clone(model).fit(rows, Y[: len(rows)])

    def test_nothing_to_predict(self):
        model = L().fit(X, Y)
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
            model.predict(X[:0])


class TestNonFinite:
    @each
    def test_the_columns_are_named_and_counted_in_fit(self, model):
        with pytest.raises(DataError) as caught:
            clone(model).fit(NAN, Y)
        assert str(caught.value).startswith(
            "Input X contains NaN and infinity: column 'x1' has 2 NaN; column 'x2' has 1 infinite."
        )

    @each
    def test_and_in_every_method_that_reads_rows(self, model):
        model = clone(model)
        if isinstance(model, Q) and not (model.reg_param or model.shrinkage):
            model.set_params(reg_param=0.1)
        for rows in ((30, 3), (12, 20)):
            data, labels = RNG.normal(size=rows), np.arange(rows[0]) % 3
            model.fit(data, labels)
            bad = data.copy()
            bad[1, 2] = -np.inf
            for method in ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform"):
                if hasattr(model, method):
                    with pytest.raises(DataError, match="Input X contains infinity: column 'x2' has 1 infinite"):
                        getattr(model, method)(bad)

    def test_a_transform_without_coordinates_looks_at_its_rows_too(self):
        twice = np.vstack([X, X])
        model = L().fit(twice, np.repeat([0, 1], 30))
        assert model.transform(X).shape == (30, 0)
        with pytest.raises(DataError, match="column 'x1' has 2 NaN"):
            model.transform(NAN)

    def test_names_of_a_frame_are_used(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(NAN, columns=["height", "weight", "age"])
        with pytest.raises(DataError, match=r"column 'weight' has 2 NaN; column 'age' has 1 infinite"):
            L().fit(frame, Y)

    @each
    def test_sums_of_squares_that_overflow(self, model):
        with pytest.raises(DataError, match="sums of squares of X overflow"):
            clone(model).fit(X * 1e200, Y)

    @pytest.mark.parametrize("model", [Q(), R(), R(0.5, 0.5), GaussianNB(methods="all")], ids=str)
    @pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
    def test_rows_too_far_away_to_be_scored(self, model, method):
        model = clone(model).fit(X, Y)
        with pytest.raises(DataError, match="scores of some rows overflow"):
            getattr(model, method)(X * 1e200)

    @each
    def test_what_rows_of_weight_zero_hold_does_not_matter(self, model):
        finite = np.isfinite(NAN).all(axis=1)
        found = clone(model).fit(NAN, Y, sample_weight=finite.astype(float))
        expected = clone(model).fit(X[finite], Y[finite])
        assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-10)


class TestWeights:
    # With positive=True two classes are one regression and three classes three: that depends on their number.
    @pytest.mark.parametrize("model", [m for m in SETTINGS if not getattr(m, "positive", False)], ids=str)
    def test_a_class_without_weight_is_never_predicted(self, model):
        weight = (Y != 2).astype(float)
        found = clone(model).fit(X, Y, sample_weight=weight)
        everything(found, X)
        expected = clone(model).fit(X[Y != 2], Y[Y != 2])
        assert_array_equal(found.classes_, [0, 1, 2])
        assert_allclose(found.predict_proba(X), np.c_[expected.predict_proba(X), np.zeros(30)], atol=1e-9)
        assert_array_equal(found.predict(X), expected.predict(X))

    @each
    def test_rows_of_weight_zero_are_not_there(self, model):
        weight = np.ones(30)
        weight[::4] = 0.0
        found, expected = clone(model).fit(X, Y, sample_weight=weight), clone(model).fit(X[weight > 0], Y[weight > 0])
        assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-10)

    @each
    def test_whole_weights_are_repeated_rows(self, model):
        weight = RNG.integers(1, 4, 30)
        found, expected = clone(model).fit(X, Y, weight), clone(model).fit(X.repeat(weight, 0), Y.repeat(weight))
        assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-10)

    @pytest.mark.parametrize("scale", [1e-12, 1e12])
    @pytest.mark.parametrize("model", [L(), Q(), R(), NB, LeastSquaresClassifier()], ids=str)
    def test_with_maximum_likelihood_their_unit_does_not_matter(self, model, scale):
        found, expected = clone(model).fit(X, Y, np.full(30, scale)), clone(model).fit(X, Y)
        assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-12)

    @pytest.mark.parametrize(
        ("model", "divisor"),
        [(L(normalization="unbiased"), "n - K"), (L(shrinkage="nonlinear"), "n - K"),
         (Q(normalization="unbiased"), "n_k - 1"), (R(normalization="unbiased"), "n_k - 1"),
         (GaussianNB(normalization="unbiased", methods="all"), "n_k - 1")],
        ids=str,
    )  # fmt: skip
    def test_unbiased_divisors_need_weights_that_count_rows(self, model, divisor):
        with pytest.raises(DataError, match=f"divisor {divisor} is not positive.*normalization='mle'"):
            clone(model).fit(X, Y, np.full(30, 0.05))

    @pytest.mark.parametrize(
        ("weight", "sentence"),
        [
            (np.where(Y == 0, -1.0, 1.0), "10 negative among 30 values"),
            (np.where(Y == 0, np.nan, 1.0), "10 NaN among 30 values"),
            (np.zeros(30), "zero in every row"),
            (np.ones(29), "29 entries, X has 30 rows"),
            (np.ones((30, 2)), "must be 1D array or scalar"),
            (["a"] * 30, "cannot be read as numbers"),
        ],
        ids=["negative", "NaN", "all zero", "short", "two columns", "text"],
    )
    def test_bad_weights(self, weight, sentence):
        for model in (L(), GaussianNB(methods="all"), RidgeClassifier(methods="all")):
            with pytest.raises(ValueError, match=sentence):
                model.fit(X, Y, sample_weight=weight)


LABELS = {
    "bool": (np.array([False, True]), lambda y: y > 0),
    "int": (np.array([0, 1, 2]), lambda y: y),
    "uint8": (np.array([0, 1, 2], dtype=np.uint8), lambda y: y.astype(np.uint8)),
    "negative and large": (np.array([-(10**12), 0, 10**12]), lambda y: (y - 1) * 10**12),
    "whole floats": (np.array([0.0, 1.0, 2.0]), lambda y: y.astype(float)),
    "text": (np.array(["a", "b", "c"]), lambda y: np.array(["a", "b", "c"])[y]),
    "objects": (np.array(["a", "b", "c"], dtype=object), lambda y: np.array(["a", "b", "c"], dtype=object)[y]),
    "list": (np.array(["a", "b", "c"]), lambda y: np.array(["a", "b", "c"])[y].tolist()),
    "bytes": (np.array([b"a", b"b", b"c"]), lambda y: np.array([b"a", b"b", b"c"])[y]),
    "dates": (np.arange("2020-01-01", "2020-01-04", dtype="M8[D]"), lambda y: np.datetime64("2020-01-01") + y),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize(
    "model",
    [L(), Q(), R(), NB, LeastSquaresClassifier(), RIDGE],
    ids=str,
)
def test_labels_of_any_type_come_back_as_they_went_in(model, kind):
    classes, convert = LABELS[kind]
    found = clone(model).fit(X, convert(Y))
    assert found.classes_.dtype == classes.dtype
    assert_array_equal(found.classes_, classes)
    assert found.predict(X).dtype == classes.dtype
    if len(classes) == 3:
        assert_array_equal(found.predict_proba(X), clone(model).fit(X, Y).predict_proba(X))
    assert str(found.summary())


def test_tuples_can_be_labels():
    labels = np.empty(30, dtype=object)
    labels[:] = [(0, 1), (1, 0), (2, 2)] * 10
    model = GaussianNB(methods="all").fit(X, labels)
    assert model.classes_.tolist() == [(0, 1), (1, 0), (2, 2)]
    assert model.predict(X)[0] in model.classes_.tolist()


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (RNG.normal(size=30), "Unknown label type: continuous"),
        (np.array([1, "a", 2.5] * 10, dtype=object), "mix the types 'float', 'int', 'str'"),
        (np.where(Y == 0, np.nan, Y), "10 of 30 are missing"),
        (np.array([None, "b", "c"] * 10, dtype=object), "10 of 30 are missing"),
        (Y[:-1], r"inconsistent numbers of samples: \[30, 29\]"),
        (Y + 1j, "complex numbers"),
        (None, "requires y to be passed"),
        (np.where(Y == 0, np.inf, Y), "contain infinity in 10 rows"),
    ],
    ids=["continuous", "mixed", "NaN", "None", "short", "complex", "none at all", "infinite"],
)
@pytest.mark.parametrize("model", [L(), Q(), NB, LeastSquaresClassifier(), RIDGE], ids=str)
def test_labels_that_cannot_be_used(model, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        clone(model).fit(X, labels)


@each
class TestColumns:
    def test_another_number_of_columns(self, model):
        fitted = clone(model).set_params(**({"reg_param": 0.1} if isinstance(model, Q) else {})).fit(X, Y)
        for rows in (X[:, :2], np.c_[X, X]):
            with pytest.raises(ValueError, match=rf"X has {rows.shape[1]} features, but .* is expecting 3 features"):
                fitted.predict(rows)

    def test_one_dimension_or_three(self, model):
        with pytest.raises(ValueError, match=r"Expected 2D array, got 1D array instead"):
            clone(model).fit(X[:, 0], Y)
        with pytest.raises(ValueError, match="dim"):
            clone(model).fit(X[:, :, None], Y)

    def test_text(self, model):
        with pytest.raises(ValueError, match="could not convert string to float"):
            clone(model).fit(np.array([["red"] * 3] * 30), Y)

    def test_not_fitted(self, model):
        for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            with pytest.raises(AttributeError, match="not fitted yet"):
                getattr(clone(model), method)(X)
        with pytest.raises(AttributeError, match="not fitted yet"):
            clone(model).summary()


@pytest.mark.parametrize("name", ["transform", "fisher", "covariance_", "structure_", "wilks_lambda_", "scalings_"])
def test_an_lda_that_is_not_fitted_has_nothing_to_show(name):
    model = L(store_covariance=True)
    with pytest.raises(AttributeError):
        getattr(model, name)(X) if name == "transform" else getattr(model, name)()


class TestFisher:
    def test_a_class_of_one_row(self):
        found = L().fit(X, (np.arange(30) == 0).astype(int)).fisher()
        low, high = found.means
        variance = (X[1:] @ found.direction).var() * 29 / 28  # that of the other class is the pooled one
        assert_allclose(found.variances, [variance, variance], rtol=1e-12)
        assert_allclose(found.threshold, (low + high) / 2 + variance * np.log(29) / (high - low), rtol=1e-10)

    def test_an_offset_moves_the_threshold_and_nothing_else(self):
        labels = Y > 0
        near, far = (L().fit(X + offset, labels).fisher() for offset in (0.0, 1e8))
        moved = far.threshold - 1e8 * far.direction.sum()
        assert_allclose(moved, near.threshold, atol=1e-6)

    def test_equal_means_have_no_direction(self):
        with pytest.raises(DataError, match="means of the two classes are equal"):
            L().fit(np.vstack([X, X]), np.repeat([0, 1], 30)).fisher()

    def test_classes_without_any_variance(self):
        rows = np.array([[0.0], [0.0], [1.0], [1.0]])
        with pytest.raises(DataError, match="no variance within the classes where"):
            L().fit(rows, [0, 0, 1, 1]).fisher()

    def test_one_class_of_the_two_has_no_variance(self):
        rows = np.array([[0.0], [0.0], [1.0], [2.0]])
        found = L().fit(rows, [0, 0, 1, 1]).fisher()
        assert 0.0 < found.threshold < 1.5


def test_a_singular_class_names_the_column_that_is_constant_in_it_whatever_the_other_columns_scales():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 6)) * [1e-3, 1.0, 1e3, 1e2, 1e-2, 10.0], np.arange(400) % 2
    X[y == 1, 4] = 0.0
    with pytest.raises(SingularClassError, match=r"class 1 is not full rank. Within this class the columns 'x4' are"):
        QuadraticDiscriminantAnalysis().fit(X, y)
    X[y == 1, 4] = X[y == 1, 0] * 3 - X[y == 1, 2]
    with pytest.raises(SingularClassError, match=r"the columns '(x0|x2|x4)' are constant or determined by the others"):
        QuadraticDiscriminantAnalysis().fit(X, y)


@pytest.mark.parametrize("model", [L(), Q()], ids=str)
def test_a_covariance_that_was_not_asked_for_says_how_to_get_it(model):
    fitted = clone(model).fit(X, Y)
    with pytest.raises(AttributeError, match="covariance_ is only available with store_covariance=True"):
        _ = fitted.covariance_
    assert np.shape(clone(model).set_params(store_covariance=True).fit(X, Y).covariance_)[-2:] == (3, 3)


@pytest.mark.parametrize("model", [L(), NB, LogisticRegression()])
def test_a_subclass_may_do_without_the_number_of_columns(model):
    class Bare(type(model)):
        def fit(self, X, y):
            super().fit(X, y)
            del self.n_features_in_
            return self

    X = np.random.default_rng(1).normal(size=(40, 3))
    y = X[:, 0] > 0
    assert_array_equal(Bare().fit(X, y).predict(X), type(model)().fit(X, y).predict(X))
