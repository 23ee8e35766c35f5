"""Several maps side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discrim.basis.base import Basis
from discrim.errors import ParameterError


class JoinedBasis(Basis):
    """The columns of all ``parts``, in their order; a part that is None is the rows' own columns.

    Examples
    --------
    >>> from discrim.basis import JoinedBasis, StepBasis
    >>> JoinedBasis([None, StepBasis(knots=[0.0])]).fit_transform([[-1.0], [2.0]])
    array([[-1.,  0.],
           [ 2.,  1.]])
    """

    def __init__(self, parts: Sequence[Basis | None]) -> None:
        self.parts = parts

    def _learn(self, x: NDArray[np.float64]) -> None:
        if isinstance(self.parts, str) or not len(self.parts):
            raise ParameterError.bad_value("parts", self.parts, "a list of at least one basis")
        strange = [part for part in self.parts if part is not None and not isinstance(part, Basis)]
        if strange:
            raise ParameterError.bad_value("parts", strange[0], "bases of discrim.basis, or None")
        self.parts_ = [None if part is None else clone(part).fit(x) for part in self.parts]

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([x if part is None else part.of_block(x) for part in self.parts_], axis=1)

    def names_of(self, names: Sequence[str]) -> list[str]:
        return [name for part in self.parts_ for name in (names if part is None else part.names_of(names))]
