"""The baseline of ``compare``, and which model it takes."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_wine

import discrim
from discrim import compare, datasets
from discrim.comparison.baseline import MajorityClassifier
from discrim.comparison.scores import Row
from discrim.comparison.verdict import choose
from discrim.evaluation.many_tests import larger_than_zero

X, y = datasets.load_iris().xy


def noise(n=400, share=0.22, seed=0, p=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), np.where(rng.random(n) < share, "late", "paid")


def test_the_table_has_a_row_for_always_answering_the_most_frequent_class():
    x, labels = noise()
    found = compare(x, labels, ["LDA"])
    row = found.table.loc["Baseline"]
    shares = np.array([(labels == c).mean() for c in ("late", "paid")])
    assert row["error"] == pytest.approx(shares.min())
    assert row["log_loss"] == pytest.approx(-(shares * np.log(shares)).sum())
    assert row["auc"] == 0.5
    assert row["parameters"] == 1
    assert "always predicts 'paid'" in row["note"]
    assert found["Baseline"].posterior[0] == pytest.approx(shares)


def test_the_baseline_counts_weights():
    weight = np.where(y == "setosa", 5.0, 1.0)
    found = compare(X, y, ["LDA"], sample_weight=weight)
    assert found.table.loc["Baseline", "error"] == pytest.approx(100 / 350)


def test_nothing_that_does_not_beat_the_baseline_is_chosen_and_the_verdict_says_so():
    chosen = []
    for seed in range(6):
        x, labels = noise(seed=seed)
        found = compare(x, labels, ["LDA", "QDA", "Gaussian NB", "Ridge"])
        chosen.append(found.chosen)
        if found.chosen == "Baseline":
            error = f"error {(labels == 'late').mean():.1%}"
            assert found.verdict.startswith(f"No model is significantly better than always predicting 'paid' ({error})")
            assert not found.table["beats_baseline"].any()
    assert chosen.count("Baseline") >= 5


def test_a_rare_class_that_probabilities_foresee_is_worth_a_sentence():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 3))
    labels = np.where(rng.random(4000) < 1 / (1 + np.exp(2.5 - 1.5 * (x[:, 0] > 0.5))), "late", "paid")
    found = compare(x, labels, ["QDA"])
    assert found.chosen == "Baseline"
    assert "By log loss, QDA is better (0." in found.verdict
    assert compare(x, labels, ["QDA"], metric="log_loss").chosen == "QDA"
    assert "By log loss" not in compare(*noise(), ["QDA"]).verdict


@pytest.mark.parametrize("metric", ["log_loss", "brier", "auc", lambda t, p, _: float(np.mean(t != p))])
def test_the_baseline_is_what_has_to_be_beaten_under_any_metric(metric):
    x, labels = noise()
    found = compare(x, labels, ["LDA", "QDA", "Gaussian NB"], metric=metric)
    assert found.chosen == "Baseline"
    assert "No model is significantly better than always predicting 'paid'" in found.verdict
    real = compare(X, y, ["LDA", "QDA", "Gaussian NB"], metric=metric)
    assert real.chosen != "Baseline"
    assert not real.table.loc["Baseline", "beats_baseline"]


def test_the_baseline_that_was_chosen_is_a_fitted_classifier():
    pd = pytest.importorskip("pandas")
    x, labels = noise()
    frame = pd.DataFrame(x, columns=list("abcde"))
    found = compare(frame, labels, ["LDA"])
    best = found.best
    assert isinstance(best, MajorityClassifier)
    assert (best.predict(frame) == "paid").all()
    assert best.predict_proba(frame[:2]).shape == (2, 2)
    assert best.score(frame, labels) == pytest.approx((labels == "paid").mean())
    assert "paid" in str(best.summary())
    assert best.feature_names_in_.tolist() == list("abcde")


def test_a_scan_without_anything_to_learn_has_the_baseline(tmp_path):
    pl = pytest.importorskip("polars")
    x, labels = noise()
    pl.DataFrame(x, schema=list("abcde")).with_columns(y=pl.Series(labels)).write_parquet(tmp_path / "rows.parquet")
    rows = discrim.scan(tmp_path / "rows.parquet", target="y")
    best = compare(rows, models=["LDA"]).best
    assert (best.predict(rows) == "paid").all()


def test_probabilities_may_beat_the_baseline_where_errors_cannot():
    """One case in twenty: no model predicts it, but all of them know where it is likelier."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3000, 3))
    labels = (rng.random(3000) < 1 / (1 + np.exp(3.3 - 0.9 * x[:, 0]))).astype(int)
    found = compare(x, labels, ["LDA", "Logistic", "Gaussian NB"])
    assert found.table.loc[found.chosen, "error"] <= found.table.loc["Baseline", "error"]
    assert found.chosen != "Baseline"
    assert found.table.loc[found.chosen, "log_loss"] < found.table.loc["Baseline", "log_loss"]


