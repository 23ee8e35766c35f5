"""The bundled tables are the published ones, and arrive as every fit takes them."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from discrim.datasets import load_challenger, load_crabs, load_endometrial, load_iris
from discrim.errors import MissingDependencyError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
LOADERS = [load_iris, load_crabs, load_challenger, load_endometrial]


@pytest.mark.parametrize("load", LOADERS)
def test_every_data_set_has_one_label_per_row_and_one_name_per_column(load):
    dataset = load()
    n, p = dataset.data.shape
    assert dataset.data.dtype == np.float64
    assert dataset.target.shape == (n,)
    assert len(dataset.feature_names) == p
    assert len(dataset.target_names) == len(np.unique(dataset.target))
    assert all(column.shape == (n,) for column in dataset.extra.values())
    assert np.isfinite(dataset.data).all()


@pytest.mark.parametrize("load", LOADERS)
def test_xy_unpacks_into_features_and_labels(load):
    dataset = load()
    X, y = dataset.xy
    assert X is dataset.data
    assert y is dataset.target


@pytest.mark.parametrize("load", LOADERS)
def test_changing_what_was_loaded_does_not_change_the_next_load(load):
    first = load()
    first.data[:] = -1.0
    assert (load().data != -1.0).all()


@pytest.mark.parametrize("load", LOADERS)
def test_the_frame_holds_features_labels_and_extra_columns(load):
    pytest.importorskip("pandas")
    dataset = load()
    frame = dataset.frame()
    assert list(frame.columns) == [*dataset.feature_names, "target", *dataset.extra]
    np.testing.assert_array_equal(frame[list(dataset.feature_names)].to_numpy(), dataset.data)
    assert frame["target"].tolist() == dataset.target.tolist()


def test_the_frame_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="pip install pandas"):
        load_iris().frame()


def test_iris_labels_are_species_names():
    iris = load_iris()
    assert iris.target[[0, 50, 100]].tolist() == ["setosa", "versicolor", "virginica"]
    assert iris.data[70].tolist() == [5.9, 3.2, 4.8, 1.8]


def test_crab_labels_are_colour_form_and_sex():
    crabs = load_crabs()
    assert crabs.target_names == ("BF", "BM", "OF", "OM")
    assert [np.sum(crabs.target == name) for name in crabs.target_names] == [50] * 4
    assert crabs.target.tolist() == [sp + sex for sp, sex in zip(*crabs.extra.values(), strict=True)]


def test_crabs_on_the_log_scale_are_natural_logarithms():
    np.testing.assert_array_equal(load_crabs(log=True).data, np.log(load_crabs().data))
    assert "logarithms" in load_crabs(log=True).description


def test_challenger_target_is_any_distress_on_the_launch():
    rings = load_challenger()
    assert np.bincount(rings.target).tolist() == [16, 7]
    np.testing.assert_array_equal(rings.target == 1, rings.extra["n_distress"] > 0)
    assert (rings.extra["n_orings"] == 6).all()
    assert rings.extra["order"].tolist() == list(range(1, 24))


def test_endometrial_grades_are_high_wherever_vessels_have_grown():
    cases = load_endometrial()
    grown = cases.data[:, 0] == 1
    assert np.bincount(cases.target).tolist() == [49, 30]
    assert cases.target[grown].tolist() == [1] * 13
    assert set(cases.target[~grown].tolist()) == {0, 1}


def test_endometrial_sums_are_those_of_the_published_table():
    # sum(endometrial$PI), sum(endometrial$EH) and sum(PI * EH * HG) in R's brglm2.
    X, y = load_endometrial().xy
    assert X.sum(axis=0).tolist() == pytest.approx([13, 1373, 131.27])
    assert np.sum(X[:, 1] * X[:, 2] * y) == pytest.approx(602.87)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("load", "folder", "names"),
    [
        (load_crabs, "crabs", {"target": "y"}),
        (load_challenger, "challenger", {"target": "y", "temperature": "temp"}),
    ],
)
def test_bundled_values_are_those_of_the_source_file(load, folder, names):
    path = SHARED / folder / "data.csv"
    if not path.is_file():
        pytest.skip("needs the folder shared/data beside the repository")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    dataset = load()
    columns = dict(zip(dataset.feature_names, dataset.data.T, strict=True), target=dataset.target)
    for name, values in {**columns, **dataset.extra}.items():
        source = [row[names.get(name, name)] for row in rows]
        assert values.tolist() == np.array(source).astype(values.dtype).tolist()
