"""What the models assume of the rows, and whether these rows are like that."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from discrim.errors import DataError, name_list
from discrim.inference.assumption_findings import (
    AssumptionCheck,
    collinearity_check,
    covariance_check,
    normality_check,
    separation_check,
    size_check,
)
from discrim.inference.assumption_shapes import class_shapes, full_moments
from discrim.inference.render import html_page
from discrim.inference.summary import Table
from discrim.sources import Rows, find_non_finite, open_rows

if TYPE_CHECKING:
    import pandas as pd

# Numbers that the class scatters may have; with more, only the sizes are told.
MOST_NUMBERS = 1 << 24


class AssumptionChecks(Mapping[str, AssumptionCheck]):
    """The checks by name: 'equal covariances', 'normality', 'separation', 'collinearity', 'rows and columns'."""

    def __init__(self, checks: list[AssumptionCheck]) -> None:
        self._checks = {check.name: check for check in checks}

    def __getitem__(self, name: str) -> AssumptionCheck:
        return self._checks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._checks)

    def __len__(self) -> int:
        return len(self._checks)

    def to_frame(self) -> pd.DataFrame:
        """A row a check."""
        columns = ["level", "statistic", "df", "p_value", "effect_name", "effect", "meaning", "implication"]
        values = [[getattr(check, name) for name in columns] for check in self.values()]
        return Table("Assumptions", list(self), columns, values).to_frame()

    def __repr__(self) -> str:
        return "\n".join(str(check) for check in self.values())

    def _repr_html_(self) -> str:
        items = [
            f"<dt>{html.escape(check.name)} ({check.level})</dt>"
            f"<dd>{html.escape(check.meaning)} {html.escape(check.implication)}</dd>"
            for check in self.values()
        ]
        return html_page([f"<dl>{''.join(items)}</dl>"])


def assumption_checks(X: Any, y: Any = None, sample_weight: Any = None) -> AssumptionChecks:
    """Check rows X with labels y, or a ``scan``, for what the classical models assume of them.

    Equal covariances by Box's M; normality within classes by Mardia's kurtosis, his skewness (up to 30 columns: it
    needs p^3 numbers a class) and each column's skewness and kurtosis; separation by a linear program where that is
    small, else by the training error of a linear rule; collinearity by variance inflation within classes; and the
    numbers of rows against columns. Weights count rows.

    Everything comes from sums over blocks of rows, so that files larger than memory are read block by block. Cost: a
    pass for the class moments, n p^2 / 2 multiplications, and one for third and fourth powers, n p^2.

    Examples
    --------
    >>> from discrim import datasets
    >>> from discrim.inference import assumption_checks
    >>> X, y = datasets.load_iris().xy
    >>> box = assumption_checks(X, y)["equal covariances"]
    >>> round(box.statistic, 2), box.df, box.level
    (140.94, 20.0, 'problem')
    """
    rows = open_rows(X, y, sample_weight)
    if not rows.labelled:
        raise DataError("Labels are needed: pass y, or a scan that names its target.")
    return checks_of_rows(rows)


def checks_of_rows(rows: Rows) -> AssumptionChecks:
    """The checks of rows that are open already."""
    p = rows.design.n_out
    if rows.classes is not None and rows.n_rows is not None and len(rows.classes) * p * p > MOST_NUMBERS:
        return AssumptionChecks([size_check(_counts(rows), p)])
    moments = full_moments(rows)
    if not moments.finite:
        raise find_non_finite(rows) or DataError("The sums of squares of X overflow. Scale the columns.")
    names = rows.design.names_out
    sizes = {str(label): float(n) for label, n in zip(moments.classes, moments.weight, strict=True) if n > 0}
    if len(sizes) < 2:
        raise DataError(f"y has only the class {name_list(sizes)}; the assumptions are about two classes at least.")
    present = moments.select(moments.weight > 0)
    checks = [covariance_check(present, names)]
    if rows.rereadable:
        checks.append(normality_check(class_shapes(rows, present), present, names))
        checks.append(separation_check(rows, present))
    checks += [collinearity_check(present, names), size_check(sizes, p)]
    return AssumptionChecks(checks)


def _counts(rows: Rows) -> dict[str, float]:
    assert rows.classes is not None
    weight = np.zeros(len(rows.classes))
    for block in rows.blocks():
        weight += np.bincount(block.codes, block.weight, len(rows.classes))
    return {str(label): float(n) for label, n in zip(rows.classes, weight, strict=True) if n > 0}
