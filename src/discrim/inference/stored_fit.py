"""A logistic fit as model files have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from discrim.families.logistic.objective import Coordinates, Solution
from discrim.statistics.likelihood import Likelihood
from discrim.store.fields import Array, By, Field, Incoming, Many, Number, Optional, Text, Texts, Whole, damaged
from discrim.store.kinds import Of
from discrim.store.values import Labels, Value

# What a file has of where the solver stopped, and of the sums over the rows.
SOLUTION = ("theta", "value", "loss", "iterations", "converged", "gap", "exact")
SUMS = ("information", "score_products", "weights_are_counts", "grouped", "pearson")


FIELDS: dict[str, Field[Any]] = {
    "coordinates": Of(Coordinates, {"p": "p"}),
    "solution": By(Value()),
    "free": Value(),
    "aliased": Array("*", "|b1"),
    "ridge": Value(),
    "names": Texts("p"),
    "terms": Many(Value()),
    "classes": Labels(),
    "rows": Whole(),
    "weight": Number(0.0),
    "null_loss": Number(),
    "saturated_loss": Number(),
    "loglik_constant": Number(),
    "reference": Whole(),
    "penalty": Text(),
    "infinite": Optional(Value()),
    "lasso": Number(0.0),
    "selected": Text(),
    "sums": By(Value(), SUMS.__contains__),
}


class StoredFit:
    """What ``Fitted`` is made of in a file: everything but the rows."""

    def to_stored(self: Any) -> dict[str, Any]:
        """As files have it: without rows, but with the sums over them that standard errors are made of."""
        kept, solution = self.__getstate__(), self.solution
        kept["terms"] = [(name, list(places)) for name, places in self.terms]
        kept["solution"] = {name: getattr(solution, name) for name in SOLUTION} | {"rows": solution.at.rows}
        sums: dict[str, Any] = {"weights_are_counts": self.weights_are_counts}
        sums |= {name: kept[name] for name in ("grouped", "pearson") if name in kept}
        if not (self.sparse_penalty or self.too_many):
            sums["information"] = self.information
            if not self.weights_are_counts:
                sums["score_products"] = self.score_products
        return {**kept, "sums": sums}

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> Self:
        """The fit that ``to_stored`` gave."""
        given, sums, nothing = dict(values["solution"]), values["sums"], np.empty(0)
        at = Likelihood(given["loss"], nothing, nothing, nothing, values["weight"], given.pop("rows"))
        others = {name: value for name, value in values.items() if name not in {"sums", "solution"}}
        fit: Any = cls
        made: Self = fit(objective=None, solution=Solution(at=at, **given), **others)
        made.__dict__.update(sums)
        return made

    def check_stored(self: Any, file: Incoming) -> None:
        """Everything goes with theta and with the information."""
        theta, size = self.theta, self.coordinates.size
        fits = isinstance(theta, np.ndarray) and theta.dtype == np.float64 and theta.shape[-1:] == (size,)
        alike = all(isinstance(each, np.ndarray) and each.shape == theta.shape for each in (self.free, self.ridge))
        sums = [self.__dict__[name] for name in ("information", "score_products") if name in self.__dict__]
        square = all(isinstance(each, np.ndarray) and each.shape == (theta.size, theta.size) for each in sums)
        if not (fits and alike and square and self.reference < len(self.classes)):
            raise damaged("solution", "does not go with the other parts of the fit")
        if len(self.aliased) != file.letters["p"] + 1:
            raise damaged("aliased", "does not go with the columns")
