"""A model is a recipe: what is remembered of the rows, and what follows from that.

Everything that can be done with a model (fitting in parts, forgetting, merging, cross-validation, tuning, sharing a
pass with other models) is written once over the few questions that a recipe answers. A recipe has no data and no
state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block, Reads
from discrim.errors import DataError, ParameterError
from discrim.families.population import Population
from discrim.families.rule import Output, Rule
from discrim.store.fields import By
from discrim.store.kinds import stored
from discrim.store.values import Value
from discrim.typing import Codes, Floats, Index


class Columns(Protocol):
    """What a recipe may know of the columns, categories expanded."""

    @property
    def n_out(self) -> int: ...
    @property
    def names_out(self) -> list[str]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def names_at(self, places: Iterable[int]) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of the rows before they are read: columns, classes and number of rows as far as known.

    ``spanned_from`` is the number of columns before the rows were turned into the space that they span; None where
    they were not.
    """

    columns: Columns
    classes: NDArray[Any] | None = None
    n_rows: int | None = None
    spanned_from: int | None = None

    @property
    def width(self) -> int:
        """The columns that the rows have."""
        return self.columns.n_out

    @property
    def n_columns(self) -> int:
        """The columns that penalties and determinants count."""
        return self.columns.n_out if self.spanned_from is None else self.spanned_from

    @property
    def wide(self) -> bool:
        """Are there no more rows than columns, as far as known?"""
        return self.n_rows is not None and self.n_rows <= self.columns.n_out

    @property
    def eps(self) -> float:
        """The rounding of the values as they were given."""
        return rounding_of(self.columns.dtype)


@cache
def rounding_of(dtype: np.dtype[Any]) -> float:
    """The distance from 1 to the next number."""
    return float(np.finfo(dtype).eps)


class Statistic(Protocol):
    """A state that is kept: what a model asks of it besides its values."""

    @property
    def classes(self) -> NDArray[Any]: ...
    @property
    def weight(self) -> Floats: ...
    @property
    def rows(self) -> NDArray[np.int64]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def finite(self) -> bool: ...

    def subtract(self, other: Any) -> Self: ...
    def including(self, classes: NDArray[Any]) -> Self: ...
    def select(self, keep: NDArray[np.bool_]) -> Self: ...
    def relabel(self, sides: Index, labels: Sequence[Any]) -> Self: ...
    def to_bytes(self) -> bytes: ...


S = TypeVar("S")
T = TypeVar("T")
# The rows of a block in each fold.
InFolds = Sequence[Block | None]


class Reduction(Protocol[S]):
    """What is remembered of a block of rows, and how parts merge: a hashable value.

    One pass serves several models: where ``a.covers(b)``, ``b.narrow`` makes b's state from a's.
    """

    # Does ``of`` call the linear algebra library, whose threads would be in the way of ours?
    @property
    def uses_blas(self) -> bool: ...

    # Is an entry read and added, and nothing else? A thread then has to have many of them before it pays.
    @property
    def light(self) -> bool: ...

    def of(self, block: Block) -> S: ...
    def merge(self, states: Sequence[S]) -> S: ...
    def numbers(self, shape: Shape) -> int:
        """How many numbers a state has."""

    def by_class(self) -> Reduction[Any] | None:
        """The same with a state from which that of some classes alone can be made; None where there is none."""

    def covers(self, other: Reduction[Any]) -> bool: ...
    def narrow(self, state: Any) -> S: ...


@dataclass(frozen=True, eq=False)
class Sum(Generic[S]):
    """A reduction by two functions, which no other covers; ``size`` is how many numbers a state has."""

    of: Callable[[Block], S]
    merge: Callable[[Sequence[S]], S]
    size: int = 0
    uses_blas: bool = False
    light: bool = False

    def numbers(self, shape: Shape) -> int:  # noqa: ARG002 - known beforehand
        return self.size

    def by_class(self) -> None:
        return None

    def covers(self, other: Reduction[Any]) -> bool:  # noqa: ARG002 - functions cannot be compared
        return False

    def narrow(self, state: Any) -> S:
        return state  # type: ignore[no-any-return]


