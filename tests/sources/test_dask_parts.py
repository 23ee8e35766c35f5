"""Dask frames and arrays: the same models as from the rows in memory, with the rows left where they are."""

import os
import pickle
import threading
import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

dask = pytest.importorskip("dask", reason="Dask is not installed")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

import discrim  # noqa: E402
from discrim import basis  # noqa: E402
from discrim.errors import DataError  # noqa: E402
from discrim.sources import Scan  # noqa: E402

rng = np.random.default_rng(11)
N = 3000
X = rng.normal(size=(N, 4)) * [1.0, 100.0, 1e-3, 1.0] + [0.0, 0.0, 5.0, 1e3]
Y = np.where(X[:, 0] + 0.01 * X[:, 1] + rng.logistic(size=N) > 0, "yes", "no").astype("U5")
Y[rng.random(N) < 0.1] = "maybe"
FRAME = pd.DataFrame(X, columns=list("ABCD")).assign(
    job=rng.choice(["cook", "clerk", "smith"], N), w=rng.integers(1, 4, N), y=Y
)
PARTS = dd.from_pandas(FRAME, npartitions=7)

MODELS = [
    discrim.LinearDiscriminantAnalysis(),
    discrim.LinearDiscriminantAnalysis(shrinkage="auto"),
    discrim.QuadraticDiscriminantAnalysis(),
    discrim.RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv"),
    discrim.BayesianQuadraticDiscriminantAnalysis(),
    discrim.GaussianNB(),
    discrim.NearestCentroid(),
    discrim.LeastSquaresClassifier(),
    discrim.RidgeClassifier(),
    discrim.LassoClassifier(alpha=0.01),
    discrim.LogisticRegression(tol=0),
    discrim.OneVsRestClassifier(discrim.LinearDiscriminantAnalysis()),
]


@pytest.fixture
def few_in_memory(monkeypatch):
    """As if the rows were too many to be gathered, so that every pass goes to where they are."""
    from discrim.families.logistic import recipe

    monkeypatch.setattr(recipe, "SAMPLE_VALUES", 400)


def scores(model, rows):
    return (model.decision_function if hasattr(model, "decision_function") else model.predict_log_proba)(rows)


def both(model, columns, **where):
    apart = clone(model).fit(discrim.scan(PARTS, features=columns, target="y", **where))
    whole = clone(model).fit(discrim.scan(FRAME, features=columns, target="y", **where))
    return apart, whole


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("columns", [list("ABCD"), [*"ABCD", "job"]], ids=["numbers", "text"])
def test_a_frame_in_parts_gives_the_model_of_the_whole_frame(model, columns):
    apart, whole = both(model, columns, weight="w")
    assert_allclose(scores(apart, FRAME[columns]), scores(whole, FRAME[columns]), rtol=1e-8, atol=1e-8)


def test_columns_of_every_kind_with_missing_values():
    frame = FRAME[["A", "job", "y"]].mask(rng.random((N, 3)) < 0.1).dropna(subset="y")
    parts = dd.from_pandas(frame, npartitions=5)
    apart = discrim.MixedNB().fit(discrim.scan(parts, target="y"))
    whole = discrim.MixedNB().fit(discrim.scan(frame, target="y"))
    assert_allclose(apart.predict_proba(frame[["A", "job"]]), whole.predict_proba(frame[["A", "job"]]), atol=1e-10)


def test_words_of_a_basis_are_made_where_the_rows_are():
    model = make_pipeline(basis.QuadraticBasis(), discrim.LinearDiscriminantAnalysis())
    apart = model.fit(discrim.scan(PARTS, features=list("ABD"), target="y")).predict_proba(FRAME[list("ABD")])
    whole = model.fit(discrim.scan(FRAME, features=list("ABD"), target="y")).predict_proba(FRAME[list("ABD")])
    assert_allclose(apart, whole, atol=1e-8)


@pytest.mark.usefixtures("few_in_memory")
def test_only_states_come_back(monkeypatch):
    """No part is brought to the caller: the models of one pass and of several ask for states alone."""

    def brought(*_):
        raise AssertionError("the rows were brought here")

    monkeypatch.setattr(Scan, "tables", brought)
    monkeypatch.setattr(Scan, "pieces", lambda self, most=None: _own_pieces(self))
    rows = discrim.scan(PARTS, features=list("ABCD"), target="y")
    for model in (discrim.LinearDiscriminantAnalysis(), discrim.LogisticRegression(C=np.inf)):
        assert set(model.fit(rows).classes_) == {"yes", "no", "maybe"}


