"""Linear classification by gradient descent, any loss, every step to be seen."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from discrim.block import Block
from discrim.engines import RowPasses, passes_over
from discrim.engines.orders import Permuted
from discrim.engines.progress import Progress
from discrim.engines.walk import Lane, walk
from discrim.errors import DataError, ParameterError, UnfinishedWarning, name_list, warn
from discrim.families.online.criterion import Criterion, Ground, RowSums, scaled, survey
from discrim.families.online.descent import BatchSteps, Descent, DescentOptions, Run, Schedule, Walker
from discrim.families.online.problems import refuse_one_class
from discrim.families.online.trace import Recorder, Trace
from discrim.families.rule import LinearRule, Output
from discrim.families.sequence import Stopping
from discrim.inference.summary import Summary, coefficient_summary
from discrim.losses import LOSSES, find_loss, sigmoid
from discrim.models.parameters import Check, boolean, either, integer, none, number, one_of, seed
from discrim.models.scoring import also_of_parts
from discrim.models.shell import Classifier, check_parameters, declared_classes
from discrim.parallel import one_blas_thread
from discrim.sources import Design, Rows, Scan, find_non_finite, in_memory
from discrim.store.fields import Fields, Flag
from discrim.store.kinds import Of, stored
from discrim.store.values import Generator, Labels
from discrim.typing import Floats

# Numbers of X up to which scaled rows are kept beside the user's.
KEPT = 1 << 24
# Laval's random start: weights between minus and plus this.
SMALL = 0.01
TITLE = "gradient descent"
LIKELIHOODS = ("cross_entropy", "log")


@stored(
    "descent between calls",
    classes=Labels(),
    softmax=Flag(),
    ground=Of(Ground, {"p": "p"}),
    walker=Of(Walker),
    rng=Generator(),
)
@dataclass(frozen=True, eq=False)
class _Standing:
    """Where a descent is between two calls. ``walker`` and ``rng`` are the call's own: it writes into them."""

    classes: NDArray[Any]
    softmax: bool
    ground: Ground
    walker: Walker
    rng: np.random.Generator

    @property
    def functions(self) -> int:
        return 1 if len(self.classes) == 2 else len(self.classes)


def _has_probabilities(self: GradientDescentClassifier) -> bool:
    if self.loss in LIKELIHOODS:
        return True
    raise AttributeError(f"The loss {self.loss!r} gives no probabilities; 'cross_entropy' and 'log' do.")