class Passes(ABC):
    """The rows once more. ``again`` is False where they can be read only once, and ``reduce`` raises.

    The defaults of the other methods suit passes that share sums and not rows.
    """

    @property
    def whole(self) -> Block | None:
        """All rows as they are, dense or sparse, where they are one block in memory."""
        return None

    @property
    @abstractmethod
    def again(self) -> bool: ...

    @property
    @abstractmethod
    def shape(self) -> Shape: ...

    def count(self) -> int | None:
        """How many rows there are, where that is known or much faster to find than a pass is."""
        return self.shape.n_rows

    @abstractmethod
    def reduce(self, reduction: Reduction[S], *, title: str = "reading") -> S:
        """One pass; a terminal shows the progress of a long one under this title."""

    def blocks(self) -> Iterator[Block]:
        """The rows in their order."""
        yield self.block()

    def block(self) -> Block:
        """All rows in memory, as the recipe reads them."""
        raise DataError("Here models share statistics, not rows. Fit the model by itself.")

    def over(self, block: Block) -> Passes:
        """Passes over these rows instead, which are in memory."""
        raise NotImplementedError

    @property
    def large(self) -> bool:
        """Are there too many rows to be held in memory? Then they have folds, dealt by a hash of their numbers."""
        return False

    def reduce_folds(
        self, folds: int, of: Callable[[InFolds], T], merge: Callable[[Sequence[T]], T], *, title: str = "reading"
    ) -> T:
        """One pass over large rows: ``of`` the rows of a block in each fold, None where a fold has none of them."""
        raise NotImplementedError

    def outside(self, fold: int, folds: int) -> Passes:
        """Passes over the large rows that are not in this fold."""
        raise NotImplementedError

    def settled(self, make: Callable[[], T]) -> T:
        """What ``make`` gives by passes over these rows; where passes are kept, it takes their place."""
        return make()

    def fault(self) -> DataError | None:
        """The error that names the columns with NaN or infinity, where there are such."""
        return None


class Remark(NamedTuple):
    """Something to warn of."""

    text: str
    category: type[Warning]


Selection = Literal["min", "one-se"]


@dataclass(frozen=True, eq=False)
class Search:
    """How to choose: ``how`` is 'cv' or 'loo', by the folds of ``cv``; the best setting, or one within its error."""

    how: str
    cv: Any = 10
    selection: Selection = "min"


@stored("chosen", settings=By(Value()), results=By(Value()))
@dataclass(frozen=True)
class Chosen:
    """The ``settings`` that a fit chose, and the table they were chosen from, as ``cv_results_`` shows it."""

    settings: Mapping[str, Any]
    results: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Solved:
    """What follows from a statistic: a value, which changes no estimator.

    ``statistic`` is the one to be kept (moments may have become R-factors), ``attributes`` are the fitted ones by name,
    ``details`` what the model's own methods make further attributes from when they are asked for.
    """

    rule: Rule
    statistic: Any
    attributes: Mapping[str, Any]
    chosen: Chosen | None = None
    remarks: tuple[Remark, ...] = ()
    details: Any = None


# Scores n x K of rows by the model without each of them; a row of NaN where a refit is needed.
LeftOut = Callable[[Block], Floats]
# Slices of settings and of rows; wrong (1 or 0) and log loss of these rows, both settings x rows.
Losses = tuple[slice, slice, Floats, Floats]


