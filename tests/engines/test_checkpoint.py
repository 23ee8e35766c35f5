"""A fit that is killed at any moment goes on from its checkpoint, and ends with the bits of one that never stopped."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import discrim
from discrim.engines import checkpoint
from discrim.errors import CheckpointError, DataError, ParameterError
from discrim.store.files import to_bytes

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 45_000
MODELS = [
    discrim.LinearDiscriminantAnalysis(),
    discrim.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    discrim.QuadraticDiscriminantAnalysis(),
    discrim.GaussianNB(),
    discrim.NearestCentroid(),
    discrim.RidgeClassifier(),
    discrim.LassoClassifier(alpha=0.01),
    discrim.MixedNB(),
    discrim.LogisticRegression(C=np.inf),
    discrim.LogisticRegression(C=0.1, class_weight="balanced"),
    discrim.LogisticRegression(l1_ratio=1.0, C=0.01, solver="saga"),
]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The same rows as Parquet, of row groups that are no multiple of a batch, and as CSV."""
    rng = np.random.default_rng(5)
    folder = tmp_path_factory.mktemp("rows")
    X = rng.normal(size=(N, 4)) * [1.0, 100.0, 1e-3, 1.0]
    y = np.array(["no", "maybe", "yes"])[(X[:, 0] + rng.logistic(size=N) > 0) + (rng.random(N) < 0.1).astype(int)]
    table = pa.table({**{f"x{j}": X[:, j] for j in range(4)}, "job": rng.choice(["cook", "smith"], N), "y": y})
    table = table.append_column("two", pa.array(X[:, 3] > rng.logistic(size=N)))
    parquet.write_table(table, folder / "rows.parquet", row_group_size=7000)
    parquet.write_table(table.slice(0, 20_000), folder / "rows-1.parquet", row_group_size=2500)
    parquet.write_table(table.slice(20_000), folder / "rows-2.parquet", row_group_size=2500)
    from pyarrow import csv

    csv.write_csv(table, folder / "rows.csv")
    return folder


def rows_of(path, target="y", **settings):
    return discrim.scan(path, target=target, without=["two" if target == "y" else "y"], batch_rows=500, **settings)


@pytest.fixture(autouse=True)
def few_in_memory(monkeypatch):
    """As if the rows were too many to be kept by the first look, so that logistic regression reads them again."""
    from discrim.families.logistic import recipe

    monkeypatch.setattr(recipe, "SAMPLE_VALUES", 400)


class Killed(BaseException):
    pass


