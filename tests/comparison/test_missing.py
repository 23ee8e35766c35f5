"""``compare`` on tables with missing values: filled in inside the folds, as part of ``best``, and said."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import discrim
from discrim import compare
from discrim.comparison.prepared import PreparedClassifier, open_with_gaps
from discrim.errors import DataError

DEFAULT = {"Mixed NB", "LDA", "Bayesian LDA", "Ridge", "QDA", "Bayesian QDA", "Lasso", "RDA", "Logistic"}


def with_gaps(n=300, share=0.03, seed=0):
    """Four columns, of which the first lacks values."""
    rng = np.random.default_rng(seed)
    labels = np.array(["late", "paid"])[(rng.random(n) < 0.7).astype(int)]
    x = rng.normal(size=(n, 4)) + 0.9 * (labels == "paid")[:, None]
    x[rng.random(n) < share, 0] = np.nan
    return x, labels


def with_telling_gaps(n=300):
    """The same, of which one class lacks more values than the other."""
    x, labels = with_gaps(n, share=0.0)
    x[np.random.default_rng(1).random(n) < np.where(labels == "late", 0.4, 0.1), 0] = np.nan
    return x, labels


def columns(n=240, seed=1):
    """Plain columns with None for what is missing, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    amount = rng.normal(size=n) + labels
    count = rng.integers(0, 9, n) + 2 * labels
    kind = np.array(["a", "b", "c"])[rng.choice(3, n, p=[0.2, 0.5, 0.3])]
    flag = rng.random(n) < 0.3 + 0.4 * labels
    whole = {"amount": amount.tolist(), "count": count.tolist(), "kind": kind.tolist(), "flag": flag.tolist()}
    gaps = {name: rng.random(n) < 0.08 for name in whole}
    return {name: [None if g else v for v, g in zip(whole[name], gaps[name], strict=True)] for name in whole}, labels


def test_no_model_is_left_out_for_missing_values():
    x, labels = with_gaps()
    found = compare(x, labels)
    assert {row.name for row in found.rows if row.done} == DEFAULT | {"Baseline"}
    assert found.table.loc["LDA", "error"] < found.table.loc["Baseline", "error"] - 0.05
    assert found.chosen != "Baseline"
    assert len(found.checks)


def test_filling_in_is_that_of_a_pipeline_refitted_for_every_fold():
    at_random, telling = with_gaps(share=0.2, seed=1), with_telling_gaps()
    for name, model, (x, labels), marked in (
        ("LDA", discrim.LinearDiscriminantAnalysis(), at_random, False),
        ("LDA", discrim.LinearDiscriminantAnalysis(), telling, True),
        ("QDA", discrim.QuadraticDiscriminantAnalysis(), telling, False),
    ):
        peer = make_pipeline(SimpleImputer(add_indicator=marked), model)
        found = compare(x, labels, [name], cv=StratifiedKFold(5))
        expected = cross_val_predict(peer, x, labels, cv=StratifiedKFold(5), method="predict_proba")
        assert found[name].posterior == pytest.approx(expected, abs=1e-9)
        assert found.best.predict_proba(x) == pytest.approx(peer.fit(x, labels).predict_proba(x), abs=1e-9)


def test_weights_count_in_what_is_filled_in():
    x, labels = with_gaps(share=0.2)
    weight = np.random.default_rng(0).integers(1, 4, len(x)).astype(float)
    found = compare(x, labels, ["LDA"], sample_weight=weight)
    many = clone(found.best).fit(np.repeat(x, weight.astype(int), axis=0), np.repeat(labels, weight.astype(int)))
    assert found.best.preparation_.fill == pytest.approx(many.preparation_.fill)
    assert found.best.predict_proba(x) == pytest.approx(many.predict_proba(x), abs=1e-9)


def test_that_a_value_is_missing_may_tell_something():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 400)
    x = rng.normal(size=(400, 3))
    x[rng.random(400) < 0.1 + 0.7 * labels, 1] = np.nan
    found = compare(x, labels)
    for name in ("LDA", "Logistic", "Ridge", "Lasso"):
        assert found.table.loc[name, "error"] < 0.25, name
    assert found.best.predict(x).mean() == pytest.approx(labels.mean(), abs=0.1)
    logistic = compare(x, labels, ["Logistic"]).best
    assert logistic.names_ == ["x0", "x1", "x2", "x1 missing"]
    assert "x1 missing" in str(logistic.summary())


