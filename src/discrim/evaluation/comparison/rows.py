"""The rows of a comparison: read and coded once, with the folds and statistics that all models share."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_array

from discrim.errors import DataError, DiscrimError, FewRowsWarning, ParameterError, name_list, plural, warn
from discrim.evaluation.one_pass import MOST_NUMBERS, FoldStatistics, numbers_of
from discrim.models.tuning import Folds, fold_numbers, in_memory
from discrim.sources import (
    Block,
    Column,
    Design,
    Scan,
    check_weights,
    code_labels,
    find_non_finite,
    non_finite_in,
    open_rows,
)
from discrim.statistics import Depth
from discrim.text import Documents, WordCounts, open_documents

Floats = NDArray[np.float64]

# Numbers of a sparse table up to which models of dense columns are tried on it.
DENSE_NUMBERS = 30_000_000


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """``X`` and ``y`` as they came, and the same as numbers.

    ``block`` has the columns as numbers, categories expanded; it is None, and ``no_numbers`` says why, where there are
    missing values or columns that cannot be coded. ``fold_of`` are the folds, the same for all models. Of documents
    the columns are counts of ``words``.
    """

    X: Any
    y: Any
    classes: NDArray[Any]
    codes: NDArray[np.int32]
    weight: Floats | None
    fold_of: Folds
    block: Block | None
    design: Design
    no_numbers: str
    categories: tuple[str, ...]
    words: WordCounts | None = None

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
    def dense(self) -> bool:
        return self.block is not None and isinstance(self.block.x, np.ndarray)

    @cached_property
    def statistics(self) -> FoldStatistics | None:
        """Those of every fold, of full depth where they fit; None where models have to find their own way."""
        folds = self.fold_of
        if self.block is None or not self.dense or not folds.complementary or folds.one_at_a_time:
            return None
        shared = FoldStatistics(self.block, folds)
        fewest = self.n - int(np.bincount(folds.number).max())
        numbers = len(folds.parts) * numbers_of(Depth.FULL, len(self.classes), self.width)
        if fewest > self.width and 2 * numbers <= MOST_NUMBERS:
            shared.held_out(Depth.FULL)
        return shared

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
    """Code the labels, make the folds, and turn the columns into numbers where that can be done."""
    if isinstance(X, Scan):
        return _read_scan(X, y, sample_weight, cv, groups, random_state)
    if isinstance(X, Documents):
        return _read_documents(open_documents(X, y, sample_weight), cv, groups, random_state)
    if y is None:
        raise DataError("compare needs labels: y is None.")
    if isinstance(X, (np.ndarray, list, tuple)) and np.ndim(X) != 2:
        check_array(X, ensure_all_finite=False)  # raises, and tells how to reshape
    check_consistent_length(X, y)
    classes, codes = code_labels(y)
    weight = check_weights(sample_weight, len(codes))
    folds = make_folds(cv, codes, classes, groups, random_state)
    block, no_numbers, design = None, "", Design.unnamed(getattr(X, "shape", (0, 1))[1], np.float64)
    categories: tuple[str, ...] = ()
    try:
        rows = open_rows(X, y, sample_weight)
        design, categories = rows.design, tuple(rows.design.categorical)
        block, no_numbers = _numbers(rows)
    except DiscrimError as error:
        no_numbers = str(error)
    return ComparedRows(X, y, classes, codes, weight, folds, block, _plain(design, block), no_numbers, categories)


def _read_scan(X: Scan, y: Any, sample_weight: Any, cv: Any, groups: Any, random_state: Any) -> ComparedRows:
    rows = open_rows(X, y, sample_weight)
    if not rows.labelled:
        raise DataError("The scan names no target. Say which column holds the labels: scan(data, target=...).")
    held = in_memory(rows, first_read=True)
    folds = make_folds(cv, held.codes, held.classes, groups, random_state)
    error = None if np.isfinite(held.x.sum()) else non_finite_in([held], rows.design)
    block = None if error is not None else held
    return ComparedRows(
        X, y, held.classes, held.codes, held.weight, folds, block, _plain(rows.design, held),
        "" if error is None else str(error), tuple(rows.design.categorical),
    )  # fmt: skip


def _read_documents(X: Documents, cv: Any, groups: Any, random_state: Any) -> ComparedRows:
    """Words are counted over all documents, which tells the models of a held-out document that its words exist."""
    if not X.labelled:
        raise DataError(f"There are no labels with these documents ({X.title}); a comparison needs them.")
    words = WordCounts()
    counted = words.fit_together(X)
    classes, codes = code_labels(counted.labels)
    weight = check_weights(counted.weight, len(codes))
    folds = make_folds(cv, codes, classes, groups, random_state)
    design = Design([Column(name) for name in words.get_feature_names_out()], np.float64)
    block = Block(counted.x, codes, classes, weight)
    return ComparedRows(counted.x, counted.labels, classes, codes, weight, folds, block, design, "", (), words)


def make_folds(cv: Any, codes: NDArray[np.int32], classes: NDArray[Any], groups: Any, random_state: Any) -> Folds:
    """Stratified folds, shuffled where there is a ``random_state``; fewer of them where classes are small."""
    from sklearn.model_selection import StratifiedKFold

    sizes = np.bincount(codes)
    if not len(codes):
        raise DataError("There are no rows to compare models on.")
    if len(classes) < 2:
        raise DataError(f"y has only the class {name_list(classes)}; a comparison needs two classes at least.")
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise ParameterError.bad_value("cv", cv, "at least 2 folds, 'loo' or a splitter")
        if sizes.max() < 2:
            raise DataError(f"Every class has a single row; {plural(len(codes), 'row')} cannot be split into folds.")
        cv = min(int(cv), int(sizes.max()))
        k = int(sizes.argmin())
        if sizes[k] < cv:
            told = "; the model that judges it has not met its class" if sizes[k] == 1 else ""
            rows = plural(int(sizes[k]), "row")
            warn(
                f"Class '{classes[k]}' has {rows} for {cv} folds, so that figures of it are uncertain{told}.",
                FewRowsWarning,
            )
        cv = StratifiedKFold(cv, shuffle=random_state is not None, random_state=random_state)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return fold_numbers(cv, codes, groups)


def _numbers(rows: Any) -> tuple[Block | None, str]:
    whole = rows.whole
    if whole is not None and not isinstance(whole.x, np.ndarray):
        small = whole.x.shape[0] * whole.x.shape[1] <= DENSE_NUMBERS
        block = Block(whole.x.toarray() if small else whole.x, whole.codes, whole.classes, whole.weight)
    else:
        block = in_memory(rows, first_read=True)
    total = block.x.sum()
    if np.isfinite(total):
        return block, ""
    error = find_non_finite(rows)
    return (block, "") if error is None else (None, str(error))


def _plain(design: Design, block: Block | None) -> Design:
    """The expanded columns as columns of their own."""
    if block is None or not (design.named or design.categorical):
        return design
    return Design([Column(name) for name in design.names_out], block.x.dtype)


def _whole(values: NDArray[Any]) -> bool:
    return bool(values.min(initial=0) >= 0 and (values == np.floor(values)).all())
