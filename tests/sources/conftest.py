"""One small table, poured into every container that the library reads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

NAMES = ["alpha", "beta", "gamma"]


def _table(x):
    pa = pytest.importorskip("pyarrow")
    return pa.table({name: x[:, j] for j, name in enumerate(NAMES)})


def _pandas(x):
    return pytest.importorskip("pandas").DataFrame(x, columns=NAMES)


def _polars(x):
    return pytest.importorskip("polars").DataFrame({name: x[:, j] for j, name in enumerate(NAMES)})


def _duckdb(x):
    duckdb = pytest.importorskip("duckdb")
    table = _table(x)
    return duckdb.connect().from_arrow(table)


def _strided(x):
    wide = np.full((2 * x.shape[0], 2 * x.shape[1]), np.nan, dtype=x.dtype)
    wide[::2, ::2] = x
    return wide[::2, ::2]


def _unaligned(x):
    raw = np.zeros(x.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(x.dtype).reshape(x.shape)
    view[:] = x
    return view


CONTAINERS = {
    "list of lists": lambda x: x.tolist(),
    "C array": np.ascontiguousarray,
    "Fortran array": np.asfortranarray,
    "strided array": _strided,
    "reversed array": lambda x: x[::-1].copy()[::-1],
    "unaligned array": _unaligned,
    "big-endian array": lambda x: x.astype(">f8"),
    "float32 array": lambda x: x.astype(np.float32),
    "int array": lambda x: x.astype(np.int64),
    "object array": lambda x: x.astype(object),
    "memory map": lambda x: x.view(np.memmap),
    "csr matrix": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csc array": sparse.csc_array,
    "coo array": sparse.coo_array,
    "pandas": _pandas,
    "pandas nullable": lambda x: _pandas(x).astype("Float64"),
    "pandas mixed": lambda x: _pandas(x).astype({"beta": "int32", "gamma": "float32"}),
    "polars": _polars,
    "polars lazy": lambda x: _polars(x).lazy(),
    "arrow table": _table,
    "arrow chunks": lambda x: __import__("pyarrow").concat_tables([_table(x[:7]), _table(x[7:])]),
    "arrow batch": lambda x: _table(x).to_batches()[0],
    "arrow stream": lambda x: _table(x).to_reader(),
    "duckdb": _duckdb,
}


@pytest.fixture
def values():
    """Small integers, so that every number type holds them exactly; some are zero, for sparse ones."""
    return np.random.default_rng(0).integers(-2, 3, size=(40, 3)).astype(np.float64)


@pytest.fixture(params=list(CONTAINERS))
def container(request):
    """A function that puts an array into one kind of container."""
    return CONTAINERS[request.param]


def stacked(rows):
    """All rows of a source as one dense array, with labels and weights."""
    blocks = list(rows.blocks())
    x = np.vstack([b.x.toarray() if sparse.issparse(b.x) else b.x for b in blocks])
    labels = np.concatenate([b.classes[b.codes] for b in blocks])
    weights = [b.weight for b in blocks]
    return x, labels, None if weights[0] is None else np.concatenate(weights)


@pytest.fixture
def gather():
    return stacked