class Grid(ABC):
    """Settings that are solved together, the most regularised first."""

    # Of settings with equal errors: the one of least log loss, or the first.
    ties: ClassVar[Literal["log loss", "first"]] = "log loss"
    # What a choice goes by, where a user wants few errors: these, or the log loss for what is fitted by likelihood.
    criterion: ClassVar[Literal["error", "log loss"]] = "error"
    # Are models judged by what is known of the held-out rows (``mean_losses``) instead of row by row (``losses``)?
    by_statistic: ClassVar[bool] = False
    # What to say where every setting is impossible in some fold.
    no_setting: ClassVar[str] = "No setting can be fitted to every training part. Use fewer folds, or other settings."

    @property
    @abstractmethod
    def settings(self) -> Sequence[Mapping[str, Any]]: ...

    @property
    @abstractmethod
    def reduction(self) -> Reduction[Any]:
        """What must be known of the training rows."""

    def losses(self, statistic: Any, shape: Shape, block: Block) -> Iterator[Losses]:
        """Losses of every setting on the rows of ``block`` by models of ``statistic``; NaN where one is impossible."""
        raise NotImplementedError

    def mean_losses(self, statistic: Any, shape: Shape, held_out: Sequence[Any]) -> Floats:
        """The mean loss of every setting (settings x parts) on rows of which only the statistics ``held_out`` are left.

        It is the loss that the choice goes by, whatever its name.
        """
        raise NotImplementedError

    def impossible(self, shape: Shape) -> str:  # noqa: ARG002 - the same for all rows, unless a family says otherwise
        """Why these settings cannot be tried on such rows; empty where they can."""
        return ""

    @property
    def rotation_invariant(self) -> bool:
        """May rows be turned into the space that they span?"""
        return False

    def left_out(self, block: Block, shape: Shape) -> Mapping[str, Floats] | None:  # noqa: ARG002 - as impossible
        """``mean_error``, ``std_error`` and ``mean_log_loss`` of every setting, leaving out one row at a time."""
        return None

    def results(self, table: Mapping[str, Floats], best: int) -> dict[str, Any]:
        """The table as ``cv_results_`` shows it, with the setting that was chosen."""
        settings = self.settings
        tried = {f"{name}s": np.array([one[name] for one in settings]) for name in settings[0]}
        return {**tried, **table, **settings[best]}


