"""What all classifiers that learn row by row share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.block import Block
from discrim.errors import DataError, ParameterError, warn
from discrim.families.logistic.coefficients import as_one, written_rule
from discrim.families.rule import Output
from discrim.inference.summary import Summary, Table
from discrim.models.declared import check_declared, declared_classes
from discrim.models.online.training import (
    HeldOut,
    Shuffle,
    class_gains,
    given_start,
    held_out_rows,
    in_blocks,
    in_memory,
    problem_count,
    refuse_one_class,
    row_seeds,
    sparse_step,
    targets_of,
)
from discrim.models.parameters import check_parameters
from discrim.models.scoring import non_finite_error
from discrim.models.shell import Classifier
from discrim.online.epochs import Course, Plan, learn_epochs
from discrim.online.grow import grown
from discrim.online.learning import Learning
from discrim.online.rows import OnlineRows
from discrim.online.scaling import Scaling
from discrim.online.weights import Weights
from discrim.sources import Design, Rows, Scan
from discrim.typing import Floats

FITTED = (
    "classes_",
    "t_",
    "n_iter_",
    "_weights",
    "_coef",
    "_intercept",
    "_declared",
    "_scaling",
    "_columns",
    "_memory",
    "_untold",
    "_live",
)


def _has_probabilities(model: OnlineClassifier) -> bool:
    model._check_probabilities()
    return True


class OnlineClassifier(Classifier):
    """A linear classifier whose weights are changed by one row after another.

    A subclass says how (``_learning``); epochs, stopping, parts, streams and answers follow.
    """

    t_: float
    n_iter_: int
    # Parameters that not every subclass has.
    max_iter: int = 1000
    tol: float | None = 1e-3
    shuffle: Shuffle = True
    random_state: Any = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: Any = None
    warm_start: bool = False
    average: bool | int = False

    _weights: Weights
    _scaling: Scaling | None
    _rule_of: Floats
    _declared: NDArray[Any] | None
    # Does one order of the rows serve all classes?
    _together: bool = False
    # Are columns brought to one size?
    _scales: bool = False

    @abstractmethod
    def _learning(self) -> Learning:
        """How a row changes the weights, before anything is known of the rows."""

    def _check_together(self, *, parts: bool) -> None:
        """Raise for parameters that do not go together, or not with fitting in parts."""
        if parts and self.early_stopping:
            raise ParameterError("early_stopping should be False with partial_fit: no rows are held out there.")
        if parts and isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ParameterError(
                "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' weights, use "
                "compute_class_weight('balanced', classes=classes, y=y). In place of y you can use a large enough "
                "sample of the full training set target to properly estimate the class frequency distributions. Pass "
                "the resulting weights as the class_weight parameter."
            )

    @all_or_nothing
    def fit(
        self, X: Any, y: Any = None, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from rows X with labels y, or from a ``scan``, epoch after epoch.

        ``coef_init`` and ``intercept_init`` are where to begin.
        """
        check_parameters(self, self._constraints)
        self._check_together(parts=False)
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        for name in FITTED:
            self.__dict__.pop(name, None)
        rows = self._open(X, y, sample_weight, reset=True)
        if isinstance(rows, Scan):
            from discrim.models.online.scanning import fit_scan

            return fit_scan(self, rows)
        block = in_memory(rows)
        refuse_one_class(block.classes)
        self._begin(block, coef_init, intercept_init)
        course = self._learn(rows, block, self.max_iter, self.tol)
        self._tell(course, len(block))
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, each once.

        A class that was not there before is added, unless ``classes`` was given: then labels outside it are an error.
        """
        check_parameters(self, self._constraints)
        self._tell_stream()
        first = not hasattr(self, "classes_")
        self._check_together(parts=True)
        rows = self._open(X, y, sample_weight, reset=first)
        if not first:
            # Learning writes into the weights: those of the model stay as they are until it is done.
            self._weights = self._weights.copied()
        declared = declared_classes(getattr(self, "_declared", None), classes)
        if isinstance(rows, Scan):
            from discrim.models.online.scanning import learn_scan

            return learn_scan(self, rows, declared)
        return self._learn_part(rows, in_memory(rows), declared)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores w_k'x + b_k, n x K; for two classes that of the second, n."""
        self._check_solved()
        rows = self._open(X, None, None, reset=False, labelled=False)
        if rows.whole is None or not sparse.issparse(rows.whole.x):
            return super().decision_function(X)
        # A product with few entries: rows are not made dense.
        x, told = rows.whole.x, self._rule_of
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.asarray(x @ told[:, 1:].T) + told[:, 0]
        if not np.isfinite(scores).all():
            raise non_finite_error(rows) or DataError("The scores of some rows overflow. Scale the columns.")
        scores = scores.astype(x.dtype)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_.take(np.minimum(best, len(self.classes_) - 1)))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities n x K, where the loss has a meaning as such."""
        return self._probabilities(self.decision_function(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of the probabilities; -inf where one is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _check_probabilities(self) -> None:
        raise AttributeError(
            f"{type(self).__name__} gives margins, not probabilities. Use SGDClassifier(loss='log_loss'), or wrap it "
            "in sklearn.calibration.CalibratedClassifierCV."
        )

    def _probabilities(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Of the scores n x K, or n for two classes."""
        raise NotImplementedError

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix."""
        check_is_fitted(self, "coef_")
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep ``coef_`` as an array."""
        check_is_fitted(self, "coef_")
        self.coef_ = _dense(self.coef_)
        return self

    @property
    def coef_(self) -> Any:
        """Weights in the user's units: 1 x p for two classes, else K x p."""
        self._tell_stream()
        if "_coef" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} has no coefficients yet: call fit first.")
        return self.__dict__["_coef"]

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self.__dict__["_coef"] = value

    @property
    def intercept_(self) -> Any:
        self._tell_stream()
        if "_intercept" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} has no coefficients yet: call fit first.")
        return self.__dict__["_intercept"]

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        self.__dict__["_intercept"] = value

    def _tell_stream(self) -> None:
        """Write out what ``learn_one`` has changed since; a model without it has nothing to do."""

    def _check_solved(self) -> Self:
        check_is_fitted(self, "coef_")
        if "_design" not in self.__dict__:
            self.n_features_in_ = int(self.coef_.shape[-1])
            self._design = Design.unnamed(self.n_features_in_, np.float64)
        told = as_one(self.coef_, self.intercept_)
        if not np.array_equal(told, self.__dict__.get("_rule_of", ())):
            self._rule, self._rule_of = written_rule(told), told
        return self

    def _apply(self, X: Any, output: Output) -> NDArray[Any]:
        if output is Output.SCORES:
            return super()._apply(X, output)
        raise NotImplementedError("Scores that are margins have no softmax.")

    def _begin(self, block: Block, coef_init: Any, intercept_init: Any) -> None:
        """Weights for these classes and columns, at zero or where the user wants to begin."""
        self.classes_, self.t_ = block.classes, 1.0
        self._scaling = self._find_scaling(block)
        learning = self._learning()
        shape = (problem_count(self.classes_), int(block.x.shape[1]))
        if coef_init is None and intercept_init is None:
            self._weights = Weights.zeros(*shape, learning)
            return
        coef, intercept = given_start(coef_init, intercept_init, shape)
        if self._scaling is not None:
            coef, intercept = self._scaling.from_user(coef, intercept)
        self._weights = Weights.at(coef, intercept, learning)

    def _find_scaling(self, block: Block) -> Scaling | None:  # noqa: ARG002 - for subclasses
        """The size of the columns, where the rate is to suit them."""
        return None

    def _learning_now(self, classes: int | None = None) -> Learning:
        """The learning for so many classes (those of the model): two that compete are one problem."""
        learning = self._learning()
        count = len(self.classes_) if classes is None else classes
        return replace(learning, update="gradient") if learning.update == "best_class" and count <= 2 else learning

    def _coded(self, block: Block) -> OnlineRows:
        """Rows of a block, coded as the model's classes."""
        codes = np.searchsorted(self.classes_, block.classes).astype(np.int32)[block.codes]
        return OnlineRows.of(Block(block.x, codes, self.classes_, block.weight))

    def _prepared(self, block: Block) -> OnlineRows:
        """The same in the units that the model learns in."""
        rows = self._coded(block)
        return rows if self._scaling is None else self._scaling.scaled(rows)

    def _learn(self, rows: Rows, block: Block, max_iter: int, tol: float | None) -> Course:
        """Epochs over rows in memory; errors name what was wrong with them."""
        scaled = self._prepared(block)
        targets = targets_of(class_gains(self.class_weight, self.classes_, scaled.codes))
        mask = score = None
        seeds = row_seeds(self.random_state, 1 if self._together else len(targets.positive)) if self.shuffle else None
        if self.early_stopping:
            mask = held_out_rows(scaled, scaled.codes, self.validation_fraction, self.random_state)
            score = HeldOut(scaled, mask, targets)
        woven = in_blocks(scaled, self.shuffle, ours=self._scales)
        plan = Plan(max_iter, tol, self.n_iter_no_change, seeds, mask, woven, score)
        learning = self._learning_now()
        step = learning.intercept_step * (sparse_step(block.x) if self._scaling is None else 1.0)
        learning = replace(learning, intercept_step=step, told=tol is not None and max_iter > 1 and score is None)
        self._weights.begin(learning)
        course = learn_epochs(scaled, learning, self._weights, targets, plan)
        if course.broken is not None:
            raise non_finite_error(rows) or DataError(
                f"Floating-point under-/overflow occurred at epoch #{course.broken}. Scaling input data with "
                "StandardScaler or MinMaxScaler might help."
            )
        return course

    def _read_through(self, rows: Scan, counts: NDArray[np.int64]) -> Course:
        """Epochs over a file, of whose classes these are the rows."""
        from discrim.models.online.scanning import passes

        return passes(self, rows, counts)

    def _learn_part(self, rows: Rows, block: Block, declared: NDArray[Any] | None) -> Self:
        if declared is not None:
            check_declared(block.classes, declared)
        if not hasattr(self, "classes_"):
            known = block.classes if declared is None else declared
            self._begin(Block(block.x, block.codes, known, block.weight), None, None)
        self._declared = declared
        wanted = np.union1d(self.classes_, block.classes) if declared is None else declared
        self._follow_user()
        self._grow(wanted)
        self._learn(rows, block, 1, None)
        self._tell(Course([1]), len(block))
        return self

    def _grow(self, wanted: NDArray[Any]) -> None:
        """Room for the classes ``wanted``, among which are those of the model."""
        self.classes_, self._weights = grown(self.classes_, self._weights, wanted, self._learning())

    def _follow_user(self) -> None:
        """Coefficients that somebody has written to since they were told are where learning goes on."""
        told = self.__dict__.get("_told")
        if told is None or self.average:
            return
        coef, intercept = _dense(self.coef_), self.intercept_
        if coef.shape == told[0].shape and np.array_equal(coef, told[0]) and np.array_equal(intercept, told[1]):
            return
        start = np.atleast_2d(np.asarray(coef, float)), np.atleast_1d(np.asarray(intercept, float))
        w, b = start if self._scaling is None else self._scaling.from_user(*start)
        self._weights.w[:] = w
        self._weights.memory[:, 0] = b

    def _tell(self, course: Course, n: int) -> None:
        self.n_iter_ = max(course.epochs)
        self.t_ += self.n_iter_ * n
        self._write_out()
        if not course.converged:
            warn(
                "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the "
                "fit.",
                ConvergenceWarning,
            )

    def _write_out(self) -> None:
        """Fitted coefficients in the user's units and the rows' precision."""
        weights, dtype = self._weights, self._design.dtype
        averaged = weights.averages is not None and self.average <= self.t_ - 1
        w, intercept = (weights.averages, weights.average_intercept) if averaged else (weights.w, weights.intercept)
        assert w is not None
        if self._scaling is not None:
            w, intercept = self._scaling.to_user(w, intercept)
        with np.errstate(over="ignore"):
            self.coef_, self.intercept_ = w.astype(dtype), intercept.astype(dtype)
        if not (np.isfinite(self.coef_).all() and np.isfinite(self.intercept_).all()):
            raise DataError(f"The coefficients are too large for the precision {dtype.name}. Scale the columns.")
        self._told = self.coef_.copy(), self.intercept_.copy()
        told = as_one(self.coef_, self.intercept_)
        self._rule, self._rule_of = written_rule(told), told

    def _summarise(self) -> Summary:
        names = ["(Intercept)", *self._names]
        slopes = as_one(self.coef_, self.intercept_)
        labels = [str(label) for label in self.classes_[-len(slopes) :]]
        facts = {"Epochs": self.n_iter_, "Updates": self._weights.updates, "Columns": len(self._names)}
        table = Table("Coefficients", names, labels, slopes.T)
        return Summary(type(self).__name__, facts, [table], names=names, coef=slopes.T, iterations=self.n_iter_)


def _dense(coef: Any) -> Any:
    return coef.toarray() if hasattr(coef, "toarray") else coef
