"""Naive Bayes for mixed columns: each kind alone against the model for it, all together against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.preprocessing import OrdinalEncoder

from discrim import CategoricalNB, GaussianNB, MixedNB, datasets
from discrim.errors import DataError, ParameterError

pd = pytest.importorskip("pandas")

LIKELIHOODS = {"visits": "poisson", "calls": "gamma-poisson", "weight": "student-t", "age": "kernel"}


def people(seed=0, n=150, missing=0.15):
    """A frame with a column of every kind, some values missing; and the labels."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n)
    k = np.searchsorted(["a", "b", "c"], y)
    frame = pd.DataFrame(
        {
            "height": rng.normal(170 + 5 * k, 7),
            "weight": rng.normal(70 + k, 9),
            "age": rng.gamma(5 + k, 8),
            "visits": rng.poisson(1.0 + k).astype(float),
            "calls": rng.poisson(3.0 - k).astype(float),
            "smokes": pd.array(rng.random(n) < 0.2 + 0.2 * k, dtype="boolean"),
            "town": rng.choice(["Bern", "Genf", "Wil"], n),
        }
    )
    frame["town"] = frame["town"].where(rng.random(n) > 0.3 * (k == 2), "Olten")
    for name in frame:
        frame.loc[rng.random(n) < missing, name] = None
    return frame, y


def brute_force(frame, y, X, alpha=1.0):
    """log pi_k + the sum of SciPy's log densities over the columns that have a value."""
    scores = []
    for k in np.unique(y):
        score = np.full(len(X), np.log(np.mean(y == k)))
        for name in frame:
            likelihood = LIKELIHOODS.get(name, {"smokes": "bernoulli", "town": "categorical"}.get(name, "gaussian"))
            known = frame[name].notna()
            own, everything = frame.loc[known & (y == k), name], frame.loc[known, name]
            if likelihood != "categorical":
                own, everything = own.astype(float).to_numpy(), everything.astype(float).to_numpy()
            for i in np.flatnonzero(X[name].notna()):
                score[i] += DENSITY[likelihood](X[name].iloc[i], own, everything, alpha)
        scores.append(score)
    return np.stack(scores, axis=1)


def gaussian(x, own, everything, alpha):
    return stats.norm.logpdf(x, own.mean(), np.sqrt(own.var() + 1e-9 * everything.var()))


def student(x, own, everything, alpha):
    n, m = len(own), everything.mean()
    centre = (alpha * m + own.sum()) / (alpha + n)
    total = alpha * everything.var() + n * own.var() + alpha * n / (alpha + n) * (own.mean() - m) ** 2
    return stats.t.logpdf(x, alpha + n, centre, np.sqrt(total / (alpha + n) * (1 + 1 / (alpha + n))))


def kernel(x, own, everything, alpha):
    lo, hi = (np.quantile(own, q, method="inverted_cdf") for q in (0.25, 0.75))
    h = 0.9 * min(own.std(), (hi - lo) / 1.34) * len(own) ** -0.2
    return np.logaddexp.reduce(stats.norm.logpdf(x, own, h)) - np.log(len(own))


def poisson(x, own, everything, alpha):
    return stats.poisson.logpmf(x, (own.sum() + alpha * everything.mean()) / (len(own) + alpha))


def gamma_poisson(x, own, everything, alpha):
    rows = len(own) + alpha
    return stats.nbinom.logpmf(x, own.sum() + alpha * everything.mean(), rows / (rows + 1))


def bernoulli(x, own, everything, alpha):
    p = (own.sum() + alpha) / (len(own) + 2 * alpha)
    return np.log(p if x else 1 - p)


def categorical(x, own, everything, alpha):
    return np.log(((own == x).sum() + alpha) / (len(own) + alpha * everything.nunique()))


