"""Whether a sparse matrix is one: SciPy believes its index arrays, and reads or writes wherever they point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.errors import DataError, plural

Bounds = tuple[int, str]


def check_structure(x: Any, name: str = "X") -> None:
    """Raise where the index arrays of a sparse matrix do not describe one; anything else passes.

    To be called before the matrix is converted, sliced or multiplied. Entries may be stored twice and in any
    order. Cost: one read of the indices; of a list of lists or a dictionary of keys, what its conversion costs too.
    """
    if sparse.issparse(x):
        _check(x, name)


def _check(x: Any, name: str) -> None:
    form = x.format
    try:
        if form in {"csr", "csc", "bsr"}:
            _check_compressed(x, form, name)
        elif form == "coo":
            _check_coordinates(x.coords, x, len(x.data), name)
        elif form == "dia":
            _check_diagonals(x, name)
        elif form == "lil":
            _check_lists(x, name)
        elif form == "dok":
            _check_keys(x, name)
    except (TypeError, AttributeError, OverflowError) as error:
        raise _broken(name, form, f"its arrays cannot be read ({error})") from None


def _check_compressed(x: Any, form: str, name: str) -> None:
    lines, width = x.shape if len(x.shape) == 2 else (1, *x.shape)
    of_lines, of_indices = ("row", "column")
    if form == "csc":
        lines, width, of_lines, of_indices = width, lines, "column", "row"
    stored = _flat(x.data, name, form, "data", 3 if form == "bsr" else 1).shape[0]
    if form == "bsr":
        high, wide = x.data.shape[1:]
        if not (high and wide) or lines % high or width % wide:
            raise _broken(name, form, f"blocks of {high} x {wide} do not fill a matrix of {lines} x {width}")
        lines, width, of_lines, of_indices = lines // high, width // wide, "row of blocks", "column of blocks"
    first, indices = _integers(x.indptr, name, form, "indptr"), _integers(x.indices, name, form, "indices")
    if len(first) != lines + 1:
        raise _broken(name, form, f"indptr has {plural(len(first), 'number')} for {plural(lines, of_lines)}")
    if len(indices) != stored:
        raise _broken(name, form, f"there are {plural(len(indices), 'index', 'indices')} for {stored} stored values")
    if first[0] != 0 or first[-1] != stored:
        raise _broken(
            name, form, f"indptr goes from {first[0]} to {first[-1]}; it must go from 0 to {stored}, the stored values"
        )
    if lines > 1 and (first[1:] < first[:-1]).any():
        at = int(np.argmax(first[1:] < first[:-1]))
        raise _broken(name, form, f"indptr decreases after {of_lines} {at}, from {first[at]} to {first[at + 1]}")
    _check_within(indices, (width, of_indices), name, form)


def _check_coordinates(coordinates: Any, x: Any, stored: int, name: str) -> None:
    for indices, size, title in zip(coordinates, x.shape, ("row", "column"), strict=False):
        found = _integers(indices, name, x.format, f"{title}s")
        if len(found) != stored:
            raise _broken(name, x.format, f"there are {plural(len(found), title)} for {stored} stored values")
        _check_within(found, (size, title), name, x.format)


def _check_diagonals(x: Any, name: str) -> None:
    offsets = _integers(x.offsets, name, "dia", "offsets")
    data = _flat(x.data, name, "dia", "data", 2)
    if len(data) != len(offsets):
        raise _broken(name, "dia", f"there are {plural(len(offsets), 'offset')} for {plural(len(data), 'diagonal')}")
    if len(np.unique(offsets)) != len(offsets):
        raise _broken(name, "dia", "an offset occurs twice")
    if len(offsets):
        # Diagonals outside are empty; only numbers that SciPy's own arithmetic cannot hold are refused.
        _check_within(np.abs(offsets.astype(np.int64)), (2**31 - 1, "offset"), name, "dia")


def _check_lists(x: Any, name: str) -> None:
    rows, data = x.rows, x.data
    if len(rows) != x.shape[0] or len(data) != x.shape[0]:
        raise _broken(name, "lil", f"there are {len(rows)} lists of columns and {len(data)} of values")
    sizes = [len(columns) for columns in rows]
    uneven = [i for i, (size, values) in enumerate(zip(sizes, data, strict=True)) if size != len(values)]
    if uneven:
        raise _broken(name, "lil", f"row {uneven[0]} has {sizes[uneven[0]]} columns for {len(data[uneven[0]])} values")
    if sum(sizes):
        columns = np.array([column for one in rows for column in one])
        _check_within(_integers(columns, name, "lil", "rows"), (x.shape[1], "column"), name, "lil")


def _check_keys(x: Any, name: str) -> None:
    keys = list(x.keys())
    if keys:
        places = _flat(np.array(keys), name, "dok", "the keys", 2)
        _check_coordinates(places.T, x, len(keys), name)


def _check_within(indices: NDArray[Any], bounds: Bounds, name: str, form: str) -> None:
    size, title = bounds
    if not len(indices):
        return
    # Read as a number without a sign, one below zero is larger than any size: one pass finds both.
    signless = indices if indices.dtype.kind == "u" else indices.view(indices.dtype.str.replace("i", "u"))
    if int(signless.max()) >= size:
        bad = int(indices[(indices < 0) | (indices >= size)][0])
        raise _broken(name, form, f"an entry is in {title} {bad}, but there are {size}, counted from 0")


def _integers(values: Any, name: str, form: str, title: str) -> NDArray[Any]:
    found = _flat(values, name, form, title, 1)
    if found.dtype.kind not in "iu":
        raise _broken(name, form, f"{title} holds {found.dtype}, not integers")
    return found


def _flat(values: Any, name: str, form: str, title: str, dimensions: int) -> NDArray[Any]:
    found = np.asarray(values)
    if found.ndim != dimensions:
        raise _broken(name, form, f"{title} has {plural(found.ndim, 'dimension')} instead of {dimensions}")
    return found


def _broken(name: str, form: str, fact: str) -> DataError:
    return DataError(
        f"{name} is a sparse matrix ({form}) that contradicts itself: {fact}. Build it anew from its entries, for "
        "example with scipy.sparse.coo_array((values, (rows, columns)), shape=...)."
    )
