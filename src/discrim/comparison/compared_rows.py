"""The rows of a comparison: read and coded once, with the folds and statistics that all models share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_array

from discrim.block import Block
from discrim.comparison.clock import Clock
from discrim.comparison.column_kinds import LeftOut, kinds_of, said_of_kinds, useless_columns
from discrim.comparison.decided import (
    NOTHING,
    Decided,
    Wanted,
    decide,
    not_classes,
    positive_of,
    question_target,
    refused_gaps,
)
from discrim.comparison.folds import (
    Dealer,
    check_classes,
    code_groups,
    find_copies,
    how_dealt,
    make_folds,
    of_classes_in_one_group,
    vary_without_two,
)
from discrim.comparison.given import Given, taken
from discrim.comparison.prepared import (
    Columns,
    Preparation,
    Steps,
    learn_preparation,
    leave_out,
    no_value,
    open_with_gaps,
    placed,
)
from discrim.errors import DataError, DiscrimError, ParameterError, name_list, plural
from discrim.evaluation.resampling import MOST_NUMBERS, FoldStates
from discrim.families.recipe import Shape, rotated
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
from discrim.sources.labels import ContinuousLabelsError, MissingLabelsError
from discrim.sources.reading import NO_READING, Reading
from discrim.sources.rows import check_labelled
from discrim.statistics import ClassMoments, Depth, MomentsOf
from discrim.statistics.folds import Folds
from discrim.text import Documents, WordCounts, open_documents
from discrim.typing import Codes, Floats, Index

# Numbers of a sparse table up to which models of dense columns are tried on it.
DENSE_NUMBERS = 30_000_000
# Rows that are enough to choose settings by, unless there are many columns.
ENOUGH_ROWS = 20_000
# Rows up to which the coordinates of all training parts are kept for the next model.
KEPT_ROWS = 300

# Until they are dealt.
NO_DEALER, NO_FOLDS = Dealer(np.empty(0, dtype=np.int32)), Folds(np.empty(0, dtype=np.int32), ())


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """``X`` and ``y`` as they came, and the same as numbers.

    ``data`` has the labels, the weights and the columns as numbers, categories expanded and NaN for missing values;
    ``numbers`` is the same, or None, and ``no_numbers`` says why, where columns cannot be coded. ``block`` is the same
    where nothing is ``missing`` (names of columns and how many values each lacks), else None. All models have the same
    ``folds``, dealt by ``dealer``. Of documents the columns are counts of ``words``. ``X`` is without the columns that
    were ``left_out``, names with a sentence each; ``given`` has them all. ``remarks`` are sentences about the folds,
    and ``dealt`` says how they were made. ``reading`` says which columns are read otherwise than they come; so many
    rows were ``dropped``; ``time`` are the times of the others, where they were given; ``positive`` is the class of
    interest, where it was named; the ``clock`` stops models.
    ``kinds`` says what the columns are taken for, and ``why`` more on some of them; ``useless`` ones are left out next.
    """

    X: Any
    y: Any
    data: Block
    design: Design
    columns: Columns
    categories: tuple[str, ...] = ()
    missing: dict[str, int] = field(default_factory=dict)
    no_numbers: str = ""
    words: WordCounts | None = None
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    given: Any = None
    dealer: Dealer = NO_DEALER
    folds: Folds = NO_FOLDS
    dealt: str = ""
    remarks: tuple[str, ...] = ()
    clock: Clock = field(default_factory=Clock)
    reading: Reading = NO_READING
    dropped: int = 0
    time: Any = None
    kinds: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    useless: dict[str, LeftOut] = field(default_factory=dict)
    positive: Any = None

    @property
    def n(self) -> int:
        return len(self.data)

    @property
    def n_all(self) -> int:
        """All rows that were read, of which these may be some."""
        return self.n

    def fitted(self, model: Any, steps: Steps) -> Any:  # noqa: ARG002 - here these rows are all there are
        """The model fitted to all rows, on columns that are prepared so; None where these rows are all."""
        return None

    @property
    def table(self) -> Any:
        """The rows as they were given to the comparison, with all their columns."""
        return self.given

    @property
    def codes(self) -> Codes:
        return self.data.codes

    @property
    def classes(self) -> NDArray[Any]:
        return self.data.classes

    @property
    def weight(self) -> Floats | None:
        return self.data.weight

    @cached_property
    def weights(self) -> Floats:
        """Ones where no weights were given."""
        return np.ones(self.n) if self.weight is None else self.weight

    @cached_property
    def labels(self) -> NDArray[Any]:
        return np.asarray(self.classes[self.codes])

    @property
    def width(self) -> int:
        return self.design.n_out

    @property
    def numbers(self) -> Block | None:
        return None if self.no_numbers else self.data

    @property
    def block(self) -> Block | None:
        return None if self.missing else self.numbers

    @property
    def dense(self) -> bool:
        return self.numbers is not None and isinstance(self.numbers.x, np.ndarray)

    @property
    def wide(self) -> bool:
        """Are there no more rows than columns?"""
        return self.dense and self.n <= self.width

    @property
    def of_words(self) -> bool:
        return self.words is not None

    def take(self, rows: Index, folds: Folds) -> ComparedRows:
        """Some of the rows as numbers, with folds of their own."""
        part = self.data.take(rows).present()
        return replace(self, X=None, y=None, given=None, data=part, dealer=self.dealer.take(rows), folds=folds)

    @property
    def every(self) -> int:
        """One row out of so many is enough to choose between settings by."""
        return -(-self.n // max(ENOUGH_ROWS, 50 * self.width))

    def thinned(self, part: int = 1) -> ComparedRows:
        """The rows that are enough to choose by, or one out of ``part`` of these, evenly over folds and classes."""
        every = self.every * part
        if every == 1:
            return self
        rows = self._spread(every)
        return self.take(rows, replace(self.folds, number=self.folds.number[rows]))

    def trained_on(self, part: int) -> ComparedRows:
        """The same rows and folds, of whose training parts only one row out of ``part`` is learned from."""
        if part == 1:
            return self
        chosen = np.zeros(self.n, dtype=bool)
        chosen[self._spread(part)] = True
        trains = [self.folds.train(f) for f in range(len(self.folds.parts))]
        return replace(self, folds=replace(self.folds, parts=tuple(train[chosen[train]] for train in trains)))

    def _spread(self, every: int) -> Index:
        order = np.lexsort((np.random.default_rng(0).random(self.n), self.codes, self.folds.number))
        return np.sort(order[::every])

    def prepared_width(self, steps: Steps) -> int:
        """How many columns there are once they are prepared."""
        return self.width + len(self.columns.flags) * steps.indicators

    def prepared_by(self, train: Index, steps: Steps, x: Any = None) -> Preparation:
        """How the rows ``train`` would have the columns prepared; they are ``x``, where they were taken already."""
        columns = self.columns if steps.indicators else replace(self.columns, flags=(), flag_names=())
        weight = None if self.weight is None else self.weight[train]
        x = self.data.x[train] if x is None else x
        return learn_preparation(x, self.codes[train], weight, columns, standardise=steps.standardise)

    @cached_property
    def marked(self) -> Columns:
        """The columns with the marks of gaps that a fit of all rows has."""
        return self.columns.telling(self.data.x, self.codes, self.weight)

    @cached_property
    def filled(self) -> Block | None:
        """All rows with their gaps filled, in the user's units."""
        if self.block is not None or self.numbers is None:
            return self.block
        ready = self.prepared_by(np.arange(self.n), Steps(fill=True, indicators=False))
        return replace(self.data, x=ready.apply(self.data.x))

    def spanned(self, train: Index, steps: Steps) -> Floats:
        """All rows, standardised by the rows ``train``, in at most n columns; distances are the same. O(n^2 p)."""
        key = train.tobytes() + bytes([steps.indicators])
        if key in self._spans:
            return self._spans[key]
        z = rotated(self.prepared_by(train, steps).apply(self.data.x))
        if self.n <= KEPT_ROWS:
            self._spans[key] = z
        return z

    @cached_property
    def _spans(self) -> dict[bytes, Floats]:
        return {}

    @cached_property
    def statistics(self) -> FoldStates | None:
        """Those of every fold, of full depth where they fit; None where models have to compute their own."""
        folds = self.folds
        if self.block is None or not self.dense or not folds.complementary or folds.one_at_a_time:
            return None
        shared, full = FoldStates(self.block, folds), MomentsOf(Depth.FULL)
        fewest = self.n - int(np.bincount(folds.number).max())
        numbers = len(folds.parts) * full.numbers(Shape(self.design, self.classes))
        if fewest > self.width and 2 * numbers <= MOST_NUMBERS:
            shared.training(full)
        return shared

    @cached_property
    def fewest(self) -> Index:
        """The rows of each class in the training part that has the fewest of it."""
        k, folds = len(self.classes), self.folds
        if folds.complementary:
            held = np.bincount(folds.number * k + self.codes, minlength=len(folds.parts) * k).reshape(-1, k)
            return np.asarray(held.sum(axis=0) - held.max(axis=0))
        parts = (np.bincount(self.codes[folds.train(f)], minlength=k) for f in range(len(folds.parts)))
        return np.asarray(np.min(list(parts), axis=0))

    @cached_property
    def varied(self) -> bool:
        """Are they complete, more than the columns, and does every column vary within classes without any two folds?"""
        if self.block is None or not self.dense or self.n <= self.width:
            return False
        if not (ClassMoments.of(self.block, Depth.DIAGONAL).scatter.sum(axis=0) > 0).all():
            return False
        return vary_without_two(np.asarray(self.block.x), self.codes, self.folds)

    @cached_property
    def counts(self) -> str:
        """'binary' where all numbers are 0 or 1, 'counts' where they are whole and not negative, else ''."""
        if self.block is None:
            return ""
        values = np.asarray(self.block.x if self.dense else self.block.x.data)
        # Most tables show in a few rows that they are no counts.
        if not (_whole(values[:100]) and _whole(values)):
            return ""
        return "binary" if values.max(initial=0) <= 1 else "counts"