@dataclass(eq=False, repr=False, kw_only=True)
class GradientDescentClassifier(Classifier):
    """A linear classifier whose weights go down the slope of a loss.

    **Model.** h(x) = w'x + b for two classes, one such function a class for more: each against the others, or all in a
    softmax.

    **Statistic.** None that is kept: at each step the loss and its gradient, summed over the rows.

    **Estimate.** The minimum of E = mean loss + l1 |w|_1 + l2 |w|^2 / 2, by w <- w - eta dE/dw, the penalties through
    their proximal steps. Columns are centred and scaled for the descent (``scale``); penalties and answers are in the
    columns' own units, so that the minimum does not depend on that.

    **Rule.** The sign of h, or the largest h_k.

    Cost: 4 n p multiplications a step and function; the number of steps depends on the data, which is why
    LogisticRegression is the faster way to the minimum of cross entropy.

    Parameters
    ----------
    loss : {'cross_entropy', 'log', 'squared', 'hinge', 'squared_hinge', 'modified_huber', 'perceptron'}
    l1, l2 : float, strengths of the penalties; LogisticRegression's C is l2 = 1 / (C n)
    learning_rate : 'constant' is eta0, 'inverse' eta0 / t at step t, 'optimal' 1 / L for the largest curvature L
        (divided by sqrt(t) for losses with kinks, and by the epoch with mini-batches), 'line_search' whatever lowers
        E; 'auto' the last where it can be done, else 'optimal'
    eta0 : float or None for 1 / L
    momentum : float, the part of the last step that is added to each
    nesterov : bool, whether that is done before the gradient is taken
    batch_size : int, rows a step in random order; None for all
    max_iter : int, steps, or epochs with a batch_size
    tol : float, the largest slope at which the descent ends; with a batch_size it ends, near the minimum, when the
        mean loss has not fallen by this part of itself (or 1e-4) in five epochs
    start : 'zeros', or 'random' for weights drawn from U(-0.01, 0.01)
    scale : bool, whether columns are standardised for the descent
    normalize_weights : bool, divide (w, b) by its length after each step (epoch with a batch_size)
    normalize_rows : bool, divide each row's loss by |x|^2
    multi_class : 'auto', 'ovr' or 'softmax' (cross entropy only)
    fit_intercept : bool
    random_state : int, generator or None
    trace : bool, whether to keep the way of the weights in ``trace_``

    Attributes
    ----------
    coef_, intercept_ : 1 x p and 1 for two classes, else K x p and K
    classes_, n_iter_, converged_, objective_ : E at the end
    trace_ : Trace with ``coef``, ``intercept``, ``loss`` and ``mistakes`` before each step and at the end

    Examples
    --------
    >>> from discrim import GradientDescentClassifier, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = GradientDescentClassifier(l2=0.01, trace=True).fit(X, y)
    >>> model.converged_, bool(model.trace_.loss[-1] < model.trace_.loss[0])
    (True, True)
    """

    _constraints: ClassVar[dict[str, Check]] = {
        "l1": number(0),
        "l2": number(0),
        "learning_rate": one_of("auto", "constant", "inverse", "optimal", "line_search"),
        "eta0": either(none(), number(np.finfo(float).tiny)),
        "momentum": (lambda v: number(0, 1)[0](v) and v < 1, "a number of at least 0 and below 1"),
        "nesterov": boolean(),
        "batch_size": either(none(), integer(1)),
        "max_iter": integer(1),
        "tol": number(0),
        "start": one_of("zeros", "random"),
        "scale": boolean(),
        "normalize_weights": boolean(),
        "normalize_rows": boolean(),
        "multi_class": one_of("auto", "ovr", "softmax"),
        "fit_intercept": boolean(),
        "random_state": seed(),
        "trace": boolean(),
    }

    loss: str = field(default="cross_entropy", kw_only=False)
    l1: float = 0.0
    l2: float = 0.0
    learning_rate: str = "auto"
    eta0: float | None = None
    momentum: float = 0.0
    nesterov: bool = False
    batch_size: int | None = None
    max_iter: int = 1000
    tol: float = 1e-6
    start: str = "zeros"
    scale: bool = True
    normalize_weights: bool = False
    normalize_rows: bool = False
    multi_class: str = "auto"
    fit_intercept: bool = True
    random_state: Any = None
    trace: bool = False

    coef_: NDArray[Any] = field(init=False)
    intercept_: NDArray[Any] = field(init=False)
    trace_: Trace = field(init=False)
    _at: _Standing = field(init=False)
    _softmax: bool = field(init=False)

    stored_state: ClassVar[Fields] = {"_softmax": Flag()}
    resumed_state: ClassVar[Fields] = {"_at": Of(object)}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y, or from a ``scan``, which is read once a step."""
        self._check()
        return self._at_once(lambda: self._learned_from(X, y, None, sample_weight, first=True, whole=True))

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """One step on these rows, or one epoch of mini-batches.

        Units of the columns and the safe rate are those of the first part. ``classes`` names all classes that will
        come; without it they are those of the first part.
        """
        self._check()
        self.check_resumable()
        first = not hasattr(self, "classes_")
        return self._at_once(lambda: self._learned_from(X, y, classes, sample_weight, first=first, whole=False))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @also_of_parts
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of the classes, n x K; of functions one against the others, each divided by their sum."""
        if self._scores_are_logs():
            return super().predict_proba(X)
        scores = self._apply(X, Output.SCORES)
        shares = sigmoid(scores.astype(np.float64))
        # Where every function says no, the least no has it.
        shares += np.finfo(float).tiny * (scores == scores.max(axis=1, keepdims=True))
        return np.asarray((shares / shares.sum(axis=1, keepdims=True)).astype(scores.dtype))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @also_of_parts
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of ``predict_proba``."""
        if self._scores_are_logs():
            return super().predict_log_proba(X)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _check(self) -> None:
        find_loss(self.loss)
        check_parameters(self, self._constraints)
        if self.multi_class == "softmax" and self.loss not in LIKELIHOODS:
            raise ParameterError(f"multi_class='softmax' goes with the loss 'cross_entropy'; loss is {self.loss!r}.")
        alone = {"batch_size": self.batch_size, "momentum": self.momentum, "normalize_weights": self.normalize_weights}
        others = [name for name, value in alone.items() if value]
        if self.learning_rate == "line_search" and others:
            raise ParameterError(
                f"learning_rate='line_search' does not go with {name_list(others)}: it needs the objective of all rows "
                "to fall at each step. Use 'optimal' or 'constant'."
            )

    @property
    def _rate_name(self) -> str:
        if self.learning_rate != "auto":
            return self.learning_rate
        plain = not (self.batch_size or self.momentum or self.normalize_weights)
        return "line_search" if plain and LOSSES[self.loss].smooth else "optimal"

    def _learned_from(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool, whole: bool
    ) -> Mapping[str, Any]:
        """Everything that a call learns: steps to the end for the ``whole`` of the rows, else one."""
        rows = self._read(X, y, sample_weight, design=None if first else self._design)
        columns = self.columns_of(X, rows) if first else self.known_columns
        with one_blas_thread():
            ground = survey(
                RowPasses(rows), intercept=self.fit_intercept, scale=self.scale, by_length=self.normalize_rows,
                known=None if first else self._at.ground.coordinates,
            )  # fmt: skip
            known = declared_classes(None if first else self.classes_, classes)
            known = ground.classes if known is None else known
            strange = ground.classes[~np.isin(ground.classes, known)]
            if len(strange):
                raise ParameterError(f"y holds labels that `classes` does not: {name_list(strange)}. Declare them too.")
            refuse_one_class(known)
            if first:
                at = self._begin(ground, known, rows.design)
            else:
                before = self._at.ground
                ground = replace(ground, bend=before.bend, length=before.length, longest=before.longest)
                at = replace(self._at, walker=replace(self._at.walker), rng=deepcopy(self._at.rng))
            end, found = self._descend(at, ground, rows, columns["_design"].dtype, self.max_iter if whole else 1)
        steps, unit = (at.walker.epochs, "epoch") if self.batch_size else (at.walker.steps, "step")
        remark = end.remark(steps=steps, unit=unit, rate=self._schedule(at, ground).first, tol=self.tol)
        if remark and (whole or end.end == "diverged"):
            warn(remark, UnfinishedWarning)
        kept = {"trace_": self.trace_} if not whole and "trace_" in self.__dict__ else {}
        return {**columns, **kept, **found, "n_iter_": steps}

    def _begin(self, ground: Ground, classes: NDArray[Any], design: Design) -> _Standing:
        """Weights at the start."""
        softmax = len(classes) > 2 and self.loss in LIKELIHOODS and self.multi_class != "ovr"
        # A stored generator keeps mini-batches of later parts different from those of the first.
        rng = np.random.default_rng(check_random_state(_plain(self.random_state)).randint(2**31))
        at = _Standing(classes, softmax, ground, Walker.at(np.zeros(0)), rng)
        shape = (at.functions, design.n_out + self.fit_intercept)
        start = rng.uniform(-SMALL, SMALL, shape) if self.start == "random" else np.zeros(shape)
        if not self.fit_intercept:
            start = np.column_stack([np.zeros(len(start)), start])
        return replace(at, walker=Walker.at(ground.coordinates.from_user(start)))

    def _criterion(self, at: _Standing) -> Criterion:
        return Criterion(None if at.softmax else LOSSES[self.loss], at.functions, self.normalize_rows)

    def _schedule(self, at: _Standing, ground: Ground) -> Schedule:
        return Schedule.of(self._rate_name, self.eta0, ground, self._criterion(at), self.batch_size)

    def _descend(
        self, at: _Standing, ground: Ground, rows: Rows, dtype: np.dtype[Any], most: int
    ) -> tuple[Descent, dict[str, Any]]:
        """The end of the descent after ``most`` steps or epochs, and what is remembered of it."""
        walker, passes, units = at.walker, RowPasses(rows), ground.coordinates
        sums = RowSums(passes, at.classes, self._criterion(at), units, self.fit_intercept)
        block = _kept(rows)
        if block is not None:
            sums.passes, sums.coordinates = passes_over(replace(block, x=scaled(block.dense(), units))), None
        if not np.isfinite(sums.at(walker.theta).loss):
            raise find_non_finite(rows) or DataError("The losses at the start overflow. Scale the columns.")
        options = self._options(at, ground, most)
        recorder = Recorder("epoch" if self.batch_size else "step", walker.theta.size) if self.trace else None

        def note(step: int, theta: Floats, value: float, mistakes: int) -> None:
            assert recorder is not None
            user = ground.coordinates.to_user(theta)
            one = len(user) == 1
            recorder.add(step, user[0, 1:] if one else user[:, 1:], user[0, 0] if one else user[:, 0], value, mistakes)

        run = Run(sums, walker, options, None if recorder is None else note)
        # What overflows on the way is a divergence, and reported as such.
        with np.errstate(over="ignore", invalid="ignore"):
            end = self._by_batches(run, at, ground) if self.batch_size else _by_steps(run, ground.n_rows)
        found = self._found(at, end, dtype)
        return end, found if recorder is None else {**found, "trace_": recorder.trace()}

    def _by_batches(self, run: Run, at: _Standing, ground: Ground) -> Descent:
        run.note_epoch()
        order = Permuted(run.sums.passes.blocks, at.rng, self.batch_size)
        stopping = Stopping(run.options.max_iter)
        steps = BatchSteps(ground.mean_weight)
        walk(steps, run, [Lane((0,), order)], stopping, ground.n_rows, title=TITLE)
        return Descent(run.walker.theta, run.look(run.walker.theta)[0], run.end, np.nan, run.first, run.value)

    def _options(self, at: _Standing, ground: Ground, most: int) -> DescentOptions:
        unit = 1.0 / ground.coordinates.scale
        if self.fit_intercept:
            unit = np.append(0.0, unit)
        return DescentOptions(
            self._schedule(at, ground),
            lasso=np.broadcast_to(self.l1 * unit, at.walker.theta.shape),
            ridge=np.broadcast_to(self.l2 * unit**2, at.walker.theta.shape),
            search=self._rate_name == "line_search",
            momentum=self.momentum,
            nesterov=self.nesterov and self.momentum > 0,
            normalize=self.normalize_weights,
            careful=self._rate_name == "optimal" and self.eta0 is None and not self.momentum,
            # A single step is taken wherever it leads.
            kinked=self._criterion(at).curvature is None and most > 1,
            by_mistakes=self.loss == "perceptron",
            max_iter=most,
            tol=self.tol,
        )

    def _found(self, at: _Standing, end: Descent, dtype: np.dtype[Any]) -> dict[str, Any]:
        theta, coordinates = end.theta, at.ground.coordinates
        user = coordinates.to_user(theta)
        coef, offset = user[:, 1:], theta[:, 0] if self.fit_intercept else np.zeros(len(theta))
        if len(coef) == 1:
            coef, offset = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, offset)
        return {
            "classes_": at.classes,
            "coef_": user[:, 1:].astype(dtype),
            "intercept_": user[:, 0].astype(dtype),
            "objective_": end.value,
            "converged_": end.end == "converged",
            "_rule": LinearRule(np.ascontiguousarray(coef), offset, coordinates.shift),
            "_softmax": at.softmax,
            "_at": at,
        }

    @property
    def posterior_form(self) -> str | None:
        if self.loss not in LIKELIHOODS:
            return None
        return "softmax" if self._scores_are_logs() else "each logistic, else the largest"

    def _rows_learned(self) -> tuple[int | None, NDArray[Any] | None]:
        at = self.__dict__.get("_at")
        return None if at is None else at.ground.n_rows, None

    def _scores_are_logs(self) -> bool:
        """Are scores log posteriors up to a constant, as with two classes or a softmax?"""
        self._check_solved()
        return self._softmax or len(self.classes_) == 2

    def _draw(self, X: Any, y: Any, **options: Any) -> Any:  # noqa: ARG002 - as of every model
        from discrim import plots

        # With a trace the way down, else where it ended.
        return plots.convergence(self, **options) if "trace_" in vars(self) else plots.coefficients(self, X, **options)

    def _summarise(self) -> Summary:
        facts = {"Loss": self.loss, "Steps": self.n_iter_, "Converged": self.converged_, "Objective": self.objective_}
        coef = np.vstack([self.intercept_, self.coef_.T])
        return coefficient_summary("Gradient descent", facts, self._names, self.classes_, coef, iterations=self.n_iter_)


def _by_steps(run: Run, n: int) -> Descent:
    with Progress(TITLE, run.options.max_iter * n) as progress:
        # A pass over rows that are not in memory shows its own progress.
        run.sums.count = None if run.sums.passes.whole is None else progress.add
        return run.descend()


def _plain(state: Any) -> Any:
    """A seed that scikit-learn understands: of a generator, one drawn from it."""
    return int(state.integers(2**31)) if isinstance(state, np.random.Generator) else state


def _kept(rows: Rows) -> Block | None:
    """All rows as one block, where they are dense, lie in memory and are not too many to be scaled beside it."""
    if isinstance(rows, Scan) or (rows.n_rows or 0) * rows.design.n_out > KEPT:
        return None
    block = rows.whole if rows.whole is not None else in_memory(rows)
    return block if isinstance(block.x, np.ndarray) else None