def _own_pieces(rows):
    """The blocks of a part on its worker, which has one table."""
    (table,) = rows._reader.tables(None, 0)
    yield lambda: rows._block(rows.design.renamed(rows.features), table, 0, table.n_rows)


def test_large_states_are_merged_few_at_a_time_by_the_same_tree(monkeypatch):
    """On threads and one after another, whatever is done first."""
    from discrim.sources import dask_parts, design

    monkeypatch.setattr(design, "WIDE", 0)
    merged, whole = [], dask_parts._merge_some
    monkeypatch.setattr(
        dask_parts, "_merge_some", lambda merge, states: merged.append(len(states)) or whole(merge, states)
    )
    rows = discrim.scan(PARTS, features=list("ABCD"), target="y")
    found = discrim.LinearDiscriminantAnalysis().fit(rows)
    assert sorted(merged) == [2, 3, 4]
    with dask.config.set(scheduler="sync"):
        assert_array_equal(discrim.LinearDiscriminantAnalysis().fit(rows).coef_, found.coef_)
    assert_allclose(found.coef_, discrim.LinearDiscriminantAnalysis().fit(X, Y).coef_, rtol=1e-8)


def test_arrays_in_chunks_give_the_model_of_the_whole_array():
    chunked, labels = da.from_array(X, chunks=(700, 3)), da.from_array(Y, chunks=1100)
    weight = da.from_array(FRAME["w"].to_numpy(), chunks=500)
    for model in (discrim.LinearDiscriminantAnalysis(), discrim.GaussianNB(), discrim.LogisticRegression(tol=0)):
        apart = clone(model).fit(chunked, labels, sample_weight=weight)
        whole = clone(model).fit(X, Y, sample_weight=FRAME["w"])
        assert not hasattr(apart, "feature_names_in_")
        assert apart.n_features_in_ == 4
        assert_allclose(scores(apart, X), scores(whole, X), rtol=1e-7, atol=1e-7)


def test_answers_are_computed_when_they_are_asked_for():
    model = discrim.LinearDiscriminantAnalysis().fit(FRAME[list("ABCD")], Y)
    plain = discrim.LinearDiscriminantAnalysis().fit(X, Y)
    two = discrim.LogisticRegression(tol=0).fit(X, Y == "yes")
    chunked = da.from_array(X, chunks=(700, 3))
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        lazy = getattr(model, method)(PARTS[list("ABCD")])
        assert isinstance(lazy, da.Array)
        assert_array_equal(lazy.compute(), getattr(model, method)(FRAME[list("ABCD")]))
        assert_array_equal(getattr(plain, method)(chunked).compute(), getattr(plain, method)(X))
        assert getattr(two, method)(chunked).shape == getattr(two, method)(X).shape


def test_the_score_of_scans_and_parts_is_that_of_the_rows():
    for model in (discrim.LinearDiscriminantAnalysis(), discrim.LogisticRegression(), discrim.RidgeClassifier()):
        model.fit(FRAME[list("ABCD")], Y)
        plain = model.score(FRAME[list("ABCD")], Y)
        assert model.score(PARTS[list("ABCD")], PARTS["y"]) == pytest.approx(plain, abs=1e-12)
        weighed = model.score(FRAME[list("ABCD")], Y, FRAME["w"])
        for rows in (PARTS, FRAME):
            assert model.score(discrim.scan(rows, target="y", weight="w")) == pytest.approx(weighed, abs=1e-12)
    with pytest.raises(DataError, match="brings its own labels"):
        model.score(discrim.scan(PARTS, target="y"), Y)
    gaps = FRAME.assign(B=FRAME["B"].where(np.arange(N) != 5))
    with pytest.raises(DataError, match="'B'"):
        model.score(discrim.scan(gaps, target="y"))


