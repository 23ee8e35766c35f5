"""``compare`` on what people bring: frames, scans, sparse counts, hostile tables, models of their own."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

import discrim
from discrim import compare, datasets
from discrim.comparison import comparing
from discrim.errors import DataError, FewRowsWarning, InterruptedWarning, ParameterError

X, y = datasets.load_iris().xy


class Raises(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no such luck")

    def predict(self, X):
        return np.zeros(len(X))


def mixed_frame():
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    columns = {**dict(zip("abcd", X.T, strict=True)), "kind": np.where(rng.random(150) < 0.5, "u", "v")}
    return pl.DataFrame(columns)


@pytest.fixture(scope="module")
def mixed_compared():
    return compare(mixed_frame(), y, cv=4)


def test_a_scan_gives_what_the_frame_gives(tmp_path, mixed_compared):
    pl = pytest.importorskip("polars")
    frame, held = mixed_frame(), mixed_compared
    frame.with_columns(pl.Series("y", y)).write_parquet(tmp_path / "iris.parquet", row_group_size=60)
    read = compare(discrim.scan(tmp_path / "iris.parquet", target="y"), cv=4)
    assert list(read.table.index) == list(held.table.index)
    assert "Mixed NB" in read.table.index
    assert read.table["log_loss"].to_numpy() == pytest.approx(held.table["log_loss"].to_numpy(), rel=1e-9)
    assert (read.best.predict(frame) == held.best.predict(frame)).all()


def test_pandas_and_polars_agree(mixed_compared):
    pytest.importorskip("pandas")
    a, b = mixed_compared, compare(mixed_frame().to_pandas(), y, cv=4)
    assert a.table["log_loss"].to_numpy() == pytest.approx(b.table["log_loss"].to_numpy(), rel=1e-12)


def test_counts_bring_the_naive_bayes_of_counts_and_stay_sparse():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 200)
    counts = rng.poisson(1.0 + labels[:, None] * (np.arange(30) < 5), (200, 30))
    dense, thin = (compare(each, labels, cv=4) for each in (counts, sparse.csr_matrix(counts)))
    assert {"Multinomial NB", "Complement NB"} <= set(dense.table.index)
    assert dense.table.loc["Multinomial NB", "error"] == thin.table.loc["Multinomial NB", "error"]


def test_zeros_and_ones_bring_bernoulli():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 200)
    bits = (rng.random((200, 8)) < 0.3 + 0.3 * labels[:, None]).astype(int)
    found = compare(bits, labels, cv=StratifiedKFold(4))
    alone = discrim.cross_validate(discrim.BernoulliNB(alpha="loo"), bits, labels, cv=4)
    assert found.table.loc["Bernoulli NB", "log_loss"] == pytest.approx(alone.log_loss, rel=1e-12)
    assert "Multinomial NB" not in found.table.index


def test_a_model_that_does_not_fit_the_data_says_why():
    found = compare(X, y, ["Multinomial NB", "LDA"])
    assert found.table.loc["Multinomial NB", "note"] == "counts are needed: whole numbers of at least 0"
    wide = compare(np.random.default_rng(2).standard_normal((40, 60)), np.arange(40) % 2, cv=4)
    assert "too few for a covariance matrix" in wide.table.loc["QDA", "note"]
    assert {"LDA, shrunken", "Bayesian QDA", "RDA", "Ridge", "Logistic"} <= {r.name for r in wide.rows if r.done}


def test_a_class_with_too_few_rows_in_a_training_part_says_so():
    rng = np.random.default_rng(0)
    found = compare(rng.normal(size=(150, 36)), np.arange(150) < 40, ["LDA", "QDA"], reference=None)
    assert found.table.loc["QDA", "note"] == (
        "class 'True' has 40 rows, 36 of them in a training part, for 36 columns, too few for a covariance matrix of "
        "its own"
    )


def test_a_singular_class_is_a_note_and_not_the_end():
    x = np.column_stack([X, X[:, 0] + X[:, 1]])
    found = compare(x, y, cv=4)
    assert "not full rank" in found.table.loc["QDA", "note"]
    assert found.table.index[-1] == "QDA"
    assert "QDA was left out" in repr(found)


@pytest.fixture(scope="module")
def compared_with_others():
    return compare(X, y, ["default", "Multinomial NB", RandomForestClassifier(5, random_state=0)])


def test_others_models_can_be_added_to_the_librarys(compared_with_others):
    assert {"RandomForestClassifier", "LDA"} <= set(compared_with_others.table.index)
    forest = RandomForestClassifier(5, random_state=0)
    only = compare(X, y, {"trees": forest, "line": "LDA", "curve": discrim.QuadraticDiscriminantAnalysis()})
    assert set(only.table.index) == {"trees", "line", "curve", "Baseline"}
    assert not hasattr(forest, "estimators_")


def test_a_model_that_raises_is_a_note():
    found = compare(X, y, ["LDA", Raises()])
    assert found.table.loc["Raises", "note"] == "RuntimeError: no such luck"
    assert found.chosen == "LDA"
    with pytest.raises(DataError, match=r"None of the 1 models could be used\. Raises: RuntimeError: no such luck"):
        compare(X, y, [Raises()])


def test_the_same_model_twice_gets_two_names():
    found = compare(X, y, ["LDA", "LDA", "LinearDiscriminantAnalysis"])
    assert set(found.table.index) == {"LDA", "LDA (2)", "LDA (3)", "Baseline"}


def test_weights_of_one_change_nothing_and_zero_weights_take_rows_out_of_the_figures():
    plain, ones = compare(X, y, ["LDA", "RDA", "Logistic"]), None
    ones = compare(X, y, ["LDA", "RDA", "Logistic"], sample_weight=np.ones(150))
    assert ones.table["error"].to_numpy() == pytest.approx(plain.table["error"].to_numpy())
    weight = np.where(np.arange(150) % 5 == 0, 0.0, 1.0)
    some = compare(X, y, ["LDA"], sample_weight=weight)
    kept = weight > 0
    assert some["LDA"].y.tolist() == y[kept].tolist()
    assert some.table.loc["LDA", "error"] == pytest.approx((some["LDA"].predicted != y[kept]).mean())


@pytest.mark.parametrize("labels", [np.arange(100) % 2 == 0, np.array(["no", "yes"], object)[np.arange(100) % 2]])
def test_labels_of_any_type(labels):
    x = X[:100].astype(np.float32) + np.arange(100)[:, None] % 2
    found = compare(x[:, ::-1], labels, ["LDA", "RDA", "Ridge", "Lasso", "Logistic"])
    assert found.best.predict(x[:3, ::-1]).dtype.kind == np.asarray(labels).dtype.kind


def test_two_rows_a_class_make_two_folds():
    rows = [0, 1, 50, 51, 100, 101]
    found = compare(X[rows], y[rows])
    assert len(np.unique(found.folds)) == 2
    assert found.table["error"].notna().sum() >= 2


@pytest.mark.parametrize(("few", "words"), [(3, "Class 'b' has 3 rows for 10 folds"), (1, "has not seen its class")])
def test_a_class_with_fewer_rows_than_folds_is_named_by_one_warning(few, words):
    labels = np.where(np.arange(150) < few, "b", "a")
    with pytest.warns(FewRowsWarning, match=words) as caught:
        compare(X, labels, ["Gaussian NB"])
    assert len(caught) == 1


def test_constant_columns_and_far_off_origins_do_no_harm():
    plain = compare(X, y, ["LDA", "Bayesian LDA", "Gaussian NB"])
    moved = compare(np.column_stack([X + 1e8, np.ones(150)]), y, ["LDA", "Bayesian LDA", "Gaussian NB"])
    assert moved.table["error"].to_numpy() == pytest.approx(plain.table["error"].to_numpy())


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"y": None}, DataError, "compare needs labels: y is None"),
        ({"y": np.zeros(150)}, DataError, "y has only the class '0.0'; a comparison needs at least two classes"),
        ({"y": np.arange(150).astype(str)}, DataError, "holds 150 different texts in 150 rows: it looks like a name"),
        ({"X": X[:0], "y": y[:0]}, DataError, "There are no rows to compare models on"),
        (
            {"metric": lambda *_: np.nan, "models": ["LDA"]},
            DataError,
            "No model has a finite value of the metric that was asked for.",
        ),
        ({"cv": 1}, ParameterError, "The 'cv' parameter is 1; it must be at least 2 folds"),
        ({"random_state": "x"}, ParameterError, "The 'random_state' parameter is 'x'; it must be a whole number"),
        ({"models": ["nobody"]}, ParameterError, "The 'models' parameter is 'nobody'; it must be 'default'"),
        ({"models": []}, ParameterError, "The 'models' parameter is empty"),
        ({"models": [3]}, ParameterError, "it must be made of classifiers"),
        (
            {"metric": "f1"},
            ParameterError,
            "The 'metric' parameter is 'f1'; it must be 'error', 'balanced_error', 'log_loss'",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, error, text):
    with pytest.raises(error, match=re.escape(text)):
        compare(**{"X": X, "y": y, **arguments})


def test_infinite_values_name_their_column():
    bad = X.copy()
    bad[0, 2] = np.inf
    with pytest.raises(DataError, match="column 'x2' has 1 infinite"):
        compare(bad, y)


def test_the_keyboard_keeps_what_is_done(monkeypatch):
    whole = comparing.try_candidate

    def stop(candidate, rows, **options):
        if candidate.name == "QDA":
            raise KeyboardInterrupt
        return whole(candidate, rows, **options)

    monkeypatch.setattr(comparing, "try_candidate", stop)
    with pytest.warns(InterruptedWarning, match="1 of 3 models were done"):
        found = compare(X, y, ["LDA", "QDA", "Logistic"])
    assert found.chosen == "LDA"
    assert found.table.loc["Logistic", "note"] == "the comparison was stopped by the user"
    with pytest.raises(KeyboardInterrupt):
        compare(X, y, ["QDA", "LDA"])


@pytest.mark.parametrize("stage", ["try_reference", "score_rows", "leaks"])
def test_the_keyboard_keeps_the_models_that_are_done_while_they_are_judged(stage, monkeypatch):
    whole, calls = getattr(comparing, stage), []

    def stop(*given, **options):
        calls.append(stage)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return whole(*given, **options)

    monkeypatch.setattr(comparing, stage, stop)
    with pytest.warns(InterruptedWarning, match=r"Stopped by the user: all \d models were done"):
        found = compare(X, y, ["LDA", "QDA"], reference="boosting")
    assert {"LDA", "QDA", "Baseline"} <= set(found.trials)
    assert any(remark.startswith("Stopped by the user: all") for remark in found.remarks)


def test_nothing_is_printed_without_a_terminal(capsys):
    compare(X, y, ["LDA", "Logistic"])
    assert capsys.readouterr() == ("", "")


def test_it_prints_in_eighty_columns(compared_with_others):
    text = repr(compared_with_others)
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[0] == "10 models on 150 rows x 4 columns, 3 classes, 10 folds"
    assert "Multinomial NB was left out: counts are needed" in text
    assert re.search(r"(?m)^> Bayesian QDA", text)
    assert re.search(r"(?m)^  Baseline +66.7%", text)
    assert text.splitlines()[2].split("  ")[-1] == "AUC"
    assert "= not significantly worse than the best; ~ a reference, never chosen" in text


def test_the_verdict_is_three_sentences_with_the_checks_behind_it(iris_compared):
    words = iris_compared.verdict
    assert len(re.findall(r"\.(?: |$)", words)) == 3
    assert "Box's M: chi-sq 141 on 20 df, p < 2e-16" in words


def test_names_that_look_like_html_are_escaped(tmp_path):
    found = compare(X[:100], np.where(np.arange(100) < 50, "<b>", "&"), {"<script>": "LDA"})
    assert "<script>" not in found._repr_html_()
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize("rows", [slice(0, 150), slice(50, 150)])
def test_the_report_is_one_page_that_needs_no_network(rows, tmp_path):
    found = compare(X[rows], y[rows], ["LDA", "QDA", "Logistic", Raises()])
    path = found.report(tmp_path / "report.html")
    page = path.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    shown = re.sub(r"</?p[^>]*>", " ", page)
    assert all(html.escape(sentence) in shown for sentence in re.split(r"(?<=\.) (?=[A-Z])", found.verdict))
    assert page.count('<svg class="plot"') == 2
    assert page.count('<svg class="bar') == sum(row.done for row in found.rows)
    assert all(name in page for name in found.checks)
    for words in (
        "false positive rate",
        "true positive rate",
        "<th class=extra>params</th>",
        "not significantly worse than the best",
    ):
        assert words in page
    assert re.findall(r"(?:src|href)=|https?:", page) == []
    # A star stands in the notes where it stands in the table.
    assert "<b>Baseline</b> always predicts" in page
    assert page.count("*</b>") == page.count("<sup>*</sup>")
    assert "areas in the table compare rows of one fold only" in page
    assert "Raises" in page


def test_a_failed_report_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    found = compare(X, y, ["LDA"])
    monkeypatch.setattr(comparing.Comparison, "title", "\ud800")
    with pytest.raises(UnicodeEncodeError):
        found.report(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_report_that_cannot_be_written_names_the_file_that_was_asked_for(tmp_path):
    found = compare(X, y, ["LDA"])
    missing = tmp_path / "none"
    with pytest.raises(FileNotFoundError, match=f"cannot be written: there is no folder '{re.escape(str(missing))}'.$"):
        found.report(missing / "report.html")
    with pytest.raises(OSError, match=f"The report cannot be written .*{re.escape(str(tmp_path))}'$"):
        found.report(tmp_path)


def test_the_predictions_of_one_model_are_available():
    found = compare(X, y, ["LDA", Raises()])
    assert found["LDA"].posterior.shape == (150, 3)
    with pytest.raises(ParameterError, match="one of the models that were run: 'LDA'"):
        found["Raises"]


def test_a_metric_that_cannot_be_called_is_refused_before_the_work():
    with pytest.raises(ParameterError, match="a function of y, the predictions and the posteriors"):
        compare(X, y, ["LDA"], metric=lambda y, predicted: 0.0)


def test_a_class_in_the_place_of_a_model_is_refused_with_a_hint():
    with pytest.raises(
        ParameterError, match=r"has the class RandomForestClassifier; give a model, RandomForestClassifier\(\)"
    ):
        compare(X, y, [RandomForestClassifier])


def test_penalties_reach_small_columns_beside_a_large_one():
    """Wine has columns with variances from 0.015 to 100,000; the mean variance is that of one column."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    found = compare(X, y, ["Logistic", "Lasso"], random_state=1)
    best = min(discrim.cross_validate(discrim.LogisticRegression(C=C), X, y, cv=10).log_loss for C in (0.1, 1.0, 10.0))
    assert found.table.loc["Logistic", "log_loss"] < 1.3 * best
    assert found.table.loc["Lasso", "error"] < 0.05
