"""Powers and products of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.basis.base import Basis, check_count
from discrim.store.fields import Incoming


class PolynomialBasis(Basis):
    """All products of up to ``degree`` columns: x_i, then x_i x_j, then x_i x_j x_k, ...

    Cost: q = (p + degree choose degree) - 1 columns, one multiplication each a row.

    Parameters
    ----------
    degree : int
    interaction_only : bool, leave out products in which a column occurs twice

    Examples
    --------
    >>> from discrim.basis import PolynomialBasis
    >>> basis = PolynomialBasis(degree=2).fit([[2.0, 3.0]])
    >>> basis.transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    >>> list(basis.get_feature_names_out())
    ['x0', 'x1', 'x0^2', 'x0:x1', 'x1^2']
    """

    def __init__(self, degree: int = 2, *, interaction_only: bool = False) -> None:
        self.degree = degree
        self.interaction_only = interaction_only

    def _learn(self, x: NDArray[np.float64]) -> None:
        self._make_terms(x.shape[1])

    def check_functions(self, file: Incoming) -> None:
        """Raise where there are other products than columns were named; these are counted before they are made."""
        p, wanted, found = file.letters["p"], file.letters["q"], 0
        check_count("degree", self.degree)
        for degree in range(1, self.degree + 1):
            size = comb(p, degree) if self.interaction_only else comb(p + degree - 1, degree)
            found += size
            if found > wanted or not size:
                break
        file.bind("q", found, "degree")
        self._make_terms(p)

    def _make_terms(self, columns: int) -> None:
        check_count("degree", self.degree)
        choose = combinations if self.interaction_only else combinations_with_replacement
        degrees = range(1, min(self.degree, columns) + 1 if self.interaction_only else self.degree + 1)
        self._terms = [term for degree in degrees for term in choose(range(columns), degree)]

    def described(self) -> tuple[str, dict[str, Any]]:
        return "products", {"terms": self._terms}

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        place: dict[tuple[int, ...], int] = {}
        result = np.empty((len(x), len(self._terms)), dtype=x.dtype, order="F")
        for q, term in enumerate(self._terms):
            # A product is its first factors' product, which stands further left, times the last.
            result[:, q] = x[:, term[0]] if len(term) == 1 else result[:, place[term[:-1]]] * x[:, term[-1]]
            place[term] = q
        return result

    def names_of(self, names: Sequence[str]) -> list[str]:
        return [":".join(_power(names[j], count) for j, count in Counter(term).items()) for term in self._terms]


class QuadraticBasis(PolynomialBasis):
    """The columns, their squares and products: linear rules become conic sections.

    Examples
    --------
    The exclusive or is not linear in its columns, but in their product:

    >>> from sklearn.pipeline import make_pipeline
    >>> from discrim import LeastSquaresClassifier
    >>> from discrim.basis import QuadraticBasis
    >>> X, y = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> model = make_pipeline(QuadraticBasis(interaction_only=True), LeastSquaresClassifier())
    >>> model.fit(X, y).predict(X)
    array([0, 1, 1, 0])
    """

    def __init__(self, *, interaction_only: bool = False) -> None:
        super().__init__(2, interaction_only=interaction_only)


def _power(name: str, count: int) -> str:
    return name if count == 1 else f"{name}^{count}"