DENSITY = {
    "gaussian": gaussian, "student-t": student, "kernel": kernel, "poisson": poisson,
    "gamma-poisson": gamma_poisson, "bernoulli": bernoulli, "categorical": categorical,
}  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**16), missing=st.sampled_from([0.0, 0.15, 0.5]), alpha=st.sampled_from([0.3, 1.0]))
def test_all_kinds_together_are_the_sum_of_their_densities_over_the_values_that_are_there(seed, missing, alpha):
    frame, y = people(seed, missing=missing)
    X, _ = people(seed + 1, n=8, missing=missing)
    model = MixedNB(likelihoods=LIKELIHOODS, alpha=alpha).fit(frame, y)
    expected = brute_force(frame, y, X, alpha)
    known = ~(X["town"] == "Olten").to_numpy(bool) | bool((frame["town"] == "Olten").any())
    assert_allclose(model.predict_joint_log_proba(X)[known], expected[known], rtol=1e-8)


def test_gaussian_columns_are_gaussian_naive_bayes():
    X, y = datasets.load_iris().xy
    for smoothing in (1e-9, 0.0, 1e-2):
        by = "column" if smoothing < 1e-6 else "scikit-learn"
        ours = MixedNB(var_smoothing=smoothing).fit(X, y)
        plain = GaussianNB(var_smoothing=smoothing, smoothing=by).fit(X, y)
        assert_allclose(ours.predict_log_proba(X), plain.predict_log_proba(X), rtol=1e-10, atol=1e-12)
        assert_allclose(ours.predict_joint_log_proba(X), plain.predict_joint_log_proba(X), rtol=1e-10)
    assert ours.likelihoods_ == dict.fromkeys(["x0", "x1", "x2", "x3"], "gaussian")


def test_weights_units_and_offsets_are_as_in_gaussian_naive_bayes():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(90, 3)) * [1e-6, 1.0, 1e9] + 1e3, rng.integers(0, 3, 90), rng.random(90)
    X[y == 1, 1] = 7.0  # constant within a class
    X = np.column_stack([X, np.full(90, 3.0)])  # constant throughout
    ours, plain = MixedNB().fit(X, y, weight), GaussianNB(smoothing="column").fit(X, y, weight)
    assert_allclose(ours.predict_log_proba(X), plain.predict_log_proba(X), rtol=1e-7, atol=1e-9)


def test_categorical_columns_are_the_categorical_models():
    frame, y = people(missing=0.0)
    frame = frame[["town", "visits"]].assign(colour=np.where(frame["age"] > 40, "red", "blue"))
    ours = MixedNB(likelihoods={"visits": "categorical"}).fit(frame, y)
    codes = OrdinalEncoder().fit_transform(frame).astype(int)
    expected = naive_bayes.CategoricalNB().fit(codes, y)
    assert_allclose(ours.predict_proba(frame), expected.predict_proba(codes), rtol=1e-10)
    text = frame[["town", "colour"]]
    alike = CategoricalNB(alpha=0.3).fit(text, y)
    assert_allclose(MixedNB(alpha=0.3).fit(text, y).predict_proba(text), alike.predict_proba(text), rtol=1e-12)


def test_columns_of_zeros_and_ones_are_bernoulli_naive_bayes():
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 5)) < 0.3, rng.integers(0, 3, 80)
    expected = naive_bayes.BernoulliNB(alpha=0.7).fit(X, y)
    model = MixedNB(alpha=0.7).fit(X, y)
    assert set(model.likelihoods_.values()) == {"bernoulli"}
    assert_allclose(model.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-10)
    numbers = MixedNB(alpha=0.7, likelihoods=dict.fromkeys(range(5), "bernoulli")).fit(X.astype(int), y)
    assert_allclose(numbers.predict_log_proba(X * 1.0), expected.predict_log_proba(X), rtol=1e-10)