@dataclass(frozen=True, eq=False)
class Recipe(ABC, Generic[S]):
    """A model without its estimator: a frozen value made from the parameters.

    A subclass says what is reduced and how the result is solved; the rest has answers that are right, if slow, for
    any model.
    """

    # Is there a statistic, smaller than the rows, that is all the model needs?
    one_pass: ClassVar[bool] = True
    # What the model assumes of the data, where assumptions are checked: "normal", "independent", "equal covariances",
    # "own covariances", "own variances".
    assumptions: ClassVar[tuple[str, ...]] = ()
    # How it reads rows: "dense", "sparse" for models in which zeros add nothing, "mixed" for levels and
    # missing values, "any" for rows as they come, dense or sparse.
    reads: ClassVar[Reads] = "dense"
    # Is ``held_out`` right for rows of other weights than 1?
    held_out_weighted: ClassVar[bool] = False

    @abstractmethod
    def reduction(self, shape: Shape, like: S | None = None) -> Reduction[S]:
        """What is remembered of the rows; ``like`` is a state that it must merge with."""

    @abstractmethod
    def estimate(self, statistic: S, shape: Shape, passes: Passes | None) -> Solved:
        """What follows from a statistic; ``passes`` are the rows where they are at hand."""

    def fit(self, shape: Shape, passes: Passes) -> Solved:
        """One pass, and what follows from it."""
        return self.solve(collected(passes, self.reduction(shape)), shape, passes)

    def solve(self, statistic: S, shape: Shape, passes: Passes | None = None, before: Chosen | None = None) -> Solved:
        """The same, with settings chosen first where they are to be; ``before`` is what an earlier fit chose."""
        search = self.search()
        if search is None:
            return self.estimate(statistic, shape, passes)
        from discrim.families.tuning import tune

        self.check(statistic)
        grid = self.grid(statistic)
        assert grid is not None
        chosen = tune(grid, search, shape, passes, before)
        # A number that was given since an earlier fit chose one stands.
        asked = {name: value for name, value in chosen.settings.items() if isinstance(getattr(self, name), str)}
        solved = self.with_settings(asked).estimate(statistic, shape, passes)
        attributes = {**solved.attributes, "cv_results_": dict(chosen.results)}
        return replace(solved, chosen=chosen, attributes=attributes)

    def check(self, statistic: S) -> None:
        """Raise what ``estimate`` would raise whatever the settings, before any are tried."""

    def search(self) -> Search | None:
        """How the settings of ``grid`` are chosen; None where they are given."""
        return None

    def adopt(self, statistic: S) -> S:
        """A statistic from elsewhere in the form that these parameters need; an error where it cannot have it."""
        return statistic

    def without(self, statistic: S, gone: S) -> S:
        """The statistic without the rows of another; an error where they cannot have been among its own."""
        known: Any = statistic
        return known.subtract(gone)  # type: ignore[no-any-return]

    @property
    def needs_units(self) -> bool:
        """Does the answer depend on the units of the columns, as a penalty on coefficients does?"""
        return False

    @property
    def needs_rows(self) -> bool:
        """Do these parameters need more of the rows than the statistic?"""
        return self.search() is not None

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:  # noqa: ARG002 - there may be no closed form
        """Leave-one-out scores in closed form, for rows of weight 1 at least; None where there are none."""
        return None

    def grid(self, statistic: S) -> Grid | None:  # noqa: ARG002 - there may be nothing to tune
        """The settings among which a fit of rows with this statistic chooses; None where there is nothing to tune."""
        return None

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """The same with parameters that were chosen."""
        return replace(self, **settings)

    @property
    def rotation_invariant(self) -> bool:
        """Is the answer the same for rows that are turned into the space that they span?"""
        return False

    def among(self, known: Index, size: int) -> Self:  # noqa: ARG002 - nothing here depends on the number of classes
        """The same where only the classes ``known`` of ``size`` occur."""
        return self

    def rule_size(self, solved: Solved) -> float:  # noqa: ARG002 - unknown, unless a family says otherwise
        """Free parameters of the log odds of the classes against one of them; NaN where unknown."""
        return np.nan

    def regularised(self, solved: Solved) -> bool:  # noqa: ARG002 - as above
        """Are the parameters of the rule held back by a penalty, shrinkage or a prior?"""
        return False

    def population(self, solved: Solved, shape: Shape) -> Population | None:  # noqa: ARG002 - not every model has one
        """How rows are distributed in each class, as far as the model says; None where it does not."""
        return None

    def distances(self, solved: Solved, shape: Shape) -> Rule | None:  # noqa: ARG002 - as above
        """A rule with scores -q/2 for the squared Mahalanobis distances q to the classes; None where there are none."""
        return None


@dataclass(frozen=True, eq=False)
class EachSetting(Grid):
    """A grid of any recipe: every setting solved by itself, from one statistic for all."""

    recipe: Recipe[Any]
    tried: Sequence[Mapping[str, Any]]
    summed: Reduction[Any]

    @property
    def settings(self) -> Sequence[Mapping[str, Any]]:
        return self.tried

    @property
    def reduction(self) -> Reduction[Any]:
        return self.summed

    def losses(self, statistic: Any, shape: Shape, block: Block) -> Iterator[Losses]:
        for i, setting in enumerate(self.tried):
            try:
                rule = self.recipe.with_settings(setting).estimate(statistic, shape, None).rule
            except (DataError, ParameterError):
                wrong = loss = np.full((1, len(block)), np.nan)
            else:
                wrong, loss = losses_of(rule, block)
            yield slice(i, i + 1), slice(0, len(block)), wrong, loss


def losses_of(rule: Rule, block: Block) -> tuple[Floats, Floats]:
    """Wrong (1 or 0) and log loss of the rows of a block, both 1 x n."""
    x = block.dense()
    wrong, loss = row_losses(rule.scores(x).T[None], block.codes)
    if not rule.by_score:
        best = np.empty(len(x), dtype=np.int64)
        rule.fill(x, Output.BEST, best)
        wrong = (best != block.codes).astype(np.float64)[None]
    return wrong, loss


