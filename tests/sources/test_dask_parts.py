"""Dask frames and arrays: the same models as from the rows in memory, with the rows left where they are."""

import os
import pickle
import re
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

dask = pytest.importorskip("dask", reason="Dask is not installed")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

import discrim  # noqa: E402
from discrim import basis  # noqa: E402
from discrim.errors import DataError, ReadAgainWarning  # noqa: E402
from discrim.models.text_classifier import TextClassifier  # noqa: E402
from discrim.sources import Scan, dask_parts  # noqa: E402
from discrim.text import WordCounts, documents  # noqa: E402

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
    from discrim.sources import design

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


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("free", [10**9, 1000])
def test_partitions_are_kept_during_a_fit_where_they_fit(free, monkeypatch, caplog):
    from discrim.sources import dask_keeping

    read = []
    counted = PARTS.map_partitions(lambda part, _: read.append(len(part)) or part, free, meta=PARTS._meta)
    monkeypatch.setattr(dask_keeping, "free_memory", lambda: (free, "the workers have"))
    rows = discrim.scan(counted, features=list("ABCD"), target="y")
    model = discrim.LogisticRegression(tol=0)
    if free > 1000:
        with caplog.at_level("INFO", logger="discrim"):
            model.fit(rows)
        assert "the workers have 1,000.0 MB free: 7 are kept until the fit is done" in caplog.text
        assert len(read) == 3 * 7  # two passes, and one that counts the rows
    else:
        with pytest.warns(ReadAgainWarning, match="0.0 MB free: they are not kept, and read again for each pass"):
            model.fit(rows)
        assert len(read) > 4 * 7
    monkeypatch.setattr(dask_keeping, "free_memory", lambda: (None, ""))
    plain = discrim.LogisticRegression(tol=0).fit(discrim.scan(PARTS, features=list("ABCD"), target="y"))
    assert_array_equal(model.coef_, plain.coef_)
    before = len(read)
    discrim.GaussianNB().fit(rows)
    assert len(read) == before + 7


def test_free_memory_is_that_of_the_scheduler():
    from discrim.sources.dask_keeping import free_memory

    free, whose = free_memory()
    assert free > 10**7
    assert whose == "this machine has"
    with dask.config.set(scheduler="processes"):
        assert free_memory() == (None, "")


def test_arrays_in_chunks_give_the_model_of_the_whole_array():
    chunked, labels = da.from_array(X, chunks=(700, 3)), da.from_array(Y, chunks=1100)
    weight = da.from_array(FRAME["w"].to_numpy(), chunks=500)
    for model in (discrim.LinearDiscriminantAnalysis(), discrim.GaussianNB(), discrim.LogisticRegression(tol=0)):
        apart = clone(model).fit(chunked, labels, sample_weight=weight)
        whole = clone(model).fit(X, Y, sample_weight=FRAME["w"])
        assert not hasattr(apart, "feature_names_in_")
        assert apart.n_features_in_ == 4
        assert_allclose(scores(apart, X), scores(whole, X), rtol=1e-7, atol=1e-7)


SPARSE = sparse.random_array((600, 5000), density=0.004, rng=3, format="csr")
SPARSE.data = np.ceil(4 * SPARSE.data)
LABELS = np.array(["a", "b", "c"])[np.arange(600) % 3]


def in_chunks(x, size, columns=(), **known):
    """A Dask array whose chunks are made of slices of x when they are asked for."""
    parts = [dask.delayed(x[start : start + size]) for start in range(0, x.shape[0], size)]
    return da.concatenate([da.from_delayed(part, (size, *columns), dtype=float, **known) for part in parts])


@pytest.mark.parametrize("known", [{}, {"meta": sparse.csr_matrix((0, 0))}], ids=["unknown", "declared"])
def test_sparse_chunks_stay_sparse(known, monkeypatch):
    chunked, labels = in_chunks(SPARSE, 200, (5000,), **known), da.from_array(LABELS, chunks=250)
    weight = np.arange(600) % 2 + 1.0
    given, numbers = [], dask_parts.SparseTable.numbers
    monkeypatch.setattr(dask_parts.SparseTable, "numbers", lambda *args: given.append(numbers(*args)) or given[-1])
    for model in (discrim.MultinomialNB(), discrim.ComplementNB(), discrim.BernoulliNB(), discrim.GaussianNB()):
        apart = clone(model).fit(chunked, labels, sample_weight=da.from_array(weight, chunks=600))
        whole = clone(model).fit(SPARSE, LABELS, weight)
        assert apart.n_features_in_ == 5000
        assert_allclose(apart.predict_log_proba(SPARSE), whole.predict_log_proba(SPARSE), rtol=1e-10)
    assert_array_equal(apart.predict(chunked).compute(), whole.predict(SPARSE))
    assert {x.shape for x in given if sparse.issparse(x)} == {(200, 5000)}
    assert {x.shape for x in given if not sparse.issparse(x)} == {(200, 1)}  # weights


def test_labels_may_be_a_column():
    model = discrim.LinearDiscriminantAnalysis().fit(da.from_array(X, chunks=(700, 4)), da.from_array(Y[:, None]))
    assert_allclose(model.coef_, discrim.LinearDiscriminantAnalysis().fit(X, Y).coef_, rtol=1e-8)