def test_against_the_baseline_one_model_has_mcnemars_one_sided_p_value():
    x, labels = noise(n=200, seed=3)
    x[:, 0] += 0.8 * (labels == "late")
    found = compare(x, labels, ["LDA"])
    baseline, right = found["Baseline"].predicted == labels, found["LDA"].predicted == labels
    gained, lost = int((right & ~baseline).sum()), int((~right & baseline).sum())
    lead = (right.astype(float) - baseline)[:, None]
    p = larger_than_zero(lead.sum(axis=0), lead)[0]
    exact = stats.binomtest(gained, gained + lost, alternative="greater").pvalue
    assert p == pytest.approx(exact, abs=3 * np.sqrt(exact / 2000))


def row(name, errors, log_loss, numbers, *, regularised=False):
    error = float(np.mean(errors))
    return Row(
        name, error=error, log_loss=log_loss, value=error, parameters=numbers, regularised=regularised,
        beats_baseline=True,
    )  # fmt: skip


def table_of(*rows):
    """Rows with the errors they make among 1,000: the first ``e`` rows."""
    losses = {name: (np.arange(1000) < e).astype(float) for name, e, *_ in rows}
    made = [row(name, losses[name], loss, size, regularised=held) for name, _, loss, size, held in rows]
    return tied(sorted(made, key=lambda each: each.value), losses)


def tied(table, losses):
    """With what is within one standard error of the first, and within one point."""
    best = losses[table[0].name]
    apart = [losses[each.name] - best for each in table]
    near = [d.mean() <= min(d.std(ddof=1) / np.sqrt(len(d)), 0.01) + 1e-9 for d in apart]
    return [replace(each, tied=bool(own)) for each, own in zip(table, near, strict=True)]


@pytest.mark.parametrize(
    ("rows", "chosen", "reason"),
    [
        # Clearly worse in error, so that its better log loss does not count.
        ([("a", 50, 0.2, 9, False), ("b", 80, 0.1, 3, False)], "a", "alone"),
        # Within one standard error: the lower log loss.
        ([("a", 50, 0.2, 9, False), ("b", 51, 0.1, 30, False)], "b", "loss"),
        # Log losses within 2%: the smaller rule, unless sizes are about the same; then the regularised one.
        ([("a", 50, 0.100, 30, False), ("b", 51, 0.101, 9, False)], "b", "simple"),
        ([("a", 50, 0.100, 10, False), ("b", 51, 0.101, 11, True)], "b", "simple"),
        # Without an error log losses only say who is boldest.
        ([("a", 0, 0.000, 21, False), ("b", 0, 0.300, 11, True), ("c", 0, 0.2, 11, False)], "b", "no error"),
        # The size of a rule from elsewhere is unknown.
        ([("a", 50, 0.100, np.nan, False), ("b", 51, 0.101, 11, False)], "b", "simple"),
    ],
)
def test_of_models_as_good_as_the_best(rows, chosen, reason):
    found = choose(table_of(*rows), "error")
    assert (found.row.name, found.reason) == (chosen, reason)


def test_more_than_one_point_of_error_is_no_tie_however_few_the_rows():
    errors = {"a": np.repeat([0.0, 1.0], [18, 2]), "b": np.repeat([0.0, 1.0], [17, 3])}
    table = [row("a", errors["a"], 0.5, 9), row("b", errors["b"], 0.1, 3)]
    assert choose(tied(table, errors), "error").row.name == "a"


