"""Predictions with intervals, marginal effects and linear hypotheses of logistic regression."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, softmax

from discrim import LogisticRegression, scan
from discrim.errors import ParameterError

sm = pytest.importorskip("statsmodels.api", reason="statsmodels is where the numbers come from")


def data(classes=2, n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 20.0, 0.1] + [0.0, 300.0, 0.0]
    eta = np.column_stack([np.zeros(n), *(X @ [0.8 * k, 0.02, -3.0] - 6.0 for k in range(1, classes))])
    return X, (eta + rng.gumbel(size=eta.shape)).argmax(axis=1), rng


def fit(X, y, weight=None, **parameters):
    return LogisticRegression(**{"C": np.inf, **parameters}).fit(X, y, weight)


@pytest.mark.parametrize("kind", ["model", "HC0"])
def test_intervals_of_probabilities_are_those_of_statsmodels(kind):
    X, y, _ = data()
    expected = sm.GLM(y, sm.add_constant(X), sm.families.Binomial()).fit(
        tol=1e-14, cov_type="nonrobust" if kind == "model" else kind
    )
    frame = expected.get_prediction(sm.add_constant(X[:20])).summary_frame(alpha=0.1)
    found = fit(X, y).predict_interval(X[:20], level=0.9, cov_type=kind)
    assert_allclose(found.probability, frame["mean"], rtol=1e-8)
    assert_allclose(found.std_error, frame["mean_se"], rtol=1e-7)
    assert_allclose(found.lower, frame["mean_ci_lower"], rtol=1e-7)
    assert_allclose(found.upper, frame["mean_ci_upper"], rtol=1e-7)
    assert list(found.to_frame().columns)[2:] == ["probability", "std_error", "lower", "upper"]
    assert len(found) == 20


def test_intervals_of_several_classes_follow_from_the_gradient():
    X, y, _ = data(3)
    model = fit(X, y, reference=1)
    found, V = model.predict_interval(X[:5]), model.vcov
    at = model.summary().coef

    def link(beta, row):
        b = beta.reshape(2, 4) @ np.append(1.0, row)
        p = softmax([b[0], 0.0, b[1]])
        return np.log(p / (1 - p))

    for i in range(5):
        steps = 1e-6 * np.sqrt(np.diag(V))
        gradient = np.array([(link(at + d, X[i]) - link(at - d, X[i])) / (2 * d.max()) for d in np.diag(steps)])
        assert_allclose(found.link[i], link(at, X[i]), rtol=1e-7)
        assert_allclose(found.link_std_error[i] ** 2, np.diag(gradient.T @ V @ gradient), rtol=1e-5)
    assert_allclose(found.probability.sum(axis=1), 1.0)
    assert ((found.lower < found.probability) & (found.probability < found.upper)).all()
    frame = found.to_frame()
    assert_allclose(frame["2:probability"], found.probability[:, 2])


def test_intervals_do_not_depend_on_the_container_the_reference_or_the_offset_of_a_column(tmp_path):
    X, y, _ = data()
    model = fit(X, y)
    plain = model.predict_interval(X)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"]).assign(y=y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    rows = scan(tmp_path / "rows.csv", target="y")
    from_scan = LogisticRegression(C=np.inf).fit(rows).predict_interval(rows)
    assert_allclose(from_scan.std_error, plain.std_error, rtol=1e-6)
    assert_allclose(fit(X, y, reference=1).predict_interval(X).std_error, plain.std_error, rtol=1e-9)
    far = X + np.array([0, 1e6, 0])
    assert_allclose(fit(far, y).predict_interval(far).std_error, plain.std_error, rtol=1e-5)


def test_intervals_with_an_offset_are_moved_by_it():
    X, y, rng = data()
    offset = rng.normal(size=len(y))
    model = LogisticRegression(C=np.inf).fit(X, y, offset=offset)
    a, b = model.predict_interval(X), model.predict_interval(X, offset=offset)
    assert_allclose(b.link - a.link, offset, atol=1e-10)
    assert_allclose(a.link_std_error, b.link_std_error)
    assert_allclose(b.probability, model.predict_proba(X, offset)[:, 1])


def test_a_column_that_others_determine_changes_no_interval():
    X, y, _ = data()
    model = fit(np.column_stack([X, X[:, 0] - X[:, 1]]), y)
    found = model.predict_interval(np.column_stack([X, X[:, 0] - X[:, 1]]))
    assert_allclose(found.std_error, fit(X, y).predict_interval(X).std_error, rtol=1e-7)


@pytest.mark.parametrize("at", ["overall", "mean"])
def test_marginal_effects_are_those_of_statsmodels(at):
    X, y, _ = data()
    expected = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14, maxiter=50).get_margeff(at=at)
    found = fit(X, y).marginal_effects(at=at)
    assert_allclose(found["dy/dx"], expected.margeff, rtol=1e-7)
    assert_allclose(found["Std. Error"], expected.margeff_se, rtol=1e-7)
    assert_allclose(found["Pr(>|z|)"], expected.pvalues, rtol=1e-6)


@pytest.mark.parametrize("at", ["overall", "mean"])
def test_marginal_effects_of_several_classes_are_those_of_statsmodels(at):
    X, y, _ = data(3)
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # statsmodels differentiates numerically
    expected = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-12, maxiter=60).get_margeff(at=at)
    for reference in (0, 2):
        found = fit(X, y, reference=reference).marginal_effects(at=at)
        assert_allclose(found["dy/dx"].reshape(3, 3).T, expected.margeff, rtol=1e-5, atol=1e-8)
        assert_allclose(found["Std. Error"].reshape(3, 3).T, expected.margeff_se, rtol=1e-4)
    effects = found["dy/dx"].reshape(3, 3)
    assert_allclose(effects.sum(axis=0), 0.0, atol=1e-12)


def test_weights_of_marginal_effects_count_rows():
    X, y, rng = data()
    counts = rng.integers(0, 4, len(y))
    a = fit(X, y, counts).marginal_effects()
    b = fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).marginal_effects()
    assert_allclose(np.asarray(a)[:, :3], np.asarray(b)[:, :3], rtol=1e-6)


def test_marginal_effects_with_an_offset_are_the_slopes_of_the_mean_probability():
    X, y, rng = data()
    offset = rng.normal(size=len(y))
    model = LogisticRegression(C=np.inf).fit(X, y, offset=offset)
    p = model.predict_proba(X, offset)[:, 1]
    assert_allclose(model.marginal_effects()["dy/dx"], model.coef_[0] * (p * (1 - p)).mean(), rtol=1e-9)
    eta = model.intercept_ + X.mean(axis=0) @ model.coef_[0] + offset.mean()
    at_mean = model.marginal_effects(at="mean")["dy/dx"]
    assert_allclose(at_mean, model.coef_[0] * expit(eta) * expit(-eta), rtol=1e-9)


@pytest.mark.parametrize("kind", ["model", "HC0"])
def test_linear_hypotheses_are_those_of_statsmodels(kind):
    X, y, _ = data()
    R = np.array([[0, 1.0, -1, 0], [0, 0, 2, 0.1]])
    fitted = sm.GLM(y, sm.add_constant(X), sm.families.Binomial()).fit(
        tol=1e-14, cov_type="nonrobust" if kind == "model" else kind
    )
    joint, single = fitted.wald_test((R, [0.1, 0.0]), scalar=True, use_f=False), fitted.t_test((R, [0.1, 0.0]))
    found = fit(X, y).wald_test(R, [0.1, 0.0], cov_type=kind)
    assert_allclose((found.statistic, found.p_value), (joint.statistic, joint.pvalue), rtol=1e-6)
    assert found.df == 2
    assert_allclose(found.contrasts["Estimate"], single.effect, rtol=1e-7)
    assert_allclose(found.contrasts["z value"], np.ravel(single.tvalue), rtol=1e-6)
    assert_allclose(found.contrasts["lower"], single.conf_int()[:, 0], rtol=1e-6)
    assert list(found.contrasts.index) == ["x0 - x1", "2 x1 + 0.1 x2"]


def test_hypotheses_are_named_by_coefficients_and_repetitions_do_not_count():
    X, y, _ = data()
    model = fit(X, y)
    whole = model.wald_test(["x0", "x1", "x2"])
    again = model.wald_test(["x0", "x1", {"x0": 1, "x1": -2}, "x2"])
    assert (whole.df, again.df) == (3, 3)
    assert_allclose(again.statistic, whole.statistic, rtol=1e-9)
    one = model.wald_test("x1")
    assert_allclose(one.statistic, model.summary().statistic[2] ** 2, rtol=1e-9)
    assert_allclose(one.p_value, model.summary().p_value[2], rtol=1e-9)
    assert "Joint Wald test: chi-squared" in repr(whole)
    assert "F = " in repr(model.wald_test(["x0", "x1"], cov_type="quasi"))
    three = fit(*data(3)[:2])
    assert_allclose(
        three.wald_test({"1:x0": 1, "2:x0": -1}).p_value,
        fit(*data(3)[:2], reference=1).wald_test("2:x0").p_value,
        rtol=1e-6,
    )


@pytest.mark.parametrize(
    ("contrasts", "text"),
    [("x9", "no coefficient 'x9'"), ([[1, 2]], "matrix of 4 columns"), ([], "matrix of 4 columns"), (3.0, "columns")],
)
def test_hypotheses_about_nothing_are_refused(contrasts, text):
    X, y, _ = data()
    with pytest.raises(ParameterError, match=text):
        fit(X, y).wald_test(contrasts)


def test_separated_and_sparse_fits_have_no_intervals():
    X = np.arange(12.0)[:, None]
    with pytest.warns(UserWarning, match="separat"):
        model = fit(X, X[:, 0] > 5)
    with pytest.raises(ParameterError, match="bias_reduction='firth'"):
        model.predict_interval(X)
    with pytest.raises(ParameterError, match="infinite"):
        model.wald_test("x0")
    X, y, _ = data()
    with pytest.raises(ParameterError, match="penalty 'l1'"):
        fit(X, y, C=1.0, l1_ratio=1.0).marginal_effects()
    with pytest.raises(ParameterError, match="'overall' or 'mean'"):
        fit(X, y).marginal_effects(at="median")
    assert "do not hold" in " ".join(repr(fit(X, y, C=1.0).predict_interval(X[:3])).split())


@pytest.mark.slow
def test_intervals_cover_the_true_probability():
    rng, inside, draws = np.random.default_rng(0), 0, 400
    at = np.array([[0.5, -1.0]])
    truth = expit(0.3 + at @ [1.0, 0.5])[0]
    for _ in range(draws):
        X = rng.normal(size=(150, 2))
        y = rng.random(150) < expit(0.3 + X @ [1.0, 0.5])
        found = fit(X, y).predict_interval(at)
        inside += found.lower[0] <= truth <= found.upper[0]
    assert abs(inside / draws - 0.95) < 0.04
