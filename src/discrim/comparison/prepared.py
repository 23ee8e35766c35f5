"""Columns made ready for a model: some are left out, gaps are filled in, and units removed; a classifier with all that.

A gap in a column of numbers is filled by the mean of its training rows, in a category by the most frequent level. A
column with enough gaps, which are more frequent in some classes than in others, gets an indicator column for them.
Standardised columns have mean 0 and standard deviation 1, so that a penalty weighs all of them alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_features, check_is_fitted, validate_data

from discrim.atomic import all_or_nothing, learning_copy
from discrim.block import Block, join
from discrim.comparison.column_kinds import LeftOut
from discrim.comparison.gap_marks import Gaps, telling_gaps
from discrim.engines import reduce
from discrim.engines.keyed import LARGE
from discrim.errors import DataError, ParameterError, name_list
from discrim.exports.exporting import answering_of
from discrim.families.recipe import Sum
from discrim.families.rule import Described
from discrim.inference.summary import Summary
from discrim.models.around import AroundModel, model_has
from discrim.models.shell import recipe_of
from discrim.sources import Column, Design, MappedScan, Rows, Scan, find_non_finite, in_memory, open_rows
from discrim.sources.design import as_table, refuse_lacking
from discrim.sources.odd_columns import odd_columns
from discrim.sources.reading import RARE, Reading, has_no_value, with_empty_columns
from discrim.sources.text_columns import WRITTEN_MARKS, design_of_table
from discrim.statistics import CellMoments
from discrim.statistics.moments import usable_scale
from discrim.store.fields import Array, Fields, Incoming, Many, Optional, Texts, Whole, damaged
from discrim.store.kinds import Of, stored
from discrim.typing import Codes, Floats

# Gaps of a column from which on a coefficient of their own can be estimated.
ENOUGH_GAPS = 5


@dataclass(frozen=True)
class Steps:
    """What is done to the columns for a model: ``fill`` gaps and mark them by ``indicators``, ``standardise``."""

    fill: bool = False
    standardise: bool = False
    indicators: bool = True

    @property
    def any(self) -> bool:
        return self.fill or self.standardise


@stored(
    "prepared columns",
    names=Texts("p", tuple),
    categories=Many(Many(Whole(high=1 << 40))),
    flags=Many(Whole(), "f"),
    flag_names=Texts("f", tuple),
)
@dataclass(frozen=True)
class Columns:
    """Of a table as numbers: ``names``, ``categories`` as (start, stop) of their indicators, and where gaps are marked.

    ``flags`` are the places of columns whose gaps may get an indicator column; ``flag_names`` are the names of these.
    """

    names: tuple[str, ...]
    categories: tuple[tuple[int, int], ...]
    flags: tuple[int, ...] = ()
    flag_names: tuple[str, ...] = ()

    def check_stored(self, file: Incoming) -> None:
        """Categories and flags are of the columns that there are."""
        p = file.letters["p"]
        spans = all(len(each) == 2 and 0 <= each[0] <= each[1] <= p for each in self.categories)
        if not spans or not all(place < p for place in self.flags):
            raise damaged("columns", "has places beyond its columns")
        file.bind("q", p + len(self.flags), "columns")

    @classmethod
    def of(cls, design: Design, x: Any = None) -> Columns:
        """Columns of x with enough gaps are flagged; of columns with the same gaps, the first.

        None are where x is None or sparse, or has as many columns as rows, which are too many already.
        """
        spans = tuple((start, start + c.n_out) for c, start in placed(design) if c.levels is not None)
        flags: dict[bytes, tuple[Any, Any]] = {}
        if isinstance(x, np.ndarray) and len(x) > x.shape[1]:
            for column, start in placed(design):
                gaps = np.isnan(x[:, start])
                if ENOUGH_GAPS <= gaps.sum() < len(x):
                    flags.setdefault(gaps.tobytes(), (start, f"{column.name} missing"))
        places, names = (tuple(each[i] for each in flags.values()) for i in (0, 1))
        return cls(tuple(design.names_out), spans, places, names)

    @property
    def names_out(self) -> list[str]:
        return [*self.names, *self.flag_names]

    def flagged(self, keep: NDArray[np.bool_]) -> Columns:
        """With these of the flags only."""
        kept = np.flatnonzero(keep).tolist()
        return replace(
            self, flags=tuple(self.flags[i] for i in kept), flag_names=tuple(self.flag_names[i] for i in kept)
        )

    def telling(self, x: Any, codes: Codes, weight: Floats | None) -> Columns:
        """With the flags of gaps that depend on the class, in these rows."""
        if not self.flags:
            return self
        return self.flagged(telling_gaps(np.isnan(x[:, list(self.flags)]), codes, weight))


def placed(design: Design) -> list[tuple[Column, int]]:
    """The columns that are used, each with the place of its first number."""
    starts = np.cumsum([0, *(column.n_out for column in design.columns)])
    return [(column, int(start)) for column, start in zip(design.columns, starts, strict=False) if column.n_out]


@stored(
    "preparation",
    columns=Of(Columns, {"p": "p", "q": "q"}),
    fill=Array("p"),
    centre=Optional(Array("q")),
    scale=Optional(Array("q", low=5e-324)),
)
@dataclass(frozen=True, eq=False)
class Preparation:
    """Learned from training rows: ``fill`` for gaps, then ``centre`` and ``scale`` (None: units stay as they are).

    Sparse rows are divided by their scale and not centred: that would make them dense, and models with an intercept do
    not depend on it.
    """

    columns: Columns
    fill: Floats
    centre: Floats | None = None
    scale: Floats | None = None

    def apply(self, x: Any, *, own: bool = False) -> Any:
        """New rows, ready for the model; in their own memory where they are nobody else's."""
        if not isinstance(x, np.ndarray):
            if not self.columns.flags and self.centre is None and np.isfinite(x.data).all():
                return x if self.scale is None else sparse.csr_array(x * (1.0 / self.scale))
            x = x.toarray()
        gaps = np.isnan(x)
        z = np.where(gaps, self.fill, x) if gaps.any() else x
        if self.columns.flags:
            z = np.hstack([z, gaps[:, list(self.columns.flags)]])
        if self.scale is not None:
            in_place = (own or z is not x) and z.dtype == np.float64
            z = np.subtract(z, 0.0 if self.centre is None else self.centre, out=z if in_place else None)
            z /= self.scale
        return z


