"""The perceptron."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from discrim.block import Block
from discrim.errors import NotSeparatedWarning, ParameterError, plural, warn
from discrim.models.online.options import SHARED, above
from discrim.models.online.stream import StreamClassifier
from discrim.models.online.training import Shuffle, as_random_state, class_gains, problem_count
from discrim.models.parameters import Check, boolean, either, none, number, one_of
from discrim.models.scoring import non_finite_error
from discrim.online.epochs import Course
from discrim.online.learning import Learning
from discrim.online.lecture_perceptron import Learned, PerceptronOptions, learn
from discrim.sources import Rows, Scan


def _learns_in_parts(model: Perceptron) -> bool:
    taught = model._taught()
    if taught:
        raise AttributeError(f"{taught[0]} needs all rows at once: call fit, or leave it out.")
    return True


class Perceptron(StreamClassifier):
    """A hyperplane that every wrong row turns towards itself.

    **Model.** Two classes y = -1 and 1 that a hyperplane w'x + b = 0 separates.

    **Estimate.** A row with y (w'x + b) <= 0 is wrong and corrects w += eta0 y x, b += eta0 y (``rule="online"``); all
    wrong rows together do so in ``rule="batch"``; with ``rule="chicago"`` b += eta0 y R^2, R = max |x|, for which at
    most (2 R / gamma)^2 corrections are needed if some hyperplane has the margin gamma.

    **Rule.** The largest w_k'x + b_k. More than two classes are learned each against the rest, or, with
    ``multi_class="multinomial"``, compete: a wrong row moves its own class up and the winner down.

    Cost: an epoch reads the rows once, with n p multiplications a class and p for each correction; a sparse row costs
    its entries.

    Parameters
    ----------
    penalty : {None, 'l2', 'l1', 'elasticnet'}, alpha : its strength, l1_ratio : float
    fit_intercept, max_iter, tol, shuffle, random_state, early_stopping, validation_fraction, n_iter_no_change,
    class_weight, warm_start : as in ``SGDClassifier``
    verbose, n_jobs : accepted for scikit-learn's sake, without effect on the answer
    eta0 : float, the size of a correction
    rule : {'online', 'batch', 'chicago'}
        This and the options below, ``multi_class`` and ``average`` excepted, go on until no row is wrong, the weights
        come back or ``max_iter`` is reached; ``tol`` is not used, and a warning tells what was left wrong.
    multi_class : {'ovr', 'multinomial'}
    average : bool or int
        Answer with the mean of the weights on the way (from so many rows on), which is steadier where classes overlap.
    pocket : bool, answer with the weights on the way that had the fewest rows wrong
    normalize_weights : bool, divide (w, b) by their length after each epoch
    normalize_rows : bool, divide each row's criterion by |x|^2
    trace : {False, 'epoch', 'step'}, keep the way in ``learned_[k].trace``

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_ : as in scikit-learn
    n_updates_ : int, corrections that were made
    learned_ : list, one for each problem, where one of our rules or options was asked for
        Objects with ``updates``, ``radius`` (R), ``gamma``, ``bound``, ``mistakes``, ``converged``, ``cycling``,
        ``separable``, ``trace`` and ``verdict``.

    Examples
    --------
    >>> from discrim import Perceptron, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = Perceptron(rule="chicago", shuffle=False).fit(X[:100], y[:100])
    >>> model.learned_[0].converged, model.score(X[:100], y[:100])
    (True, 1.0)
    """

    learned_: list[Learned]

    _constraints: ClassVar[dict[str, Check]] = {
        "penalty": one_of("l2", "l1", "elasticnet", None),
        "alpha": number(0),
        "l1_ratio": either(number(0, 1), none()),
        **SHARED,
        "eta0": above(0),
        "rule": one_of("online", "batch", "chicago"),
        "multi_class": one_of("ovr", "multinomial"),
        "pocket": boolean(),
        "normalize_weights": boolean(),
        "normalize_rows": boolean(),
        "trace": (lambda v: v is False or (isinstance(v, str) and v in {"epoch", "step"}), "False, 'epoch' or 'step'"),
    }

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: Shuffle = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        rule: Literal["online", "batch", "chicago"] = "online",
        multi_class: str = "ovr",
        average: bool | int = False,
        pocket: bool = False,
        normalize_weights: bool = False,
        normalize_rows: bool = False,
        trace: Any = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.rule = rule
        self.multi_class = multi_class
        self.average = average
        self.pocket = pocket
        self.normalize_weights = normalize_weights
        self.normalize_rows = normalize_rows
        self.trace = trace

    @available_if(_learns_in_parts)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, each once; new classes join unless ``classes`` was given."""
        return super().partial_fit(X, y, classes, sample_weight)

    @property
    def n_updates_(self) -> int:
        """Corrections that the weights have had since they were zero."""
        if "learned_" in self.__dict__:
            return sum(part.updates for part in self.learned_)
        if "_weights" not in self.__dict__:
            raise AttributeError("This Perceptron has made no updates yet: call fit first.")
        return self._weights.updates

    def _taught(self) -> list[str]:
        """Options that scikit-learn's perceptron does not have, and that need all rows at once."""
        asked = {
            f"rule={self.rule!r}": self.rule != "online",
            "pocket=True": self.pocket,
            "normalize_weights=True": self.normalize_weights,
            "normalize_rows=True": self.normalize_rows,
            f"trace={self.trace!r}": self.trace is not False,
        }
        return [name for name, wanted in asked.items() if wanted]

    def _check_together(self, *, parts: bool) -> None:
        super()._check_together(parts=parts)
        taught = self._taught()
        if taught and parts:
            raise ParameterError(f"{taught[0]} needs all rows at once: call fit, or leave it out.")
        against = {
            "penalty": self.penalty is not None,
            "early_stopping": self.early_stopping,
            "warm_start": self.warm_start,
            "multi_class='multinomial'": self.multi_class == "multinomial",
            "shuffle='blocks'": self.shuffle == "blocks",
        }
        wrong = [name for name, given in against.items() if given and taught]
        if wrong:
            raise ParameterError(f"{taught[0]} does not go with {wrong[0]}. Leave one of them out.")
        if self.multi_class == "multinomial" and (self.penalty is not None or self.early_stopping):
            raise ParameterError("multi_class='multinomial' goes with neither penalty nor early_stopping.")
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ParameterError("l1_ratio must be set when penalty is 'elasticnet'.")

    def _learning(self) -> Learning:
        return Learning(
            update="best_class" if self.multi_class == "multinomial" else "gradient",
            loss="perceptron",
            rate="constant",
            penalty=self.penalty,
            alpha=float(self.alpha),
            l1_ratio=float(self.l1_ratio or 0.0),
            eta0=float(self.eta0),
            intercept_step=float(self.fit_intercept),
            average=float(self.average),
        )

    @property
    def _together(self) -> bool:  # type: ignore[override]
        return self.multi_class == "multinomial"

    def _learn(self, rows: Rows, block: Block, max_iter: int, tol: float | None) -> Course:
        self.__dict__.pop("learned_", None)
        if not self._taught():
            return super()._learn(rows, block, max_iter, tol)
        if isinstance(rows, Scan):
            self._refuse_scan()
        self.learned_ = _learn_as_taught(self, rows, block)
        for k, part in enumerate(self.learned_):
            self._weights.w[k] = part.coef
            self._weights.memory[k, 0] = part.intercept
        if self._weights.averages is not None:
            # The mean was taken on the way: it is the answer.
            self._weights.averages[:] = self._weights.w
            self._weights.memory[:, 1] = self._weights.memory[:, 0]
        _warn(self.learned_, self.classes_)
        return Course([max(part.epochs, 1) for part in self.learned_])

    def _read_through(self, rows: Scan, counts: NDArray[np.int64]) -> Course:
        self._refuse_scan()
        return super()._read_through(rows, counts)

    def _refuse_scan(self) -> None:
        taught = self._taught()
        if taught:
            raise ParameterError(f"{taught[0]} needs all rows in memory: give arrays or a table, not a scan.")


def _learn_as_taught(model: Perceptron, rows: Rows, block: Block) -> list[Learned]:
    x = np.asarray(block.x if isinstance(block.x, np.ndarray) else block.x.toarray(), dtype=np.float64)
    if not np.isfinite(x).all():
        error = non_finite_error(rows)
        assert error is not None
        raise error
    weight = block.weight
    if model.class_weight is not None:
        gains = class_gains(model.class_weight, model.classes_, block.codes)[block.codes]
        weight = gains if weight is None else gains * weight
    k = problem_count(model.classes_)
    seeds = as_random_state(model.random_state).randint(np.iinfo(np.int32).max, size=k)
    parts = []
    for code, seed in zip([1] if k == 1 else range(k), seeds.tolist(), strict=True):
        options = PerceptronOptions(
            rule=model.rule, eta0=float(model.eta0), max_iter=model.max_iter, shuffle=bool(model.shuffle), seed=seed,
            pocket=model.pocket, average=bool(model.average), normalize_weights=model.normalize_weights,
            normalize_rows=model.normalize_rows, fit_intercept=model.fit_intercept, trace=model.trace,
        )  # fmt: skip
        parts.append(learn(x, np.where(block.codes == code, 1.0, -1.0), options, weight))
    return parts


def _warn(parts: list[Learned], classes: NDArray[Any]) -> None:
    wrong = [
        (label, part) for label, part in zip(classes.tolist()[-len(parts) :], parts, strict=True) if not part.converged
    ]
    if not wrong:
        return
    label, part = wrong[0]
    who = "" if len(parts) == 1 else f"Class {label!r} against the others: "
    more = f" (and {plural(len(wrong) - 1, 'other class', 'other classes')} likewise)" if len(wrong) > 1 else ""
    warn(f"{who}{part.verdict}{more}", NotSeparatedWarning)
