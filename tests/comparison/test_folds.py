"""The folds of ``compare``: dealt within classes by a seed; copies and groups stay together."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, StratifiedGroupKFold, TimeSeriesSplit

import discrim
from discrim import compare, cross_validate, datasets
from discrim.comparison import compared_rows, trials
from discrim.comparison.folds import Dealer, find_copies, numbered
from discrim.errors import DataError, ParameterError

X, y = datasets.load_iris().xy
SEVEN = ("LDA", "RDA", "Ridge", "Lasso", "Logistic", "Bayesian LDA", "QDA")


def counts(folds, labels):
    return np.array([[((folds == f) & (labels == c)).sum() for c in np.unique(labels)] for f in np.unique(folds)])


def test_folds_are_a_seeded_shuffle_within_classes():
    found = compare(X, y, ["LDA"])
    assert (counts(found.folds, y) == 5).all()
    assert not np.array_equal(found.folds, cross_validate(discrim.LinearDiscriminantAnalysis(), X, y).folds)
    again, other = compare(X, y, ["LDA"], random_state=0), compare(X, y, ["LDA"], random_state=1)
    assert np.array_equal(found.folds, again.folds)
    assert not np.array_equal(found.folds, other.folds)


@pytest.mark.parametrize("sizes", [(7, 11, 5), (101, 3, 40), (20, 20)])
def test_sizes_of_folds_differ_by_one_at_most(sizes):
    codes = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    folds = Dealer(codes).deal(4)
    table = counts(folds, codes)
    assert (table.max(axis=0) - table.min(axis=0) <= 1).all()
    assert np.ptp(table.sum(axis=1)) <= 1


def test_neighbours_in_the_table_are_spread_over_the_folds():
    """Rows in the order of time: a fold is no stretch of it."""
    rng = np.random.default_rng(0)
    time = np.arange(500)
    drift = np.sin(time / 40.0)
    labels = (drift + 0.5 * rng.normal(size=500) > 0).astype(int)
    found = compare(np.column_stack([drift, rng.normal(size=500)]), labels, ["LDA", "Gaussian NB"])
    for f in range(10):
        assert np.median(time[found.folds == f]) == pytest.approx(250, abs=110)
        assert np.ptp(time[found.folds == f]) > 400


def test_no_order_of_the_rows_hurts():
    rng = np.random.default_rng(1)
    order = rng.permutation(150)
    sorted_rows, shuffled = compare(X, y, ["LDA", "Logistic"]), compare(X[order], y[order], ["LDA", "Logistic"])
    for name in ("LDA", "Logistic"):
        assert sorted_rows.table.loc[name, "error"] == pytest.approx(shuffled.table.loc[name, "error"], abs=0.03)


def test_every_container_has_the_same_folds(tmp_path):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(X, schema=list("abcd"))
    frame.with_columns(y=pl.Series(y)).write_parquet(tmp_path / "iris.parquet", row_group_size=40)
    expected = compare(X, y, ["LDA"]).folds
    for rows, labels in (
        (frame, y),
        (frame.to_pandas(), y),
        (frame.to_arrow(), y),
        (sparse.csr_array(X), y),
        (X.tolist(), list(y)),
        (np.asfortranarray(X), y.astype(object)),
        (discrim.scan(tmp_path / "iris.parquet", target="y"), None),
    ):
        assert np.array_equal(compare(rows, labels, ["LDA"]).folds, expected)


@pytest.mark.parametrize("times", [2, 3])
def test_copies_of_a_row_stay_in_one_fold(times):
    rows = np.tile(np.arange(150), times)
    order = np.random.default_rng(0).permutation(len(rows))
    rows = rows[order]
    found = compare(X[rows], y[rows], ["LDA"])
    assert all(len(np.unique(found.folds[rows == i])) == 1 for i in range(150))
    table = counts(found.folds, y[rows])
    assert (table.max(axis=0) - table.min(axis=0) <= 2 * times).all()


def test_copies_do_not_flatter_a_model_that_remembers_rows():
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(0)
    x, labels = np.repeat(rng.normal(size=(150, 3)), 2, axis=0), np.repeat(rng.integers(0, 2, 150), 2)
    found = compare(x, labels, [KNeighborsClassifier(1)])
    assert found.table.loc["KNeighborsClassifier", "error"] > 0.35


def test_copies_with_gaps_and_signed_zeros_are_found():
    x = np.array([[0.0, np.nan], [-0.0, np.nan], [1.0, 2.0], [1.0, 2.0], [1.0, np.nan], [3.0, 4.0]])
    units = find_copies(x)
    assert units[0] == units[1]
    assert units[2] == units[3]
    assert len(np.unique(units)) == 4
    thin = find_copies(sparse.csr_array(np.nan_to_num(x)))
    assert sorted(np.unique(thin, return_index=True)[1]) == sorted(np.unique(units, return_index=True)[1])
    assert find_copies(X[:40] + np.arange(40)[:, None]) is None
    assert find_copies(np.arange(5000.0)[:, None] // 2).max() == 2499


def test_a_frequent_value_is_not_a_copy():
    """Three columns of zeros and ones: eight different rows, each of which would be a fold by itself."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (400, 3)).astype(float)
    labels = (rng.random(400) < 0.2 + 0.6 * bits[:, 0]).astype(int)
    found = compare(bits, labels, ["LDA"])
    assert len(np.unique(found.folds)) == 10
    assert np.ptp(np.bincount(found.folds)) <= 1
    assert found.table.loc["LDA", "error"] < 0.3


