"""The rows of a comparison: read and coded once, with the folds and statistics that all models share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_array

from discrim.block import Block
from discrim.comparison.folds import Dealer, check_classes, code_groups, find_copies, how_dealt, make_folds
from discrim.comparison.left_out import leave_out, no_value, without_odd_columns
from discrim.comparison.preparation import Columns, Preparation, learn_preparation
from discrim.comparison.prepared import open_with_gaps
from discrim.errors import DataError, DiscrimError, ParameterError
from discrim.evaluation.resampling import MOST_NUMBERS, FoldStates
from discrim.families.recipe import Shape
from discrim.later import cached_property
from discrim.models.text_classifier import Watched
from discrim.sources import (
    Column,
    Design,
    Scan,
    check_structure,
    check_weights,
    code_labels,
    in_memory,
    non_finite_in,
    refuse_path,
)
from discrim.sources.odd_columns import with_numbers
from discrim.sources.rows import check_labelled
from discrim.statistics import ClassMoments, Depth, MomentsOf
from discrim.statistics.folds import Folds
from discrim.text import Documents, WordCounts, open_documents
from discrim.typing import Floats, Index

NO_FOLDS = Folds(np.empty(0, dtype=np.int32), ())

# Numbers of a sparse table up to which models of dense columns are tried on it.
DENSE_NUMBERS = 30_000_000


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """``X`` and ``y`` as they came, and the same as numbers.

    ``numbers`` has the columns as numbers, categories expanded and NaN for missing values; it is None, and
    ``no_numbers`` says why, where columns cannot be coded. ``block`` is the same where nothing is ``missing`` (names of
    columns and how many values each lacks), else None. ``fold_of`` are the folds, the same for all models, dealt by
    ``dealer``. Of documents the columns are counts of ``words``. ``X`` is without the columns that were ``left_out``,
    names with a sentence each; ``given`` has them all. ``remarks`` are sentences about the folds, and
    ``dealt`` how they were made.
    """

    X: Any
    y: Any
    classes: NDArray[Any]
    codes: NDArray[np.int32]
    weight: Floats | None
    fold_of: Folds
    dealer: Dealer
    numbers: Block | None
    design: Design
    columns: Columns
    missing: dict[str, int]
    no_numbers: str
    categories: tuple[str, ...]
    words: WordCounts | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    dealt: str = ""
    given: Any = None

    @property
    def n(self) -> int:
        return len(self.codes)

    @property
    def labels(self) -> NDArray[Any]:
        return np.asarray(self.classes[self.codes])

    @property
    def width(self) -> int:
        return self.design.n_out

    @property
    def block(self) -> Block | None:
        return None if self.missing else self.numbers

    @property
    def dense(self) -> bool:
        return self.numbers is not None and isinstance(self.numbers.x, np.ndarray)

    def take(self, rows: Index, folds: Folds) -> ComparedRows:
        """Some of the rows as numbers, with folds of their own."""
        assert self.numbers is not None
        weight = None if self.weight is None else self.weight[rows]
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        part = Block(self.numbers.x[rows], codes.astype(np.int32), self.classes[present], weight)
        return replace(
            self, X=None, y=None, given=None, codes=part.codes, classes=part.classes, weight=weight, fold_of=folds,
            dealer=self.dealer.take(rows), numbers=part,
        )  # fmt: skip

    def prepared_width(self, *, indicators: bool) -> int:
        """How many columns there are once they are prepared."""
        return len(self.columns.names_out) if indicators else self.width

    def prepared_by(self, train: Index, *, standardise: bool, indicators: bool = True) -> Preparation:
        """What the rows ``train`` show of the columns."""
        assert self.numbers is not None
        columns = self.columns if indicators else self.columns.unflagged()
        weight = None if self.weight is None else self.weight[train]
        return learn_preparation(self.numbers.x[train], weight, columns, standardise=standardise)

    @cached_property
    def filled(self) -> Block | None:
        """All rows with their gaps filled, in the user's units."""
        if self.block is not None or self.numbers is None:
            return self.block
        ready = self.prepared_by(np.arange(self.n), standardise=False, indicators=False)
        return Block(ready.apply(self.numbers.x), self.codes, self.classes, self.weight)

    @cached_property
    def spans(self) -> dict[bytes, Floats]:
        """Coordinates of all rows by the training rows they were standardised by; see ``spanned``."""
        return {}

    @cached_property
    def statistics(self) -> FoldStates | None:
        """Those of every fold, of full depth where they fit; None where models have to find their own way."""
        folds = self.fold_of
        if self.block is None or not self.dense or not folds.complementary or folds.one_at_a_time:
            return None
        shared, full = FoldStates(self.block, folds), MomentsOf(Depth.FULL)
        fewest = self.n - int(np.bincount(folds.number).max())
        numbers = len(folds.parts) * full.numbers(Shape(self.design, self.classes))
        if fewest > self.width and 2 * numbers <= MOST_NUMBERS:
            shared.training(full)
        return shared

    @property
    def of_words(self) -> bool:
        return self.words is not None

    @cached_property
    def varied(self) -> bool:
        """Are there more rows than columns, complete, and does every column vary within the classes?"""
        if self.block is None or not self.dense or self.n <= self.width:
            return False
        return bool((ClassMoments.of(self.block, Depth.DIAGONAL).scatter.sum(axis=0) > 0).all())

    @cached_property
    def counts(self) -> str:
        """'binary' where all numbers are 0 or 1, 'counts' where they are whole and not negative, else ''."""
        if self.block is None:
            return ""
        values = self.block.x if self.dense else self.block.x.data
        if np.asarray(values[:100]).size and not _whole(np.asarray(values[:100])):
            return ""
        if not _whole(np.asarray(values)):
            return ""
        return "binary" if np.asarray(values).max(initial=0) <= 1 else "counts"


