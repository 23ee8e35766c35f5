"""The assumption checks against brute force, SciPy and published numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discrim import datasets, scan
from discrim.engines import reduce
from discrim.errors import DataError, DiscrimError
from discrim.inference import assumption_checks, assumptions
from discrim.inference.assumptions import class_shapes, collinearity, column_shapes
from discrim.inference.discriminant import box_m
from discrim.sources import open_rows
from discrim.statistics import Depth
from discrim.statistics.moments import MomentsOf

X, y = datasets.load_iris().xy


def shapes_of(x, labels):
    rows = open_rows(x, labels)
    return class_shapes(rows, reduce(rows, MomentsOf(Depth.FULL)))


def skewed(n=600, p=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    return rng.exponential(size=(n, p)) + 0.3 * labels[:, None], labels


def test_box_m_of_iris_is_what_r_prints():
    # heplots::boxM(iris[, 1:4], iris$Species): Chi-Sq (approx.) = 140.94, df = 20, p-value < 2.2e-16
    check = assumption_checks(X, y)["equal covariances"]
    assert round(check.statistic, 2) == 140.94
    assert check.df == 20
    assert check.p_value < 2.2e-16
    assert round(check.details["m"], 2) == 146.66
    assert check.level == "problem"


def test_box_m_is_the_formula_written_out():
    groups = [X[y == label] for label in np.unique(y)]
    v = np.array([len(g) - 1 for g in groups])
    sigma = [np.cov(g.T) for g in groups]
    pooled = sum(a * s for a, s in zip(v, sigma, strict=True)) / v.sum()
    m = v.sum() * np.log(np.linalg.det(pooled)) - sum(
        a * np.log(np.linalg.det(s)) for a, s in zip(v, sigma, strict=True)
    )
    scatter = np.stack([a * s for a, s in zip(v, sigma, strict=True)])
    assert box_m(v + 1.0, scatter).m == pytest.approx(m, rel=1e-10)


def test_the_f_of_box_m_keeps_its_level_for_small_classes():
    rng = np.random.default_rng(1)
    rejected = 0
    for _ in range(400):
        groups = rng.standard_normal((3, 12, 3))
        gaps = groups - groups.mean(axis=1, keepdims=True)
        rejected += box_m(np.full(3, 12.0), np.einsum("kia,kib->kab", gaps, gaps)).f_p_value < 0.05
    # 400 trials at 5%: 20 expected, standard deviation 4.4.
    assert 6 <= rejected <= 34


def test_large_tables_with_a_tiny_difference_are_fine_although_the_test_rejects():
    rng = np.random.default_rng(2)
    labels = np.repeat([0, 1], 100_000)
    x = rng.standard_normal((200_000, 2)) * np.where(labels, 1.03, 1.0)[:, None]
    check = assumption_checks(x, labels)["equal covariances"]
    assert check.p_value < 1e-6
    assert check.effect < 0.01
    assert check.level == "fine"
    assert "too little to matter" in check.meaning


def test_a_class_without_enough_rows_is_named():
    check = assumption_checks(X[45:70], y[45:70])["equal covariances"]
    few = assumption_checks(X[47:70], y[47:70])["equal covariances"]
    assert np.isfinite(check.statistic)
    assert few.level == "unknown"
    assert "class 'setosa' has 3 rows for 4 columns" in few.meaning


def test_mardia_of_setosa_is_the_sum_over_all_pairs_of_rows():
    # MVN::mvn(iris[1:50, 1:4], "mardia") has skewness 25.66 and kurtosis 1.295, and 27.86 with small-sample moments.
    setosa = X[:50]
    z = (setosa - setosa.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(setosa.T, ddof=0))).T
    products = z @ z.T
    found = assumption_checks(X, y)["normality"].details
    assert found["mardia_skewness"][0] == pytest.approx((products**3).mean(), rel=1e-9)
    assert found["mardia_kurtosis"][0] == pytest.approx((np.diagonal(products) ** 2).mean(), rel=1e-10)
    assert round(found["mardia_skewness_statistic"][0], 2) == 27.86
    assert round(found["mardia_kurtosis_z"][0], 3) == 2.193


def test_the_columns_omnibus_is_that_of_scipy_for_one_class():
    x, _ = skewed(80)
    skewness, kurtosis, omnibus, p_value = column_shapes(shapes_of(x, np.zeros(80, int)))
    expected = stats.normaltest(x)
    assert omnibus == pytest.approx(expected.statistic, rel=1e-9)
    assert p_value == pytest.approx(expected.pvalue, rel=1e-6)
    assert skewness == pytest.approx(stats.skew(x), rel=1e-9)
    assert kurtosis == pytest.approx(stats.kurtosis(x), rel=1e-9)


def test_skewed_columns_are_a_problem_and_named():
    x, labels = skewed()
    x[:, 1] = np.random.default_rng(3).standard_normal(len(x))
    check = assumption_checks(x, labels)["normality"]
    assert check.level == "problem"
    assert "x1" not in check.columns
    assert check.p_value < 1e-10


def test_variance_inflation_is_one_over_one_minus_r_squared():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((400, 4))
    x[:, 3] = x[:, 0] + x[:, 1] + 0.2 * rng.standard_normal(400)
    labels = rng.integers(0, 3, 400)
    gaps = x - np.stack([x[labels == k].mean(axis=0) for k in range(3)])[labels]
    expected = []
    for j in range(4):
        others = np.delete(gaps, j, axis=1)
        left = gaps[:, j] - others @ np.linalg.lstsq(others, gaps[:, j], rcond=None)[0]
        expected.append((gaps[:, j] ** 2).sum() / (left**2).sum())
    check = assumption_checks(x, labels)["collinearity"]
    assert check.details["inflation"] == pytest.approx(expected, rel=1e-9)
    assert check.level == "doubtful"
    assert check.columns[0] == "x3"
    assert set(check.columns) == {"x0", "x1", "x3"}


def test_dependent_and_constant_columns_are_named():
    x = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(150)])
    check = assumption_checks(x, y)["collinearity"]
    assert check.level == "problem"
    assert set(check.columns) == {"x0", "x1", "x4", "x5"}
    assert check.details["constant"] == ("x5",)


def test_no_inflation_is_known_with_fewer_rows_than_columns():
    inflation, _ = collinearity(np.eye(5), 3.0)
    assert np.isinf(inflation).all()


def test_separation_says_which_classes_can_be_separated():
    apart = assumption_checks(X[:100], y[:100])["separation"]
    overlap = assumption_checks(X[50:, :2], y[50:])["separation"]
    assert apart.level == "problem"
    assert "completely separated" in apart.meaning
    assert overlap.level == "fine"
    assert overlap.effect > 0.2


def test_partial_separation_is_found_by_the_linear_program():
    rng = np.random.default_rng(5)
    x = np.column_stack([rng.standard_normal(200), rng.random(200) < 0.2])
    labels = np.where(x[:, 1] == 1, 1, rng.integers(0, 2, 200))
    check = assumption_checks(x, labels)["separation"]
    assert check.level == "problem"
    assert "partly separated along 'x1'" in check.meaning


def test_a_search_for_separation_that_fails_leaves_the_other_checks(monkeypatch):
    def fail(*_):
        raise DiscrimError("The linear program that looks for separation failed.")

    monkeypatch.setattr(assumptions, "find_separation", fail)
    checks = assumption_checks(X[50:, :2], y[50:])
    assert checks["separation"].level == "unknown"
    assert "search for a direction that separates classes partly failed" in checks["separation"].meaning
    assert checks["equal covariances"].level != "unknown"


def test_rows_and_columns_name_the_smallest_class():
    check = assumption_checks(X[:120], y[:120])["rows and columns"]
    assert check.effect == 5.0
    assert check.level == "doubtful"
    assert "'virginica' has 20" in check.meaning


def test_a_scan_gives_what_the_arrays_give(tmp_path):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(pl.Series("y", y))
    frame.write_parquet(tmp_path / "iris.parquet", row_group_size=40)
    read = assumption_checks(scan(tmp_path / "iris.parquet", target="y"))
    held = assumption_checks(frame.drop("y"), y)
    assert list(read) == list(held)
    for name in held:
        assert read[name].meaning == held[name].meaning
        assert read[name].statistic == pytest.approx(held[name].statistic, rel=1e-9, nan_ok=True)


def test_weights_count_rows():
    weight = np.arange(150) % 3 + 1.0
    rows = np.repeat(np.arange(150), weight.astype(int))
    weighted, repeated = assumption_checks(X, y, weight), assumption_checks(X[rows], y[rows])
    for name in ("equal covariances", "normality", "collinearity"):
        assert weighted[name].statistic == pytest.approx(repeated[name].statistic, rel=1e-9, nan_ok=True)
        assert weighted[name].effect == pytest.approx(repeated[name].effect, rel=1e-9)


def test_missing_values_and_labels_are_errors_that_name_them():
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(DataError, match="column 'x2' has 1 NaN"):
        assumption_checks(bad, y)
    with pytest.raises(DataError, match="Labels are needed"):
        assumption_checks(X)


def test_more_columns_than_rows_are_checked_without_a_linear_program():
    x = np.random.default_rng(6).standard_normal((20, 60))
    checks = assumption_checks(x, np.arange(20) % 2)
    assert checks["separation"].level == "problem"
    assert checks["equal covariances"].level == "unknown"
    assert checks["rows and columns"].level == "problem"


def test_the_checks_print_in_eighty_columns_and_become_a_frame():
    checks = assumption_checks(X, y)
    assert max(map(len, repr(checks).splitlines())) <= 80
    assert list(checks.to_frame().index) == list(checks)
    assert "<dl>" in checks._repr_html_()


def test_one_class_is_nothing_to_compare():
    with pytest.raises(DataError, match=r"y has only the class '1\.0'; the assumptions are about two classes"):
        assumption_checks(X, np.ones(150))


def test_a_constant_column_is_not_the_one_that_normality_is_tested_by():
    check = assumption_checks(np.column_stack([np.full(150, 3.0), X]), y)["normality"]
    assert "'x0'" not in check.meaning
    assert check.p_value == pytest.approx(min(1.0, 5 * column_shapes(shapes_of(X, y))[3].min()))


def test_normality_of_two_rows_a_class_is_unknown():
    check = assumption_checks(X[[0, 1, 50, 51]], [0, 0, 1, 1])["normality"]
    assert check.level == "unknown"
    assert "too few rows" in check.meaning


def samples(draw, n, p, tables=60):
    """Two classes of the same distribution, many times."""
    rng, y = np.random.default_rng(0), np.repeat([0, 1], n)
    return [assumption_checks(draw(rng, (2 * n, p)), y) for _ in range(tables)]


def test_few_skewed_rows_in_several_columns_are_noticed():
    """Fifteen rows a class in eight columns: Mardia's large-sample moments see nothing there."""
    levels = [found["normality"].level for found in samples(lambda rng, size: rng.exponential(size=size), 15, 8)]
    assert levels.count("problem") > 45
    assert levels.count("fine") == 0