def read_rows(given: Given, cv: Any = 10, random_state: Any = 0, wanted: Wanted = NOTHING) -> ComparedRows:
    """Turn the columns into numbers where that can be done, code the labels, and deal the folds.

    This is the one place where X becomes columns: what is left out of them here is left out of ``best`` too.
    """
    given, read = _read_documents(given) if isinstance(given.X, Documents) else _read_given(given, wanted)
    check_classes(read.data)
    question_target(given.y, read.classes, read.n, given.X)
    positive = positive_of(read.classes, wanted.positive)
    try:
        check_random_state(random_state)
    except ValueError:
        raise ParameterError.bad_value("random_state", random_state, "a whole number, None or a RandomState") from None
    names = units = None
    said = list[str]()
    if given.groups is not None:
        names, units = code_groups(given.groups, read.n)
        said = of_classes_in_one_group(names, units, read.classes, read.codes)
    elif read.numbers is not None:
        units = find_copies(read.numbers.x)
    dealer = Dealer(read.codes, units, names, random_state)
    folds, remarks = make_folds(cv, dealer, read.classes, given.groups)
    return replace(
        read, folds=folds, dealer=dealer, remarks=(*read.remarks, *remarks, *said), dealt=how_dealt(cv, dealer),
        given=given.X, time=given.time, positive=positive,
    )  # fmt: skip


