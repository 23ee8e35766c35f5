"""The columns of a table once they are coded: what they are, and which of them say nothing, or too much."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discrim.block import Block
from discrim.errors import name_list
from discrim.sources import Design
from discrim.statistics import ClassMoments, Depth
from discrim.typing import Floats

# Distinct whole numbers up to which they may be codes of a category, and rows that are looked at for it.
MOST_CODES, LOOK = 20, 5000
# The part of a column's variance inside the classes below which it nearly determines them.
DETERMINED = 1e-3
MOST_NAMED = 5


class ColumnRead(NamedTuple):
    """A column of the table, and ``how`` it was read."""

    name: str
    how: str


def read_columns(design: Design, x: Any) -> list[ColumnRead]:
    """``x`` are the rows as numbers, with the columns of the design."""
    found, j = list[ColumnRead](), 0
    for column in design.columns:
        how = "number" if column.levels is None else f"category, {len(column.levels)} levels"
        if column.levels is None and isinstance(x, np.ndarray):
            values = x[:LOOK, j]
            different = np.unique(values[~np.isnan(values)])
            if 2 < len(different) <= MOST_CODES and (different == np.floor(different)).all():
                how = f"number, {len(different)} whole values"
        found.append(ColumnRead(column.name, how))
        j += column.n_out
    return found


def useless_columns(design: Design, x: Any) -> dict[str, str]:
    """Columns with one value in all rows, and copies of others, with a sentence each kind; none of sparse rows."""
    if not isinstance(x, np.ndarray) or len(x) < 2:
        return {}
    starts = np.cumsum([0, *(column.n_out for column in design.columns)])
    placed = zip(design.columns, starts, strict=False)
    numeric = [(column.name, int(start)) for column, start in placed if column.levels is None]
    places = np.array([start for _, start in numeric], dtype=np.intp)
    same = (x.min(axis=0) == x.max(axis=0))[places] if len(places) else np.zeros(0, dtype=bool)
    constant = [name for (name, _), is_same in zip(numeric, same, strict=True) if is_same]
    constant += [column.name for column in design.columns if column.levels is not None and not column.n_out]
    copies = _copies(x, [(name, start) for (name, start), is_same in zip(numeric, same, strict=True) if not is_same])
    one = len(constant) == 1
    which = f"Column{'' if one else 's'} {name_list(constant, most=MOST_NAMED)} {'has' if one else 'have'}"
    sentence = f"{which} one value in all rows and {'is' if one else 'are'} left out."
    return {**dict.fromkeys(constant, sentence), **copies}


def _copies(x: Floats, numeric: list[tuple[str, int]]) -> dict[str, str]:
    """Columns that equal an earlier one in every row: those whose sums with random weights are equal are compared."""
    if len(numeric) < 2:
        return {}
    sums = np.random.default_rng(0).normal(size=len(x)) @ x[:, [start for _, start in numeric]]
    groups: dict[float, list[int]] = {}
    found = {}
    for i in np.argsort(sums, kind="stable"):
        if np.isnan(sums[i]):
            continue
        key = float(f"{sums[i]:.9e}")
        for other in groups.get(key, []):
            first, later = sorted((other, int(i)))
            if numeric[later][0] not in found and np.array_equal(x[:, numeric[first][1]], x[:, numeric[later][1]]):
                name = numeric[later][0]
                found[name] = f"Column '{name}' equals '{numeric[first][0]}' in every row and is left out."
        groups.setdefault(key, []).append(int(i))
    return found


def nearly_the_target(design: Design, block: Block) -> list[str]:
    """What to say of columns whose values nearly determine the class."""
    if not isinstance(block.x, np.ndarray) or len(block) <= 2 * len(block.classes):
        return []
    moments = ClassMoments.of(block, Depth.DIAGONAL)
    within = moments.squares.sum(axis=0)
    mean = moments.weight @ moments.mean / moments.weight.sum()
    between = moments.weight @ np.square(moments.mean - mean)
    names = [design.names_out[j] for j in np.flatnonzero(within < DETERMINED * between)]
    if not names:
        return []
    which = "Columns" if len(names) > 1 else "Column"
    what = "nearly determine the class; leave them" if len(names) > 1 else "nearly determines the class; leave it"
    return [f"{which} {name_list(names, most=MOST_NAMED)} {what} out (without=) unless known before the class is."]