def test_few_normal_rows_are_neither_rejected_nor_called_normal():
    found = [each["normality"] for each in samples(lambda rng, size: rng.normal(size=size), 15, 8)]
    assert sum(each.p_value < 0.05 for each in found) <= 0.05 * 60 + 3 * np.sqrt(0.05 * 0.95 * 60)
    assert sum(each.level == "unknown" for each in found) > 50
    assert "too few rows to notice" in next(each for each in found if each.level == "unknown").meaning


def test_long_tails_are_not_taken_for_different_covariances():
    found = [each["equal covariances"] for each in samples(lambda rng, size: rng.standard_t(4, size=size), 80, 4)]
    own = sum(each.p_value < 0.05 for each in found)
    robust = sum(each.details["robust_p_value"] < 0.05 for each in found)
    assert own > 0.25 * 60
    assert robust <= 0.05 * 60 + 3 * np.sqrt(0.05 * 0.95 * 60)
    said = next(each for each in found if each.p_value < 0.01 and each.level == "fine")
    assert "no more than long tails explain" in said.meaning
    assert "Levene's test by permutation: p" in said.meaning


def test_no_sentence_contradicts_its_own_p_value():
    for draw in (np.random.Generator.normal, np.random.Generator.exponential):
        for each in samples(lambda rng, size, draw=draw: draw(rng, size=size), 40, 3, 20):
            normal, equal = each["normality"], each["equal covariances"]
            assert ("show no departure" in normal.meaning) == (normal.p_value >= 0.05)
            assert ("show no difference" in equal.meaning) <= (equal.p_value >= 0.05)


@pytest.mark.parametrize("lost", [0, 2])
def test_a_class_without_weight_is_no_class(lost):
    weight = np.where(y == lost, 0.0, 1.0)
    weighted, left_out = assumption_checks(X, y, weight), assumption_checks(X[y != lost], y[y != lost])
    for name in ("normality", "collinearity", "rows and columns"):
        assert weighted[name].effect == pytest.approx(left_out[name].effect, rel=1e-9)