def _read_given(given: Given, wanted: Wanted) -> tuple[Given, ComparedRows]:
    """The rows of a table, an array or a scan, and those of them that take part."""
    refuse_path(given.X, given.y)
    if isinstance(given.X, Scan):
        check_labelled(given.X)
    else:
        _check_table(given.X, given.y)
    given, unlabelled = given.resolved(), 0
    missing = given.unlabelled() if wanted.missing == "drop" else None
    if missing is not None:
        given, unlabelled = given.taken(~missing), int(missing.sum())
    decided = decide(given.X, wanted, given.beside)
    if unlabelled:
        were = "row without a label was" if unlabelled == 1 else "rows without a label were"
        decided = replace(decided, remarks=(f"{unlabelled:,} {were} left out.", *decided.remarks))
    try:
        read = _read(given, decided)
    except MissingLabelsError as error:
        error.args = (f"{error} missing='drop', or --missing drop, leaves them out.",)
        raise
    except ContinuousLabelsError:
        raise not_classes(given.y, given.X, "numbers with fractions") from None
    if wanted.missing != "impute" and read.missing:
        keep = _complete(read, wanted)
        given, decided = given.taken(keep), replace(decided, X=taken(decided.X, keep))
        read = _read(given, decided, dropped=len(keep) - int(keep.sum()))
    if read.weight is not None and not read.weight.all():
        given, read = _without_weightless(given, decided, read)
    return given, read


