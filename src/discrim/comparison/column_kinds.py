"""What the columns of a table are, once they are coded, and which of them say nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from discrim.errors import name_list, plural
from discrim.sources import Design
from discrim.typing import Floats

# Distinct whole numbers up to which they may be codes of a category, and rows that are looked at for it.
MOST_CODES, LOOK = 20, 5000
MOST_NAMED = 5
# From here on different whole numbers may be read as the same one.
LONG, DIGITS = 2.0**53, ", to the 15 digits that numbers are read with,"
# Sentences that differ in names and figures alone, of which so many are said.
MOST_ALIKE = 3


class LeftOut(NamedTuple):
    """A column that is no feature: what it is ``taken_for``, and a sentence that says why."""

    taken_for: str
    sentence: str


def summed_up(sentences: Mapping[str, str]) -> list[str]:
    """The sentences on columns, by their names, each once; of many that are alike the first, and who else it goes for.

    >>> for sentence in summed_up({name: f"Column '{name}' has {k} levels." for k, name in enumerate("abcde")}):
    ...     print(sentence)
    Column 'a' has 0 levels.
    The same holds for 4 further columns, with figures of their own: 'b', 'c', 'd', 'e'.
    """
    kinds: dict[str, dict[str, str]] = {}
    for name, sentence in sentences.items():
        kinds.setdefault(re.sub(r"'[^']*'|[\d,.]*\d|rows?", "", sentence), {})[name] = sentence
    said = list[str]()
    for alike in kinds.values():
        each = dict.fromkeys(alike.values())
        if len(each) <= MOST_ALIKE:
            said += each
            continue
        first, *others = alike
        same = len({sentence.replace(repr(name), "") for name, sentence in alike.items()}) == 1
        more = f"{len(others):,} further columns{'' if same else ', with figures of their own'}"
        said += [alike[first], f"The same holds for {more}: {name_list(others, most=MOST_NAMED)}."]
    return said


def kinds_of(design: Design, x: Any) -> dict[str, str]:
    """What the columns of the design are taken for; ``x`` are the rows as numbers."""
    found, j = dict[str, str](), 0
    for column in design.columns:
        kind = "number" if column.levels is None else f"category, {plural(len(column.levels), 'level')}"
        if column.levels is None and isinstance(x, np.ndarray):
            values = x[:LOOK, j]
            different = np.unique(values[~np.isnan(values)])
            if 2 < len(different) <= MOST_CODES and (different == np.floor(different)).all():
                kind = f"number, {len(different)} whole values"
        found[column.name] = kind
        j += column.n_out
    return found


def said_of_kinds(kinds: Mapping[str, str]) -> list[str]:
    """How columns were read, where they are not plain numbers all."""
    categories, codes = (
        [name for name, kind in kinds.items() if kind.startswith(start)] for start in ("category", "number,")
    )
    parts = []
    if codes:
        parts.append(
            f"{name_list(codes, most=MOST_NAMED)} as {'a number' if len(codes) == 1 else 'numbers'} of few values"
        )
    if categories:
        parts.append(
            f"{name_list(categories, most=MOST_NAMED)} as {'a category' if len(categories) == 1 else 'categories'}"
        )
    if not parts:
        return []
    others = len(kinds) - len(codes) - len(categories)
    rest = (
        f"; {'the other column is a number' if others == 1 else f'the other {others:,} are numbers'}" if others else ""
    )
    return [f"Columns were read: {', and '.join(parts)}{rest}. types= and --types say otherwise."]


def useless_columns(design: Design, x: Any) -> dict[str, LeftOut]:
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
    long = [name for name, start in numeric if name in set(constant) and abs(x[0, start]) >= LONG]
    return {
        **_of_one_value([name for name in constant if name not in set(long)]),
        **_of_one_value(long, DIGITS),
        **copies,
    }


def _of_one_value(constant: Sequence[str], read: str = "") -> dict[str, LeftOut]:
    one = len(constant) == 1
    which = f"Column{'' if one else 's'} {name_list(constant, most=MOST_NAMED)} {'has' if one else 'have'}"
    sentence = f"{which} one value in all rows{read} and {'is' if one else 'are'} left out."
    return dict.fromkeys(constant, LeftOut("one value", sentence))


def _copies(x: Floats, numeric: list[tuple[str, int]]) -> dict[str, LeftOut]:
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
                sentence = f"Column '{name}' equals '{numeric[first][0]}' in every row and is left out."
                found[name] = LeftOut("copy", sentence)
        groups.setdefault(key, []).append(int(i))
    return found
