"""Whatever holds the rows, the model is the same; and the models live in scikit-learn's pipelines and searches."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
    datasets,
    merge,
    scan,
)
from discrim.errors import DataError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

KINDS = [
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    BayesianLinearDiscriminantAnalysis,
    GaussianNB,
    LeastSquaresClassifier,
    RidgeClassifier,
]


def made(kind):
    """With every method, so that one test asks all of them alike."""
    return kind(methods="all") if "methods" in kind().get_params() else kind()


each_kind = pytest.mark.parametrize("kind", KINDS)
NAMES = ["first", "second", "third"]
# Small integers, so that every container holds them exactly, zeros among them.
X = np.random.default_rng(0).integers(-3, 4, size=(60, 3)).astype(float)
Y = np.arange(60) % 3
WORDS = np.array(["no", "so", "yes"])[Y]


def strided(x):
    wide = np.full((2 * len(x), 2 * x.shape[1]), np.nan)
    wide[::2, ::2] = x
    return wide[::2, ::2]


CONTAINERS = {
    "list": lambda x: x.tolist(),
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "reversed": lambda x: x[::-1].copy()[::-1],
    "float32": lambda x: x.astype(np.float32),
    "int64": lambda x: x.astype(np.int64),
    "int8": lambda x: x.astype(np.int8),
    "float16": lambda x: x.astype(np.float16),
    "objects": lambda x: x.astype(object),
    "read only": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "pandas": lambda x: pd.DataFrame(x, columns=NAMES),
    "pandas nullable": lambda x: pd.DataFrame(x, columns=NAMES).astype("Int64"),
    "pandas arrow": lambda x: pd.DataFrame(x, columns=NAMES).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda x: pl.DataFrame(x, schema=NAMES),
    "arrow": lambda x: pa.table(dict(zip(NAMES, x.T, strict=True))),
}


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@each_kind
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_model(kind, container):
    rows = CONTAINERS[container](X)
    found, expected = made(kind).fit(rows, WORDS), made(kind).fit(X, WORDS)
    tolerance = 1e-5 if container == "float32" else 1e-12
    assert_allclose(found.predict_proba(rows), expected.predict_proba(X), atol=tolerance)
    assert_array_equal(found.predict(rows), expected.predict(X))
    assert found.n_features_in_ == 3
    for name in ("coef_", "intercept_", "means_", "theta_", "scalings_"):
        if name in vars(expected):
            assert_allclose(getattr(found, name), getattr(expected, name), atol=tolerance * 10)
    named = container.startswith(("pandas", "polars", "arrow"))
    assert getattr(found, "feature_names_in_", np.array([])).tolist() == (NAMES if named else [])


@each_kind
@pytest.mark.parametrize("container", CONTAINERS)
def test_parts_may_come_in_any_container(kind, container):
    put = CONTAINERS[container]
    found = made(kind).partial_fit(put(X[:20]), Y[:20]).partial_fit(put(X[20:]), Y[20:])
    tolerance = 1e-5 if container == "float32" else 1e-12
    assert_allclose(found.predict_proba(put(X)), made(kind).fit(X, Y).predict_proba(X), atol=tolerance)


def test_rows_are_not_changed():
    before = X.copy()
    for kind in KINDS:
        made(kind).fit(X, Y, sample_weight=np.ones(60)).predict_proba(X)
    assert_array_equal(X, before)


class TestScan:
    @pytest.fixture(params=["parquet", "csv", "lazy"])
    def source(self, request, tmp_path):
        frame = pl.DataFrame(X, schema=NAMES).with_columns(pl.Series("label", WORDS), pl.Series("w", 1.0 + Y))
        if request.param == "lazy":
            return frame.lazy()
        path = tmp_path / f"rows.{request.param}"
        (frame.write_parquet if request.param == "parquet" else frame.write_csv)(path)
        return path

    @each_kind
    def test_a_file_gives_the_same_model(self, kind, source):
        rows = scan(source, target="label", features=NAMES)
        found, expected = made(kind).fit(rows), made(kind).fit(X, WORDS)
        assert_allclose(found.predict_proba(X_named()), expected.predict_proba(X), atol=1e-12)
        assert_array_equal(found.predict(rows), expected.predict(X))
        assert_allclose(found.predict_proba(scan(source, features=NAMES)), expected.predict_proba(X), atol=1e-12)
        assert found.feature_names_in_.tolist() == NAMES

    @each_kind
    def test_weights_are_a_column(self, kind, source):
        found = made(kind).fit(scan(source, target="label", features=NAMES, weight="w"))
        expected = made(kind).fit(X, WORDS, sample_weight=1.0 + Y)
        assert_allclose(found.predict_proba(X_named()), expected.predict_proba(X), atol=1e-12)

    @each_kind
    def test_parts_and_forgetting(self, kind, source):
        rows = scan(source, target="label", features=NAMES)
        found = made(kind).fit(rows).partial_fit(rows).forget(rows)
        assert_allclose(found.predict_proba(X_named()), made(kind).fit(X, WORDS).predict_proba(X), atol=1e-10)

    @pytest.mark.parametrize("shrinkage", ["auto", "ledoit-wolf", "oas", "cv"])
    def test_shrinkage_that_reads_twice(self, shrinkage, source):
        rows = scan(source, target="label", features=NAMES)
        found = LinearDiscriminantAnalysis(shrinkage=shrinkage, cv=3).fit(rows)
        expected = LinearDiscriminantAnalysis(shrinkage=shrinkage, cv=3).fit(X, WORDS)
        assert_allclose(found.predict_proba(X_named()), expected.predict_proba(X), atol=1e-10)

    def test_fishers_threshold_of_two_classes(self, tmp_path):
        """A scan does not know its classes beforehand, and still remembers two of them one by one."""
        label = Y > 0
        path = tmp_path / "two.parquet"
        pl.DataFrame(X, schema=NAMES).with_columns(pl.Series("label", label)).write_parquet(path)
        found = LinearDiscriminantAnalysis().fit(scan(path, target="label", features=NAMES)).fisher()
        expected = LinearDiscriminantAnalysis().fit(X, label).fisher()
        assert found.threshold == pytest.approx(expected.threshold, rel=1e-12)
        assert found.variances == pytest.approx(expected.variances, rel=1e-12)

    def test_a_scan_without_a_target_cannot_teach(self, source):
        with pytest.raises(DataError, match="names no target"):
            LinearDiscriminantAnalysis().fit(scan(source, features=NAMES))

    def test_labels_beside_a_scan_are_one_too_many(self, source):
        with pytest.raises(DataError, match="brings its own labels"):
            LinearDiscriminantAnalysis().fit(scan(source, target="label", features=NAMES), Y)


def X_named():
    return pd.DataFrame(X, columns=NAMES)


class TestCategories:
    colour = np.array(["red", "green", "blue"])[np.arange(60) % 7 % 3]
    frame = pd.DataFrame({"size": X[:, 0], "colour": colour, "age": X[:, 1]})
    coded = np.column_stack([X[:, 0], colour == "green", colour == "red", X[:, 1]]).astype(float)

    @each_kind
    def test_they_are_treatment_coded(self, kind):
        extra = {"reg_param": 0.1} if kind is QuadraticDiscriminantAnalysis else {}
        expected = made(kind).set_params(**extra).fit(self.coded, Y).predict_proba(self.coded)
        for table in (self.frame, self.frame.astype({"colour": "category"}), pl.from_pandas(self.frame)):
            model = made(kind).set_params(**extra).fit(table, Y)
            assert_allclose(model.predict_proba(table), expected, atol=1e-12)
            assert model.n_features_in_ == 3

    @each_kind
    def test_the_summary_names_the_levels(self, kind):
        extra = {"reg_param": 0.1} if kind is QuadraticDiscriminantAnalysis else {}
        text = str(kind(**extra).fit(self.frame, Y).summary())
        assert "colour[green]" in text
        assert "colour[red]" in text
        assert "colour[blue]" not in text

    def test_parts_keep_the_coding(self):
        model = LinearDiscriminantAnalysis().partial_fit(self.frame[:30], Y[:30])
        model.partial_fit(self.frame[30:], Y[30:])
        expected = LinearDiscriminantAnalysis().fit(self.frame, Y)
        assert_allclose(model.predict_proba(self.frame), expected.predict_proba(self.frame), atol=1e-12)

    def test_merging_needs_the_same_levels(self):
        sites = [LinearDiscriminantAnalysis().fit(self.frame[part], Y[part]) for part in (slice(0, 30), slice(30, 60))]
        expected = LinearDiscriminantAnalysis().fit(self.frame, Y)
        assert_allclose(merge(*sites).predict_proba(self.frame), expected.predict_proba(self.frame), atol=1e-12)
        less = self.frame[self.frame["colour"] != "red"]
        other = LinearDiscriminantAnalysis().fit(less, Y[less.index])
        with pytest.raises(DataError, match="different columns"):
            merge(sites[0], other)

    def test_a_new_level_or_kind_is_an_error_that_names_it(self):
        model = LinearDiscriminantAnalysis().fit(self.frame, Y)
        with pytest.raises(DataError, match="Column 'colour' holds 1 level that the model has not seen: 'mauve'"):
            model.predict(self.frame.assign(colour="mauve"))
        with pytest.raises(DataError, match=r"Column 'colour' was categorical .* and is numeric now"):
            model.predict(self.frame.assign(colour=1.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(DataError, match="Pass a table with these columns, not an array"):
                model.predict(self.coded[:, :3])


class TestScikitLearn:
    frame = pd.DataFrame(X, columns=NAMES)

    def test_transform_gives_a_frame_when_asked(self):
        model = LinearDiscriminantAnalysis().set_output(transform="pandas").fit(self.frame, WORDS)
        z = model.transform(self.frame)
        assert list(z.columns) == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
        plain = LinearDiscriminantAnalysis().fit(X, WORDS)
        assert_allclose(z.to_numpy(), plain.transform(X), atol=1e-12)
        assert_array_equal(model.get_feature_names_out(), z.columns)
        assert_allclose(plain.fit_transform(X, WORDS), plain.transform(X))

    @each_kind
    def test_names_are_checked(self, kind):
        model = made(kind).fit(self.frame, Y)
        assert model.feature_names_in_.tolist() == NAMES
        with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
            model.predict(self.frame[["third", "second", "first"]])
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(self.frame.rename(columns={"first": "other"}))
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            assert_array_equal(model.predict(X), model.predict(self.frame))
        assert not hasattr(model.fit(X, Y), "feature_names_in_")

    @each_kind
    def test_a_pickle_and_a_clone(self, kind):
        model = made(kind).fit(self.frame, WORDS)
        again = pickle.loads(pickle.dumps(model))
        assert_array_equal(again.predict_proba(self.frame), model.predict_proba(self.frame))
        again.partial_fit(self.frame, WORDS)
        assert str(again.summary())
        assert not hasattr(clone(model), "classes_")
        assert clone(model).get_params() == model.get_params()

    @each_kind
    def test_pipelines_and_searches(self, kind):
        iris = datasets.load_iris()
        data, labels = iris.xy
        pipeline = make_pipeline(make_column_transformer((StandardScaler(), slice(0, 4))), made(kind))
        assert cross_val_score(pipeline, data, labels, cv=5).mean() > 0.8
        if kind is RegularizedDiscriminantAnalysis:
            grid = {"alpha": [0.0, 0.5, 1.0], "gamma": [0.5, 1.0]}
        else:
            grid = {"priors": [None, [0.2, 0.4, 0.4]]}
        search = GridSearchCV(made(kind), grid, cv=3).fit(data, labels)
        assert search.best_score_ > 0.8
        assert search.best_estimator_.predict(data[:2]).shape == (2,)

    @each_kind
    def test_weights_are_routed(self, kind):
        weight = np.random.default_rng(0).uniform(0.5, 2.0, 60)
        with sklearn.config_context(enable_metadata_routing=True):
            model = made(kind).set_fit_request(sample_weight=True)
            pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
            found = pipeline.fit(X, Y, sample_weight=weight).predict_proba(X)
        scaled = StandardScaler().fit_transform(X)
        assert_allclose(found, made(kind).fit(scaled, Y, weight).predict_proba(scaled), rtol=1e-12)

    @each_kind
    def test_the_representation_shows_what_differs_from_the_defaults(self, kind):
        assert repr(kind()) == f"{kind.__name__}()"
        assert kind()._repr_html_()