class TestMissing:
    def test_a_row_without_any_value_gets_the_priors(self):
        frame, y = people()
        model = MixedNB(likelihoods=LIKELIHOODS).fit(frame, y)
        empty = pd.DataFrame([dict.fromkeys(frame.columns)])
        assert_allclose(model.predict_proba(empty)[0], [np.mean(y == k) for k in "abc"], rtol=1e-12)

    def test_a_class_in_which_a_column_was_never_seen_has_what_all_rows_have(self):
        X = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 7.0], [4.0, np.nan], [6.0, 6.5]])
        y = np.array([0, 1, 0, 1, 0])
        seen = MixedNB().fit(X, y).contributions([[1.0, 6.0]])[0]
        known = X[~np.isnan(X[:, 1]), 1]
        assert_allclose(seen[1, 1], stats.norm.logpdf(6.0, known.mean(), known.std()), rtol=1e-6)
        for likelihood in ("student-t", "kernel", "poisson", "gamma-poisson", "categorical"):
            model = MixedNB(likelihoods={1: likelihood}).fit(np.floor(X), y)
            assert np.isfinite(model.contributions([[1.0, 6.0], [2.0, 9.0]])).all()

    def test_a_column_without_any_value_is_an_error_that_names_it(self):
        with pytest.raises(DataError, match=r"Column 'x1' has no value in any row\. Leave it out"):
            MixedNB().fit(np.array([[1.0, np.nan], [2.0, np.nan]]), [0, 1])
        with pytest.raises(DataError, match="Column 'b' has no value in any row"):
            MixedNB().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [None, None]}), [0, 1])
        # In a part it may be: the others may have values.
        model = MixedNB().partial_fit(np.array([[1.0, np.nan], [2.0, np.nan]]), [0, 1])
        with pytest.raises(DataError, match="'x1' has no value"):
            model.predict([[1.0, 1.0]])
        model.partial_fit(np.array([[1.0, 3.0], [2.0, 4.0]]), [0, 1])
        assert model.predict([[1.0, 3.0]]).tolist() == [0]

    def test_infinity_is_an_error_that_names_the_column(self):
        frame, y = people()
        model = MixedNB().fit(frame, y)
        frame.loc[3, "age"] = np.inf
        for call in (model.predict, model.contributions, lambda X: clone(model).fit(X, y)):
            with pytest.raises(DataError, match="contains infinity: column 'age' has 1 infinite"):
                call(frame)
        with pytest.raises(DataError, match="contains infinity: column 'visits' must hold categories"):
            MixedNB(likelihoods={"visits": "categorical"}).fit(frame.assign(visits=np.inf), y)
        with pytest.raises(DataError, match="too large to be squared"):
            MixedNB().fit([[0.0], [1.0]], [0, 1]).predict([[1e200]])


def test_an_unknown_level_gets_the_mass_of_the_prior():
    frame, y = people(missing=0.0)
    model = MixedNB(alpha=0.5).fit(frame[["town"]], y)
    found = np.exp(model.contributions(pd.DataFrame({"town": ["Zug"]}))[0, :, 0])
    n = np.array([(y == k).sum() for k in "abc"])
    assert_allclose(found, 0.5 / (n + 0.5 * frame["town"].nunique()), rtol=1e-12)


def test_contributions_are_the_terms_of_an_additive_model():
    frame, y = people()
    model = MixedNB(likelihoods=LIKELIHOODS).fit(frame, y)
    terms = model.contributions(frame)
    assert terms.shape == (len(frame), 3, 7)
    assert_allclose(terms.sum(axis=2) + model.class_log_prior_, model.predict_joint_log_proba(frame), rtol=1e-10)
    assert (terms[frame["town"].isna(), :, 6] == 0).all()
    assert_allclose(np.exp(model.predict_log_proba(frame)), model.predict_proba(frame), rtol=1e-10)
    two = y != "c"
    model.fit(frame[two], y[two])
    odds = model.predict_log_proba(frame)[:, 1] - model.predict_log_proba(frame)[:, 0]
    assert_allclose(model.decision_function(frame), odds, rtol=1e-8, atol=1e-10)


