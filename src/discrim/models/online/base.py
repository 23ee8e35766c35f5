"""Linear classifiers whose answers follow from ``coef_`` and ``intercept_``, and fits of rows in order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from discrim import kernels
from discrim.block import Block
from discrim.engines import RowPasses
from discrim.engines.progress import Progress
from discrim.engines.walk import Walked
from discrim.errors import DataError, ParameterError, warn
from discrim.families.first_look import look
from discrim.families.online.features import Features, as_dict, not_a_number, refuse_non_finite
from discrim.families.online.problems import Targets, coded, problem_count, refuse_one_class
from discrim.families.online.scaling import FIRST_LOOK, Scaling
from discrim.families.online.updates import Learning, Weights, dense, stream_state
from discrim.families.recipe import Sum
from discrim.families.rule import as_one, written_rule
from discrim.inference.summary import Summary, coefficient_summary
from discrim.models.scoring import also_of_parts, non_finite_error
from discrim.models.shell import SparseCoefficients, check_declared, check_parameters, declared_classes
from discrim.models.stored import kept
from discrim.sources import Rows, Scan, in_memory
from discrim.statistics import ClassMoments, Depth
from discrim.store.fields import Fields, Optional
from discrim.store.kinds import Of
from discrim.store.values import Labels, Numbered, Value
from discrim.typing import Floats

# Coefficients to begin at, as the user gave them.
Start = tuple[Any, Any]
NOWHERE: Start = (None, None)


def _has_probabilities(self: LinearClassifier) -> bool:
    self._check_probabilities()
    return True


class LinearClassifier(SparseCoefficients):
    """Scores w_k'x + b_k of the coefficients as they are now."""

    stored_state: ClassVar[Fields] = {"_coef": Value(), "_intercept": Value()}

    n_iter_: int

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @also_of_parts
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities n x K, where the loss has a meaning as such."""
        return self._probabilities(self.decision_function(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @also_of_parts
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of the probabilities; -inf where one is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @property
    def posterior_form(self) -> str | None:
        return None

    def _check_probabilities(self) -> None:
        raise AttributeError(
            f"{type(self).__name__} gives margins, not probabilities. Use SGDClassifier(loss='log_loss'), or wrap it "
            "in sklearn.calibration.CalibratedClassifierCV."
        )

    def _probabilities(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Of the scores n x K, or n for two classes."""
        raise NotImplementedError

    @property
    def coef_(self) -> Any:
        """Weights in the user's units: 1 x p for two classes, else K x p."""
        return self._coefficient("_coef")

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self.__dict__["_coef"] = value

    @property
    def intercept_(self) -> Any:
        return self._coefficient("_intercept")

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        self.__dict__["_intercept"] = value

    def _coefficient(self, name: str) -> Any:
        if name not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} has no coefficients yet: call fit first.")
        return self.__dict__[name]

    def _written(self, coef: Floats, intercept: Floats, dtype: np.dtype[Any]) -> dict[str, Any]:
        """The attributes that say these coefficients, in the precision of the rows."""
        with np.errstate(over="ignore"):
            coef, intercept = coef.astype(dtype), intercept.astype(dtype)
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise DataError(f"The coefficients are too large for the precision {dtype.name}. Scale the columns.")
        both = as_one(coef, intercept)
        return {"_coef": coef, "_intercept": intercept, "_rule": written_rule(both), "_rule_of": both}

    def _updates(self) -> int:
        """Steps that have changed the coefficients."""
        raise NotImplementedError

    def _summarise(self) -> Summary:
        facts = {"Epochs": self.n_iter_, "Updates": self._updates(), "Columns": len(self._names)}
        title, coef = type(self).__name__, as_one(self.coef_, self.intercept_).T
        return coefficient_summary(title, facts, self._names, self.classes_, coef, iterations=self.n_iter_)


class CountedUpdates(LinearClassifier):
    """A classifier that shows how many steps have changed its coefficients."""

    @kept
    def n_updates_(self) -> int:
        """Corrections that were made since the weights were zero, for all classes together."""
        if "classes_" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} has made no updates yet: call fit first.")
        return self._updates()


@dataclass(frozen=True, eq=False)
class Standing:
    """Where learning is: the ``state`` of the sequence for these classes, in units of ``scaling``, before row ``t``."""

    classes: NDArray[Any]
    state: Any
    scaling: Scaling | None
    t: float = 1.0

    def prepared(self, block: Block) -> Block:
        """Rows in the codes and units of the model."""
        rows = coded(block, self.classes)
        return rows if self.scaling is None else self.scaling.scaled(rows)


