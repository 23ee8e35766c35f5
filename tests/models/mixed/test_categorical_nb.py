"""Naive Bayes for categories: scikit-learn's answers on numbered ones, and text, unknown levels and parts besides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import naive_bayes
from sklearn.preprocessing import OrdinalEncoder

from discrim import CategoricalNB, cross_validate, datasets, merge, scan
from discrim.errors import DataError, ForgetError, ParameterError
from discrim.statistics import ClassCounts

pd = pytest.importorskip("pandas")


def numbered(seed=0, n=200, p=4, levels=5, classes=3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, levels, (n, p)), rng.integers(0, classes, n), rng.integers(1, 5, n) / 2.0


@pytest.fixture
def towns():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "town": rng.choice(["Bern", "Genf", "Wil"], 300),
            "colour": pd.Categorical(rng.choice(["red", "blue"], 300)),
            "grade": rng.integers(0, 6, 300),
        }
    )
    return frame, np.where(rng.random(300) < 0.4 + 0.3 * (frame["town"] == "Wil"), "yes", "no")


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**16), alpha=st.sampled_from([1.0, 0.1, 1e-3, "vector"]), weighted=st.booleans(),
    fit_prior=st.booleans(), least=st.sampled_from([None, 3, 9]),
)  # fmt: skip
def test_numbered_categories_give_the_attributes_and_answers_of_scikit_learn(seed, alpha, weighted, fit_prior, least):
    X, y, weight = numbered(seed)
    options = {"alpha": [0.5, 1.0, 2.0, 3.0] if alpha == "vector" else alpha, "fit_prior": fit_prior}
    options |= {"min_categories": least}
    ours = CategoricalNB(**options).fit(X, y, weight if weighted else None)
    per_column = isinstance(options["alpha"], list)
    theirs = naive_bayes.CategoricalNB(**{**options, "alpha": 1.0 if per_column else alpha})
    theirs.fit(X, y, weight if weighted else None)
    assert_array_equal(ours.n_categories_, theirs.n_categories_)
    for found, expected in zip(ours.category_count_, theirs.category_count_, strict=True):
        assert_allclose(found, expected, rtol=1e-12)
    assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, rtol=1e-12)
    assert_allclose(ours.class_count_, theirs.class_count_)
    if per_column:
        # scikit-learn takes one alpha for all columns: by hand instead.
        for j, a in enumerate(options["alpha"]):
            smoothed = theirs.category_count_[j] + a
            expected = np.log(smoothed / smoothed.sum(axis=1, keepdims=True))
            assert_allclose(ours.feature_log_prob_[j], expected, rtol=1e-12)
        return
    for found, expected in zip(ours.feature_log_prob_, theirs.feature_log_prob_, strict=True):
        assert_allclose(found, expected, rtol=1e-12)
    joint = theirs.predict_joint_log_proba(X)
    assert_allclose(ours.predict_joint_log_proba(X), joint, rtol=1e-12)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)
    # Rows that two classes fit equally well but for rounding may go to either.
    decided = np.diff(np.sort(joint, axis=1)[:, -2:])[:, 0] > 1e-10
    assert_array_equal(ours.predict(X)[decided], theirs.predict(X)[decided])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_dtype_and_memory_order_is_read(dtype, order):
    X, y, _ = numbered(levels=2)
    expected = CategoricalNB().fit(X, y).predict_proba(X)
    given = np.asarray(X.astype(dtype), order=order)
    assert_array_equal(CategoricalNB().fit(given, y).predict_proba(given), expected)
    assert_array_equal(CategoricalNB().fit(given[::-1], y[::-1]).predict_proba(X), expected)


def test_text_and_categories_are_what_an_ordinal_encoder_would_make_of_them(towns):
    frame, y = towns
    codes = OrdinalEncoder().fit_transform(frame).astype(int)
    expected = naive_bayes.CategoricalNB().fit(codes, y)
    model = CategoricalNB().fit(frame, y)
    assert_allclose(model.predict_proba(frame), expected.predict_proba(codes), rtol=1e-10)
    assert model.categories_[0].tolist() == ["Bern", "Genf", "Wil"]
    assert_array_equal(model.feature_names_in_, frame.columns)


def test_a_level_that_was_never_met_gets_the_mass_of_the_prior(towns):
    frame, y = towns
    model = CategoricalNB(alpha=0.5).fit(frame, y)
    strange = frame.iloc[:1].assign(town="Zug")
    known = model.contributions(frame.iloc[:1])[0]
    found = model.contributions(strange)[0]
    n = np.array([(y == "no").sum(), (y == "yes").sum()])
    assert_allclose(np.exp(found[:, 0]), 0.5 / (n + 1.5), rtol=1e-12)
    assert_allclose(found[:, 1:], known[:, 1:])
    X, y, _ = numbered()
    far = CategoricalNB().fit(X, y).predict_proba([[0, 1, 2, 99], [7, 1, 2, 4]])
    assert_allclose(far.sum(axis=1), 1.0)


def test_without_a_prior_a_level_that_was_never_met_says_nothing():
    X, y = np.array([[0, 0], [1, 1], [0, 1]]), np.array([0, 1, 1])
    model = CategoricalNB(alpha=0.0).fit(X, y)
    assert_allclose(model.predict_proba([[5, 5]]), [[1 / 3, 2 / 3]])
    assert_allclose(model.predict_proba([[0, 0]]), [[1.0, 0.0]])
    # What no class can have says nothing either.
    assert_allclose(model.predict_proba([[1, 0]]), [[1 / 3, 2 / 3]])


def test_alpha_chosen_by_leaving_one_out_is_kept_for_each_column():
    X, y, _ = numbered(levels=9)
    X[:, 0] = y
    model = CategoricalNB(alpha="loo").fit(X, y)
    # A column that is the class itself needs no prior; noise needs as much of it as there is.
    assert model.alpha_[0] == pytest.approx(1e-3)
    assert (model.alpha_[1:] > 1).all()
    again = CategoricalNB(alpha=model.alpha_).fit(X, y)
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


class TestParts:
    @pytest.mark.parametrize("sizes", [[100], [1, 150], [40, 80, 120, 160]])
    def test_any_parts_are_one_fit_with_classes_and_levels_that_come_later(self, sizes):
        X, y, weight = numbered()
        order = np.argsort(y + X[:, 0])
        X, y, weight = X[order], y[order], weight[order]
        model = CategoricalNB()
        for i in np.split(np.arange(len(y)), sizes):
            model.partial_fit(X[i], y[i], sample_weight=weight[i])
        whole = CategoricalNB().fit(X, y, weight)
        assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
        assert_array_equal(model.n_categories_, whole.n_categories_)

    def test_forgetting_is_never_having_seen_the_level_and_the_class(self):
        X, y, weight = numbered()
        gone = (X[:, 1] == 4) | (y == 2)
        model = CategoricalNB().fit(X, y, weight).forget(X[gone], y[gone], weight[gone])
        rest = CategoricalNB().fit(X[~gone], y[~gone], weight[~gone])
        assert_array_equal(model.classes_, [0, 1])
        assert model.n_categories_[1] == 4
        assert_allclose(model.predict_proba(X), rest.predict_proba(X), rtol=1e-12)
        with pytest.raises(ForgetError):
            rest.forget(X[gone], y[gone], weight[gone])

    @pytest.mark.filterwarnings("ignore:X has feature names")
    def test_merging_and_the_statistic_alone(self, towns):
        frame, y = towns
        whole = CategoricalNB().fit(frame, y)
        parts = [CategoricalNB().fit(frame[i::3], y[i::3]) for i in range(3)]
        assert_allclose(merge(*parts).predict_proba(frame), whole.predict_proba(frame), rtol=1e-12)
        stored = ClassCounts.from_bytes(whole.statistic_.to_bytes())
        assert_array_equal(CategoricalNB.from_statistic(stored).predict_proba(frame), whole.predict_proba(frame))
        with pytest.raises(DataError, match="needs counts of levels"):
            CategoricalNB.from_statistic(ClassCounts(np.array([0]), np.ones(1), np.ones(1, int), np.ones((1, 2))))

    def test_declared_classes_wait(self):
        X, y, _ = numbered(classes=2)
        model = CategoricalNB().partial_fit(X, y, classes=[0, 1, 2])
        assert_allclose(model.predict_proba(X)[:, 2], 0.0)
        with pytest.raises(DataError, match="do not exist in the initial classes"):
            model.partial_fit(X, y + 5)


def test_a_file_is_a_frame(towns, tmp_path):
    frame, y = towns
    frame.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    rows = scan(tmp_path / "rows.parquet", target="y", batch_rows=37)
    model, expected = CategoricalNB().fit(rows), CategoricalNB().fit(frame, y)
    assert_allclose(model.predict_proba(rows), expected.predict_proba(frame), rtol=1e-12)
    assert_array_equal(model.predict(frame), expected.predict(frame))


@pytest.mark.parametrize("cv", [5, "loo"])
def test_cross_validation_merges_counts_and_equals_refitting(towns, cv):
    frame, y = towns
    frame, y = frame[:60].copy(), y[:60]
    frame.loc[7, "town"] = "Zug"
    result = cross_validate(CategoricalNB(), frame, y, cv=cv)
    assert result.route == "statistics"
    for i in range(0, 60, 13):
        train = result.folds != result.folds[i]
        expected = CategoricalNB().fit(frame[train], y[train]).predict_proba(frame[i : i + 1])
        assert_allclose(result.posterior[i], expected[0], rtol=1e-10)


class TestErrors:
    def test_missing_values_infinity_and_negative_numbers_are_named(self):
        y = [0, 1]
        with pytest.raises(DataError, match=r"contains NaN: column 'x1' has missing values.*MixedNB"):
            CategoricalNB().fit(np.array([[0.0, np.nan], [1.0, 1.0]]), y)
        with pytest.raises(DataError, match="contains infinity: column 'x0'"):
            CategoricalNB().fit(np.array([[0.0, 1.0], [np.inf, 1.0]]), y)
        with pytest.raises(DataError, match=r"Negative values in data passed to CategoricalNB \(input X\): column 'b'"):
            CategoricalNB().fit(pd.DataFrame({"a": [0, 1], "b": [0, -2]}), y)
        with pytest.raises(DataError, match=r"'x0' holds 1000000000\. Number its categories"):
            CategoricalNB().fit(np.array([[10**9], [0]]), y)
        with pytest.raises(DataError, match=r"'x0' holds 1e\+300\. Number its categories"):
            CategoricalNB().fit(np.array([[1e300], [0.0]]), y)
        with pytest.raises(DataError, match="'town' has missing values"):
            CategoricalNB().fit(pd.DataFrame({"town": ["Wil", None]}), y)

    def test_a_column_that_changes_between_text_and_numbers_is_named(self, towns):
        frame, y = towns
        model = CategoricalNB().fit(frame, y)
        with pytest.raises(DataError, match="'town' held text when the model was fitted and holds numbers now"):
            model.predict(frame.assign(town=3))
        with pytest.raises(DataError, match="'town' held text"):
            model.partial_fit(frame.assign(town=3), y)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"alpha": -1.0}, "'alpha' parameter is -1"),
            ({"alpha": "cv"}, "'alpha' parameter is 'cv'"),
            ({"alpha": [1.0, 2.0]}, "Got 2 elements instead of 4"),
            ({"alpha": [1.0, 2.0, 3.0, -1.0]}, "All values in alpha must be greater than 0"),
            ({"min_categories": 2.5}, "'min_categories' should have integral type. Got float64"),
            ({"min_categories": [1, 2]}, r"'min_categories' should have shape \(4,\)"),
            ({"class_prior": [0.5, 0.5]}, "Number of priors must match number of classes"),
        ],
    )
    def test_parameters_that_cannot_be_used_are_named(self, options, message):
        X, y, _ = numbered()
        with pytest.raises(ParameterError, match=message):
            CategoricalNB(**options).fit(X, y)


def test_what_scikit_learns_own_test_says_besides():
    """Its test_categoricalnb goes on after a fit that failed, with the model of the fit before."""
    X, y = np.array([[1, 4], [2, 5]]), np.array([1, 2])
    model = CategoricalNB(alpha=1, fit_prior=False).fit(X, y)
    assert model.n_categories_.tolist() == [3, 6]
    assert_allclose(model.predict_proba([[2, 5]]), [[1 / 5, 4 / 5]])
    X, y = np.array([[0, 0], [0, 1], [0, 0], [1, 1]]), np.array([1, 1, 2, 2])
    assert CategoricalNB(fit_prior=False).fit(X, y).predict([[0, 0]]).tolist() == [1]
    for factor in [1.0, 0.3, 5, 0.0001]:
        model = CategoricalNB(fit_prior=False).fit(X, y, np.array([1, 1, 10, 0.1]) * factor)
        assert model.predict([[0, 0]]).tolist() == [2]


def test_the_summary_puts_the_informative_column_first(towns):
    frame, y = towns
    summary = CategoricalNB().fit(frame, y).summary()
    text = str(summary)
    assert text.startswith("Categorical naive Bayes")
    assert max(map(len, text.splitlines())) <= 80
    assert summary.to_frame().index[0] == "town"
    assert summary.information.argmax() == 0


def test_iris_cut_into_thirds():
    X, y = datasets.load_iris().xy
    thirds = np.stack([np.digitize(x, np.quantile(x, [1 / 3, 2 / 3])) for x in X.T], axis=1)
    expected = naive_bayes.CategoricalNB().fit(thirds, y)
    assert_allclose(CategoricalNB().fit(thirds, y).predict_proba(thirds), expected.predict_proba(thirds), rtol=1e-10)