def learn_preparation(
    x: Any, codes: Codes, weight: Floats | None, columns: Columns, *, standardise: bool
) -> Preparation:
    """From training rows of these classes: numbers with NaN for gaps, or sparse rows."""
    weight = None if weight is None or not weight.any() else weight
    columns = columns.telling(x, codes, weight)
    mean, deviation = _units(x, weight)
    found = Preparation(columns, filled_by(mean, columns))
    if not standardise:
        return found
    filled = found.apply(x)
    if filled is not x:
        mean, deviation = _units(filled, weight)
    return replace(found, centre=mean if isinstance(x, np.ndarray) else None, scale=usable_scale(deviation, mean))


def is_large(rows: Any) -> bool:
    """Is this a scan of more values than are held in memory, as far as is known?"""
    if not isinstance(rows, Scan) or not rows.rereadable:
        return False
    n = rows.n_rows if rows.n_rows is not None else rows.about
    return n is not None and n * len(rows.features) > LARGE


def learn_from_scan(rows: Scan, *, indicators: bool, standardise: bool) -> Preparation:
    """What ``learn_preparation`` learns from rows in memory."""
    columns = Columns.of(rows.design)
    if indicators:
        gaps = reduce(rows, Sum(Gaps.of, Gaps.merged), title="missing values")
        flags: dict[Any, tuple[int, str]] = {}
        for column, start in placed(rows.design):
            if ENOUGH_GAPS <= gaps.counts[start] < gaps.rows:
                flags.setdefault((gaps.counts[start], gaps.marks[start]), (start, f"{column.name} missing"))
        columns = replace(
            columns,
            flags=tuple(start for start, _ in flags.values()),
            flag_names=tuple(name for _, name in flags.values()),
        )
        columns = columns.flagged(gaps.telling(columns.flags))
    mean, _ = _units_of(reduce(rows, Sum(_all_cells, CellMoments.merged), title="means"))
    found = Preparation(columns, filled_by(mean, columns))
    if not standardise:
        return found
    mapped = MappedScan(rows, found.apply, columns.names_out)
    mean, deviation = _units_of(reduce(mapped, Sum(_all_cells, CellMoments.merged), title="units"))
    return replace(found, centre=mean, scale=usable_scale(deviation, mean))