@dataclass(frozen=True)
class Turned:
    """Columns without names, of rows that were turned into another space."""

    n_out: int
    dtype: np.dtype[Any] = field(default=np.dtype(np.float64))

    @property
    def names_out(self) -> list[str]:
        return self.names_at(range(self.n_out))

    def names_at(self, places: Iterable[int]) -> list[str]:
        return [f"x{j}" for j in places]


class OneBlock(Passes):
    """Passes over checked rows in memory, read by the calling thread: one of several fits that run in parallel."""

    again = True

    def __init__(self, block: Block) -> None:
        self._block = block

    @property
    def whole(self) -> Block:
        return self._block

    @property
    def shape(self) -> Shape:
        x = self.whole.x
        return Shape(Turned(x.shape[1], x.dtype), self.whole.classes, len(self.whole))

    def reduce(self, reduction: Reduction[S], *, title: str = "") -> S:  # noqa: ARG002 - soon done
        return reduction.of(self.whole)

    def blocks(self) -> Iterator[Block]:
        yield self.whole

    def block(self) -> Block:
        return replace(self.whole, x=np.asarray(self.whole.dense()))

    def over(self, block: Block) -> OneBlock:
        return OneBlock(block)


def overflow(statistic: Any = None) -> DataError:
    """The error of sums that are not finite, where the column is unknown."""
    summed = getattr(statistic, "summed", "sums of squares")
    return DataError(f"The {summed} of X overflow or X holds NaN or infinity. Scale the columns or clean them.")


def collected(passes: Passes, reduction: Reduction[S]) -> S:
    """One pass: the statistic, if it is finite; else the error that names the columns, where these can be found."""
    statistic: Any = passes.reduce(reduction)
    if not statistic.finite:
        raise passes.fault() or overflow(statistic)
    return statistic  # type: ignore[no-any-return]


def checked_sum(statistic: S) -> S:
    """The statistic itself, if it is finite."""
    known: Any = statistic
    if not known.finite:
        raise overflow(statistic)
    return statistic


def spanned(block: Block, shape: Shape) -> tuple[Block, Shape]:
    """Dense rows in the space that they span, of at most n columns: distances and traces stay the same. O(n^2 p)."""
    z = rotated(block.dense())
    return replace(block, x=z), Shape(Turned(z.shape[1]), shape.classes, shape.n_rows, shape.n_columns)


def rotated(x: NDArray[Any]) -> Floats:
    """Coordinates of the rows in the space that they span."""
    centred = np.asarray(x, dtype=np.float64) - x.mean(axis=0, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        products = centred @ centred.T
    if not np.isfinite(products).all():
        raise overflow()
    values, vectors = np.linalg.eigh(products)
    keep = values > values[-1] * 1e-13
    keep[-1:] = True  # rows that are all the same have a column of zeros
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))


# The loss of a row whose class got no probability at all: finite, so that means still compare.
LARGEST_LOSS = -float(np.log(np.finfo(np.float64).tiny))


def row_losses(scores: Floats, codes: Codes) -> tuple[Floats, Floats]:
    """From scores (s, K, ..., n): whether each row is misclassified (1 or 0) and its log loss, (s, ..., n).

    Of classes that tie for the best score the first is predicted. NaN scores give NaN losses.
    """
    classes, between = scores.shape[1], (1,) * (scores.ndim - 3)
    top = scores.max(axis=1)
    own = np.take_along_axis(scores, codes.reshape(1, 1, *between, -1).astype(np.intp), axis=1)[:, 0]
    earlier = np.arange(classes)[:, None] < codes
    beaten = ((scores == top[:, None]) & earlier.reshape(classes, *between, -1)).any(axis=1)
    wrong = np.where(np.isnan(top), np.nan, (own < top) | beaten)
    with np.errstate(invalid="ignore"):
        loss = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - own
    return wrong, np.minimum(loss, LARGEST_LOSS)