def test_the_labels_may_be_a_series_of_the_same_partitions():
    model = discrim.LinearDiscriminantAnalysis().fit(PARTS[list("ABCD")], PARTS["y"])
    assert list(model.feature_names_in_) == list("ABCD")
    assert_allclose(model.coef_, discrim.LinearDiscriminantAnalysis().fit(FRAME[list("ABCD")], Y).coef_, rtol=1e-8)
    checked = discrim.cross_validate(discrim.LinearDiscriminantAnalysis(), PARTS[list("ABCD")], PARTS["y"], cv=3)
    assert checked.error < 0.5


def test_a_part_without_rows_is_skipped_and_a_frame_without_rows_refused():
    some = dd.concat([PARTS[PARTS["A"] > 1e9], PARTS])
    model = discrim.LinearDiscriminantAnalysis().fit(discrim.scan(some, features=list("ABCD"), target="y"))
    assert_allclose(model.coef_, discrim.LinearDiscriminantAnalysis().fit(X, Y).coef_, rtol=1e-8)
    with pytest.raises(DataError, match="no rows"):
        discrim.GaussianNB().fit(discrim.scan(PARTS[PARTS["A"] > 1e9], features=["A"], target="y"))


def test_an_error_says_in_which_partition_it_came_up():
    frame = FRAME.assign(y=FRAME["y"].where(np.arange(N) != 2000))
    with pytest.raises(DataError, match="'y'") as caught:
        discrim.LinearDiscriminantAnalysis().fit(
            discrim.scan(dd.from_pandas(frame, npartitions=3), features=["A"], target="y")
        )
    assert any("partition 2 of 3" in note for note in getattr(caught.value, "__notes__", ["partition 2 of 3"]))


def test_bad_values_are_named_by_their_column():
    frame = FRAME.assign(B=FRAME["B"].where(np.arange(N) != 2000))
    with pytest.raises(DataError, match="'B'"):
        discrim.LinearDiscriminantAnalysis().fit(
            discrim.scan(dd.from_pandas(frame, npartitions=3), features=["A", "B"], target="y")
        )


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (PARTS[["A", "B"]], FRAME["y"], "y must be a Dask series"),
        (PARTS[["A", "B"]], dd.from_pandas(FRAME["y"], npartitions=2), "7 partitions"),
        (PARTS[["A", "y"]], PARTS["y"], "column 'y' already"),
        (PARTS[["A", "B"]], None, "target"),
        (da.from_array(X), Y, "y must be one too"),
        (da.from_array(X), da.from_array(Y[:10]), "as many rows"),
        (da.from_array(X[:, 0]), da.from_array(Y), "must have two"),
        (PARTS[["A"]].rename(columns={"A": 0}), PARTS["y"], "Rename the columns"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(X, y, words):
    with pytest.raises(DataError, match=words):
        discrim.LinearDiscriminantAnalysis().fit(X, y)


def test_passes_that_were_sent_have_no_rows():
    from discrim.engines import RowPasses

    sent = pickle.loads(pickle.dumps(RowPasses(discrim.scan(PARTS, target="y"))))
    assert not sent.again
    with pytest.raises(DataError, match="another machine"):
        sent.reduce(None)


@pytest.mark.slow
@pytest.mark.usefixtures("few_in_memory")
def test_workers_in_processes_of_their_own_give_the_same_and_may_be_lost():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    models = [discrim.LinearDiscriminantAnalysis(), discrim.LogisticRegression(tol=0), discrim.RidgeClassifier()]
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        for model in models:
            apart, whole = both(model, [*"ABCD", "job"])
            rows = FRAME[[*"ABCD", "job"]]
            assert_allclose(scores(apart, rows), scores(whole, rows), rtol=1e-8, atol=1e-8)
        slow = PARTS.map_partitions(_slowly, meta=PARTS._meta)
        victim = next(iter(client.scheduler_info()["workers"]))
        killer = threading.Timer(1.0, lambda: client.run(os._exit, 1, workers=[victim], on_error="ignore"))
        killer.start()
        found = discrim.LinearDiscriminantAnalysis().fit(discrim.scan(slow, features=list("ABCD"), target="y"))
        killer.join()
    assert_allclose(found.coef_, discrim.LinearDiscriminantAnalysis().fit(X, Y).coef_, rtol=1e-8)


def _slowly(frame):
    time.sleep(0.5)
    return frame