def _without_weightless(given: Given, decided: Decided, read: ComparedRows) -> tuple[Given, ComparedRows]:
    """Rows of weight zero count nowhere, so that a fold, a class or a copy of them would mean nothing."""
    keep = read.weights > 0
    rows, lost = plural(int((~keep).sum()), "row"), np.setdiff1d(read.codes, read.codes[keep])
    said = f"{rows} of weight zero {'was' if rows == '1 row' else 'were'} left out"
    if len(lost):
        said += f", and with them {'class' if len(lost) == 1 else 'classes'} {name_list(read.classes[lost])}"
    given = given.taken(keep)
    decided = replace(decided, X=taken(decided.X, keep), remarks=(f"{said}.", *decided.remarks))
    if len(np.unique(read.codes[keep])) < 2:
        raise DataError(f"{said}: one class is left, and two are needed. Give the rows of other classes weights.")
    return given, _read(given, decided, dropped=read.dropped)


def _complete(read: ComparedRows, wanted: Wanted) -> NDArray[np.bool_]:
    """Which rows have every value."""
    if wanted.missing == "error":
        raise refused_gaps(read.missing)
    keep = ~np.isnan(np.asarray(read.data.x)).any(axis=1)
    if not keep.any():
        raise DataError("Every row has a missing value, and missing='drop' leaves none. Use missing='impute'.")
    return np.asarray(keep)


def _read(given: Given, decided: Decided, dropped: int = 0) -> ComparedRows:
    y, sample_weight = given.y, given.sample_weight
    if isinstance(given.X, Scan):
        read = _read_scan(decided.X, y, sample_weight, decided.left_out)
    else:
        read = _read_table(y, sample_weight, decided)
    if read.useless and len(read.useless) == len(read.kinds):
        sentences = dict.fromkeys(out.sentence for out in (*read.left_out.values(), *read.useless.values()))
        raise DataError(f"There is no column left to learn from. {' '.join(sentences)}")
    if read.useless and (read.X is not None) and getattr(read.X, "rereadable", True):
        left_out = {**read.left_out, **read.useless}
        X = leave_out(read.X, list(read.useless)) if read.design.named else leave_out(given.X, list(left_out))
        decided = replace(decided, X=X, left_out=left_out)
        return _read(given, decided, dropped)
    remarks = (*decided.remarks, *(said_of_kinds(read.kinds) if read.design.named else []))
    if dropped:
        were = "row with a missing value was" if dropped == 1 else "rows with missing values were"
        remarks = (f"{dropped:,} {were} left out, and {read.n:,} remain.", *remarks)
    return replace(read, reading=decided.reading, remarks=remarks, dropped=dropped, why=decided.why)