@pytest.mark.parametrize("name", ["LDA", "QDA", "Ridge", "Logistic", "Mixed NB", "RDA"])
def test_best_fills_in_columns_that_had_no_gaps_before(name):
    x, labels = with_gaps()
    best = compare(x, labels, [name]).best
    rows = x[:5].copy()
    rows[:, 3] = np.nan
    posterior = best.predict_proba(rows)
    assert np.isfinite(posterior).all()
    assert best.predict(rows).shape == (5,)
    if name != "Mixed NB":
        known = x[:5].copy()
        known[:, 3] = np.nanmean(x[:, 3])
        assert posterior == pytest.approx(best.predict_proba(known))


@pytest.fixture(scope="module")
def containers():
    """The columns in tables of every kind, the labels, and the comparison on the table of polars."""
    plain, labels = columns()
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    objects = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in plain.items()})
    numbers = objects.assign(amount=objects["amount"].astype(float), count=objects["count"].astype(float))
    nullable = objects.convert_dtypes()
    categorical = numbers.assign(kind=numbers["kind"].astype("category"), flag=objects["flag"].astype("boolean"))
    odd = objects.assign(amount=[pd.NA if v is None else v for v in plain["amount"]])
    tables = {
        "objects": objects,
        "numbers": numbers,
        "nullable": nullable,
        "categorical": categorical,
        "pd.NA": odd,
        "polars": pl.DataFrame(plain),
        "arrow": pa.table(plain),
    }
    return tables, labels, compare(tables["polars"], labels)


@pytest.mark.parametrize("kind", ["objects", "numbers", "nullable", "categorical", "pd.NA", "arrow"])
def test_every_container_gives_what_polars_gives(kind, containers):
    tables, labels, expected = containers
    found = compare(tables[kind], labels)
    assert list(found.table.index) == list(expected.table.index)
    assert found.table["log_loss"].to_numpy() == pytest.approx(expected.table["log_loss"].to_numpy(), rel=1e-9)
    assert np.array_equal(found.folds, expected.folds)
    assert found.best.predict(tables[kind]).tolist() == expected.best.predict(tables["polars"]).tolist()
    assert all(row.done for row in found.rows if row.name != "QDA"), found


def test_a_scan_gives_what_the_table_gives(tmp_path, containers):
    tables, labels, held = containers
    pl = pytest.importorskip("polars")
    table = tables["polars"]
    table.with_columns(pl.Series("y", labels)).write_parquet(tmp_path / "rows.parquet", row_group_size=100)
    rows = discrim.scan(tmp_path / "rows.parquet", target="y")
    read = compare(rows)
    assert read.table["log_loss"].to_numpy() == pytest.approx(held.table["log_loss"].to_numpy(), rel=1e-9)
    assert read.best.predict(rows).tolist() == held.best.predict(table).tolist()
    mine = compare(rows, models=["LDA", SVC()])
    assert mine.table.loc["SVC", "error"] < 0.5
    assert mine.trials["SVC"].model.predict(rows).shape == (240,)


def test_a_gap_in_a_category_is_its_most_frequent_level():
    plain, labels = columns()
    pl = pytest.importorskip("polars")
    table = pl.DataFrame({name: plain[name] for name in ("amount", "kind")})
    best = compare(table, labels, ["LDA"]).best
    row = pl.DataFrame({"amount": [0.3, 0.3], "kind": [None, "b"]}, schema=table.schema)
    ready = best.preparation_.apply(np.array([[0.3, np.nan, np.nan], [0.3, 1.0, 0.0]]))
    assert ready[0, :3].tolist() == ready[1, :3].tolist() == [0.3, 1.0, 0.0]
    assert best.predict(row).shape == (2,)


def test_a_category_of_one_level_tells_by_its_gaps():
    """As a box that is ticked or left empty."""
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    ticked = [
        ("yes" if chance < 0.2 + 0.6 * label else None) for chance, label in zip(rng.random(300), labels, strict=True)
    ]
    table = pl.DataFrame({"amount": rng.normal(size=300), "ticked": ticked})
    found = compare(table, labels)
    assert found.table.loc["LDA", "error"] < 0.25
    assert found.table.loc["Logistic", "error"] < 0.25
    assert found.best.predict(table).shape == (300,)
    with pytest.raises(DataError, match=f"column 'ticked' has {table['ticked'].null_count()} NaN"):
        discrim.LinearDiscriminantAnalysis().fit(table, labels)