def read_rows(X: Any, y: Any, sample_weight: Any, cv: Any, groups: Any, random_state: Any) -> ComparedRows:
    """Turn the columns into numbers where that can be done, code the labels, and deal the folds.

    This is the one place where X becomes columns: what is left out of them here is left out of ``best`` too.
    """
    refuse_path(X, y)
    X, converted = with_numbers(X)
    if isinstance(X, Documents):
        read = _read_documents(open_documents(X, y, sample_weight))
    elif isinstance(X, Scan):
        rows, left_out = without_odd_columns(X)
        read = _read_scan(rows, y, sample_weight)
        read = replace(read, left_out={**left_out, **read.left_out})
    else:
        read = _read_table(X, y, sample_weight)
    check_classes(read.classes, read.codes)
    try:
        check_random_state(random_state)
    except ValueError:
        raise ParameterError.bad_value("random_state", random_state, "a whole number, None or a RandomState") from None
    names = units = None
    if groups is not None:
        names, units = code_groups(groups, len(read.codes))
    elif read.numbers is not None:
        units = find_copies(read.numbers.x)
    dealer = Dealer(read.codes, units, names, random_state)
    folds, remarks = make_folds(cv, dealer, read.classes, groups)
    said = (*converted.values(), *remarks)
    return replace(read, fold_of=folds, dealer=dealer, remarks=said, dealt=how_dealt(cv, dealer), given=X)


def _read_table(X: Any, y: Any, sample_weight: Any) -> ComparedRows:
    if y is None:
        raise DataError("compare needs labels: y is None.")
    check_structure(X)
    if isinstance(X, (np.ndarray, list, tuple)) and np.ndim(X) != 2:
        check_array(X, ensure_all_finite=False)  # raises, and tells how to reshape
    check_consistent_length(X, y)
    classes, codes = code_labels(y)
    check_classes(classes, codes)
    weight = check_weights(sample_weight, len(codes))
    X, left_out = without_odd_columns(X)
    try:
        rows = open_with_gaps(X, y, sample_weight)
        numbers, missing = _numbers(rows)
    except DiscrimError as error:
        design = Design.unnamed(getattr(X, "shape", (0, 1))[1], np.float64)
        found = _Found(None, design, Columns.of(design), {}, str(error), ())
    else:
        found = _found(rows.design, numbers, missing)
    return ComparedRows(X, y, classes, codes, weight, NO_FOLDS, Dealer(codes), *found, None, left_out)