def test_more_columns_than_rows_without_an_error_go_to_a_regularised_linear_rule():
    """As gene expression: naive Bayes takes correlated columns for independent ones, and is sure of everything."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    common = rng.normal(size=(300, 8)) @ rng.normal(size=(8, 900))
    x = 0.8 * common + rng.normal(size=(300, 900))
    x[:, :200] += 5.0 * labels[:, None]
    found = compare(x[:80], labels[:80], cv=4)
    without = found.table.index[found.table["error"] == 0]
    assert {"Gaussian NB", "Ridge", "Logistic"} <= set(without)
    chosen = next(each for each in found.rows if each.name == found.chosen)
    assert chosen.regularised
    assert chosen.parameters <= 901
    assert "makes no error on held-out rows" in found.verdict
    assert found.best.score(x[80:], labels[80:]) >= found.trials["Gaussian NB"].model.score(x[80:], labels[80:])


def test_the_verdict_names_the_tie(iris_compared):
    found = iris_compared
    tied = [each.name for each in found.rows if each.error == found.rows[0].error]
    assert len(tied) > 2
    assert f"tied models ({', '.join(tied[:3])}" in found.verdict


def test_choices_on_well_known_data_are_sensible():
    for data, most in ((load_wine, 0.02), (load_breast_cancer, 0.03)):
        found = compare(*data(return_X_y=True))
        best = min(each.error for each in found.rows if each.done)
        assert found.table.loc[found.chosen, "error"] <= min(best + 0.01, most)


def test_a_verdict_with_a_single_better_model_says_so():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    x = rng.normal(size=(300, 2)) * (1 + 2 * labels)[:, None]
    found = compare(x, labels, ["LDA", "QDA"])
    assert found.verdict.startswith("QDA is the only one of 2 models that is significantly better than the baseline")


def test_equal_rows_of_a_table_are_compared_by_the_best_that_beats_the_baseline():
    found = compare(X, y, ["LDA", "QDA"])
    changed = [replace(each, beats_baseline=each.name == "QDA") for each in found.rows]
    assert choose(changed, "error").row.name == "QDA"


def test_the_verdict_says_that_a_model_with_the_error_of_the_baseline_is_better_by_log_loss():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 1))
    labels = (rng.random(1500) < 1 / (1 + np.exp(3.2 - 0.6 * x[:, 0]))).astype(int)
    found = compare(x, labels, ["Logistic"])
    assert found.chosen == "Logistic"
    own, baseline = found.table.loc["Logistic"], found.table.loc["Baseline"]
    assert own["error"] == baseline["error"]
    losses = f"{own['log_loss']:.3f} versus {baseline['log_loss']:.3f}"
    sentence = f"Its error equals that of the baseline ({own['error']:.1%}), but its log loss is lower ({losses})."
    assert sentence in found.verdict


def test_models_that_look_as_good_but_are_not_shown_to_be_are_named():
    """A tie in the error, of which only one model beats the baseline, by its probabilities."""
    rng = np.random.default_rng(6)
    labels = np.repeat([0, 1], 15)[rng.permutation(30)]
    found = compare(rng.normal(size=(30, 4)) + labels[:, None], labels, reference=None)
    others = [one for one in found.rows if one.usable and not one.beats_baseline and one.value <= found.rows[0].value]
    assert len(others) > 1
    least = min(one.baseline_p for one in others)
    assert least >= 0.05
    said = f"have no larger error, but are not shown to be better than the baseline (p = {least:.2g} or more)"
    assert said in found.verdict


def test_the_verdict_has_the_adjusted_p_value_against_the_baseline():
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], 150)
    x = rng.normal(size=(300, 4))
    found = compare(x, labels, ["LDA", "QDA", "Ridge"])
    best = next(one for one in found.rows if one.usable)
    assert found.chosen == "Baseline"
    assert best.value < 0.5
    assert f"has {best.value:.1%}, which may be due to chance (p = " in found.verdict
    assert "adjusted for 3 models)" in found.verdict


def test_an_error_that_equals_the_smallest_is_not_called_near_it(iris_compared):
    found = iris_compared
    best = found.rows[0]
    assert found.chosen != best.name
    assert found.table.loc[found.chosen, "error"] == best.error
    assert f"is the smallest, like that of {best.name}" in found.verdict


def test_a_model_that_can_follow_covariances_does_not_win_by_it_where_another_is_as_good(iris_compared):
    assert ", which it models, although LDA (2.0%), which does not, is as good" in iris_compared.verdict


def test_no_class_is_rare_for_being_one_of_ten():
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 10, 300)
    x = rng.normal(size=(300, 4)) + 2.0 * rng.normal(size=(10, 4))[labels]
    assert "of the rows)" not in compare(x, labels, ["LDA"], cv=3).verdict
    few = np.flatnonzero(labels == 3)[6:]
    kept = np.delete(np.arange(300), few)
    assert "of '3' (2." in compare(x[kept], labels[kept], ["LDA"], cv=3).verdict


def test_no_sentence_on_covariances_contradicts_its_p_value():
    x, labels = np.random.default_rng(0).standard_t(3, size=(200, 4)), np.repeat([0, 1], 100)
    verdict = compare(x + 1.5 * labels[:, None], labels, ["LDA"], reference=None).verdict
    box = float(re.search(r"chi-sq .* df, p = ([0-9.e-]+)", verdict)[1])
    levene = float(re.search(r"by permutation: p = ([0-9.]+)", verdict)[1])
    assert box < 0.05 <= levene
    assert "covariances differ by Box's M alone, which long tails mislead (" in verdict
    assert "as it assumes" not in verdict