@pytest.fixture
def killed_at(monkeypatch):
    """Have a fit end at the writing of this number, before or after the file has its name."""
    monkeypatch.setattr(checkpoint, "PAUSE", 0.0)
    monkeypatch.setattr(checkpoint, "PATIENCE", 0.0)
    whole = checkpoint.Checkpoint._write

    def at(number, *, named):
        count = [0]

        def write(self, *args):
            count[0] += 1
            if count[0] == number and not named:
                self._beside.write_bytes(b"half a file")
                raise Killed
            whole(self, *args)
            if count[0] == number:
                raise Killed

        monkeypatch.setattr(checkpoint.Checkpoint, "_write", write)
        return count

    return at


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_fit_that_was_killed_ends_with_the_same_bits(model, paths, tmp_path, killed_at):
    path = tmp_path / "run.ckpt"
    rows = rows_of(paths / "rows.parquet")
    count = killed_at(None, named=True)
    whole = to_bytes(clone(model).fit(rows, checkpoint=path), keep_statistic=True)
    assert whole == to_bytes(clone(model).fit(rows), keep_statistic=True)
    assert not path.exists()
    writings = count[0]
    assert writings >= (20 if isinstance(model, discrim.LogisticRegression) else 5)
    for kills in ([(writings // 2, False)], [(2, True), (2, True)]):
        for number, named in kills:
            killed_at(number, named=named)
            with pytest.raises(Killed):
                clone(model).fit(rows_of(paths / "rows.parquet"), checkpoint=path)
        killed_at(None, named=True)
        found = clone(model).fit(rows_of(paths / "rows.parquet"), checkpoint=path)
        assert to_bytes(found, keep_statistic=True) == whole
        assert not list(tmp_path.iterdir())


LARGE = [
    discrim.RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv", cv=3),
    discrim.RidgeClassifier(alpha="cv", cv=3),
    pytest.param(
        discrim.LogisticRegressionCV(Cs=2, cv=2, use_legacy_attributes=False, l1_ratios=(0,), scoring="accuracy"),
        marks=pytest.mark.slow,
    ),
    discrim.LogisticRegressionCV(
        Cs=2, cv=2, use_legacy_attributes=False, l1_ratios=(1,), scoring="accuracy", class_weight="balanced"
    ),
]


@pytest.mark.parametrize("model", LARGE, ids=repr)
def test_settings_that_are_chosen_in_passes_are_kept_too(model, paths, tmp_path, killed_at, monkeypatch):
    """As if the rows were too many to be held in memory: the passes of every fold and setting."""
    monkeypatch.setattr("discrim.engines.keyed.LARGE", 1000)
    path, rows = tmp_path / "run.ckpt", rows_of(paths / "rows.parquet", "two")
    count = killed_at(None, named=True)
    whole = to_bytes(clone(model).fit(rows, checkpoint=path))
    assert whole == to_bytes(clone(model).fit(rows))
    assert count[0] >= 5
    for number in (2, max(count[0] // 3, 2), max(count[0] // 3, 2)):
        killed_at(number, named=True)
        with pytest.raises(Killed):
            clone(model).fit(rows, checkpoint=path)
    count = killed_at(None, named=True)
    assert to_bytes(clone(model).fit(rows, checkpoint=path)) == whole
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scheme", [discrim.OneVsRestClassifier, discrim.OneVsOneClassifier])
def test_models_of_pairs_share_a_checkpoint(scheme, paths, tmp_path, killed_at):
    path, rows = tmp_path / "run.ckpt", rows_of(paths / "rows.parquet")
    model = scheme(discrim.LinearDiscriminantAnalysis())
    killed_at(3, named=True)
    with pytest.raises(Killed):
        clone(model).fit(rows, checkpoint=path)
    with pytest.raises(CheckpointError, match="estimator"):
        scheme(discrim.LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5])).fit(rows, checkpoint=path)
    killed_at(None, named=True)
    assert to_bytes(clone(model).fit(rows, checkpoint=path)) == to_bytes(clone(model).fit(rows))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["rows.csv", "rows-*.parquet"])
def test_what_was_read_already_is_skipped_in_text_and_in_several_files(name, paths, tmp_path, killed_at):
    whole = discrim.LogisticRegression().fit(rows_of(paths / name, "two"))
    for number in (2, 5, 9):
        killed_at(number, named=True)
        with pytest.raises(Killed):
            discrim.LogisticRegression().fit(rows_of(paths / name, "two"), checkpoint=tmp_path / "run.ckpt")
    killed_at(None, named=True)
    found = discrim.LogisticRegression().fit(rows_of(paths / name, "two"), checkpoint=tmp_path / "run.ckpt")
    assert to_bytes(found) == to_bytes(whole)
    assert str(found.summary()) == str(whole.summary())


def test_row_groups_that_were_read_are_not_read_again(paths):
    """The batches after a row are those of a reading from the start, from a row group that begins with one of them."""
    reader = rows_of(paths / "rows-*.parquet")._reader
    for rows in (0, 500, 2500, 12_000, 19_999, 20_000, 27_600, 44_999, 45_000):
        skipped, tables = reader.tables_after(["x0"], 500, rows)
        assert rows - 2500 <= skipped <= rows
        rest = [table.numbers(["x0"], 0, table.n_rows, float)[:, 0] for table in tables]
        every = [table.numbers(["x0"], 0, table.n_rows, float)[:, 0] for table in reader.tables(["x0"], 500)]
        assert sum(map(len, rest)) == N - skipped
        assert all((a == b).all() for a, b in zip(rest[::-1], every[::-1], strict=False))


REFUSED = {
    "another target": (lambda folder: {"target": "two"}, {}, "target='y', and this one has target='two'"),
    "other columns": (lambda folder: {"features": ["x0", "x1"]}, {}, "of the columns 'x0'"),
    "another order": (lambda folder: {"features": ["x1", "x0", "x2", "x3", "job"]}, {}, "these in another order"),
    "another file": (lambda folder: {"path": folder / "rows.csv"}, {}, r"rows.parquet', and this fit has .*rows.csv"),
    "other batches": (lambda folder: {"batch_rows": 400}, {}, "batch_rows"),
    "parameters": (lambda folder: {}, {"priors": [0.2, 0.3, 0.5]}, r"priors=None, and this one has priors=\[0.2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_another_fit_is_refused(name, paths, tmp_path, killed_at):
    path = tmp_path / "run.ckpt"
    killed_at(3, named=True)
    with pytest.raises(Killed):
        discrim.LinearDiscriminantAnalysis().fit(rows_of(paths / "rows.parquet"), checkpoint=path)
    other, parameters, words = REFUSED[name]
    given = {"path": paths / "rows.parquet", "target": "y", "batch_rows": 500, "features": None, **other(paths)}
    without = [] if given["features"] else ["two" if given["target"] == "y" else "y"]
    rows = discrim.scan(given.pop("path"), without=without, **given)
    with pytest.raises(CheckpointError, match=words) as caught:
        discrim.LinearDiscriminantAnalysis(**parameters).fit(rows, checkpoint=path)
    assert "Remove that file to begin anew" in str(caught.value)
    with pytest.raises(CheckpointError, match="of a fit of LinearDiscriminantAnalysis, and this is one of GaussianNB"):
        discrim.GaussianNB().fit(rows_of(paths / "rows.parquet"), checkpoint=path)


def test_a_fit_that_begins_elsewhere_is_refused(paths, tmp_path, killed_at):
    path, model = tmp_path / "run.ckpt", discrim.LogisticRegression(C=1.0, warm_start=True)
    killed_at(3, named=True)
    with pytest.raises(Killed):
        clone(model).fit(rows_of(paths / "rows.parquet", "two"), checkpoint=path)
    model.fit(rows_of(paths / "rows-1.parquet", "two"))
    with pytest.raises(CheckpointError, match="began elsewhere"):
        model.fit(rows_of(paths / "rows.parquet", "two"), checkpoint=path)


def test_two_fits_at_a_time_do_not_share_a_file(paths, tmp_path, killed_at, monkeypatch):
    """The second is refused before it reads a row; the first ends as if it had been alone."""
    killed_at(None, named=True)
    path, refused, whole = tmp_path / "run.ckpt", [], checkpoint.Checkpoint._write

    def write(self, *args):
        whole(self, *args)
        if not refused:
            with pytest.raises(CheckpointError, match="Another fit is writing the checkpoint") as caught:
                discrim.GaussianNB().fit(rows_of(paths / "rows.parquet"), checkpoint=path)
            refused.append(caught.value)

    monkeypatch.setattr(checkpoint.Checkpoint, "_write", write)
    found = discrim.LinearDiscriminantAnalysis().fit(rows_of(paths / "rows.parquet"), checkpoint=path)
    assert refused
    assert to_bytes(found) == to_bytes(discrim.LinearDiscriminantAnalysis().fit(rows_of(paths / "rows.parquet")))
    assert not list(tmp_path.iterdir())


def test_changed_and_damaged_files_and_other_versions_are_refused(paths, tmp_path, killed_at, monkeypatch):
    path, copy = tmp_path / "run.ckpt", tmp_path / "rows.parquet"
    copy.write_bytes((paths / "rows.parquet").read_bytes())
    model = discrim.LinearDiscriminantAnalysis()
    killed_at(3, named=True)
    with pytest.raises(Killed):
        model.fit(rows_of(copy), checkpoint=path)
    os.utime(copy, ns=(1, 1))
    with pytest.raises(CheckpointError, match=r"rows.parquet' has changed since: it was [\d,]+ bytes of"):
        model.fit(rows_of(copy), checkpoint=path)
    monkeypatch.setattr(discrim, "__version__", "99.0")
    with pytest.raises(CheckpointError, match=r"written with discrim .*, and this is 99.0"):
        model.fit(rows_of(copy), checkpoint=path)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="content hash does not match"):
        model.fit(rows_of(copy), checkpoint=path)
    discrim.save(discrim.GaussianNB().fit([[0.0], [1.0]], [0, 1]), path)
    with pytest.raises(CheckpointError, match="it is no checkpoint"):
        model.fit(rows_of(copy), checkpoint=path)


def test_a_checkpoint_names_no_foreign_type():
    """A file whose hash was computed anew runs nothing and makes nothing but our own values."""
    from discrim.engines.states import read
    from discrim.errors import ModelFileError

    for module, name in (("os", "system"), ("subprocess", "Popen"), ("discrim.errors", "warn"), ("discrim", "save")):
        with pytest.raises(ModelFileError, match="not known here"):
            read({"object": [module, name, {}]}, {})


def test_what_has_no_checkpoint_is_refused_in_words(paths, tmp_path):
    X, y = discrim.datasets.load_iris().xy
    with pytest.raises(ParameterError, match="these rows are in memory"):
        discrim.LinearDiscriminantAnalysis().fit(X, y, checkpoint=tmp_path / "run.ckpt")
    rows = discrim.scan(pa.table({"a": X[:, 0], "y": y}), target="y")
    with pytest.raises(CheckpointError, match="Leave checkpoint out, or write the rows to a Parquet file"):
        discrim.LinearDiscriminantAnalysis().fit(rows, checkpoint=tmp_path / "run.ckpt")
    rows = rows_of(paths / "rows.parquet")
    columns = discrim.basis.PolynomialBasis(2).fit(rows_of(paths / "rows.parquet", features=["x0"]))
    with pytest.raises(DataError, match="a basis or a formula makes of others"):
        discrim.GaussianNB().fit(columns.transform(rows_of(paths / "rows.parquet", features=["x0"])), checkpoint="c")
    with pytest.raises(ParameterError, match="these rows are in memory"):
        LARGE[-1].fit(X, y, checkpoint=tmp_path / "run.ckpt")
    with pytest.raises(CheckpointError, match="there is no folder"):
        discrim.LinearDiscriminantAnalysis().fit(rows, checkpoint=tmp_path / "none" / "run.ckpt")
    for strange in (3, ""):
        with pytest.raises(ParameterError, match="checkpoint"):
            discrim.LinearDiscriminantAnalysis().fit(rows, checkpoint=strange)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full and no /proc")
def test_where_nothing_can_be_written_is_known_before_rows_are_read(paths):
    model, rows = discrim.LinearDiscriminantAnalysis(), rows_of(paths / "rows.parquet")
    rows.blocks = rows.pieces = rows.tables = None
    for place, words in (("/dev/full", "no file"), ("/proc/run.ckpt", "nothing can be written in its folder")):
        with pytest.raises(CheckpointError, match=words):
            model.fit(rows, checkpoint=place)


def test_an_error_of_the_rows_leaves_no_file(paths, tmp_path, killed_at):
    killed_at(None, named=True)
    table = parquet.read_table(paths / "rows.parquet").to_pandas()
    table.loc[N - 1, "x1"] = np.nan
    table.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="'x1'"):
        discrim.GaussianNB().fit(rows_of(tmp_path / "rows.parquet"), checkpoint=tmp_path / "run.ckpt")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


KILLED = """
    import sys, discrim
    from discrim.engines import checkpoint
    from discrim.families.logistic import recipe
    recipe.SAMPLE_VALUES = 400
    checkpoint.PAUSE = checkpoint.PATIENCE = 0.0
    rows = discrim.scan(sys.argv[1], target="y", without=["two"], batch_rows=500)
    model = discrim.LogisticRegression(C=1.0).fit(rows, checkpoint=sys.argv[2])
    discrim.save(model, sys.argv[3])
"""


def killed_and_started_again(paths, tmp_path, times, longest):
    """The file of the model after a process was killed so many times, at random moments."""
    arguments = [paths / "rows.parquet", tmp_path / "run.ckpt", tmp_path / "found.discrim"]
    command, killed = [sys.executable, "-c", textwrap.dedent(KILLED), *map(str, arguments)], 0
    draw = random.Random(times)
    while True:
        process = subprocess.Popen(command)
        if killed == times:
            assert process.wait(120) == 0
            return arguments[2].read_bytes()
        deadline = time.monotonic() + 60
        while not (killed or arguments[1].exists()) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(draw.uniform(0.0, longest))
        process.send_signal(signal.SIGKILL)
        process.wait(120)
        killed += 1
        arguments[2].unlink(missing_ok=True)


@pytest.mark.parametrize("times", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_a_process_that_was_killed_goes_on(times, paths, tmp_path):
    rows = rows_of(paths / "rows.parquet")
    discrim.save(discrim.LogisticRegression(C=1.0).fit(rows), tmp_path / "whole.discrim")
    found = killed_and_started_again(paths, tmp_path, times, longest=0.3 if times == 2 else 2.5)
    assert found == (tmp_path / "whole.discrim").read_bytes()