class OnlineClassifier(LinearClassifier):
    """A linear classifier that rows change in order.

    A subclass says what a walk over the rows learns (``_start``, ``_walk``, ``_walk_scan``). Whatever a call learns is
    assigned in one step at its end.
    """

    stored_state: ClassVar[Fields] = {
        **LinearClassifier.stored_state, "_declared": Optional(Labels()), "_columns": Optional(Numbered("p")),
    }  # fmt: skip

    resumed_state: ClassVar[Fields] = {"_state": Of(object), "_scaling": Optional(Of(Scaling))}

    t_: float
    class_weight: Any = None

    _state: Any
    _scaling: Scaling | None = None
    _declared: NDArray[Any] | None = None
    # Where each feature of a dict is kept, made when it is first needed.
    _columns: dict[Any, int] | None = None
    # Are columns brought to one size?
    _scales: ClassVar[bool] = False
    # What a row of dicts is scored with.
    _plain: ClassVar[Learning] = Learning(rate="constant", penalty=None)

    @abstractmethod
    def _start(self, shape: tuple[int, int], scaling: Scaling | None, start: Start) -> Any:
        """The state before the first row, for so many problems and columns."""

    @abstractmethod
    def _grow(self, at: Standing, wanted: NDArray[Any]) -> Any:
        """The state for the classes ``wanted``, among which are those of the model."""

    @abstractmethod
    def _walk(self, at: Standing, block: Block, *, whole: bool) -> Walked:
        """Learn rows in memory, all there are or a part of them."""

    @abstractmethod
    def _walk_scan(self, at: Standing, rows: Scan, counts: NDArray[np.int64]) -> Walked:
        """Learn the rows of a file, of whose classes there are so many."""

    @abstractmethod
    def _answer(self, at: Standing) -> tuple[Floats, Floats]:
        """Coefficients and intercepts, in the units that the model learns in."""

    @abstractmethod
    def _copied(self) -> Any:
        """The state of the model, for more learning: steps write into it."""

    def _check_together(self, *, parts: bool) -> None:
        """Raise for parameters that do not go together, or not with fitting in parts."""
        if parts and isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ParameterError(
                "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' weights, use "
                "compute_class_weight('balanced', classes=classes, y=y). In place of y you can use a large enough "
                "sample of the full training set target to properly estimate the class frequency distributions. Pass "
                "the resulting weights as the class_weight parameter."
            )

    def _fit(self, X: Any, y: Any, sample_weight: Any, start: Start = NOWHERE) -> Self:
        check_parameters(self, self._constraints)
        self._check_together(parts=False)

        def learned() -> Mapping[str, Any]:
            rows = self._read(X, y, sample_weight)
            columns = self.columns_of(X, rows)
            return self._found(columns, *self._learned_whole(rows, start), None)

        return self._at_once(learned)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, each once.

        A class that was not there before is added, unless ``classes`` was given: then labels outside it are an error.
        """
        check_parameters(self, self._constraints)
        self.check_resumable()
        first = not hasattr(self, "classes_")
        self._check_together(parts=True)

        def learned() -> Mapping[str, Any]:
            at = None if first else Standing(self.classes_, self._copied(), self._scaling, self.t_)
            rows = self._read(X, y, sample_weight, design=None if first else self._design)
            columns = self.columns_of(X, rows) if first else self.known_columns
            declared = declared_classes(self._declared, classes)
            at = self._learned_parts(rows, at, declared)
            return self._found(columns, at, Walked((1,), converged=True), declared)

        return self._at_once(learned)

    def predict_one(self, x: Features) -> Any:
        """The label with the largest score for one row, a dict of feature to number; None before a fit."""
        if "classes_" not in self.__dict__:
            return None
        scores = self._scores_one(x)
        best = int(scores[0] > 0) if len(scores) == 1 else scores.index(max(scores))
        label = self.classes_[min(best, len(self.classes_) - 1)]
        return label if self.classes_.dtype == object else label.item()

    def predict_proba_one(self, x: Features) -> dict[Any, float]:
        """The probability of each label seen so far."""
        self._check_probabilities()
        if "classes_" not in self.__dict__:
            return {}
        if len(self.classes_) == 1:
            return {self.classes_.tolist()[0]: 1.0}
        scores = np.array(self._scores_one(x))
        shares = self._probabilities(scores if len(scores) == 1 else scores[None])[0]
        return dict(zip(self.classes_.tolist(), shares.tolist(), strict=True))

    def _scores_one(self, x: Features) -> list[float]:
        coef, intercept = np.atleast_2d(dense(self.coef_)).astype(float), np.asarray(self.intercept_, float)
        state = stream_state(Weights.at(coef, intercept, self._plain), Targets.of(np.ones(len(self.classes_))))
        return self._scored(kernels.Stream(self._plain.packed(), state), x, averaged=False)

    def _scored(self, stream: Any, x: Features, *, averaged: bool) -> list[float]:
        row, known = as_dict(x), self._known_columns()
        scores: list[float] | None = stream.scores(row, known, averaged)
        if scores is not None and isfinite(sum(scores)):
            return scores
        seen = {name: value for name, value in row.items() if name in known}
        if scores is None:
            raise not_a_number(seen)
        refuse_non_finite(seen)
        raise DataError("The scores of this row overflow. Scale the features.")

    def _known_columns(self) -> dict[Any, int]:
        if self._columns is None:
            self._columns = {name: j for j, name in enumerate(self._names)}
        return self._columns

    def _learned_whole(self, rows: Rows, start: Start) -> tuple[Standing, Walked]:
        """Epochs until nothing improves; the rows of a scan are shuffled through a buffer of bounded size.

        Of a scan the labels alone are read first. A stream that can be read once is learned in one pass; classes join
        it as they come.
        """
        if isinstance(rows, Scan) and not rows.rereadable:
            at = self._learned_parts(rows, None, None)
            refuse_one_class(at.classes)
            return at, Walked((1,), converged=True)
        if isinstance(rows, Scan):
            seen = self._counted(rows)
            # Files are often sorted: where columns are to be scaled, the sample is of all rows.
            block = look(RowPasses(rows), FIRST_LOOK).sample if self._scales else next(iter(rows.blocks()))
            at, n = self._begin(seen.classes, block, start), int(seen.rows.sum())
            with columns_named(rows):
                walked = self._walk_scan(at, rows, seen.rows)
        else:
            block = in_memory(rows, "any", first_read=True)
            refuse_one_class(block.classes)
            at, n = self._begin(block.classes, block, start), len(block)
            with columns_named(rows):
                walked = self._walk(at, block, whole=True)
        return replace(at, t=at.t + max(walked.epochs) * n), walked

    def _counted(self, rows: Scan) -> ClassMoments:
        """How many rows of each class there are, for which one column is enough."""
        moments = Sum(lambda block: ClassMoments.of(block, Depth.DIAGONAL), ClassMoments.merged)
        seen = RowPasses(rows.with_features(rows.features[:1])).reduce(moments)
        refuse_one_class(seen.classes)
        return seen

    def _learned_parts(self, rows: Rows, at: Standing | None, declared: NDArray[Any] | None) -> Standing:
        """Every row once, in the order of a file; new classes join unless they were declared."""
        blocks = rows.blocks() if isinstance(rows, Scan) else [in_memory(rows, "any", first_read=True)]
        with Progress("learning", rows.n_rows) as progress:
            for block in blocks:
                if declared is not None:
                    check_declared(block.classes, declared)
                at = at or self._begin(block.classes if declared is None else declared, block)
                wanted = np.union1d(at.classes, block.classes) if declared is None else declared
                if len(wanted) > len(at.classes):
                    at = replace(at, classes=wanted, state=self._grow(at, wanted))
                with columns_named(rows):
                    self._walk(at, block, whole=False)
                at = replace(at, t=at.t + len(block))
                progress.add(len(block))
        if at is None:
            raise DataError("There are no rows to read.")
        return at

    def _begin(self, classes: NDArray[Any], block: Block, start: Start = NOWHERE) -> Standing:
        """Before the first row of these classes; the size of the columns is that of the rows of the block."""
        scaling = Scaling.of(block) if self._scales else None
        state = self._start((problem_count(classes), int(block.x.shape[1])), scaling, start)
        return Standing(classes, state, scaling)

    def _found(
        self, columns: Mapping[str, Any], at: Standing, walked: Walked, declared: NDArray[Any] | None
    ) -> dict[str, Any]:
        """Everything that is remembered of a call; coefficients are in the user's units."""
        coef, intercept = self._answer(at)
        if at.scaling is not None:
            coef, intercept = at.scaling.to_user(coef, intercept)
        written = self._written(coef, intercept, columns["_design"].dtype)
        if not walked.converged:
            warn(
                "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the "
                "fit.",
                ConvergenceWarning,
            )
        return {
            **columns,
            **written,
            "classes_": at.classes,
            "t_": at.t,
            "n_iter_": max(walked.epochs),
            "_state": at.state,
            "_scaling": at.scaling,
            "_declared": declared,
            "_columns": None,
        }


@contextmanager
def columns_named(rows: Rows) -> Iterator[None]:
    """An error while rows are learned names the columns that are not finite, if there are some."""
    try:
        yield
    except DataError as error:
        raise non_finite_error(rows) or error from None
