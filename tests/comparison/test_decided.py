"""What ``compare`` does with columns, and what the user can say of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import average_precision_score
from sklearn.svm import LinearSVC

import discrim
from discrim import compare
from discrim.comparison.judged_curves import calibration_of, precision_curves, roc_curves
from discrim.errors import DataError, ParameterError

MODELS = ["LDA", "Logistic", "Mixed NB"]
N = 240


def frame(seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(N) % 2
    return pd.DataFrame({"a": rng.normal(size=N) + y, "b": rng.normal(size=N), "zip": rng.integers(10, 14, N)}), y


FORMS = {
    "pandas": lambda table, y: (table, y),
    "polars": lambda table, y: (pl.from_pandas(table), y),
    "arrow": lambda table, y: (pa.Table.from_pandas(table), y),
    "scan": lambda table, y: (discrim.scan(pa.Table.from_pandas(table.assign(label=y)), target="label"),),
}


@pytest.fixture(params=list(FORMS))
def form(request):
    return FORMS[request.param]


def said(found):
    return " ".join(found.remarks)


def test_numbers_are_categories_where_the_user_says_so(form):
    table, y = frame()
    found = compare(*form(table, y), models=MODELS, types={"zip": "category"}, cv=3)
    assert found.width == 5
    new = table.copy()
    new.loc[0, "zip"] = 99  # a level that no row had
    assert len(found.best.predict(form(new, y)[0])) == N


def test_dates_are_days_where_the_user_says_so(form):
    table, y = frame()
    days = 100 * y + np.arange(N) % 60
    table["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(days, unit="D")
    assert "'day' holds dates or times and is left out" in said(compare(*form(table, y), models=["LDA"], cv=3))
    found = compare(*form(table, y), models=["LDA"], types={"day": "number"}, cv=3)
    assert found.table.loc["LDA", "error"] == 0
    assert (found.best.predict(form(table, y)[0]) == y).all()


def test_rare_levels_are_put_together_and_levels_never_seen_are_taken(form):
    table, y = frame()
    rng = np.random.default_rng(1)
    table["town"] = np.where(rng.random(N) < 0.7, rng.integers(0, 6, N), np.arange(N)).astype(str)
    table["town"] = "t" + table["town"]
    found = compare(*form(table, y), models=MODELS, cv=3)
    assert "Column 'town' has" in said(found)
    assert "are one level, '(rare)'" in said(found)
    assert found.width < 12
    table.loc[:4, "town"] = "nowhere"
    table.loc[5, "town"] = None
    assert len(found.best.predict(form(table, y)[0])) == N


def test_levels_are_kept_where_there_is_room_for_their_columns(form):
    """Fifty states each with its own law: no model can know it once they are one level."""
    rng = np.random.default_rng(0)
    state, n = rng.integers(0, 50, 1000), 1000
    y = (state % 2) ^ (rng.random(n) < 0.05)
    table = pd.DataFrame({"a": rng.normal(size=n), "state": "s" + pd.Series(state.astype(str))})
    found = compare(*form(table, y), models=["Logistic"], cv=3)
    assert found.width == 50
    assert found.rows[0].error < 0.07
    for name in "cdefgh":  # 350 columns in all
        table[name] = "s" + pd.Series(rng.integers(0, 50, n).astype(str))
    found = compare(*form(table, y), models=["Logistic"], cv=3)
    assert "Column 'state' has 50 levels: the 30 most frequent are kept" in said(found)
    assert found.width == 1 + 7 * 30


def test_incomplete_rows_are_dropped_or_refused_on_request(form):
    table, y = frame()
    table.loc[:9, "a"] = np.nan
    weight = None if len(form(table, y)) == 1 else np.ones(N)
    found = compare(
        *form(table, y), models=MODELS, missing="drop", cv=3, sample_weight=weight, groups=np.arange(N) // 2
    )
    assert found.n == N - 10
    assert "10 rows with missing values were left out, and 230 remain." in said(found)
    plain = compare(*form(table[10:], y[10:]), models=MODELS, cv=3, groups=np.arange(N)[10:] // 2)
    assert found.table["error"].tolist() == plain.table["error"].tolist()
    assert len(found.best.predict(form(table, y)[0])) == N
    with pytest.raises(DataError, match=r"Values are missing in 'a' \(10\)\. missing='impute' \(--missing impute\)"):
        compare(*form(table, y), models=MODELS, missing="error")


def test_columns_are_left_out_as_asked(form):
    table, y = frame()
    found = compare(*form(table, y), models=["LDA"], without=["a"], cv=3)
    assert found.width == 2
    assert "Column 'a' is left out, as asked for." in said(found)
    assert len(found.best.predict(form(table, y)[0])) == N


def test_columns_with_one_value_and_copies_are_left_out(form):
    table, y = frame()
    table = table.assign(one=3.0, same="x", copy=table["a"])
    found, plain = (
        compare(*form(table, y), models=["LDA", "Ridge"], cv=3),
        compare(*form(frame()[0], y), models=["LDA", "Ridge"], cv=3),
    )
    assert "Column 'copy' equals 'a' in every row and is left out." in said(found)
    assert "'one'" in said(found)
    assert found.table["error"].tolist() == plain.table["error"].tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"types": {"zip": "code"}},
            r"types \(--types\) makes the column 'zip' a 'code'; a column is read as 'number'",
        ),
        ({"types": {"zap": "number"}}, "types names the column 'zap'; the columns to learn from are 'a', 'b'"),
        ({"without": ["zap"]}, "without names 'zap'; the columns are 'a', 'b'"),
        ({"without": ["a", "b", "zip"]}, "without names every column"),
        ({"without": "a"}, "The 'without' parameter is 'a'; it must be a list"),
        ({"missing": "no"}, "The 'missing' parameter is 'no'; it must be 'impute', 'drop' or 'error'"),
        ({"positive": 7}, r"positive \(--positive\) names 7, which is none of the classes '0', '1'"),
    ],
)
def test_what_is_said_of_columns_is_checked(arguments, message):
    with pytest.raises(ParameterError, match=message):
        compare(*frame(), models=["LDA"], **arguments)


def test_a_target_of_numbers_or_dates_is_questioned():
    table, _ = frame()
    table["kind"] = np.where(table["a"] > 0, "u", "v")
    rng = np.random.default_rng(0)
    for y in (rng.integers(0, 5000, N), pd.Series(pd.Timestamp("2026-01-01") + pd.to_timedelta(range(N), unit="D"))):
        with pytest.raises(DataError, match=r"it looks like a (number|date), not like classes. Did you mean 'kind'\?"):
            compare(table, y, ["LDA"])
    assert compare(table, np.arange(N) % 12, models=["LDA"], cv=3).n == N


def printed(found):
    return found.table[["error", "log_loss", "auc"]].round(6).sort_index()


def test_names_and_order_of_columns_labels_and_row_numbers_change_nothing():
    x, y = load_wine(return_X_y=True)
    names = [f"c{j:02d}" for j in range(13)]
    table = pd.DataFrame(x, columns=names)
    models = ["LDA", "QDA", "Ridge", "Logistic", "Gaussian NB"]
    first = printed(compare(table, y, models, cv=5, reference=None))
    others = {
        "order": (table[names[::-1]], y),
        "names": (table.rename(columns={name: f"z{name}" for name in names}), y),
        "labels": (table, np.array(["a", "b", "c"])[y]),
        "row numbers": (table.assign(number=np.arange(len(y))), y),
    }
    for what, rows in others.items():
        pd.testing.assert_frame_equal(printed(compare(*rows, models, cv=5, reference=None)), first, atol=1e-4, obj=what)


def test_five_per_cent_missing_changes_the_error_by_little():
    x, y = load_wine(return_X_y=True)
    gaps = np.where(np.random.default_rng(0).random(x.shape) < 0.05, np.nan, x)
    whole, partly = (compare(each, y, ["LDA", "Ridge"], cv=5).table["error"].min() for each in (x, gaps))
    assert partly - whole < 0.04


def test_how_columns_were_read_is_said():
    table, y = frame()
    found = compare(table.assign(sex=np.where(y > 0, "f", "m")[::-1]), y, ["LDA"], cv=3, reference=None)
    assert (
        "Columns were read: 'zip' as a number of few values, and 'sex' as a category; the other 2 are numbers."
        in said(found)
    )


def test_overconfident_probabilities_are_named():
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    one = rng.normal(size=N) + 0.8 * y
    x = one[:, None] + 0.01 * rng.normal(size=(N, 30))  # thirty times the same evidence
    found = compare(x, y, ["Gaussian NB", "LDA"], cv=5, reference=None)
    assert "The probabilities of Gaussian NB" in said(found)
    assert "are overconfident" in said(found)


def test_probabilities_that_are_not_sure_enough_are_not_called_overconfident():
    """Least squares spread them evenly where there are many classes."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(20), 15)
    found = compare(np.eye(20)[y] + 0.05 * rng.normal(size=(300, 20)), y, ["Ridge", "LDA"], cv=5, reference=None)
    assert "overconfident" not in said(found)
    skewed = np.where(np.arange(2000) < 1800, 0, np.arange(2000) % 20)
    found = compare(np.eye(20)[skewed] + 0.05 * rng.normal(size=(2000, 20)), skewed, ["Ridge", "LDA"], reference=None)
    assert "The probabilities of Ridge are underconfident: its log loss is larger" in said(found)


