"""Cells to text of at most 80 columns, and to HTML that stands on its own."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH = 80
LONGEST_NAME = 32
LONGEST_CELL = 44
# Spaces count, so that probabilities stay aligned beside their stars.
STYLE = (
    ".discrim-summary caption, .discrim-summary th, .discrim-summary td {text-align: left; padding: 0 0.5em}"
    ".discrim-summary caption {font-weight: bold}"
    ".discrim-summary .figure {text-align: right; white-space: pre; font-variant-numeric: tabular-nums}"
)


@dataclass(frozen=True)
class Column:
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
    room = 0
    for lines in (column.lines() for column in columns):
        needed = len(lines[0]) + 1
        if not groups or needed > room:
            groups.append([[name.ljust(stub) for name in names]])
            room = WIDTH - stub
        groups[-1].append(lines)
        room -= needed
    return "\n".join(" ".join(cells).rstrip() for group in groups for cells in zip(*group, strict=True))


def html_page(parts: Sequence[str]) -> str:
    """The parts in a box that carries its own style and touches nothing around it."""
    return f'<div class="discrim-summary"><style>{STYLE}</style>{"".join(parts)}</div>'


def html_facts(facts: Mapping[str, str]) -> str:
    rows = [f"<tr>{_cell('th', name)}{_cell('td', value)}</tr>" for name, value in facts.items()]
    return f"<table>{''.join(rows)}</table>" if rows else ""


def html_table(title: str, index: Sequence[str], columns: Sequence[Column]) -> str:
    """One table; every name and cell is escaped."""
    head = "".join(_cell("th", column.name, column.right) for column in columns)
    rows = []
    for i, name in enumerate(index):
        cells = "".join(_cell("td", column.cells[i], column.right) for column in columns)
        rows.append(f"<tr>{_cell('th', name)}{cells}</tr>")
    return (
        f"<table><caption>{html.escape(title)}</caption>"
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def short(text: str, most: int = LONGEST_NAME) -> str:
    """On one line, and cut where it would push the figures off the page."""
    text = one_line(text)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _cell(tag: str, text: str, right: bool = False) -> str:
    return f"<{tag}{' class=figure' if right else ''}>{html.escape(text)}</{tag}>"
