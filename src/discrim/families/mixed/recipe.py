"""What naive Bayes of categories and of mixed columns share: how columns are read, and the classes' priors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Mixed, Reads
from discrim.errors import DataError
from discrim.families.priors import given_priors, log_priors
from discrim.families.recipe import Columns, Recipe, Remark
from discrim.typing import Floats, Index

S = TypeVar("S")
# The levels of every column that is read as such.
Known = Sequence[NDArray[Any]]


class Kinds(Columns, Protocol):
    """What is known of columns of different kinds: 'number', 'boolean' or 'text', and which are read as levels."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def kinds(self) -> tuple[str, ...]: ...
    @property
    def categorical(self) -> list[str]: ...


@dataclass(frozen=True, eq=False)
class AdditiveRecipe(Recipe[S]):
    """A score that is a sum over the columns, some of which are read as levels."""

    reads: ClassVar[Reads] = "mixed"

    fit_prior: bool = True
    class_prior: Any = None

    @abstractmethod
    def levelled(self, columns: Kinds) -> Sequence[bool]:
        """Which columns are read as levels."""

    @abstractmethod
    def checked(self, x: Mixed, columns: Kinds, like: S | None) -> Mixed:
        """Columns as the model takes them, or an error that names the column of a value that it cannot take.

        ``like`` is the statistic of the rows that the model knows already.
        """

    def among(self, known: Index, size: int) -> Self:
        """Of a class that does not occur nothing is known; the others share its prior."""
        if self.class_prior is None or len(known) == size or len(self.class_prior) != size:
            return self
        left = np.asarray(self.class_prior, dtype=np.float64)[known]
        return replace(self, class_prior=left / left.sum() if left.sum() > 0 else left)

    def log_priors(self, weight: Floats) -> tuple[Floats, tuple[Remark, ...]]:
        """The logarithms of ``class_prior``, of the shares of the classes, or of equal priors."""
        if self.class_prior is not None:
            priors, remarks = given_priors(self.class_prior, weight, strict=False)
            return log_priors(priors), remarks
        total = weight.sum()
        if not self.fit_prior or not total > 0:
            return np.full(len(weight), -np.log(len(weight))), ()
        return log_priors(weight / total), ()


def check_levels(names: Sequence[str], known: Known | None, x: Mixed) -> None:
    """Raise for infinity, and for text where levels were numbers or the reverse: all of them would be unknown."""
    for j, (name, (levels, _)) in enumerate(zip(names, x.levels, strict=True)):
        text = levels.dtype.kind == "U"
        if not text and len(levels) and not np.isfinite(levels[[0, -1]]).all():
            raise DataError(f"Input X contains infinity: column '{name}' must hold categories.")
        if known is None or not len(known[j]) or not len(levels):
            continue
        if (known[j].dtype.kind == "U") != text:
            before, now = ("numbers", "text") if text else ("text", "numbers")
            raise DataError(f"Column '{name}' held {before} when the model was fitted and holds {now} now.")