def test_a_column_without_any_value_is_left_out_of_models_and_of_best():
    x, labels = with_gaps()
    x[:, 2] = np.nan
    found = compare(x, labels)
    assert "Column 'x2' has no value in any row and is left out." in found.remarks
    assert {row.name for row in found.rows if row.done} == DEFAULT | {"Baseline"}
    x[:, 2] = 5.0
    assert found.best.predict(x).shape == (300,)
    assert found.trials["Mixed NB"].model.predict(x).shape == (300,)


@pytest.mark.parametrize("kind", [float, str], ids=["numbers", "text"])
@pytest.mark.parametrize("make", ["pandas", "polars", "arrow", "scan"])
def test_a_column_of_nothing_is_left_out_of_tables_too(make, kind, tmp_path):
    plain, labels = columns()
    pl = pytest.importorskip("polars")
    table = pl.DataFrame({**plain, "none": [None] * 240}).with_columns(
        y=pl.Series(labels), none=pl.col("none").cast(kind)
    )
    table.write_parquet(tmp_path / "rows.parquet")
    rows = {
        "pandas": lambda: table.drop("y").to_pandas().assign(none=None),
        "polars": lambda: table.drop("y"),
        "arrow": lambda: table.drop("y").to_arrow(),
        "scan": lambda: discrim.scan(tmp_path / "rows.parquet", target="y"),
    }[make]()
    found = compare(rows, None if make == "scan" else labels, ["LDA", "Mixed NB"])
    assert "Column 'none' has no value in any row and is left out." in found.remarks
    assert found.columns.to_frame().loc["none", "done"] == "left out"
    assert all(row.done for row in found.rows)
    for name in ("LDA", "Mixed NB"):
        assert found.trials[name].model.predict(rows).shape == (240,)


def test_others_models_get_the_table_as_it_is_if_they_can_take_it():
    x, labels = with_gaps(share=0.2)
    boosting = HistGradientBoostingClassifier(max_iter=5)
    found = compare(x, labels, ["LDA", SVC(), boosting], cv=StratifiedKFold(5))
    expected = cross_val_predict(boosting, x, labels, cv=StratifiedKFold(5))
    assert (found["HistGradientBoostingClassifier"].predicted == expected).all()
    assert found.table.loc["SVC", "error"] < found.table.loc["Baseline", "error"]
    assert found.trials["SVC"].model.predict(x).shape == (300,)


def test_a_model_of_ours_without_posteriors_has_none_with_gaps_either():
    x, labels = with_gaps()
    found = compare(x, labels, ["LDA", discrim.Perceptron()])
    assert np.isnan(found.table.loc["Perceptron", "log_loss"])
    assert found.table.loc["Perceptron", "error"] < 0.5


def test_the_preparation_can_be_pickled():
    x, labels = with_gaps()
    best = compare(x, labels, ["Logistic"]).best
    again = pickle.loads(pickle.dumps(best))
    assert again.predict_proba(x) == pytest.approx(best.predict_proba(x))


def test_the_verdict_does_not_claim_values_filled_in_for_a_model_that_takes_gaps():
    x, labels = with_gaps()
    found = compare(x, labels, ["Mixed NB"])
    assert found.chosen == "Mixed NB"
    assert "filled in" not in found.verdict


def test_the_result_says_what_was_filled_in(tmp_path):
    x, labels = with_gaps()
    found = compare(x, labels)
    count = int(np.isnan(x[:, 0]).sum())
    sentence = next(remark for remark in found.remarks if remark.startswith("Missing values"))
    assert f"'x0' ({count} of 300)" in sentence
    assert "they do not depend on the class, so that nothing marks them" in sentence
    telling = compare(*with_telling_gaps(), ["LDA"], cv=3).remarks
    assert any("indicator columns mark them where they depend on the class ('x0 missing')" in said for said in telling)
    assert "Mixed NB uses them as they are." in found.remarks
    assert "Missing values in 'x0' were filled in." in found.verdict
    assert sentence in " ".join(repr(found).split())
    assert max(map(len, repr(found).splitlines())) <= 80
    page = found.report(tmp_path / "report.html").read_text()
    assert sentence.replace("'", "&#x27;") in page


def test_gaps_stay_the_same_in_sparse_and_dense_rows():
    x, labels = with_gaps()
    thin = compare(sparse.csr_matrix(x), labels, ["LDA", "Logistic"])
    dense = compare(x, labels, ["LDA", "Logistic"])
    assert thin.table["log_loss"].to_numpy() == pytest.approx(dense.table["log_loss"].to_numpy(), rel=1e-9)
    assert thin.best.predict(sparse.csr_matrix(x)).tolist() == dense.best.predict(x).tolist()


