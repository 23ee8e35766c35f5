"""Statistics as bytes."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys

import numpy as np
import pytest

from discrim.block import Block
from discrim.errors import DataError
from discrim.statistics import ClassFactors, ClassMoments, Depth


def statistic(classes, type_=ClassMoments, depth=Depth.POOLED):
    classes = np.asarray(classes)
    x = np.arange(8.0).reshape(4, 2) ** 2
    return type_.of(Block(x, (np.arange(4) % len(classes)).astype(np.int32), classes), depth)


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["a", "longer", "z"]),
        np.array(["é", "日本"]),
        np.array([-5, 2**62 + 1]),
        np.array([0.1, 1 / 3]),
        np.array([1.5, 2.5], np.float32),
        np.array([False, True]),
        np.array([3, 200], np.uint8),
        np.array(["x", "y"], dtype=object),
        np.array([1, 2], dtype=object),
    ],
    ids=lambda classes: str(classes.dtype),
)
def test_labels_come_back_with_their_type(classes):
    again = ClassMoments.from_bytes(statistic(classes).to_bytes()).classes
    assert again.dtype == classes.dtype
    assert again.tolist() == classes.tolist()


@pytest.mark.parametrize(
    "classes",
    [
        np.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], dtype=object),
        np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"),
        np.array([b"a", b"b"]),
    ],
    ids=lambda classes: str(classes.dtype),
)
def test_labels_that_cannot_be_stored_are_named_in_a_sentence(classes):
    with pytest.raises(DataError, match="Only labels that are strings, numbers or booleans can be stored"):
        statistic(classes).to_bytes()


def test_the_same_statistic_gives_the_same_bytes_in_every_process():
    script = (
        "import numpy as np, hashlib\n"
        "from discrim.block import Block\n"
        "from discrim.statistics import ClassFactors, Depth\n"
        "x = np.arange(24.0).reshape(8, 3) ** 2\n"
        "block = Block(x, (np.arange(8) % 2).astype(np.int32), np.array(['a', 'b']))\n"
        "print(hashlib.sha256(ClassFactors.of(block, Depth.FULL).to_bytes()).hexdigest())\n"
    )
    found = set()
    for seed in ("0", "1"):  # sets and dicts of text in another order
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("buffer", [b"", b"nonsense", b"\x08" + bytes(7) + b"{}      ", bytes(100)])
def test_bytes_that_hold_no_statistic_are_refused(buffer):
    with pytest.raises(DataError, match=rf"These {len(buffer)} bytes are not a stored statistic"):
        ClassMoments.from_bytes(buffer)


def test_bytes_cut_short_are_refused():
    buffer = statistic(["a", "b"]).to_bytes()
    with pytest.raises(DataError, match="are not a stored statistic"):
        ClassMoments.from_bytes(buffer[:-8])


def test_bytes_of_another_kind_are_refused_by_name():
    with pytest.raises(DataError, match="of kind 'moments', not 'factors'"):
        ClassFactors.from_bytes(statistic(["a", "b"]).to_bytes())


def test_many_factors_come_back_in_their_order():
    classes = np.arange(30)
    x = np.random.default_rng(0).normal(size=(120, 2))
    whole = ClassFactors.of(Block(x, (np.arange(120) % 30).astype(np.int32), classes), Depth.FULL)
    again = ClassFactors.from_bytes(whole.to_bytes())
    assert all(np.array_equal(a, b) for a, b in zip(again.factors, whole.factors, strict=True))


def test_what_was_read_back_can_be_merged_and_taken_away():
    whole = statistic(["a", "b"], depth=Depth.FULL)
    again = ClassMoments.from_bytes(whole.to_bytes())
    np.testing.assert_allclose(again.merge(whole).subtract(again).scatter, whole.scatter, atol=1e-10)
