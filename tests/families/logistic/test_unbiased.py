"""FLIC and FLAC: R's numbers, their definitions by other fits, and what they are for, unbiased probabilities."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import LogisticRegression, datasets, load, scan
from discrim.errors import ParameterError

RNG = np.random.default_rng(3)
X = RNG.normal((3.0, 0.0), size=(80, 2))
Y = (RNG.random(80) < 1 / (1 + np.exp(5.5 - 1.2 * X[:, 0]))).astype(int)
WEIGHT = RNG.integers(1, 4, 80).astype(float)


def fitted(how, X=X, y=Y, **fit):
    return LogisticRegression(C=np.inf, bias_reduction=how).fit(X, y, **fit)


def on_augmented_rows(X, y, weight=1.0, offset=None):
    """Maximum likelihood on the rows and on pseudo-rows 1 and 0 of half their leverage, which a column marks."""
    n = len(X)
    given = {"sample_weight": weight * np.ones(n)} if offset is None else {"offset": offset}
    h = fitted("firth", X, y, **given).leverage()
    Z = np.column_stack([np.tile(X, (3, 1)), np.repeat([0.0, 1.0, 1.0], n)])
    labels, weights = np.r_[y, np.ones(n), np.zeros(n)], np.r_[weight * np.ones(n), h / 2, h / 2]
    offsets = np.tile(np.zeros(n) if offset is None else offset, 3)
    return LogisticRegression(C=np.inf).fit(Z, labels, sample_weight=weights, offset=offsets)


def test_the_numbers_of_r():
    """glm(HG ~ NV + PI + EH, binomial, endometrial, method = "brglmFit", type = "AS_mean"), then

    glm(HG ~ 1, offset = its predictors without the intercept), and glm of three copies of the rows with responses y, y,
    1 - y, weights 1, h / 2, h / 2 (hatvalues) and a column 0, 1, 1.
    """
    table = datasets.load_endometrial()
    X, y = table.frame()[["NV", "PI", "EH"]].to_numpy(float), np.asarray(table.target)
    firth, flic, flac = (fitted(how, X, y) for how in ("firth", "flic", "flac"))
    assert_allclose(flic.intercept_, 3.78608349449, rtol=1e-9)
    assert_allclose(flic.coef_, firth.coef_, rtol=1e-12)
    assert_allclose(
        flac.summary().coef, [3.7981607515738, 2.9413665591321, -0.0346100317709, -2.6142634003132], rtol=1e-9
    )
    assert_allclose(
        flac.summary().std_error, [1.4480954391265, 1.4686081453286, 0.0379254338121, 0.7573113301779], rtol=1e-7
    )


def test_standard_errors_of_flic_are_those_of_the_information_at_its_coefficients():
    model = fitted("flic")
    z = np.column_stack([np.ones(80), X])
    p = model.predict_proba(X)[:, 1]
    expected = np.linalg.inv((z.T * (p * (1 - p))) @ z)
    assert_allclose(model.vcov, expected, rtol=1e-9)


@pytest.mark.parametrize("fit", [{"sample_weight": WEIGHT}, {"offset": X[:, 1] / 2}], ids=["weights", "offset"])
def test_flac_is_maximum_likelihood_on_augmented_rows(fit):
    weight = fit.get("sample_weight", 1.0)
    expected = on_augmented_rows(X, Y, weight=weight, offset=fit.get("offset"))
    model = fitted("flac", **fit)
    assert_allclose(
        np.r_[model.intercept_, model.coef_[0]], np.r_[expected.intercept_, expected.coef_[0, :2]], rtol=1e-7
    )
    assert_allclose(model.vcov, expected.vcov(cov_type="model")[:3, :3], rtol=1e-6)


@pytest.mark.parametrize("how", ["flic", "flac"])
def test_probabilities_have_the_mean_of_the_response(how):
    firth = fitted("firth", sample_weight=WEIGHT)
    share = np.average(Y, weights=WEIGHT)
    assert np.average(firth.predict_proba(X)[:, 1], weights=WEIGHT) > share + 0.003  # rare, so drawn upwards
    model = fitted(how, sample_weight=WEIGHT)
    assert_allclose(np.average(model.predict_proba(X)[:, 1], weights=WEIGHT), share, rtol=1e-9)
    trials = np.full(80, 4)
    counts = RNG.binomial(trials, 0.1)
    grouped = fitted(how, X, counts, trials=trials)
    assert_allclose(grouped.predict_proba(X)[:, 1].mean(), counts.sum() / 320, rtol=1e-9)


def test_flic_of_several_classes_gives_each_its_share():
    X, y = datasets.load_iris().xy
    X, y = X[30:], y[30:]
    share = np.unique(y, return_counts=True)[1] / len(y)
    model = fitted("flic", X, y)
    assert_allclose(model.predict_proba(X).mean(axis=0), share, rtol=1e-8)
    other = LogisticRegression(C=np.inf, bias_reduction="flic", reference=y[-1]).fit(X, y)
    assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("how", ["flic", "flac"])
def test_separated_rows_a_scan_copies_and_files_have_the_same_answer(how, tmp_path):
    pd = pytest.importorskip("pandas")
    x, y = np.r_[np.zeros(8), np.ones(8)][:, None], np.r_[0, 1, np.zeros(6), np.ones(8)].astype(int)
    model = fitted(how, x, y)
    assert np.isfinite(model.coef_).all()
    assert_allclose(model.predict_proba(x)[:, 1].mean(), y.mean(), rtol=1e-9)
    read = LogisticRegression(C=np.inf, bias_reduction=how).fit(scan(pd.DataFrame({"x": x[:, 0], "y": y}), target="y"))
    assert_allclose(read.coef_, model.coef_, rtol=1e-9)
    model.save(tmp_path / "m.discrim")
    for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "m.discrim")):
        assert str(copy.summary()) == str(model.summary())


def test_leaving_out_a_row_refits_the_same_estimate():
    model = fitted("flac")
    without = fitted("flac", X[1:], Y[1:])
    assert_allclose(model.loo_.exact([0]).eta, without.decision_function(X[:1]), rtol=1e-7)


def test_what_they_do_not_have_is_said():
    model = fitted("flic")
    for ask in (model.drop1, model.step, lambda: model.anova(["x0"]), lambda: model.confint(method="profile")):
        with pytest.raises(ParameterError, match=r"maximises none\. Fit it with bias_reduction='firth'"):
            ask()
    with pytest.raises(ParameterError, match=r"'flac' is for two classes; y has 3\. Use 'flic'"):
        fitted("flac", y=np.arange(80) % 3)
    with pytest.raises(ParameterError, match=r"unbiased by the intercept\. Set fit_intercept=True, or use 'firth'"):
        LogisticRegression(C=np.inf, bias_reduction="flic", fit_intercept=False).fit(X, Y)
    with pytest.raises(ParameterError, match="bias_reduction='flac' is itself a penalty"):
        LogisticRegression(bias_reduction="flac").fit(X, Y)
