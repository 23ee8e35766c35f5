"""Categories, missing values, unknown levels, and columns that were prepared."""

import numpy as np
import pandas as pd
import pytest

import discrim as d
from discrim.comparison.prepared import PreparedClassifier
from discrim.exports import export

FORMS = ("onnx", "python", "c", "duckdb", "sqlite", "postgres")


def people(n=240, seed=0, gaps=False):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "age": rng.normal(40, 12, n).round(1),
        "order": rng.choice(["low", "mid's", 'hi"gh', ""], n, p=[0.4, 0.3, 0.2, 0.1]),
        "visits": rng.poisson(3, n).astype(float),
        "größe": rng.choice(["S", "M", "L"], n),
    })  # fmt: skip
    # A category in which empty text would mean a missing level.
    frame.loc[frame["order"] == "", "order"] = "none"
    score = frame["age"] / 12 + (frame["order"] == "low") * 1.5 - frame["visits"] / 2 + rng.normal(size=n)
    y = np.array(["no", "maybe", "yes"])[np.digitize(score, [2.0, 3.5])]
    if gaps:
        for column in frame:
            frame.loc[rng.random(n) < 0.15, column] = None if frame[column].dtype.kind != "f" else np.nan
    return frame, y


def each_form(forms, in_sql, postgres):
    return {**forms, "postgres": lambda model, frame, _: in_sql(model, frame, "postgres", postgres)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "model", [d.LinearDiscriminantAnalysis(), d.QuadraticDiscriminantAnalysis(reg_param=0.1), d.LogisticRegression()]
)
def test_categories_as_indicators(model, form, forms, in_sql, check, postgres, tmp_path):
    frame, y = people()
    model.fit(frame, y)
    check(model, frame[:80], each_form(forms, in_sql, postgres)[form](model, frame[:80], tmp_path))


@pytest.mark.parametrize("form", FORMS)
def test_rows_that_predict_refuses_have_no_answer(form, forms, in_sql, check, postgres, tmp_path):
    frame, y = people()
    model = d.LinearDiscriminantAnalysis().fit(frame, y)
    rows = frame[:6].reset_index(drop=True)
    rows.loc[1, "age"] = np.nan
    rows.loc[2, "order"] = None
    rows.loc[3, "größe"] = "XXL"
    check(model, rows, each_form(forms, in_sql, postgres)[form](model, rows, tmp_path), but=(1, 2, 3))


@pytest.mark.parametrize("form", ["onnx", "python", "c", "duckdb", "postgres"])
def test_infinite_numbers_have_no_answer(form, forms, in_sql, check, postgres, tmp_path):
    X, y = d.datasets.load_iris().xy
    rows = pd.DataFrame(X[::30], columns=[f"x{j}" for j in range(4)])
    rows.loc[1, "x0"], rows.loc[3, "x2"] = np.inf, -np.inf
    for model in (d.LinearDiscriminantAnalysis(), d.GaussianNB(), d.Perceptron()):
        found = each_form(forms, in_sql, postgres)[form](model.fit(X, y), rows, tmp_path)
        check(model, rows, found, X=rows.to_numpy(), but=(1, 3))


@pytest.mark.parametrize("form", FORMS)
def test_mixed_columns_with_gaps_and_unknown_levels(form, forms, in_sql, check, postgres, tmp_path):
    frame, y = people(gaps=True)
    model = d.MixedNB(likelihoods={"visits": "gamma-poisson"}).fit(frame, y)
    rows = people(80, seed=3, gaps=True)[0]
    rows.loc[5, "order"], rows.loc[6, "größe"] = "never met", "XXL"
    check(model, rows, each_form(forms, in_sql, postgres)[form](model, rows, tmp_path))


PREPARED = {
    "standardised": PreparedClassifier(d.LogisticRegression(), standardise=True),
    "filled": PreparedClassifier(d.LinearDiscriminantAnalysis()),
    "as it is": PreparedClassifier(d.MixedNB(), impute=False, without=["visits"]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PREPARED)
def test_prepared_columns(name, form, forms, in_sql, check, postgres, tmp_path):
    best, rows = PREPARED[name].fit(*people(gaps=True)), people(60, seed=4, gaps=True)[0]
    check(best, rows, each_form(forms, in_sql, postgres)[form](best, rows, tmp_path), tol=1e-11)


def test_what_compare_chose_takes_unknown_levels_as_predict_does(forms, check, tmp_path):
    best = d.compare(*people(gaps=True), ["LDA"], cv=3).best
    rows = people(8, seed=4)[0]
    rows.loc[2, "größe"], rows.loc[3, "order"] = "XXL", "n/a"
    for form in ("onnx", "python", "c", "duckdb", "sqlite"):
        check(best, rows, forms[form](best, rows, tmp_path))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["LDA", "Mixed NB"])
def test_levels_that_fit_took_together_are_taken_together_again(name, form, forms, in_sql, check, postgres, tmp_path):
    frame, y = people(400)
    rng = np.random.default_rng(5)
    frame["town"] = np.where(
        rng.random(400) < 0.8, rng.choice(list("abcdefgh"), 400), "t" + pd.Series(range(400)).astype(str)
    )
    best = d.compare(frame, y, [name], cv=3, types={"town": "category"}).best
    assert best.answering()[1]["rare"]["town"] == "(rare)"
    rows = frame.head(12).copy()
    rows.loc[:3, "town"] = ["never met", "N/A", "(rare)", "?"]
    answers = each_form(forms, in_sql, postgres)[form](best, rows, tmp_path)
    check(best, rows, answers, tol=1e-11)