def test_columns_with_the_same_gaps_share_a_mark_and_few_gaps_have_none():
    x, labels = with_telling_gaps()
    x[np.isnan(x[:, 0]), 1] = np.nan
    x[:2, 3] = np.nan
    best = compare(x, labels, ["LDA"]).best
    assert best.names_ == ["x0", "x1", "x2", "x3", "x0 missing"]


def test_masked_arrays_and_nested_lists_have_gaps_too():
    x, labels = with_gaps()
    masked = np.ma.masked_invalid(x)
    listed = [[None if np.isnan(v) else v for v in row] for row in x]
    for rows in (masked, listed):
        found = compare(rows, labels, ["LDA", "Ridge"])
        assert all(row.done for row in found.rows)
        assert found.best.predict(rows).shape == (300,)


@pytest.mark.parametrize("missing", [np.nan, None])
def test_missing_labels_are_an_error(missing):
    x, _ = with_gaps()
    labels = [missing, *([0.0, 1.0] * 150)][:300]
    with pytest.raises(DataError, match="1 of 300 are missing"):
        compare(x, labels)


def test_infinite_values_are_an_error_beside_missing_ones():
    x, labels = with_gaps()
    x[5, 1] = np.inf
    with pytest.raises(DataError, match="column 'x1' has 1 infinite"):
        compare(x, labels)


@pytest.mark.parametrize(("package", "kind"), [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")])
def test_a_row_without_a_value_in_a_category_or_a_number_is_predicted(package, kind):
    """Alone it shows no type."""
    frame = getattr(pytest.importorskip(package), kind)
    rng = np.random.default_rng(0)
    kind, x = rng.choice(["a", "b", "c"], 200), rng.normal(size=200)
    y = (x + (kind == "b") > 0.3).astype(int)
    found = discrim.compare(frame({"x": x, "kind": kind.tolist()}), y, ["LDA"])
    many = frame({"x": [None, 0.5, 2.0], "kind": [None, "b", None]})
    one = [frame({"x": [x], "kind": [kind]}) for x, kind in ((None, None), (0.5, "b"), (2.0, None))]
    assert [found.best.predict(row)[0] for row in one] == found.best.predict(many).tolist()


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("standardise", [False, True])
def test_a_prepared_model_learns_on_with_its_columns_prepared_as_they_were(monkeypatch, tmp_path, large, standardise):
    pl = pytest.importorskip("polars")
    x, y = with_telling_gaps()
    frame = pl.DataFrame({**{f"x{j}": x[:, j] for j in range(4)}, "kind": ["a", "b", "c"] * 100, "y": y})
    first, later = frame.head(200), frame.tail(100)
    model = PreparedClassifier(discrim.LinearDiscriminantAnalysis(), standardise=standardise)
    model.fit(first.drop("y"), first["y"])
    ready, design = model.preparation_, model.preparation_.columns
    assert design.names_out[-1] == "x0 missing"
    before = model.predict_proba(frame.drop("y"))
    if large:
        monkeypatch.setattr("discrim.comparison.prepared.LARGE", 10)
        later.write_parquet(tmp_path / "later.parquet")
        rows = (discrim.scan(tmp_path / "later.parquet", target="y"),)
    else:
        rows = (later.drop("y"), later["y"])
    model.partial_fit(*rows)
    assert model.preparation_ is ready
    blocks = [open_with_gaps(part.drop("y"), part["y"]).whole.x for part in (first, later)]
    prepared = np.concatenate([ready.apply(np.asarray(block)) for block in blocks])
    alone = discrim.LinearDiscriminantAnalysis().fit(prepared, y)
    np.testing.assert_allclose(model.model_.coef_, alone.coef_, rtol=1e-9, atol=1e-12)
    model.forget(*rows)
    np.testing.assert_allclose(model.predict_proba(frame.drop("y")), before, atol=1e-9)
    state = dict(vars(model))
    with pytest.raises(DataError):
        model.partial_fit(later.drop("y", "x1"), later["y"])
    assert vars(model) == state
    with pytest.raises(AttributeError):
        PreparedClassifier(discrim.LogisticRegression()).fit(first.drop("y"), first["y"]).partial_fit(*rows)
