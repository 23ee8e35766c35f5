"""A comparison over a scan that is not held in memory: statistics of all rows by fold, and a sample to judge by.

Folds are a hash of the seed and the number of a row. A pass gives the statistic of every fold by each reduction, and
the models of a fold follow from those of the others, as in memory. What looks at single rows does so at a sample, the
rows with the smallest hashes: models are judged on them, settings that need scores are chosen by them, and models that
need rows learn from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discrim.block import Block
from discrim.comparison.compared_rows import ComparedRows, coded
from discrim.comparison.decided import Decided, Wanted, decide, positive_of, question_target, refused_gaps
from discrim.comparison.folds import Dealer, check_classes, numbered
from discrim.comparison.prepared import (
    Preparation,
    PreparedClassifier,
    Steps,
    filled_by,
    is_large,
    leave_out,
    no_value,
)
from discrim.engines import RowPasses, reduce
from discrim.engines.keyed import LARGE, Drawn, draw, fold_of, keys_of, merge_drawn, reduce_folds, reduce_keyed
from discrim.errors import DataError, ParameterError, plural
from discrim.evaluation.resampling import MOST_NUMBERS, FoldStates
from discrim.families.recipe import Recipe, Reduction, Shape, Sum
from discrim.families.tuning import in_folds
from discrim.models.shell import Classifier, RecipeClassifier, recipe_of
from discrim.sources import Scan
from discrim.sources.rows import as_rows_are, check_labelled
from discrim.statistics import Depth, MomentsOf

# Rows of the sample, and values that it has at most; rows that it has for each column at least.
SAMPLE_ROWS, SAMPLE_VALUES, LEAST = 200_000, 20_000_000, 3
# Columns from which on the sample would be too large.
MOST_COLUMNS = 5000


def goes_by_scan(X: Any) -> bool:
    """Is this a scan that is not held in memory?"""
    return isinstance(X, Scan) and X.labelled and (is_large(X) or X.lies_elsewhere)


def refuse_in_memory(*, y: Any, sample_weight: Any, groups: Any, time: Any, repeats: Any, nested: Any) -> None:
    """Raise where something is given for each row, or rows would be needed several times."""
    if y is not None:
        raise ParameterError("A scan names the column of its labels itself; leave y out.")
    for name, value in (("sample_weight", sample_weight), ("groups", groups), ("time", time)):
        if value is not None:
            raise ParameterError(
                f"`{name}` has a value for each row, and this scan is too large to be held in memory (more than "
                f"{LARGE:,} values). {'Name its column: scan(data, weight=...).' if name == 'sample_weight' else ''}"
                f"{'' if name == 'sample_weight' else 'Compare on some of the rows.'}"
            )
    if repeats != 1:
        raise ParameterError("`repeats` is for rows in memory; with so many rows the chance of one dealing is small.")
    if nested:
        raise ParameterError("`nested` is for rows in memory; with so many rows choosing among models costs nothing.")


class FoldedScan:
    """Statistics by fold of all rows, a pass for each reduction that no other covers."""

    def __init__(self, rows: Scan, seed: int, folds: int, classes: NDArray[Any]) -> None:
        self.rows, self.seed, self.folds, self.classes = rows, seed, folds, classes
        self._known: dict[Reduction[Any], list[Any]] = {}

    def held_out(self, reduction: Reduction[Any]) -> list[Any]:
        """Of the rows of each fold, all with all classes."""
        if reduction not in self._known:
            wider = next((states for other, states in self._known.items() if other.covers(reduction)), None)
            self._known[reduction] = self._read(reduction) if wider is None else list(map(reduction.narrow, wider))
        return self._known[reduction]

    def _read(self, reduction: Reduction[Any]) -> list[Any]:
        of, merge = in_folds(reduction)
        states = reduce_folds(self.rows, self.folds, of, merge, "statistics by fold", seed=self.seed)
        lacking = [f for f, state in enumerate(states) if state is None]
        if lacking:
            raise DataError(f"{plural(len(lacking), 'fold has', 'folds have')} no row. Ask for fewer with cv.")
        return [state.including(self.classes) for state in states]


class ScannedStates(FoldStates):
    """Those of all rows; of reductions that keep rows, those of the sample."""

    def __init__(self, block: Block, folds: Any, states: FoldedScan) -> None:
        super().__init__(block, folds)
        self._states = states

    def held_out(self, reduction: Reduction[Any]) -> list[Any]:
        return super().held_out(reduction) if isinstance(reduction, Sum) else self._states.held_out(reduction)


@dataclass(frozen=True, eq=False)
class ScannedRows(ComparedRows):
    """The sample, and the statistics by fold of all rows: those of ``raw`` as it was given, ``whole`` as decided."""

    raw: Any = None
    whole: Any = None
    states: Any = None
    n_read: int = 0

    @property
    def n_all(self) -> int:
        return self.n_read

    @property
    def table(self) -> Any:
        return self.raw

    @property
    def statistics(self) -> FoldStates | None:
        if self.block is None or not self.folds.complementary or len(self.folds.parts) != self.states.folds:
            return None
        return ScannedStates(self.block, self.folds, self.states)

    def fitted(self, model: Any, steps: Steps) -> Any:
        """Without another pass where the statistic is known; None for what needs its rows in memory."""
        recipe = recipe_of(model)
        if recipe is None or recipe.search() is not None or not isinstance(model, Classifier):
            return None
        whole = PreparedClassifier(
            clone(model),
            standardise=steps.standardise,
            impute=steps.any,
            indicators=steps.indicators,
            without=tuple(self.left_out),
            reading=self.reading if self.reading.names else None,
        )
        prepared = steps.any or bool(self.left_out) or bool(self.reading.names)
        by_statistic = recipe.one_pass and not recipe.needs_rows and recipe.reads != "mixed" and self.block is not None
        if not (by_statistic and isinstance(model, RecipeClassifier)):
            return (whole if prepared else clone(model)).fit(self.raw)
        inner, preparation = self._solved(clone(model), recipe, steps)
        if not prepared:
            return inner
        design = self.whole.design if preparation is not None else None
        return whole.of_fitted(self.raw, inner, preparation, list(self.columns.names_out), design)

    def _solved(self, model: RecipeClassifier, recipe: Recipe[Any], steps: Steps) -> tuple[Any, Preparation | None]:
        """The model from the statistic of all rows, and how its columns are prepared."""
        shape = Shape(self.design, self.classes, self.n_read)
        state = self._total(recipe.reduction(shape))
        passes: RowPasses | None = RowPasses(self.whole, recipe.reads)
        preparation = None
        if steps.any:
            centre, scale = self._total(MomentsOf(Depth.DIAGONAL)).units()
            preparation = Preparation(self.columns, filled_by(centre, self.columns))
            if steps.standardise:
                preparation = replace(preparation, centre=centre, scale=scale)
                state, passes = state.in_units(centre, scale), None
        solved = recipe.solve(state, shape, passes)
        # Prepared columns have no names, as those of the array that a fit in memory makes of them.
        columns = model.columns_of(self.whole, self.whole) if preparation is None else model.columns_from(state)
        return model.from_solution(solved, columns), preparation

    def _total(self, reduction: Reduction[Any]) -> Any:
        return reduction.merge(self.states.held_out(reduction))


def read_scanned(X: Scan, cv: Any, random_state: Any, wanted: Wanted) -> ScannedRows:
    """The sample and its folds, after two passes over all rows (and those that find the levels of texts)."""
    check_labelled(X)
    seed = _whole_seed(random_state)
    if not isinstance(cv, int | np.integer) or isinstance(cv, bool) or cv < 2:
        raise ParameterError.bad_value("cv", cv, "a number of folds, for a scan that is not held in memory")
    X = as_rows_are(X, None, None)[0]
    decided = decide(X, wanted)
    whole, drawn = _drawn(decided.X, seed)
    empty = [name for name, count in _gaps_of(whole, drawn).items() if count == drawn.n_rows]
    useless = no_value(empty) or coded(None, None, drawn.sample, whole.design, {}).useless
    if useless and len(useless) < len(whole.features) and not X.chosen:
        decided = replace(decided, X=leave_out(decided.X, list(useless)), left_out={**decided.left_out, **useless})
        whole, drawn = _drawn(decided.X, seed)
    gaps = {name: count for name, count in _gaps_of(whole, drawn).items() if count}
    if gaps and wanted.missing != "impute":
        raise (
            refused_gaps(gaps)
            if wanted.missing == "error"
            else ParameterError(
                "missing='drop' is for rows in memory. Leave the rows out of the file, or use missing='impute'."
            )
        )
    return _with_folds(X, whole, drawn, decided, gaps, (seed, int(cv)), wanted)


def _with_folds(
    raw: Scan, whole: Scan, drawn: Drawn, decided: Decided, gaps: dict[str, int], dealt: tuple[int, int], wanted: Wanted
) -> ScannedRows:
    seed, folds = dealt
    block = drawn.sample
    check_classes(block)
    question_target(None, block.classes, drawn.n_rows, raw)
    # Rows that lie elsewhere are not sent once more.
    small = partial(_small, seed, int(drawn.keys.max()))
    sample = whole.in_table(block) if whole.lies_elsewhere else whole.sampled(small)
    read = coded(sample, None, block, whole.design, decided.left_out)
    if read.no_numbers:
        raise DataError(read.no_numbers)
    fold = fold_of(drawn.keys, folds)
    if len(np.unique(fold)) < folds:
        raise DataError(f"{plural(len(block), 'row')} do not fill {folds} folds. Ask for fewer with cv.")
    states = FoldedScan(whole, seed, folds, block.classes)
    shape = Shape(read.design, block.classes)
    full = MomentsOf(Depth.FULL)
    if not gaps:
        # Most models ask for them, or for less.
        fits = 2 * folds * full.numbers(shape) <= MOST_NUMBERS
        states.held_out(full if fits else MomentsOf(Depth.DIAGONAL))
    known = {name: getattr(read, name) for name in ("X", "y", "data", "design", "columns", "categories", "no_numbers")}
    return ScannedRows(
        **known, missing=gaps, left_out=decided.left_out, given=sample, reading=decided.reading,
        dealer=Dealer(block.codes, None, None, seed), folds=numbered(fold), kinds=read.kinds, why=decided.why,
        dealt=f"dealt by a hash of the row number (seed {seed})", remarks=(*decided.remarks, _said(drawn, gaps)),
        positive=positive_of(block.classes, wanted.positive), raw=raw, whole=whole, states=states, n_read=drawn.n_rows,
    )  # fmt: skip


def _said(drawn: Drawn, gaps: dict[str, int]) -> str:
    drawn_how = "drawn by a hash of the row number" if len(drawn.sample) < drawn.n_rows else "which are all"
    read = f"The {drawn.n_rows:,} rows are not held in memory. "
    sample = f"{len(drawn.sample):,} rows ({drawn_how})"
    if gaps:
        return f"{read}As values are missing, models were tried on {sample} alone. They are fitted to all rows."
    return (
        f"{read}Models of a statistic were trained on all rows of the other folds, the others on those of {sample}; "
        "all are judged on these, and fitted to all rows at the end. Classifiers from elsewhere know the sample only."
    )


def _drawn(rows: Scan, seed: int) -> tuple[Scan, Drawn]:
    """The rows with their columns known, and the sample."""
    rows = rows.with_design(rows.discover(gaps=True))
    width = rows.design.n_out
    if width > MOST_COLUMNS:
        raise DataError(
            f"{width:,} columns are too many for a comparison over a scan (at most {MOST_COLUMNS:,}). Compare on some "
            "of the rows, or name the columns: scan(data, features=[...])."
        )
    most = max(min(SAMPLE_ROWS, SAMPLE_VALUES // width), LEAST * width)
    n = rows.n_rows or rows.about or reduce(rows.with_features(rows.features[:1]), Sum(len, sum), title="counting rows")
    # A few more than are wanted: how many get a small key is at random.
    share = min(1.0, (1.1 if rows.n_rows or rows.lies_elsewhere else 2.0) * most / max(n, 1) + 1e-9)
    return rows, reduce_keyed(rows, seed, partial(draw, most, share), merge_drawn, "first look")


def _gaps_of(rows: Scan, drawn: Drawn) -> dict[str, int]:
    """The missing values of each column, in all rows."""
    starts = np.cumsum([0, *(column.n_out for column in rows.design.columns)])
    return {
        column.name: int(drawn.gaps[start])
        for column, start in zip(rows.design.columns, starts.tolist(), strict=False)
        if column.n_out
    }


def _small(seed: int, largest: int, start: int, count: int) -> NDArray[np.bool_]:
    return np.asarray(keys_of(seed, start, count) <= np.uint64(largest))


def _whole_seed(random_state: Any) -> int:
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    raise ParameterError.bad_value("random_state", random_state, "a whole number or None, for so large a scan")