def _read_scan(X: Scan, y: Any, sample_weight: Any) -> ComparedRows:
    check_labelled(X)
    rows = open_with_gaps(X, y, sample_weight)
    held = in_memory(rows, first_read=True)
    found = _found(rows.design, *_with_gaps(held, rows.design))
    empty = [name for name, gaps in found.missing.items() if gaps == len(held)]
    if empty and rows.rereadable:
        return replace(_read_scan(leave_out(X, empty), y, sample_weight), left_out=no_value(empty))
    dealer = Dealer(held.codes)
    return ComparedRows(X, y, held.classes, held.codes, held.weight, NO_FOLDS, dealer, *found)


def _read_documents(X: Documents) -> ComparedRows:
    """Words are counted over all documents, which tells the models of a held-out document that its words exist."""
    if not X.labelled:
        raise DataError(f"There are no labels with these documents ({X.title}); a comparison needs them.")
    words = WordCounts()
    counted = words.fit_together(Watched(X, "words"))
    classes, codes = code_labels(counted.labels)
    weight = check_weights(counted.weight, len(codes))
    design = Design([Column(name) for name in words.get_feature_names_out()], np.float64)
    found = _Found(Block(counted.x, codes, classes, weight), design, Columns.of(design), {}, "", ())
    dealer = Dealer(codes)
    return ComparedRows(counted.x, counted.labels, classes, codes, weight, NO_FOLDS, dealer, *found, words)


class _Found(NamedTuple):
    numbers: Block | None
    design: Design
    columns: Columns
    missing: dict[str, int]
    no_numbers: str
    categories: tuple[str, ...]


def _found(design: Design, numbers: Block | None, missing: dict[str, int] | DataError) -> _Found:
    columns, categories = Columns.of(design), tuple(design.categorical)
    if isinstance(missing, DataError) or numbers is None:
        return _Found(None, _plain(design, None), columns, {}, str(missing), categories)
    if missing:
        columns = columns.flagging(np.asarray(numbers.x), design)
    return _Found(numbers, _plain(design, numbers), columns, missing, "", categories)


def _numbers(rows: Any) -> tuple[Block | None, dict[str, int] | DataError]:
    whole = rows.whole
    if whole is not None and not isinstance(whole.x, np.ndarray):
        small = whole.x.shape[0] * whole.x.shape[1] <= DENSE_NUMBERS
        block = Block(whole.x.toarray() if small else whole.x, whole.codes, whole.classes, whole.weight)
    else:
        block = in_memory(rows, first_read=True)
    return _with_gaps(block, rows.design)


def _with_gaps(block: Block, design: Design) -> tuple[Block | None, dict[str, int] | DataError]:
    """The block, and how many values its columns lack; or the error for values that nobody can fill."""
    if np.isfinite(block.x.sum()):
        return block, {}
    error = non_finite_in([block], design)
    if error is None:
        return block, {}
    if not isinstance(block.x, np.ndarray) or np.isinf(block.x).any():
        return None, error
    counts, start = {}, 0
    for column in design.columns:
        gaps = int(np.isnan(block.x[:, start]).sum()) if column.n_out else 0
        if gaps:
            counts[column.name] = gaps
        start += column.n_out
    return block, counts


def _plain(design: Design, block: Block | None) -> Design:
    """The expanded columns as columns of their own."""
    if block is None or not (design.named or design.categorical):
        return design
    return Design([Column(name) for name in design.names_out], block.x.dtype)


def _whole(values: NDArray[Any]) -> bool:
    return bool(values.min(initial=0) >= 0 and (values == np.floor(values)).all())
