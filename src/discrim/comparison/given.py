"""What a comparison was given for each row: its values, its label, its weight, its group, its time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from discrim.errors import ParameterError, name_list
from discrim.sources import Scan, code_labels
from discrim.sources.design import as_table
from discrim.sources.labels import MissingLabelsError


@dataclass(frozen=True, eq=False)
class Given:
    """Rows ``X`` and what goes with each of them, or None.

    ``beside`` are columns of X that are no features because they are the groups or the times, with a sentence each.
    """

    X: Any
    y: Any = None
    sample_weight: Any = None
    groups: Any = None
    time: Any = None
    beside: dict[str, str] = field(default_factory=dict)

    def resolved(self) -> Given:
        """The same, with the values of columns where groups or time are names of them."""
        found, beside = {}, {}
        for what, name in (("groups", self.groups), ("time", self.time)):
            if isinstance(name, str):
                found[what] = self._column(what, name)
                beside[name] = (
                    f"Column '{name}' holds the {'groups' if what == 'groups' else 'times'} and is no feature."
                )
        return replace(self, **found, beside=beside)

    def taken(self, keep: NDArray[np.bool_]) -> Given:
        """The rows where ``keep`` is true."""
        each = {name: getattr(self, name) for name in ("y", "sample_weight", "groups", "time")}
        kept = {name: taken(values, keep) for name, values in each.items() if values is not None}
        return replace(self, X=taken(self.X, keep), **kept)

    def unlabelled(self) -> NDArray[np.bool_] | None:
        """Which rows have no label; None where all have one."""
        if self.y is not None:
            return _without_label(self.y)
        if not isinstance(self.X, Scan) or self.X.target is None or not self.X.rereadable:
            return None
        name = self.X.target
        parts = [(t.n_rows, _without_label(t.labels(name, 0, t.n_rows))) for t in self.X.tables([name])]
        if all(missing is None for _, missing in parts):
            return None
        return np.concatenate([np.zeros(n, dtype=bool) if missing is None else missing for n, missing in parts])

    def _column(self, what: str, name: str) -> Any:
        table = self.X.head if isinstance(self.X, Scan) else as_table(self.X)
        if table is None:
            raise ParameterError(f"{what} names the column '{name}', and X has no named columns. Pass the values.")
        if name not in table.names:
            raise ParameterError(
                f"{what} names the column '{name}'; the columns are {name_list(table.names, most=20)}."
            )
        tables = self.X.tables([name]) if isinstance(self.X, Scan) else [table]
        return np.concatenate([np.asarray(part.labels(name, 0, part.n_rows)) for part in tables])


def taken(values: Any, keep: NDArray[np.bool_]) -> Any:
    """The rows of a table, an array or a scan where ``keep`` is true."""
    return values.keeping(keep) if isinstance(values, Scan) else _safe_indexing(values, np.flatnonzero(keep))


def _without_label(y: Any) -> NDArray[np.bool_] | None:
    try:
        code_labels(y)
    except MissingLabelsError as error:
        return error.missing
    return None
