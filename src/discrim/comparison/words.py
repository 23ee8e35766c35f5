"""Figures and remarks of a comparison as they are printed, in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discrim.comparison.scores import Row


HEADER = ("error", "95%", "log loss", "AUC", "numbers", "fit", "p")


def cells_of(row: Row) -> list[str]:
    """The figures of a model, under HEADER."""
    low, high = row.error_interval
    return [
        percent(row.error),
        f"{100 * low:.1f}-{100 * high:.1f}",
        written(row.log_loss, ".3f"),
        written(row.auc, ".3f"),
        written(row.parameters, ",.0f"),
        _milliseconds(row.fit_time),
        _p_value(row.p_value, best=row.indistinguishable),
    ]


def left_out(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Names and reason of the models that were not run; those with the same reason stand together."""
    by_note: dict[str, list[str]] = {}
    for row in rows:
        if not row.done:
            by_note.setdefault(row.note, []).append(row.name)
    return [(_joined(names), note) for note, names in by_note.items()]


def _joined(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} was left out"
    return f"{', '.join(names[:-1])} and {names[-1]} were left out"


def percent(share: float) -> str:
    """14.2%, and 0.03% where one decimal would hide it."""
    return f"{share:.1%}" if share >= 0.01 or share == 0 else f"{share:.2%}"


def written(value: float, how: str) -> str:
    return "" if np.isnan(value) else format(value, how)


def _p_value(value: float, *, best: bool) -> str:
    """A p-value in a cell: three decimals, the tiny ones by a bound; the best model has none."""
    if np.isnan(value):
        return "best" if best else ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _milliseconds(seconds: float) -> str:
    if np.isnan(seconds):
        return ""
    if seconds < 0.9995:
        return f"{max(1e3 * seconds, 1):.0f} ms"
    return f"{seconds:.1f} s"
