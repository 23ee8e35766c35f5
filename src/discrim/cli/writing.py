"""What a verb found, written as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import click


def write_json(found: Any) -> None:
    """Print one JSON value. NaN is null, and infinite numbers are the strings "inf" and "-inf"."""
    click.echo(json.dumps(_plain(found), indent=2, ensure_ascii=False, allow_nan=False))


def described(summary: Any) -> dict[str, Any]:
    """A printed summary as its title, facts and tables."""
    tables = [
        {
            "title": table.title,
            "rows": list(map(str, table.index)),
            "columns": list(map(str, table.columns)),
            "values": [list(row) for row in table.values],
        }
        for table in summary.tables
    ]
    return {"title": summary.title, "facts": dict(summary.facts), "tables": tables}


def _plain(value: Any) -> Any:
    """As JSON has it: arrays are lists, numbers of NumPy are Python's."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
