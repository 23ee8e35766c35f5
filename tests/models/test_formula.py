"""Formulas: R's numbers, every container, every model, and what cannot be read."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from discrim import (
    GaussianNB,
    LassoClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    RidgeClassifier,
    scan,
)
from discrim.basis import FormulaBasis
from discrim.errors import DataError, DiscrimError, ParameterError
from discrim.models import FormulaClassifier

FORMULA = "y ~ age * sex + C(job, ref='clerk') + poly(x, 2)"
# R 4.2.2, glm(y ~ age * sex + relevel(job, "clerk") + poly(x, 2), binomial, epsilon = 1e-14) of these rows:
# summary(), drop1(test = "Chisq"), step() and predict(type = "response", se.fit = TRUE) of rows 1 and 5.
COEF = {
    "(Intercept)": (-9.4955435693267, 3.2925595005843),
    "age": (0.1460624910596, 0.0600615246829),
    "sex[T.m]": (-1.4381260022238, 3.0877855653364),
    "C(job, ref='clerk')[T.boss]": (4.4910268285737, 1.5015550418203),
    "C(job, ref='clerk')[T.smith]": (0.5621232212927, 1.2398201334260),
    "poly(x, 2)[1]": (-11.1869699938331, 4.6610289444719),
    "poly(x, 2)[2]": (-0.4990213041311, 3.8606342362696),
    "age:sex[T.m]": (0.0180554810399, 0.0687929854125),
}
DROPPED = {"C(job, ref='clerk')": (2, 54.66743361), "poly(x, 2)": (2, 45.06570680), "age:sex": (1, 35.49396214)}
CHOSEN = [-10.016949403243, 0.152613225617, 4.408605414314, 0.538232140875, -10.706981140980, -0.419469906544]
PREDICTED = [0.28456765873204, 0.00941045298883], [0.2978320973256, 0.0159755420158]


@pytest.fixture(scope="module")
def table():
    i = np.arange(60)
    age, sex = 20 + (i * 7) % 41, np.array(["m", "f"])[(i // 2) % 2]
    job, x = np.array(["boss", "clerk", "smith"])[i % 3], ((i * 13) % 29) / 7
    y = np.array(["no", "yes"])[((i * i) % 7 + age / 10 + 2 * (job == "boss") - x > 6.5).astype(int)]
    return pd.DataFrame({"age": age, "sex": sex, "job": job, "x": x, "y": y})


@pytest.fixture(scope="module")
def model(table):
    return LogisticRegression.from_formula(FORMULA, table, C=np.inf)


def test_coefficients_and_standard_errors_are_those_of_r(model):
    found = dict(
        zip(model.summary().names, zip(model.summary().coef, model.summary().std_error, strict=True), strict=True)
    )
    assert found.keys() == COEF.keys()
    for name, expected in COEF.items():
        assert_allclose(found[name], expected, rtol=1e-7)
    assert_allclose(model.summary().deviance, 35.4245252702, rtol=1e-9)


def test_terms_are_left_out_as_r_does(model):
    found = model.drop1()
    assert list(found.index) == ["<none>", *DROPPED]
    for name, (df, deviance) in DROPPED.items():
        assert found[name, "Df"] == df
        assert_allclose(found[name, "Deviance"], deviance, rtol=1e-7)


def test_step_ends_where_that_of_r_does(model, table):
    chosen = model.step()
    assert chosen.formula == "y ~ age + C(job, ref='clerk') + poly(x, 2)"
    assert_allclose(chosen.summary().coef, CHOSEN, rtol=1e-6)
    assert_allclose(chosen.predict_proba(table), LogisticRegression.from_formula(
        chosen.formula, table, C=np.inf).predict_proba(table), rtol=1e-6)  # fmt: skip
    assert list(chosen.drop1().index)[1:] == ["age", "C(job, ref='clerk')", "poly(x, 2)"]
    assert chosen.step().formula == chosen.formula
    assert model.step(criterion="bic", direction="forward").summary().names[0] == "(Intercept)"


def test_intervals_of_predictions_are_those_of_r(model, table):
    found = model.predict_interval(table.iloc[[0, 4]])
    assert_allclose(found.probability, PREDICTED[0], rtol=1e-7)
    assert_allclose(found.std_error, PREDICTED[1], rtol=1e-6)


def test_a_part_of_the_rows_is_coded_as_all_were(model, table):
    for part in (table.iloc[:1], table[table.job == "smith"], table.drop(columns="y")):
        assert_allclose(model.predict_proba(part), model.predict_proba(table)[part.index], rtol=1e-12)


@pytest.mark.parametrize("kind", ["polars", "arrow", "dict", "parquet", "csv", "scan", "blocks"])
def test_the_container_does_not_matter(model, table, tmp_path, kind):
    import pyarrow as pa

    path = tmp_path / ("rows.csv" if kind == "csv" else "rows.parquet")
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
    data = {
        "polars": lambda: pl.from_pandas(table),
        "arrow": lambda: pa.Table.from_pandas(table),
        "dict": lambda: table.to_dict("list"),
        "parquet": lambda: str(path),
        "csv": lambda: path,
        "scan": lambda: scan(path, target="y"),
        "blocks": lambda: scan(path, target="y", batch_rows=7),
    }[kind]()
    found = LogisticRegression.from_formula(FORMULA, data, C=np.inf)
    assert found.summary().names == model.summary().names
    assert_allclose(found.summary().coef, model.summary().coef, rtol=1e-7)
    assert_allclose(found.predict_proba(table), model.predict_proba(table), rtol=1e-7)
    assert_array_equal(found.predict(data), model.predict(table))
    assert list(found.drop1().index) == list(model.drop1().index)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, GaussianNB, RidgeClassifier, LassoClassifier])
def test_any_model_learns_from_a_formula(kind, table):
    found = kind.from_formula("y ~ age + sex + log(x + 1)", table)
    design = np.column_stack([table.age, table.sex == "m", np.log(table.x + 1)]).astype(float)
    plain = kind().fit(design, table.y)
    assert_array_equal(found.predict(table), plain.predict(design))
    assert found.score(table, table.y) == plain.score(design, table.y)
    assert "log(x + 1)" in str(found.summary())


def test_all_columns_are_a_point_and_numbers_may_be_categories(table):
    found = LogisticRegression.from_formula("y ~ . - age + C(age > 40)", table)
    assert found.summary().names == [
        "(Intercept)",
        "sex[T.m]",
        "job[T.clerk]",
        "job[T.smith]",
        "x",
        "C(age > 40)[T.True]",
    ]
    years = table.assign(year=2010 + np.arange(60) % 3)
    assert LogisticRegression.from_formula("y ~ C(year)", years).summary().names[1:] == [
        "C(year)[T.2011]",
        "C(year)[T.2012]",
    ]


def test_no_intercept_is_no_intercept(table):
    found = LogisticRegression.from_formula("y ~ job - 1", table, C=np.inf)
    assert found.summary().names == ["job[boss]", "job[clerk]", "job[smith]"]
    with_one = LogisticRegression.from_formula("y ~ job", table, C=np.inf)
    assert_allclose(found.predict_proba(table), with_one.predict_proba(table), rtol=1e-6)
    with pytest.raises(ParameterError, match="has no intercept, and GaussianNB always has one"):
        GaussianNB.from_formula("y ~ job - 1", table)


def test_weights_and_offsets_go_to_the_fit(table):
    counts, offset = np.arange(60) % 3, np.linspace(-1, 1, 60)
    found = FormulaClassifier("y ~ x").fit(table, sample_weight=counts, offset=offset)
    plain = LogisticRegression(C=np.inf).fit(table[["x"]], table.y, counts, offset=offset)
    assert_allclose(found.summary().std_error, plain.summary().std_error, rtol=1e-9)


def test_it_is_an_estimator(model, table):
    assert clone(FormulaClassifier("y ~ x")).get_params()["formula"] == "y ~ x"
    fitted = FormulaClassifier("age * x", LinearDiscriminantAnalysis()).fit(table, table.y)
    copied = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copied.predict(table), fitted.predict(table))
    assert str(pickle.loads(pickle.dumps(model)).confint()) == str(model.confint())
    assert_allclose(FormulaClassifier("y ~ x").fit(table).summary().coef,
                    LogisticRegression(C=np.inf).fit(table[["x"]], table.y).summary().coef)  # fmt: skip
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        model.nonsense  # noqa: B018


def test_a_basis_of_a_formula_is_a_transformer(table):
    basis = FormulaBasis("age * C(job, ref='smith')").fit(table)
    assert basis.transform(table).shape == (60, 5)
    assert [name for name, _ in basis.terms_] == ["age", "C(job, ref='smith')", "age:C(job, ref='smith')"]
    assert_allclose(FormulaBasis("x0 + I(x1**2)").fit_transform([[1.0, 2.0], [3.0, 4.0]]), [[1, 4], [3, 16]])


@pytest.mark.parametrize(
    ("formula", "error", "text"),
    [
        ("y ~ age + nope", DataError, "uses 'nope', and the table has no such column. It has 'age'"),
        ("nope ~ age", DataError, "no column 'nope' for the left side"),
        ("y ~ age +", ParameterError, "cannot be read"),
        ("y ~ 1", ParameterError, "no term besides the intercept"),
        ("age + x", ParameterError, "no left side and y is not given"),
        ("y ~ x ~ age", ParameterError, "one '~'"),
        ("y ~ unknown(age)", DataError, "cannot be computed: Unable to evaluate factor `unknown"),
        ("y ~ lag(age)", ParameterError, "without lag"),
        ("y ~ C(job, ref='king')", DataError, "king"),
        ("y ~ ", ParameterError, "a text such as"),
        (3, ParameterError, "a text such as"),
        ("y ~ log(x - 10)", DataError, r"log\(x - 10\)|x0"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_formulas_that_cannot_be_used_are_refused(table, formula, error, text):
    with pytest.raises(error, match=text):
        LogisticRegression.from_formula(formula, table)


def test_rows_that_do_not_fit_are_refused(model, table):
    with pytest.raises(DataError, match=r"Column 'job' holds 1 level that the model has not seen: 'king'"):
        model.predict(table.assign(job="king"))
    with pytest.raises(DataError, match="uses 'age', which these rows lack"):
        model.predict(table.drop(columns="age"))
    with pytest.raises(DataError, match="Column 'age' lacks 60 values"):
        model.predict(table.assign(age=np.nan))
    with pytest.raises(DataError, match="Column 'job' lacks 60 values"):
        model.predict(table.assign(job=None).astype({"job": "string"}))
    with pytest.raises(DataError, match=r"levels that the model has not seen: \{77\}"):
        LogisticRegression.from_formula("y ~ C(age)", table).predict(table.assign(age=77))
    with pytest.raises(ParameterError, match="y is given too"):
        FormulaClassifier("y ~ x").fit(table, table.y[::-1])
    with pytest.raises(ValueError, match="egative"):
        MultinomialNB.from_formula("y ~ poly(x, 2)", table)


def test_a_scan_has_the_target_of_the_formula(table, tmp_path):
    table.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ParameterError, match=r"the scan has the target 'sex'\. Scan with target='y'"):
        LogisticRegression.from_formula("y ~ x", scan(tmp_path / "rows.parquet", target="sex"))


def test_without_formulaic_the_message_says_what_to_install(run_program):
    program = (
        "import sys; sys.modules['formulaic'] = None\n"
        "from discrim import LogisticRegression\n"
        "try:\n    LogisticRegression.from_formula('y ~ x', {'x': [1.0, 2.0, 3.0], 'y': [0, 1, 0]})\n"
        "except ImportError as error:\n    print(error)"
    )
    assert "pip install 'discrim[formula]'" in run_program(program).stdout


def test_a_fit_that_fails_leaves_the_model_as_it_was(table):
    model = FormulaClassifier("y ~ x").fit(table)
    before = model.predict_proba(table)
    with pytest.raises(DiscrimError):
        model.fit(table.assign(y="one class"))
    assert_allclose(model.predict_proba(table), before)


def mixed_table(n=160, seed=8):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"x": rng.uniform(0.5, 3.0, n), "z": rng.normal(size=n), "job": rng.choice(["clerk", "cook", "smith"], n)}
    )
    eta = np.log(table.x) + 0.5 * table.z * (table.job == "cook")
    return table.assign(y=rng.random(n) < 1 / (1 + np.exp(-eta)), kind=rng.choice(["a", "b", "c"], n))


def by_differences(model, of):
    """The effect and its standard error by small steps of the coefficients."""
    theta, vcov = np.concatenate([model.intercept_, model.coef_[0]]), np.asarray(model.vcov)

    def probability(beta, table):
        made = model.basis_.transform(table)
        return 1 / (1 + np.exp(-(beta[0] + made @ beta[1:])))

    gradient = np.array(
        [(of(probability, theta + e) - of(probability, theta - e)) / 2e-5 for e in 1e-5 * np.eye(len(theta))]
    )
    return of(probability, theta), np.sqrt(gradient @ vcov @ gradient)


def test_marginal_effects_of_a_formula_move_a_column_in_all_its_terms():
    table = mixed_table()
    model = LogisticRegression.from_formula("y ~ x + log(x) + z * C(job, ref='cook')", table, C=np.inf)
    found = model.marginal_effects()
    assert list(found.index) == ["job: clerk - cook", "job: smith - cook", "x", "z"]

    def slope(name):
        up, down = (table.assign(**{name: table[name] + h}) for h in (1e-4, -1e-4))
        return lambda p, beta: np.mean(p(beta, up) - p(beta, down)) / 2e-4

    def between(first, second):
        return lambda p, beta: np.mean(p(beta, table.assign(job=first)) - p(beta, table.assign(job=second)))

    for name, of in (("x", slope("x")), ("z", slope("z")), ("job: smith - cook", between("smith", "cook"))):
        effect, error = by_differences(model, of)
        assert found[name, "dy/dx"] == pytest.approx(effect, rel=1e-6)
        assert found[name, "Std. Error"] == pytest.approx(error, rel=1e-6)
    assert "the difference of the probability between two levels" in found.remark


@pytest.mark.parametrize("at", ["overall", "mean"])
@pytest.mark.parametrize("target", ["y", "kind"])
def test_marginal_effects_of_plain_columns_are_those_of_the_model(at, target):
    table = mixed_table()
    weight = np.random.default_rng(9).uniform(0.5, 2.0, len(table))
    by_formula = LogisticRegression.from_formula(f"{target} ~ x + z", table, weight, C=np.inf)
    plain = LogisticRegression(C=np.inf).fit(table[["x", "z"]], table[target], sample_weight=weight)
    expected = plain.marginal_effects(at, cov_type="HC1")
    found = by_formula.marginal_effects(at, cov_type="HC1")
    assert list(found.index) == list(expected.index)
    assert_allclose(found.values, expected.values, rtol=1e-6, atol=1e-9)


def test_marginal_effects_of_a_scan_are_those_of_its_table(tmp_path):
    table = mixed_table()
    table.to_csv(tmp_path / "rows.csv", index=False)
    formula = "kind ~ x * job + z"
    found = LogisticRegression.from_formula(formula, scan(tmp_path / "rows.csv", target="kind"), C=np.inf)
    expected = LogisticRegression.from_formula(formula, table, C=np.inf).marginal_effects()
    assert_allclose(found.marginal_effects().values, expected.values, rtol=1e-6, atol=1e-9)


def test_effects_that_have_no_answer_say_so_or_are_left_out():
    table = mixed_table().assign(twice=lambda t: 2 * t.z)
    found = LogisticRegression.from_formula("y ~ z + twice + C(x > 1)", table, C=np.inf).marginal_effects()
    assert list(found.index) == ["twice", "z"]
    assert np.isnan(found["twice", "dy/dx"])
    assert np.isfinite(found["z", "dy/dx"])
    model = LogisticRegression.from_formula("y ~ x + z + job", table, C=np.inf)
    kept = model.step()
    assert set(kept.marginal_effects().index) <= set(model.marginal_effects().index)
    assert "step() chose the terms" in kept.marginal_effects().remark
    with pytest.raises(DataError, match="needs the rows"):
        pickle.loads(pickle.dumps(model)).marginal_effects()
    with pytest.raises(ParameterError, match="'overall' or 'mean'"):
        model.marginal_effects(at="median")
    assert not hasattr(LinearDiscriminantAnalysis.from_formula("y ~ x", table), "marginal_effects")


def test_models_of_formulas_are_compared_in_either_order():
    table = mixed_table()
    large, small = (LogisticRegression.from_formula(f, table, C=np.inf) for f in ("y ~ x + z * job", "y ~ z + job"))
    expected = small.summary().deviance - large.summary().deviance
    for found in (large.anova(small), small.anova(large)):
        assert found.values[1][3] == pytest.approx(expected)
        assert found.values[1][2] == 3
    assert list(small.anova(large).index) == ["this", "larger"]
    assert large.trace_.loss[-1] == pytest.approx(large.summary().deviance / 2)