def _read_table(y: Any, sample_weight: Any, decided: Decided) -> ComparedRows:
    classes, codes = code_labels(y)
    labelled = Block(np.empty((len(codes), 0)), codes, classes, check_weights(sample_weight, len(codes)))
    check_classes(labelled)
    X, left_out = decided.X, decided.left_out
    try:
        rows = open_with_gaps(X, y, sample_weight)
        block = in_memory(rows, "any", first_read=True)
        if block.x.shape[0] * block.x.shape[1] <= DENSE_NUMBERS:
            block = block.kept("dense")
        return coded(X, y, block, rows.design, left_out)
    except DiscrimError as error:
        design = Design.unnamed(getattr(X, "shape", (0, 1))[1], np.float64)
        return ComparedRows(X, y, labelled, design, Columns.of(design), no_numbers=str(error), left_out=left_out)


def _check_table(X: Any, y: Any) -> None:
    if y is None:
        raise DataError("compare needs labels: y is None.")
    check_structure(X)
    if isinstance(X, (np.ndarray, list, tuple)) and np.ndim(X) != 2:
        check_array(X, ensure_all_finite=False)  # raises, and says how to reshape
    check_consistent_length(X, y)


def _read_scan(X: Scan, y: Any, sample_weight: Any, left_out: dict[str, LeftOut]) -> ComparedRows:
    rows = open_with_gaps(X, y, sample_weight)
    block = in_memory(rows, first_read=True)
    read = coded(X, y, block, rows.design, left_out)
    empty = [name for name, gaps in read.missing.items() if gaps == read.n]
    if empty and rows.rereadable:
        return _read_scan(leave_out(X, empty), y, sample_weight, {**left_out, **no_value(empty)})
    return read


def _read_documents(given: Given) -> tuple[Given, ComparedRows]:
    """Words are counted over all documents, so that the models of a held-out document know which words exist."""
    for what in ("groups", "time"):
        if isinstance(getattr(given, what), str):
            raise ParameterError(f"{what} is the text {getattr(given, what)!r}; of documents, pass a value for each.")
    X = open_documents(given.X, given.y, given.sample_weight)
    if not X.labelled:
        raise DataError(f"There are no labels with these documents ({X.title}); a comparison needs them.")
    words = WordCounts()
    counted = words.fit_together(Watched(X, "words"))
    classes, codes = code_labels(counted.labels)
    block = Block(counted.x, codes, classes, check_weights(counted.weight, len(codes)))
    design = Design([Column(name) for name in words.get_feature_names_out()], np.float64)
    return given, ComparedRows(counted.x, counted.labels, block, design, Columns.of(design), words=words)


def coded(X: Any, y: Any, block: Block, design: Design, left_out: dict[str, LeftOut]) -> ComparedRows:
    """Rows as numbers: which values are missing, or why some cannot be filled in."""
    missing, error = dict[str, int](), None if np.isfinite(block.x.sum()) else non_finite_in([block], design)
    if error is not None and isinstance(block.x, np.ndarray) and not np.isinf(block.x).any():
        gaps = {column.name: int(np.isnan(block.x[:, start]).sum()) for column, start in placed(design)}
        missing, error = {name: count for name, count in gaps.items() if count}, None
    if not design.named and left_out:
        # Columns of an array keep the names that they had among all.
        every = (f"x{j}" for j in range(design.n_in + len(left_out)))
        design = design.renamed([name for name in every if name not in left_out])
    columns = Columns.of(design, block.x if missing else None)
    plain = design
    if error is None and (design.named or design.categorical):
        # The expanded columns as columns of their own.
        plain = Design([Column(name) for name in design.names_out], block.x.dtype)
    why_not = "" if error is None else str(error)
    read = ComparedRows(X, y, block, plain, columns, tuple(design.categorical), missing, why_not, None, left_out)
    if why_not:
        return read
    useless = useless_columns(design, block.x)
    useless = {} if getattr(X, "chosen", False) else useless
    return replace(read, kinds=kinds_of(design, block.x), useless=useless)


def _whole(values: NDArray[Any]) -> bool:
    return bool(values.min(initial=0) >= 0 and (values == np.floor(values)).all())