def test_chunks_of_unknown_length_must_be_as_many():
    unknown, labels = PARTS[list("ABCD")].to_dask_array(), PARTS["y"].to_dask_array()
    found = discrim.GaussianNB().fit(unknown, labels)
    assert_allclose(found.theta_, discrim.GaussianNB().fit(X, Y).theta_)
    with pytest.raises(DataError, match="compute_chunk_sizes"):
        discrim.GaussianNB().fit(unknown, da.from_array(Y, chunks=N))
    with pytest.raises(DataError, match=r"A chunk of X has 42\d rows, and that of y (3|500|497)"):
        discrim.GaussianNB().fit(unknown, da.from_array(Y, chunks=((3, *[500] * 5, 497),)))


WORDS = np.array([f"word{i}" for i in range(60)])
TEXTS = pd.DataFrame(
    {"text": [" ".join(WORDS[(rng.poisson(8, 12) * (k + 1)) % 60]) for k in range(3)] * 70, "kind": list("abc") * 70}
).assign(w=rng.integers(0, 3, 210).astype(float))


@pytest.mark.parametrize(
    "counts", [None, WordCounts(min_df=2, max_features=20), WordCounts(buckets=64)], ids=["words", "some", "hashed"]
)
def test_words_are_counted_where_the_documents_are(counts, monkeypatch):
    apart = documents(dd.from_pandas(TEXTS, npartitions=4), text="text", target="kind", weight="w")
    monkeypatch.setattr(type(apart), "blocks", lambda _: pytest.fail("the documents were brought here"))
    models = [TextClassifier(model, counts).fit(apart) for model in (None, discrim.ComplementNB())]
    monkeypatch.undo()
    for model in models:
        whole = clone(model).fit(documents(TEXTS, text="text", target="kind", weight="w"))
        assert model.counts_.vocabulary_ == whole.counts_.vocabulary_
        assert_allclose(model.predict_proba(TEXTS["text"]), whole.predict_proba(TEXTS["text"]), rtol=1e-12)
        more = model.partial_fit(apart).predict_proba(TEXTS["text"])
        assert_allclose(
            more, whole.partial_fit(TEXTS["text"], TEXTS["kind"], sample_weight=TEXTS["w"]).predict_proba(TEXTS["text"])
        )


def test_learners_average_what_the_partitions_teach():
    rows = discrim.scan(PARTS, features=list("ABCD"), target="y")
    parts = [part.compute() for part in PARTS.to_delayed()]
    for model in (discrim.SGDClassifier(random_state=0, average=True), discrim.Perceptron(random_state=0)):
        found = clone(model).fit(rows)
        alone = [clone(model).fit(part[list("ABCD")], part["y"]) for part in parts]
        share = [len(part) / N for part in parts]
        assert_allclose(found.coef_, sum(s * one.coef_ for s, one in zip(share, alone, strict=True)), rtol=1e-9)
        assert_allclose(
            found.intercept_, sum(s * one.intercept_ for s, one in zip(share, alone, strict=True)), rtol=1e-9
        )
        assert found.n_iter_ == max(one.n_iter_ for one in alone)
        found.partial_fit(FRAME[list("ABCD")], Y)
    ordered = dd.from_pandas(FRAME.sort_values("y").reset_index(drop=True), npartitions=4)
    with pytest.raises(DataError, match=r"has none of class .*shuffle=False"):
        discrim.SGDClassifier().fit(discrim.scan(ordered, features=list("ABCD"), target="y"))
    assert discrim.SGDClassifier(shuffle=False).fit(discrim.scan(ordered, features=list("ABCD"), target="y")).n_iter_


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


def test_parts_without_rows_have_no_answers():
    """A filter leaves such parts behind."""
    model = discrim.LinearDiscriminantAnalysis().fit(FRAME[list("ABCD")], Y)
    plain = discrim.LinearDiscriminantAnalysis().fit(X, Y)
    most, parts = X[:100, 0].max(), dd.from_pandas(FRAME, npartitions=30)
    few, chunked = X[:, 0] > most, da.from_array(X, chunks=(100, 4))
    assert few.any()
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(model, method)(parts[parts["A"] > most][list("ABCD")])
        assert_array_equal(lazy.compute(), getattr(model, method)(FRAME[few][list("ABCD")]))
        lazy = getattr(plain, method)(chunked[chunked[:, 0] > most])
        assert_array_equal(lazy.compute(), getattr(plain, method)(X[few]))
        assert not len(getattr(model, method)(PARTS[PARTS["A"] > 1e9][list("ABCD")]).compute())


def test_columns_that_are_lacking_are_named_before_anything_is_computed():
    model = discrim.LinearDiscriminantAnalysis().fit(FRAME[list("ABCD")], Y)
    with pytest.raises(ValueError, match=r"missing:\n- D"):
        model.predict(PARTS[list("ABC")])
    with pytest.raises(ValueError, match="3 features"):
        discrim.LinearDiscriminantAnalysis().fit(X, Y).predict_proba(da.from_array(X[:, :3]))