def test_priors_given_fitted_or_equal():
    frame, y = people()
    fitted, equal = MixedNB().fit(frame, y), MixedNB(fit_prior=False).fit(frame, y)
    given_ones = MixedNB(class_prior=[0.2, 0.3, 0.5]).fit(frame, y)
    assert_allclose(np.exp(fitted.class_log_prior_), [np.mean(y == k) for k in "abc"])
    assert_allclose(np.exp(equal.class_log_prior_), 1 / 3)
    assert_allclose(np.exp(given_ones.class_log_prior_), [0.2, 0.3, 0.5])
    shift = given_ones.predict_joint_log_proba(frame) - fitted.predict_joint_log_proba(frame)
    assert_allclose(shift, np.tile(given_ones.class_log_prior_ - fitted.class_log_prior_, (len(frame), 1)), atol=1e-9)


class TestErrors:
    @pytest.mark.parametrize(
        ("likelihoods", "message"),
        [
            ({"heigth": "kernel"}, "names 'heigth', but X has no such column: 'height'"),
            ({9: "kernel"}, "names 9, but X has no such column"),
            ({"height": "normal"}, "likelihood of column 'height' is 'normal'; it must be one of 'gaussian'"),
            ({"town": "gaussian"}, "Column 'town' holds text: its likelihood is 'categorical', not 'gaussian'"),
            (["gaussian"], "'likelihoods' parameter is"),
        ],
    )
    def test_likelihoods_that_cannot_be(self, likelihoods, message):
        frame, y = people()
        with pytest.raises(ParameterError, match=message):
            MixedNB(likelihoods=likelihoods).fit(frame, y)

    def test_values_that_a_likelihood_cannot_take_are_named(self):
        frame, y = people()
        with pytest.raises(DataError, match=r"'visits' holds .*, but the likelihood 'bernoulli' needs only 0 and 1"):
            MixedNB(likelihoods={"visits": "bernoulli"}).fit(frame, y)
        with pytest.raises(
            DataError, match=r"'height' holds .*likelihood 'poisson' needs counts 0, 1, 2 and so on\. .*'gaussian'"
        ):
            MixedNB(likelihoods={"height": "poisson"}).fit(frame, y)
        model = MixedNB(likelihoods=LIKELIHOODS).fit(frame, y)
        with pytest.raises(DataError, match="'visits' holds -1"):
            model.predict(frame.assign(visits=-1.0))

    def test_an_array_of_text_must_become_a_frame(self):
        with pytest.raises(DataError, match=r"X is an array that holds text .* Put it into a data frame"):
            MixedNB().fit(np.array([["a", 1.0], ["b", 2.0]], dtype=object), [0, 1])

    def test_columns_that_change_their_type_are_named(self):
        frame, y = people()
        model = MixedNB().fit(frame, y)
        with pytest.raises(DataError, match="'town' held text when the model was fitted and holds numbers now"):
            model.predict(frame.assign(town=1.0))
        with pytest.raises(DataError, match="'height' was numeric when the model was fitted and is text now"):
            model.predict(frame.assign(height="tall"))


def test_the_summary_shows_each_column_and_puts_the_informative_ones_first():
    frame, y = people(n=2000)
    model = MixedNB(likelihoods=LIKELIHOODS).fit(frame.assign(sure=np.where(y == "a", "yes", "no")), y)
    summary = model.summary()
    text = str(summary)
    assert max(map(len, text.splitlines())) <= 80
    table = summary.to_frame()
    assert table.index[0] == "sure"
    assert (np.diff(table["bits"]) <= 0).all()
    assert table.loc["visits", "likelihood"] == "poisson"
    assert table.loc["sure", "missing"] == "0.0%"
    share = np.array([np.mean(y == k) for k in "abc"])
    expected = -(share[0] * np.log2(share[0]) + (1 - share[0]) * np.log2(1 - share[0]))
    assert_allclose(summary.information[7], expected, rtol=0.02)
    assert "Entropy of the class:" in text


def test_deliberate_smoothing_looks_at_gaussian_columns_only():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.normal(size=60), rng.poisson(900, 60)]), rng.integers(0, 2, 60)
    both = MixedNB(likelihoods={1: "poisson"}, var_smoothing=0.1).fit(X, y)
    alone = MixedNB(var_smoothing=0.1).fit(X[:, :1], y)
    assert_array_equal(both.contributions(X)[:, :, 0], alone.contributions(X[:, :1])[:, :, 0])
