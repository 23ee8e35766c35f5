"""A map of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.basis.base import Basis
from discrim.errors import DataError, ParameterError


class FunctionBasis(Basis):
    """Whatever ``function`` makes of the rows: it takes n x p numbers and gives n x q.

    Every row must be mapped by itself, since rows come in blocks.

    Parameters
    ----------
    function : callable
    names : list of q names, or None for f0, f1, ...

    Examples
    --------
    >>> import numpy as np
    >>> from discrim.basis import FunctionBasis
    >>> FunctionBasis(lambda x: np.hypot(x[:, [0]], x[:, [1]]), names=["radius"]).fit_transform([[3.0, 4.0]])
    array([[5.]])
    """

    def __init__(self, function: Callable[[NDArray[Any]], Any], *, names: Sequence[str] | None = None) -> None:
        self.function = function
        self.names = names

    def _learn(self, x: NDArray[np.float64]) -> None:
        if not callable(self.function):
            raise ParameterError.bad_value("function", self.function, "a function of an n x p array")
        self._width = self._map(x[:2]).shape[1]
        if self.names is not None and len(self.names) != self._width:
            raise ParameterError.bad_value("names", self.names, f"a list of {self._width} names, one for each column")

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        result = np.asarray(self.function(x))
        if result.ndim == 1 and len(result) == len(x):
            result = result[:, None]
        if result.ndim != 2 or len(result) != len(x) or result.dtype.kind not in "fiub":
            raise DataError(
                f"The function of FunctionBasis gave an array of shape {result.shape} and type {result.dtype} for "
                f"{len(x)} rows; it must give as many rows of numbers."
            )
        return result.astype(x.dtype, copy=False)

    def names_of(self, names: Sequence[str]) -> list[str]:  # noqa: ARG002 - nothing is known of what they become
        return [f"f{i}" for i in range(self._width)] if self.names is None else [str(name) for name in self.names]
