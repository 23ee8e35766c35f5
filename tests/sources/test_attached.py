"""Offsets and counts are added to rows that stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from discrim.sources import Attached, open_rows, scan


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(11, 2)), rng.permutation(np.arange(11) % 3), rng.uniform(1, 2, 11)


def parts(rows):
    """Labels, weights, offsets and shares of all blocks."""
    blocks = list(rows.blocks())
    labels = np.concatenate([block.classes[block.codes] for block in blocks])
    columns = [[getattr(block, name) for block in blocks] for name in ("weight", "offset", "share")]
    return labels, *(None if values[0] is None else np.concatenate(values) for values in columns)


def test_offsets_and_shares_keep_to_their_rows_in_blocks_of_any_size(data, tmp_path):
    x, y, _ = data
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": x[:, 0], "b": x[:, 1], "y": y}), tmp_path / "t.parquet")
    offset, share = np.arange(11.0), np.linspace(0, 1, 11)
    for rows in (open_rows(x, y), scan(tmp_path / "t.parquet", target="y", batch_rows=4)):
        attached = Attached(rows, np.array([0, 1]), offset, share)
        labels, _, found_offset, found_share = parts(attached)
        assert_array_equal(labels, np.ones(11))
        assert_array_equal(found_offset, offset)
        assert_array_equal(found_share, share)
        assert_array_equal(np.vstack([block.x for block in attached.blocks()]), x)


def test_it_is_rows_like_those_it_holds(data):
    x, y, _ = data
    rows = open_rows(x, y)
    attached = Attached(rows, rows.classes, offset=np.arange(11.0))
    assert attached.design is rows.design
    assert (attached.n_rows, attached.rereadable, attached.labelled) == (11, True, True)
    assert attached.whole is attached.whole
    assert attached.whole.x is rows.whole.x
    (block,) = attached.blocks()
    assert_array_equal(block.rows(3, 5).offset, [3.0, 4.0])