def test_categories_of_text_by_naive_bayes(forms, check, tmp_path):
    frame, y = people()
    texts = frame[["order", "größe"]]
    model = d.CategoricalNB().fit(texts, y)
    for form in ("onnx", "python", "c", "duckdb", "sqlite"):
        check(model, texts[:30], forms[form](model, texts[:30], tmp_path))


def test_numbers_as_categories_lose_their_fractions(forms, check, tmp_path):
    x = np.random.default_rng(0).integers(0, 4, size=(90, 3))
    model = d.CategoricalNB().fit(x, np.arange(90) % 3)
    rows = pd.DataFrame(x[:10] + 0.7, columns=["x0", "x1", "x2"])
    for form in ("onnx", "python", "c", "duckdb", "sqlite"):
        check(model, rows, forms[form](model, rows, tmp_path), X=rows.to_numpy())


def test_yes_and_no_in_every_database(forms, in_sql, check, postgres, tmp_path):
    frame = people()[0][["age"]].assign(member=np.arange(240) % 3 == 0)
    y = np.where(frame["member"] ^ (np.arange(240) % 7 == 0), 1, 0)
    model = d.MixedNB().fit(frame, y)
    for form in ("duckdb", "sqlite", "postgres"):
        check(model, frame[:40], each_form(forms, in_sql, postgres)[form](model, frame[:40], tmp_path))


def test_text_is_exported_from_its_counts_on(forms, tmp_path):
    mails = ["cheap pills, cheap watches", "pills for you", "see you at noon", "lunch at noon"]
    model = d.TextClassifier().fit(mails, ["spam", "spam", "ham", "ham"])
    rows = pd.DataFrame(model.counts_.transform(mails).toarray(), columns=model.counts_.get_feature_names_out())
    for form in ("onnx", "python", "c", "duckdb", "sqlite"):
        labels, posterior = forms[form](model, rows, tmp_path)
        assert labels == model.predict(mails).tolist()
        np.testing.assert_allclose(posterior, model.predict_proba(mails), atol=1e-12)


def test_columns_without_influence_are_not_read_in_sql():
    X, y = d.datasets.load_iris().xy
    model = d.NearestCentroid(rule="pamr", shrink_threshold=15.0).fit(X, y)
    used = [f'"x{j}"' in export(model, "sql", table="t") for j in range(4)]
    assert used == model.support_.tolist()
    assert not all(used)


def test_a_category_without_influence(forms, check, tmp_path):
    frame, y = people()
    frame["order"] = "always"
    model = d.LinearDiscriminantAnalysis().fit(frame[["age", "order", "visits"]], y)
    for form in ("onnx", "python", "c", "duckdb", "sqlite"):
        check(model, frame[:9][["age", "order", "visits"]], forms[form](model, frame[:9], tmp_path))


def plots(n=200):
    """Columns of true and false, whole numbers and fractions, and names that must be quoted."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({
        "mown; x": rng.random(n) < 0.5,
        "zone": rng.choice([1234, 20, 99, 7], n),
        "width": rng.choice([1.5, 2.0, 3.25], n),
        'ünï "q"': rng.choice(["a;b", "c'd", "é\n", ""], n),
        "age": rng.normal(40, 9, n),
    })  # fmt: skip
    score = frame["mown; x"] + (frame["zone"] == 20) * 1.5 + (frame["width"] == 2.0) + frame["age"] / 20
    return frame, np.array(["no; 'way'", "yes\nline", '"q"'])[np.digitize(score + rng.normal(size=n), [2.5, 4])]


@pytest.mark.parametrize("prepared", [False, True])
def test_true_and_false_are_numbers_in_postgres(prepared, in_sql, check, postgres):
    frame, y = plots()
    model = PreparedClassifier(d.LogisticRegression()) if prepared else d.LinearDiscriminantAnalysis()
    model.fit(frame, y)
    check(model, frame[:50], in_sql(model, frame[:50], "postgres", postgres))


def test_the_head_of_an_export_names_what_answers():
    frame, y = plots()
    model = PreparedClassifier(d.GaussianNB()).fit(frame, y)
    assert "GaussianNB (PreparedClassifier) of discrim" in export(model, "python")


@pytest.mark.parametrize("form", FORMS)
def test_numbers_that_were_read_as_categories(form, forms, in_sql, check, postgres, tmp_path):
    frame, y = plots()
    kinds = dict.fromkeys(["zone", "width", "mown; x"], "category")
    model = d.compare(frame, y, models=["LDA", "Mixed NB"], types=kinds, reference=None, cv=3).best
    rows = frame[:50]
    given = rows
    if form in {"onnx", "c"}:
        # They take text.
        given = rows.assign(**{name: [f"{value:g}" for value in rows[name].astype(float)] for name in kinds})
    check(model, rows, each_form(forms, in_sql, postgres)[form](model, given, tmp_path))
