"""What every loader returns, and how the bundled tables are read."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows ``data`` (n x p) with one label each in ``target``.

    Parameters
    ----------
    data : float64 array of shape (n, p)
    target : array of n labels
    feature_names : the p column names
    target_names : what the sorted labels stand for, in their order
    description : what was measured, and where it was published
    extra : further columns of n values that describe the rows but are not features

    Examples
    --------
    >>> from discrim.datasets import load_crabs
    >>> X, y = load_crabs().xy
    >>> X.shape, str(y[0])
    ((200, 5), 'BM')
    """

    data: NDArray[np.float64]
    target: NDArray[Any]
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    description: str
    extra: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def xy(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Features and labels, as every ``fit`` takes them."""
        return self.data, self.target

    def frame(self) -> pd.DataFrame:
        """One pandas table: the features, then ``target``, then the extra columns."""
        try:
            import pandas as pd
        except ImportError as missing:
            raise MissingDependencyError(
                "Dataset.frame() needs the package 'pandas'. Install it with: pip install pandas"
            ) from missing
        table = pd.DataFrame(self.data, columns=list(self.feature_names))
        return table.assign(target=self.target, **self.extra)

    def __repr__(self) -> str:
        n, p = self.data.shape
        features, classes = ", ".join(self.feature_names[:6]), ", ".join(self.target_names)
        more = ", ..." if p > 6 else ""
        return f"Dataset of {n} rows x {p} columns ({features}{more}); classes: {classes}"


def bundled_columns(name: str) -> dict[str, NDArray[np.str_]]:
    """The columns of a table in this folder as text, by name."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    return dict(zip(header, np.array(rows).T, strict=True))
