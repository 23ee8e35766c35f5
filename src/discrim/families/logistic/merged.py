"""Sparse rows with more columns than directions: those without an entry, and those that a single row has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.typing import Floats, Mask

# Columns are merged where no more than this part of them is left.
WORTH = 0.75


@dataclass(frozen=True)
class MergedColumns:
    """Of p columns ``kept`` ones stay as they are; of the ``single`` ones all of one row become one column.

    Their entries, divided by their length (``share``), are a direction, the only one of theirs that any row sees. A
    ridge that is the same on all of them keeps the minimum in it: theta_j = share_j theta of the merged column, whose
    place is ``place``. Columns without an entry have the coefficient 0.
    """

    width: int
    kept: NDArray[np.intp]
    single: NDArray[np.intp]
    place: NDArray[np.intp]
    share: Floats

    def inner(self, user: Floats) -> Floats:
        """Coefficients of the merged columns, intercept first, for those of the columns."""
        slopes = user[..., 1:]
        merged = np.zeros((*user.shape[:-1], self.size))
        merged[..., : len(self.kept)] = slopes[..., self.kept]
        np.add.at(merged.T, self.place, (self.share * slopes[..., self.single]).T)
        return np.concatenate([user[..., :1], merged], axis=-1)

    def outer(self, user: Floats) -> Floats:
        """Coefficients of the columns, intercept first, for those of the merged ones; slopes likewise."""
        found = np.zeros((*user.shape[:-1], 1 + self.width))
        found[..., 0], slopes = user[..., 0], user[..., 1:]
        found[..., 1 + self.kept] = slopes[..., : len(self.kept)]
        found[..., 1 + self.single] = self.share * slopes[..., self.place]
        return found

    @property
    def size(self) -> int:
        """How many columns are left."""
        return len(self.kept) + (int(self.place.max()) - len(self.kept) + 1 if len(self.place) else 0)


def merge_columns(x: sparse.csr_array) -> tuple[MergedColumns, sparse.csr_array] | None:
    """The rows in the columns that are left; None where these are nearly as many, or where an entry is not finite."""
    n, p = x.shape
    counts = np.bincount(x.indices, minlength=p)
    is_single: Mask = counts == 1
    kept, single = np.flatnonzero(counts > 1), np.flatnonzero(is_single)
    if len(kept) + min(n, len(single)) > WORTH * p:
        return None
    alone = is_single[x.indices]
    entries, values = np.flatnonzero(alone), np.asarray(x.data[alone], float)
    rows = np.searchsorted(x.indptr, entries, side="right") - 1
    with np.errstate(over="ignore"):
        squares = np.bincount(rows, weights=values**2, minlength=n)
    if not np.isfinite(squares).all():
        return None
    # A row whose single entries are zeros needs no column for them.
    whose = np.flatnonzero(squares > 0)
    length = np.sqrt(squares)
    place = np.zeros(n, np.intp)
    place[whose] = len(kept) + np.arange(len(whose))
    seen = squares[rows] > 0
    new_column = np.zeros(p, x.indices.dtype)
    new_column[kept] = np.arange(len(kept))
    first = x.indptr - np.concatenate([[0], np.cumsum(alone)])[x.indptr].astype(x.indptr.dtype)
    width = len(kept)
    rest = sparse.csr_array((x.data[~alone], new_column[x.indices[~alone]], first), shape=(n, width))
    own = sparse.csr_array((length[whose], (whose, np.arange(len(whose)))), shape=(n, len(whose)))
    merged = MergedColumns(
        p, kept, x.indices[entries[seen]].astype(np.intp), place[rows[seen]], values[seen] / length[rows[seen]]
    )
    return merged, sparse.csr_array(sparse.hstack([rest, own.astype(x.dtype)], format="csr"))
