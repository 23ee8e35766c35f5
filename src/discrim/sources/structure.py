"""Whether a sparse matrix is one: SciPy believes its index arrays, and reads or writes wherever they point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.errors import DataError, plural


class _ContradictionError(Exception):
    """What is wrong with the arrays of a matrix."""


def check_structure(x: Any, name: str = "X", *, columns: bool = True) -> None:
    """Raise where the index arrays of a sparse matrix do not describe one; anything else passes.

    To be called before the matrix is converted, sliced or multiplied. Entries may be stored twice and in any
    order. Cost: one read of the indices; of a list of lists or a dictionary of keys, what its conversion costs too.
    With ``columns`` false those of compressed rows are not read: who uses them looks at each himself.
    """
    if not sparse.issparse(x):
        return
    form = getattr(x, "format", "")
    try:
        if columns or form != "csr":
            _CHECKS.get(form, _check_compressed)(x)
        else:
            _check_lines(x)
    except _ContradictionError as error:
        fact = str(error)
    except (TypeError, AttributeError, OverflowError) as error:
        fact = f"its arrays cannot be read ({error})"
    else:
        return
    raise DataError(
        f"{name} is a sparse matrix ({form}) that contradicts itself: {fact}. Build it anew from its entries, for "
        "example with scipy.sparse.coo_array((values, (rows, columns)), shape=...)."
    )


def _check_compressed(x: Any) -> None:
    _check_within(*_check_lines(x))


def _check_lines(x: Any) -> tuple[NDArray[Any], int, str]:
    """Raise unless all lines begin and end where there are entries; what is to be looked at within the lines."""
    lines, width = x.shape if len(x.shape) == 2 else (1, *x.shape)
    of_lines, of_indices = "row", "column"
    if x.format == "csc":
        lines, width, of_lines, of_indices = width, lines, "column", "row"
    stored = len(_flat(x.data, "data", 3 if x.format == "bsr" else 1))
    if x.format == "bsr":
        high, wide = x.data.shape[1:]
        if not (high and wide) or lines % high or width % wide:
            raise _ContradictionError(f"blocks of {high} x {wide} do not fill a matrix of {lines} x {width}")
        lines, width, of_lines, of_indices = lines // high, width // wide, "row of blocks", "column of blocks"
    first, indices = _integers(x.indptr, "indptr"), _integers(x.indices, "indices")
    if len(first) != lines + 1:
        raise _ContradictionError(f"indptr has {plural(len(first), 'number')} for {plural(lines, of_lines)}")
    if len(indices) != stored:
        raise _ContradictionError(f"there are {plural(len(indices), 'index', 'indices')} for {stored} stored values")
    if first[0] != 0 or first[-1] != stored:
        ends = f"indptr goes from {first[0]} to {first[-1]}"
        raise _ContradictionError(f"{ends}; it must go from 0 to {stored}, the stored values")
    if lines > 1 and (first[1:] < first[:-1]).any():
        at = int(np.argmax(first[1:] < first[:-1]))
        raise _ContradictionError(f"indptr decreases after {of_lines} {at}, from {first[at]} to {first[at + 1]}")
    return indices, width, of_indices


def _check_coordinates(x: Any) -> None:
    _check_places(x.coords, x.shape, len(x.data))


def _check_diagonals(x: Any) -> None:
    offsets, data = _integers(x.offsets, "offsets"), _flat(x.data, "data", 2)
    if len(data) != len(offsets):
        raise _ContradictionError(f"there are {plural(len(offsets), 'offset')} for {plural(len(data), 'diagonal')}")
    if len(np.unique(offsets)) != len(offsets):
        raise _ContradictionError("an offset occurs twice")
    # Diagonals outside are empty; only numbers that SciPy's own arithmetic cannot hold are refused.
    _check_within(np.abs(offsets.astype(np.int64)), 2**31 - 1, "offset")


def _check_lists(x: Any) -> None:
    rows, data = x.rows, x.data
    if len(rows) != x.shape[0] or len(data) != x.shape[0]:
        raise _ContradictionError(f"there are {len(rows)} lists of columns and {len(data)} of values")
    for i, (columns, values) in enumerate(zip(rows, data, strict=True)):
        if len(columns) != len(values):
            raise _ContradictionError(f"row {i} has {len(columns)} columns for {len(values)} values")
    columns = [column for one in rows for column in one]
    if columns:
        _check_within(_integers(columns, "rows"), x.shape[1], "column")


def _check_keys(x: Any) -> None:
    keys = list(x.keys())
    if keys:
        _check_places(_flat(keys, "the keys", 2).T, x.shape, len(keys))


_CHECKS = {"coo": _check_coordinates, "dia": _check_diagonals, "lil": _check_lists, "dok": _check_keys}


def _check_places(places: Any, shape: tuple[int, ...], stored: int) -> None:
    for indices, size, title in zip(places, shape, ("row", "column"), strict=False):
        found = _integers(indices, f"{title}s")
        if len(found) != stored:
            raise _ContradictionError(f"there are {plural(len(found), title)} for {stored} stored values")
        _check_within(found, size, title)


def _check_within(indices: NDArray[Any], size: int, title: str) -> None:
    # Read as a number without a sign, one below zero is larger than any size: one pass finds both.
    signless = indices if indices.dtype.kind == "u" else indices.view(indices.dtype.str.replace("i", "u"))
    if len(indices) and int(signless.max()) >= size:
        bad = int(indices[(indices < 0) | (indices >= size)][0])
        raise _ContradictionError(f"an entry is in {title} {bad}, but there are {size}, counted from 0")


def _integers(values: Any, title: str) -> NDArray[Any]:
    found = _flat(values, title, 1)
    if found.dtype.kind not in "iu":
        raise _ContradictionError(f"{title} holds {found.dtype}, not integers")
    return found


def _flat(values: Any, title: str, dimensions: int) -> NDArray[Any]:
    found = np.asarray(values)
    if found.ndim != dimensions:
        raise _ContradictionError(f"{title} has {plural(found.ndim, 'dimension')} instead of {dimensions}")
    return found