def test_a_class_of_one_row_does_not_decide_on_log_losses():
    """No model can know it, and -log 0 would hide what the other rows say."""
    rng = np.random.default_rng(0)
    y = np.array([*np.arange(200) % 2, 2])
    x = rng.normal(size=(201, 3)) + 3.0 * y[:, None]
    found = compare(x, y, ["LDA", "Gaussian NB"], reference=None)
    alone = compare(x[:-1], y[:-1], ["LDA", "Gaussian NB"], reference=None)
    for name in ("LDA", "Gaussian NB", "Baseline"):
        with_it, without = (next(row.log_loss for row in one.rows if row.name == name) for one in (found, alone))
        assert abs(with_it - (200 * without + np.log(202)) / 201) < 0.01
    assert "overconfident" not in said(found)


def test_the_class_of_interest_is_that_of_the_verdict_and_the_curves(tmp_path):
    rng = np.random.default_rng(0)
    ill = rng.random(N) < 0.2
    x, y = rng.normal(size=(N, 2)) + 1.5 * ill[:, None], np.where(ill, "ill", "well")
    found = {name: compare(x, y, ["LDA"], positive=name, reference=None) for name in (None, "ill", "well")}
    assert [each.positive for each in found.values()] == ["well", "ill", "well"]
    assert "class of interest" not in found[None].verdict
    predicted = found["ill"]["LDA"].predicted == "ill"
    recall, precision = (predicted & ill).sum() / ill.sum(), (predicted & ill).sum() / predicted.sum()
    assert (
        f"Of 'ill', the class of interest ({ill.mean():.1%} of the rows), LDA finds {recall:.1%} (recall); of the rows "
        f"that it takes for it, {precision:.1%} are (precision)." in found["ill"].verdict
    )
    areas = {name: precision_curves(each)["LDA"].average_precision for name, each in found.items()}
    posterior = found["ill"]["LDA"].posterior
    assert areas["ill"] == pytest.approx(average_precision_score(ill, posterior[:, 0]))
    assert areas["well"] == areas[None] == pytest.approx(average_precision_score(~ill, posterior[:, 1]))
    assert calibration_of(found["ill"]).observed.mean() < 0.6 < calibration_of(found["well"]).observed.mean()
    page = found["ill"].report(tmp_path / "page.html").read_text()
    assert "ROC: &#x27;ill&#x27; against &#x27;well&#x27;" in page


def test_a_model_without_posteriors_orders_rows_by_the_class_of_interest():
    table, y = frame()
    found = compare(table[["a", "b"]], y, [LinearSVC()], positive=0, reference=None)
    assert roc_curves(found)["LinearSVC"].auc == pytest.approx(found.rows[0].auc, abs=0.02)
    assert found.rows[0].auc > 0.6


def test_a_target_of_names_is_questioned():
    table, _ = frame()
    table["sex"] = np.where(np.arange(N) % 3 > 0, "f", "m")
    names = np.array([f"name {i // 3 if i > 150 else i}" for i in range(N)])
    with pytest.raises(DataError, match=r"holds \d+ different texts in 240 rows: it looks like a name, not like cl"):
        compare(table, names, models=["LDA"])
    assert compare(table, np.array([f"name {i // 5}" for i in range(N)]), models=["LDA"], cv=3).n == N