def _all_cells(block: Block) -> CellMoments:
    n = len(block)
    return CellMoments.of(Block(block.x, np.zeros(n, dtype=np.int32), np.zeros(1), block.weight))


def _units(x: Any, weight: Floats | None) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the values that are there; 0 for a column without any."""
    return _units_of(_all_cells(Block(x, np.zeros(x.shape[0], dtype=np.int32), np.zeros(1), weight)))


def _units_of(s: CellMoments) -> tuple[Floats, Floats]:
    return s.mean[0], np.sqrt(s.scatter[0] / np.where(s.weight[0] > 0, s.weight[0], 1.0))


def filled_by(mean: Floats, columns: Columns) -> Floats:
    """Means for numbers, and for a category the indicators of its most frequent level."""
    fill = np.asarray(mean, dtype=np.float64).copy()
    for start, stop in columns.categories:
        shares = fill[start:stop].copy()
        best = int(np.argmax([1.0 - shares.sum(), *shares]))
        fill[start:stop] = 0.0
        if best:
            fill[start + best - 1] = 1.0
    return fill


def without_odd_columns(X: Any, keep: Collection[str] = ()) -> tuple[Any, dict[str, LeftOut]]:
    """The rows without columns that no model can use, and the names of these, each with a sentence that says why.

    Columns to ``keep`` are those whose type the user gave. Columns of a scan without any value are not known before
    its rows are read.
    """
    left_out = {odd.name: LeftOut(odd.taken_for, odd.sentence) for odd in odd_columns(X) if odd.name not in keep}
    table = None if isinstance(X, Scan) else as_table(X)
    if table is not None:
        left_out |= no_value([name for name in table.names if has_no_value(table, name)])
    elif isinstance(X, np.ndarray) and X.dtype.kind == "f" and len(X):
        left_out |= no_value([f"x{j}" for j in np.flatnonzero(np.isnan(X[0])) if np.isnan(X[:, j]).all()])
    return without_columns(X, left_out), left_out


def without_columns(X: Any, left_out: Mapping[str, LeftOut]) -> Any:
    """The rows without these columns, or an error that says why where there is no other one."""
    if left_out and len(left_out) == len(column_names(X)):
        raise DataError(f"There is no column left to learn from. {' '.join(out.sentence for out in left_out.values())}")
    return leave_out(X, tuple(left_out)) if left_out else X


def no_value(names: Sequence[str]) -> dict[str, LeftOut]:
    return {name: LeftOut("no value", f"Column '{name}' has no value in any row and is left out.") for name in names}


def leave_out(X: Any, names: Sequence[str]) -> Any:
    """The rows without these columns; columns of an array are called x0, x1, ..."""
    gone = set(names)
    if isinstance(X, Scan):
        return X.with_features([name for name in X.features if name not in gone])
    present = column_names(X)
    return _safe_indexing(X, [j for j, name in enumerate(present) if name not in gone], axis=1)


def column_names(X: Any) -> list[str]:
    if isinstance(X, Scan):
        return list(X.features)
    table = as_table(X)
    return [f"x{j}" for j in range(_num_features(X))] if table is None else table.names


@dataclass(eq=False, repr=False)
class PreparedClassifier(AroundModel):
    """A classifier on columns that were made ready for it; it takes the rows as they are, in the user's units.

    **Preparation.** Categories become indicators. A gap is filled by the mean of its column, or by the most frequent
    level of a category; a column with five gaps or more that depend on the class (chi-squared test at 5%) gets a
    further one, "name missing", that marks them. With
    ``standardise`` every column has mean 0 and standard deviation 1 in the rows of ``fit``. A gap in a column that had
    none in ``fit`` is filled in the same way. Columns of a table are found by their names: those that were left out
    need not be there, and further ones are ignored.

    **Model.** That of ``model``, on the prepared columns.

    Parameters
    ----------
    model : a classifier
    standardise : bool
    impute : bool
        False hands the table to the model as it is, with its categories and gaps.
    indicators : bool, whether gaps are marked by columns of their own
    without : names of columns that are left out
    reading : how columns are read that are not as they come; None where all are

    Attributes
    ----------
    model_ : the fitted model; its coefficients are those of the prepared columns, in the order of ``names_``
    preparation_ : what was learned of the columns: ``fill``, ``centre``, ``scale``
    names_ : names of the prepared columns
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np, discrim
    >>> X, y = discrim.datasets.load_iris().xy
    >>> X[3, 1] = np.nan
    >>> found = discrim.compare(X, y, ["LDA"])
    >>> found.best.predict(X[:2]).tolist(), found.best.model_.coef_.shape
    (['setosa', 'setosa'], (3, 4))
    """

    learned: ClassVar[Fields] = {
        "model_": Of(BaseEstimator), "_design": Optional(Of(Design, {"p": "p"})),
        "preparation_": Optional(Of(Preparation, {"p": "p", "q": "q"})), "names_": Texts(),
    }  # fmt: skip

    classes_: NDArray[Any] = field(init=False)
    model_: Any = field(init=False)
    preparation_: Preparation | None = field(init=False)
    names_: list[str] = field(init=False)
    n_features_in_: int = field(init=False)

    model: Any
    _: KW_ONLY
    standardise: bool = False
    impute: bool = True
    indicators: bool = True
    without: Sequence[str] = ()
    reading: Reading | None = None

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y, or from a ``scan``, which is held in memory unless it is large."""
        table = self._reduced(X)
        if not (self.impute or self.standardise):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            model = clone(self.model).fit(table, y, **weights)
            preparation, names, design = None, list(getattr(model, "_names", [])), None
        else:
            rows = open_with_gaps(table, y, sample_weight)
            if is_large(rows):
                return self._fit_large(X, rows)
            block = numbers_of_rows(rows)
            columns = Columns.of(rows.design, block.x if self.indicators else None)
            preparation = learn_preparation(block.x, block.codes, block.weight, columns, standardise=self.standardise)
            columns = preparation.columns
            weights = {} if block.weight is None else {"sample_weight": block.weight}
            model = clone(self.model).fit(preparation.apply(block.x), block.classes[block.codes], **weights)
            names, design = columns.names_out, rows.design
        return self.of_fitted(X, model, preparation, names, design)

    @available_if(model_has("partial_fit"))  # type: ignore[untyped-decorator]
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, whose columns are prepared as they were for ``fit``.

        The model is the one that a fit of all rows after this preparation gives; means that fill gaps, units, and the
        columns themselves stay those of the first rows.
        """
        return self._gone_on("partial_fit", X, y, sample_weight)

    @available_if(model_has("forget"))  # type: ignore[untyped-decorator]
    @all_or_nothing
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows; the columns are prepared as they were for ``fit``."""
        return self._gone_on("forget", X, y, sample_weight)

    def _gone_on(self, method: str, X: Any, y: Any, sample_weight: Any) -> Self:
        check_is_fitted(self, "model_")
        model, ready = learning_copy(self.model_), self.preparation_
        learn = getattr(model, method)
        if ready is None:
            learn(self._as_fitted(X), y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        else:
            rows: Any = self._opened(X, y, sample_weight)
            if is_large(rows):
                learn(MappedScan(rows, ready.apply, self.names_))
            else:
                block = numbers_of_rows(rows)
                weights = {} if block.weight is None else {"sample_weight": block.weight}
                learn(ready.apply(block.x), block.classes[block.codes], **weights)
        self.model_, self.classes_ = model, model.classes_
        self.__dict__.pop("_kept_summary", None)
        return self

    def of_fitted(
        self, X: Any, model: Any, preparation: Preparation | None, names: list[str], design: Design | None
    ) -> Self:
        """This classifier around a model that was fitted to the prepared columns of X."""
        self.model_, self.preparation_, self.names_, self._design = model, preparation, names, design
        self.classes_ = model.classes_
        self.__dict__.pop("_kept_summary", None)
        if isinstance(X, Scan):
            self.n_features_in_, self.feature_names_in_ = len(X.features), np.array(X.features, dtype=object)
        else:
            validate_data(self, X, reset=True, skip_check_array=True)
        return self

    def _fit_large(self, X: Any, rows: Any) -> Self:
        """The same without rows in memory: a pass for each thing to be learned, and then the model's own."""
        if recipe_of(self.model) is None:
            raise DataError(
                f"{type(self.model).__name__} needs its rows in memory, and the scan has more than "
                f"{LARGE:,} values. Give it fewer rows or columns."
            )
        preparation = learn_from_scan(rows, indicators=self.indicators, standardise=self.standardise)
        names = preparation.columns.names_out
        model = clone(self.model).fit(MappedScan(rows, preparation.apply, names))
        return self.of_fitted(X, model, preparation, names, rows.design)

    @available_if(model_has("summary"))  # type: ignore[untyped-decorator]
    def summary(self) -> Summary:
        """The summary of the model, with the names of the prepared columns."""
        summary: Summary = super().summary()
        if self.preparation_ is not None and self.standardise:
            summary = copy(summary)
            summary.facts = {**summary.facts, "Units": "standard deviations of the columns"}
        return summary

    def check_parameters(self, names: set[str]) -> None:
        """Raise where a parameter among ``names`` has a value that cannot be used."""
        without = self.without
        texts = isinstance(without, (list, tuple, np.ndarray)) and all(isinstance(name, str) for name in without)
        if "without" in names and not texts:
            raise ParameterError.bad_value("without", without, "names of columns")
        if "reading" in names and not (self.reading is None or isinstance(self.reading, Reading)):
            raise ParameterError.bad_value("reading", self.reading, "a Reading or None")

    def is_learned(self) -> bool:
        return "model_" in self.__dict__

    def check_learned(self, file: Incoming) -> None:
        """Raise where the model takes other columns than the preparation makes."""
        if (self.preparation_ is None) != (self._design is None):
            raise damaged("preparation_", "does not go with the columns")
        if self._design is not None:
            self.check_columns(self._design.n_in + len(self.without))
            names = self.__dict__.get("feature_names_in_", ())
            if self._design.named and not {*self._design.names_in} <= {*names}:
                raise damaged("features", "has other names of columns")
        if self.preparation_ is not None and getattr(self.model_, "n_features_in_", None) != file.letters["q"]:
            raise damaged("preparation_", "makes other columns than the model takes")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def answering(self) -> Described:
        """How rows are answered, from the columns as the user has them."""
        check_is_fitted(self, "model_")
        ready, design = self.preparation_, self._design
        levels = {} if self.reading is None else dict(self.reading.levels)
        if design is not None:
            levels |= {column.name: column.levels for column in design.columns if column.levels is not None}
        rare = {name: RARE if RARE in known else None for name, known in levels.items()}
        numbers = [] if self.reading is None else sorted(self.reading.categories)
        unknown = {"rare": rare, "marks": WRITTEN_MARKS, "of numbers": numbers}
        if ready is None or design is None:
            return "prepared", {"columns": None, "inner": answering_of(self.model_), **unknown}
        return "prepared", {
            **unknown,
            "columns": design.described(),
            "fill": ready.fill,
            "flags": ready.columns.flags,
            "centre": ready.centre,
            "scale": ready.scale,
            "inner": answering_of(self.model_),
        }

    def _reduced(self, X: Any) -> Any:
        """The table without the columns that are left out, and as it is read."""
        table = leave_out(X, self.without) if len(self.without) else X
        return table if self.reading is None else _read_by(table, self.reading)

    def _used(self, X: Any) -> Any:
        """New rows in the columns of ``fit`` that take part: by name where both have names, others are ignored."""
        fitted = self.__dict__.get("feature_names_in_")
        names = X.features if isinstance(X, Scan) else None if as_table(X) is None else column_names(X)
        if fitted is not None and names is None and self._design is not None and self._design.categorical:
            raise DataError(
                "X has no names of columns, and the model was fitted to a table with categories "
                f"({name_list(self._design.categorical)}). Pass a table with these and the other columns."
            )
        if fitted is None or names is None:
            validate_data(self, X, reset=False, skip_check_array=True)
            gone = set(self.without)
            known = [f"x{j}" for j in range(self.n_features_in_)] if fitted is None else fitted.tolist()
            return _safe_indexing(X, [j for j, name in enumerate(known) if name not in gone], axis=1) if gone else X
        used = [name for name in fitted.tolist() if name not in set(self.without)]
        refuse_lacking(used, names)
        if isinstance(X, Scan):
            return X.with_features(used)
        return X if names == used else _safe_indexing(X, [names.index(name) for name in used], axis=1)

    def _needed_of(self, frame: Any) -> list[str]:  # noqa: ARG002 - others are ignored
        known = self.__dict__.get("feature_names_in_")
        if known is None:
            raise DataError(
                "The model was fitted to an array, whose columns have no names to be found by in a Spark frame. Fit it "
                "to a table."
            )
        return [name for name in known.tolist() if name not in set(self.without)]

    def _names_made(self) -> list[str] | None:
        return None if self.preparation_ is None else self.names_

    def _answers(self, X: Any, method: str) -> NDArray[Any]:
        check_is_fitted(self, "model_")
        if self.preparation_ is None:
            return np.asarray(getattr(self.model_, method)(self._as_fitted(X)))
        rows = self._opened(X)
        blocks = [rows.whole] if rows.whole is not None else rows.blocks()
        ready = self.preparation_
        return np.concatenate([np.asarray(getattr(self.model_, method)(ready.apply(block.x))) for block in blocks])

    def _columns_made(self, X: Any) -> Any:
        if self.preparation_ is None:
            return self._as_fitted(X)
        rows = self._opened(X)
        whole = rows.whole if rows.whole is not None else join(list(rows.blocks()))
        return self.preparation_.apply(whole.x)

    def _as_fitted(self, X: Any) -> Any:
        """New rows in the columns that take part, read as those of ``fit`` were."""
        table = self._used(X)
        if self._design is not None:
            table = with_empty_columns(table, self._design)
        return table if self.reading is None else _read_by(table, self.reading)

    def _opened(self, X: Any, y: Any = None, sample_weight: Any = None) -> Rows:
        """The same with the levels of ``fit``; another level counts as missing."""
        assert self._design is not None
        table = _read_by(self._as_fitted(X), Reading().known(self._design))
        return open_rows(table, y, sample_weight, design=self._design)


def _read_by(X: Any, reading: Reading) -> Any:
    if not reading.names:
        return X
    return X.read_as(reading) if isinstance(X, Scan) else reading.apply(X)


def open_with_gaps(X: Any, y: Any = None, sample_weight: Any = None) -> Rows:
    """Rows whose gaps are filled in later: even a category with one level has an indicator that shows them."""
    if isinstance(X, Scan):
        return open_rows(X.with_design(X.discover(gaps=True)), y, sample_weight)
    table = as_table(X)
    design = None if table is None or not table.n_rows or not table.names else design_of_table(table, gaps=True)
    return open_rows(X, y, sample_weight, design=design)


def numbers_of_rows(rows: Rows) -> Block:
    """All rows as one block of numbers with NaN for gaps; an error that names columns with infinite values.

    Sparse rows stay sparse if they have no gaps.
    """
    block = in_memory(rows, "any", first_read=True)
    values = block.x if isinstance(block.x, np.ndarray) else block.x.data
    if np.isinf(values).any():
        raise find_non_finite(rows) or DataError("X holds infinite values.")
    return block.kept("dense") if np.isnan(values).any() else block


def unwrapped(model: Any) -> Any:
    """The model inside of a preparation, or itself."""
    return model.model_ if isinstance(model, PreparedClassifier) else model