def test_models_around_a_model_answer_when_they_are_asked():
    frame = FRAME[[*"ABCD", "job"]].assign(A=FRAME["A"].where(np.arange(N) % 7 > 0))
    parts = dd.from_pandas(frame, npartitions=3)
    best = discrim.compare(frame, Y, models=["LDA"], reference=None).best
    formula = discrim.LogisticRegression.from_formula("y ~ B * C", FRAME)
    for model in (best, formula):
        for method in ("predict", "predict_proba", "decision_function"):
            lazy = getattr(model, method)(parts)
            assert isinstance(lazy, da.Array)
            assert_array_equal(lazy.compute(), getattr(model, method)(frame))
    chunked, labels = da.from_array(X, chunks=(700, 3)), np.arange(N) % 3
    for scheme in (discrim.OneVsRestClassifier, discrim.OneVsOneClassifier, discrim.OutputCodeClassifier):
        model = scheme(discrim.LinearDiscriminantAnalysis()).fit(X, labels)
        for method in ("predict", "predict_proba", "decision_function"):
            if hasattr(model, method):
                lazy, plain = getattr(model, method)(chunked), getattr(model, method)(X)
                assert isinstance(lazy, da.Array)
                assert lazy.shape == plain.shape
                assert_allclose(lazy.compute(), plain, rtol=1e-9)
    several = discrim.OneVsRestClassifier(discrim.LinearDiscriminantAnalysis()).fit(X, X[:, :3] > 0)
    assert_array_equal(several.predict(chunked).compute(), several.predict(X))
    words = TextClassifier().fit(TEXTS["text"], TEXTS["kind"])
    lazy = words.predict(dd.from_pandas(TEXTS, npartitions=3)["text"])
    assert isinstance(lazy, da.Array)
    assert_array_equal(lazy.compute(), words.predict(TEXTS["text"]))


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
    assert any("partition 2 of 3" in note for note in caught.value.__notes__)


def test_a_part_of_a_file_that_fails_is_named_with_its_rows(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    from discrim.sources import arrow

    monkeypatch.setattr(arrow, "VALUES_OF_PART", 1)
    path = tmp_path / "rows.parquet"
    FRAME[["A", "y"]].assign(y=FRAME["y"].where(np.arange(N) != 1234)).to_parquet(path, row_group_size=500)
    with pytest.raises(DataError, match="'y'") as caught:
        discrim.LinearDiscriminantAnalysis().fit(discrim.scan(dd.read_parquet(path), target="y"))
    assert caught.value.__notes__ == [f"In rows 1,001 to 1,500 of '{path}'."]
    assert pickle.loads(pickle.dumps(caught.value)).__notes__ == caught.value.__notes__
    FRAME[["A", "B", "y"]].to_parquet(path, row_group_size=500)
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"rows.parquet' cannot be read: [^\n]*[^.\n]\.(\n|$)") as caught:
        discrim.LinearDiscriminantAnalysis().fit(discrim.scan(dd.read_parquet(path), target="y"))
    assert caught.value.__notes__ == [f"In rows 1 to 500 of '{path}'."]


def test_whatever_fails_says_in_which_partition():
    """Also an error that no check of ours has raised, and a task where only its key is known."""
    from discrim.sources.dask_parts import read_dask

    reader = read_dask(PARTS)
    with pytest.raises(ZeroDivisionError) as caught:
        reader.elsewhere(["A"], lambda tables: 1 // (len(list(tables)) - 1), sum, 0)
    assert any(note.startswith("In partition ") and note.endswith("rows.") for note in caught.value.__notes__)
    task = dask_parts._task(len, "rows 1 to 500 of 'a.parquet'", "text")
    assert task.key.startswith("rows 1 to 500 of 'a.parquet', ")
    assert task.compute(scheduler="synchronous") == 4


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
        (da.from_array(X), da.from_array(np.column_stack([Y, Y])), "y is a Dask array of 2 dimensions"),
        (PARTS[["A"]].rename(columns={"A": 0}), PARTS["y"], "Rename the columns"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(X, y, words):
    with pytest.raises(DataError, match=words):
        discrim.LinearDiscriminantAnalysis().fit(X, y)


def test_the_code_of_the_page_runs(capsys):
    page = (Path(__file__).resolve().parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    names = {"__name__": "page"}
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", page):
        exec(compile(block, "docs/scale.md", "exec"), names)
    assert capsys.readouterr().out.split() == ["0.98", "0.02"]


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

        # Sent by value: a worker need not find this file.
        def slowly(frame):
            time.sleep(0.5)
            return frame

        slow = PARTS.map_partitions(slowly, meta=PARTS._meta)
        victim = next(iter(client.scheduler_info()["workers"]))
        killer = threading.Timer(1.0, lambda: client.run(os._exit, 1, workers=[victim], on_error="ignore"))
        killer.start()
        found = discrim.LinearDiscriminantAnalysis().fit(discrim.scan(slow, features=list("ABCD"), target="y"))
        killer.join()
    assert_allclose(found.coef_, discrim.LinearDiscriminantAnalysis().fit(X, Y).coef_, rtol=1e-8)
