"""Numbers as text, and cells as text of at most 80 columns or as HTML that stands on its own."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import NamedTuple

WIDTH = 80
LONGEST_NAME = 32
LONGEST_CELL = 44
# A table of numbers with more columns than this is turned on a page, where it has fewer rows.
MOST_ACROSS = 9
# Spaces count, so that probabilities stay aligned beside their stars. Only colours that suit light and dark pages.
STYLE = (
    ".discrim-summary .wide {overflow-x: auto; max-width: 100%; margin: 0.7em 0 0.3em}"
    ".discrim-summary table {border-collapse: collapse; margin: 0; line-height: 1.45}"
    ".discrim-summary caption, .discrim-summary th, .discrim-summary td {text-align: left; padding: 0 0.5em;"
    " vertical-align: top}"
    ".discrim-summary caption {font-weight: bold; white-space: nowrap; color: inherit}"
    "@media (max-width: 40em) {.discrim-summary caption {white-space: normal}}"
    ".discrim-summary thead th {border-bottom: 1px solid rgba(128, 128, 128, 0.5)}"
    ".discrim-summary tbody th {font-weight: normal; white-space: nowrap}"
    ".discrim-summary .figure {text-align: right; white-space: pre; font-variant-numeric: tabular-nums}"
    ".discrim-summary h4 {margin: 0.6em 0.5em 0}"
    ".discrim-summary .key {font-size: 0.88em; opacity: 0.8; margin: 0.2em 0.5em; max-width: 60em}"
    ".discrim-summary .chosen > * {font-weight: bold}"
)
SMALLEST_P = 2.2e-16
# The share of the largest number of a column that is taken for rounding.
NOISE = 1e-15
LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, "."))
LEGEND = "Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"


class Column(NamedTuple):
    """The written cells under one name; numbers stand to the right, words to the left."""

    name: str
    cells: Sequence[str]
    right: bool = True

    def lines(self) -> list[str]:
        """Name and cells, padded to one width."""
        texts = [short(self.name), *(short(cell, LONGEST_CELL) for cell in self.cells)]
        width = max(map(len, texts))
        return [text.rjust(width) if self.right else text.ljust(width) for text in texts]


def text_facts(facts: Mapping[str, str]) -> str:
    """Lines ``name: value`` with the values under each other; a long value continues under itself."""
    width = max((len(short(name)) for name in facts), default=0) + 2
    lines = []
    for name, value in facts.items():
        head = f"{short(name)}:".ljust(width)
        folded = textwrap.wrap(one_line(value), WIDTH - width) or [""]
        lines += [(head + folded[0]).rstrip(), *(" " * width + line for line in folded[1:])]
    return "\n".join(lines)


def text_table(index: Sequence[str], columns: Sequence[Column]) -> str:
    """The table in groups of columns that fit the width, each group with the row names again."""
    names = ["", *(short(name) for name in index)]
    stub = max(map(len, names))
    groups: list[list[list[str]]] = []
    left = 0
    for lines in (column.lines() for column in columns):
        needed = len(lines[0]) + 1
        if not groups or needed > left:
            groups.append([[name.ljust(stub) for name in names]])
            left = WIDTH - stub
        groups[-1].append(lines)
        left -= needed
    return "\n".join(" ".join(cells).rstrip() for group in groups for cells in zip(*group, strict=True))


def html_page(parts: Sequence[str]) -> str:
    """The parts in a box that carries its own style and touches nothing around it."""
    return f'<div class="discrim-summary"><style>{STYLE}</style>{"".join(parts)}</div>'


def html_facts(facts: Mapping[str, str]) -> str:
    rows = [f"<tr>{_cell('th', name)}{_cell('td', value)}</tr>" for name, value in facts.items()]
    return wide(f"<table>{''.join(rows)}</table>") if rows else ""


def wide(table: str) -> str:
    """A table in a box of its own, which can be moved sideways where the page is narrower."""
    return f'<div class="wide">{table}</div>'


def _turned(index: Sequence[str], columns: Sequence[Column]) -> tuple[Sequence[str], Sequence[Column]]:
    """Rows as columns, where there are many columns of numbers and fewer rows."""
    if len(columns) <= MOST_ACROSS or len(index) > MOST_ACROSS or not all(column.right for column in columns):
        return index, columns
    turned = [Column(name, [column.cells[i] for column in columns]) for i, name in enumerate(index)]
    return [column.name for column in columns], turned


def html_table(title: str, index: Sequence[str], columns: Sequence[Column]) -> str:
    """One table, turned where it has many columns and few rows; every name and cell is escaped."""
    index, columns = _turned(index, columns)
    head = "".join(_cell("th", column.name, column.right) for column in columns)
    rows = []
    for i, name in enumerate(index):
        cells = "".join(_cell("td", column.cells[i], column.right) for column in columns)
        rows.append(f"<tr>{_cell('th', name)}{cells}</tr>")
    return wide(
        f"<table><caption>{html.escape(title)}</caption>"
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _cell(tag: str, text: str, right: bool = False) -> str:
    return f"<{tag}{' class=figure' if right else ''}>{html.escape(text)}</{tag}>"


def short(text: str, most: int = LONGEST_NAME) -> str:
    """On one line, and cut where it would push the figures off the page."""
    text = one_line(text)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def is_numeric(values: Sequence[object]) -> bool:
    """Is every value a number or missing (None)? Truth values are words."""
    return all(value is None or (isinstance(value, Real) and not isinstance(value, bool)) for value in values)


def write_column(values: Sequence[object], digits: int, noise: float = NOISE) -> list[str]:
    """One text per number, all with the same decimals: as many as the number that needs most of them.

    That is the number whose ``digits`` significant digits, trailing zeros dropped, reach furthest behind the point.
    The column is written in powers of ten where that is narrower. Numbers below ``noise`` times the largest are
    rounding noise and are written as 0. Missing values stay blank.
    """
    known = [_number(value) for value in values]
    least = noise * max((abs(x) for x in known if x is not None and math.isfinite(x)), default=0.0)
    # At most, not below: a negative zero is noise too, and would print its sign.
    shown = [0.0 if x is not None and abs(x) <= least else x for x in known]
    form = _format([x for x in shown if x is not None and math.isfinite(x)], digits)
    return [_special(x) if x is None or not math.isfinite(x) else form.format(x) for x in shown]


def write_number(value: object, digits: int) -> str:
    """A value on its own: numbers as in a column of one, all else as it prints."""
    return write_column([value], digits)[0] if is_numeric([value]) else str(value)


def write_p_values(values: Sequence[object], digits: int) -> list[str]:
    """Probabilities: one digit fewer than elsewhere, tiny ones in powers of ten, the tiniest by a bound."""
    digits = max(1, min(5, digits - 1))
    known = [_number(value) for value in values]
    tiny = write_column([x if x is not None and SMALLEST_P <= x < 1e-4 else None for x in known], digits)
    large = write_column([None if x is not None and x < 1e-4 else x for x in known], digits)
    texts = zip(known, tiny, large, strict=True)
    return ["<2e-16" if x is not None and x < SMALLEST_P else small or plain for x, small, plain in texts]


def write_p_value(value: float) -> str:
    """A probability in a sentence, with its sign of relation: ``= 0.031`` or ``< 2e-16``."""
    text = write_p_values([value], 3)[0]
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


def stars(value: object) -> str:
    """The marks of R's coefficient tables: *** under 0.001, ** under 0.01, * under 0.05, . under 0.1."""
    p = _number(value)
    return "" if p is None else next((mark for level, mark in LEVELS if p < level), "")


def _format(finite: Sequence[float], digits: int) -> str:
    """The format that suits all of these numbers, as a template for ``str.format``."""
    if all(x == int(x) and abs(x) < 1e15 for x in finite):
        return "{:.0f}"
    parts = [_significant(x, digits) for x in finite]
    decimals = max(max(0, used - 1 - exponent) for used, exponent in parts)
    mantissa = max(used for used, _ in parts) - 1
    # The narrower of the two, and fixed decimals where both are equally wide.
    return min(f"{{:.{decimals}f}}", f"{{:.{mantissa}e}}", key=lambda form: max(len(form.format(x)) for x in finite))


def _significant(x: float, digits: int) -> tuple[int, int]:
    """How many of ``digits`` significant digits x needs, and its power of ten after rounding."""
    mantissa, exponent = f"{abs(x):.{digits - 1}e}".split("e")
    return max(1, len(mantissa.replace(".", "").rstrip("0"))), int(exponent)


def _special(x: float | None) -> str:
    if x is None:
        return ""
    return "NaN" if math.isnan(x) else "Inf" if x > 0 else "-Inf"


def _number(value: object) -> float | None:
    return None if value is None else float(value)  # type: ignore[arg-type]