def grouped(groups=40, size=10, seed=0):
    """Rows of a group look alike, and tell nothing about rows of another."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), size)
    labels = rng.integers(0, 2, groups)[group]
    x = rng.normal(size=(groups, 25))[group] + 0.1 * rng.normal(size=(groups * size, 25))
    order = rng.permutation(len(group))
    return x[order], labels[order], group[order]


@pytest.mark.parametrize("kind", [int, str, float, "datetime64[D]"])
def test_groups_are_never_split(kind):
    x, labels, group = grouped()
    named = group.astype(kind) + 0.5 if kind is float else group.astype(kind)
    found = compare(x, labels, ["LDA", "Gaussian NB"], groups=named)
    assert all(len(np.unique(found.folds[group == g])) == 1 for g in range(40))
    assert len(np.unique(found.folds)) == 10
    shares = counts(found.folds, labels)
    assert (shares.min(axis=0) > 0).all()
    assert not np.array_equal(found.folds, compare(x, labels, ["LDA"], groups=named, random_state=1).folds)


def test_very_many_groups_are_dealt_evenly():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(6000), rng.integers(1, 6, 6000))
    codes = rng.integers(0, 3, 6000)[group].astype(np.int32)
    folds = Dealer(codes, group, np.arange(6000)).deal(10)
    table = counts(folds, codes)
    assert (np.abs(table / table.sum(axis=0) - 0.1) < 0.01).all()
    first = folds[np.unique(group, return_index=True)[1]]
    assert np.array_equal(first[group], folds)


def test_groups_may_come_as_a_series_of_any_kind():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    x, labels, group = grouped()
    expected = compare(x, labels, ["LDA"], groups=group.astype(str)).folds
    for named in (
        pd.Series(group.astype(str)),
        pd.Series(group.astype(str), dtype="category"),
        pl.Series(group.astype(str)),
        group.astype(str).tolist(),
    ):
        assert np.array_equal(compare(x, labels, ["LDA"], groups=named).folds, expected)


def test_groups_that_share_nothing_leave_nothing_to_learn():
    x, labels, group = grouped()
    plain, kept = compare(x, labels), compare(x, labels, groups=group)
    assert plain.table["error"].min() < 0.15
    assert kept.table["error"].drop("Baseline").min() > 0.25
    assert kept.chosen == "Baseline"


@pytest.mark.parametrize("cv", [5, 2, GroupKFold(5), StratifiedGroupKFold(4), LeaveOneGroupOut()])
def test_groups_hold_in_tuning_too(cv, monkeypatch):
    """No training part, of a fold or of a pair of folds, shares a group with the rows that judge it."""
    x, labels, group = grouped(groups=12)
    x[:, 0] = group  # the group of a row can be read from its first column, and from nothing else
    seen = []
    original = trials.ComparedRows.prepared_by

    def spy(self, train, *rest):
        of_row = self.numbers.x[:, 0]
        seen.append(set(of_row[train]) & set(np.delete(of_row, train)))
        return original(self, train, *rest)

    monkeypatch.setattr(trials.ComparedRows, "prepared_by", spy)
    found = compare(x, labels, ["Logistic"], groups=group, cv=cv)
    assert found.table["error"].notna().all()
    assert len(seen) > 4
    assert not any(seen)


@pytest.mark.parametrize("name", ["Logistic", "RDA"])
def test_settings_of_many_rows_are_chosen_by_some_of_them_from_every_fold_and_class(name, monkeypatch):
    rng = np.random.default_rng(0)
    labels = (rng.random(6000) < 0.1).astype(int)
    x = rng.normal(size=(6000, 4)) + labels[:, None] * [1.0, 0.5, 0.0, 0.0]
    everything = compare(x, labels, [name])
    monkeypatch.setattr(compared_rows, "ENOUGH_ROWS", 1500)
    judged = []
    original = compared_rows.ComparedRows.thinned

    def spy(self, *part):
        judged.append(original(self, *part))
        return judged[-1]

    monkeypatch.setattr(compared_rows.ComparedRows, "thinned", spy)
    found = compare(x, labels, [name])
    part = judged[0]
    assert part.n == 1500
    cells = np.bincount(2 * part.folds.number + part.codes)
    np.testing.assert_allclose(cells, np.bincount(2 * found.folds + labels) / 4, atol=1.01)
    sentence = "Settings that are judged row by row were chosen by one row out of 4."
    assert sentence in found.remarks
    assert sentence not in everything.remarks
    # The folds themselves are those of all rows, and so are the fits.
    assert len(found[name].posterior) == 6000
    assert found.table.loc[name, "error"] == pytest.approx(everything.table.loc[name, "error"], abs=0.002)


def test_inner_folds_of_a_training_part_keep_groups():
    _, labels, group = grouped()
    dealer = Dealer(labels.astype(np.int32), group, np.unique(group))
    train = np.flatnonzero(group % 2 == 0)
    inner = dealer.take(train).inner(5)
    assert len(inner.parts) == 5
    assert all(len(np.unique(inner.number[group[train] == g])) == 1 for g in range(0, 40, 2))


def test_counts_are_smoothed_by_groups():
    rng = np.random.default_rng(0)
    _, labels, group = grouped()
    counted = rng.poisson(1.0 + labels[:, None] * (np.arange(12) < 4), (400, 12))
    found = compare(counted, labels, ["Multinomial NB", "Complement NB"], groups=group)
    for name in ("Multinomial NB", "Complement NB"):
        assert found.table.loc[name, "error"] < 0.45
        assert isinstance(found.trials[name].model.alpha, float)


def test_fewer_groups_than_folds_make_fewer_folds_with_a_remark(tmp_path):
    x, labels, group = grouped()
    found = compare(x, labels, ["LDA", "Ridge"], groups=group % 4)
    assert len(np.unique(found.folds)) == 4
    sentence = "There are 4 folds instead of 10, because there are 4 groups."
    assert sentence in found.remarks
    assert sentence in repr(found)
    assert sentence in found.report(tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("groups", "cv", "error", "text"),
    [
        (np.zeros(150), 10, DataError, "All rows belong to the group '0.0'"),
        (["a"] * 150, 10, DataError, "All rows belong to the group 'a'"),
        (np.arange(149), 10, DataError, "groups must have one value for each of the 150 rows; found 149"),
        (np.r_[np.nan, np.arange(149.0)], 10, DataError, "groups holds 1 missing value"),
        ([None, *["a", "b", "c"] * 50][:150], 10, DataError, "groups holds 1 missing value"),
        (np.arange(150) % 5, "loo", ParameterError, "cv='loo' holds out single rows, which splits the groups"),
        (np.arange(150) % 5, KFold(5), ParameterError, "has rows of the group '0' both in a training part and in its"),
    ],
)
def test_groups_that_cannot_be_kept_together_are_an_error(groups, cv, error, text):
    with pytest.raises(error, match=re.escape(text)):
        compare(X, y, ["LDA"], groups=groups, cv=cv)


def test_a_splitter_that_keeps_groups_is_taken_as_it_is():
    groups = np.arange(150) % 15
    found = compare(X, y, ["LDA"], cv=GroupKFold(5), groups=groups)
    assert np.array_equal(
        found.folds, cross_validate(discrim.LinearDiscriminantAnalysis(), X, y, GroupKFold(5), groups=groups).folds
    )


def test_training_parts_that_leave_rows_out_are_tuned_by_folds_of_their_own():
    order = np.random.default_rng(0).permutation(150)
    parts = [(train, test) for train, test in TimeSeriesSplit(4).split(X)]
    first = np.setdiff1d(np.arange(150), np.concatenate([test for _, test in parts]))
    parts = [(parts[-1][1], first), *parts]
    found = compare(X[order], y[order], SEVEN, cv=parts)
    assert all(row.done for row in found.rows), found
    assert found.table.loc["Logistic", "error"] < 0.15


def test_folds_without_rows_are_not_counted():
    assert len(numbered(np.array([0, 0, 3, 3], dtype=np.int32)).parts) == 2


def test_leave_one_out_tunes_by_shuffled_groups():
    found = compare(X[::3], y[::3], ["Ridge", "Logistic", "RDA"], cv="loo")
    assert found.table["error"].notna().all()
    assert found.table.loc["Logistic", "error"] < 0.1
