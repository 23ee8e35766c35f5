"""Rosenblatt's perceptron, as textbooks teach it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.engines import RowPasses
from discrim.engines.orders import LARGEST, Permuted, as_random_state
from discrim.engines.walk import Lane, walk
from discrim.errors import NotSeparatedWarning, ParameterError, plural, warn
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.families.logistic.separation import find_separation
from discrim.families.online.problems import class_gains, problem_count, refuse_one_class, weighted
from discrim.families.online.rosenblatt import RULES, Corrections, Learned, PerceptronOptions, Rosenblatt, outcome
from discrim.families.sequence import Stopping
from discrim.models.online.base import CountedUpdates, columns_named
from discrim.models.online.parameters import SHARED
from discrim.models.parameters import Check, above, boolean, integer, one_of
from discrim.models.shell import check_parameters
from discrim.sources import Scan, in_memory, open_rows
from discrim.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class RosenblattPerceptron(PerceptronOptions, CountedUpdates):
    """A hyperplane that is corrected until no row is on its wrong side.

    **Model.** Two classes y = -1 and 1 that a hyperplane w'x + b = 0 separates.

    **Statistic.** None that is kept: all rows must be in memory.

    **Estimate.** From zero on, a row with y (w'x + b) <= 0 is wrong and corrects w += eta0 y x, b += eta0 y
    (``rule="online"``); all wrong rows together do so in ``rule="batch"``; with ``rule="chicago"`` b += eta0 y R^2,
    R = max |x|, for which at most (2 R / gamma)^2 corrections are needed if some hyperplane has the margin gamma
    (Novikoff). The end is where no row is wrong, where the weights come back, so that they would for ever, or after
    ``max_iter`` epochs; a warning says what was left wrong.

    **Rule.** The largest w_k'x + b_k; more than two classes are learned each against the rest.

    Cost: an epoch reads the rows once a class, with n p multiplications, and p for each correction.

    Parameters
    ----------
    rule : {'online', 'batch', 'chicago'}
    eta0 : float, the size of a correction
    fit_intercept : bool
    max_iter : int, the most epochs
    shuffle : bool, a new order for every epoch (not used by the batch rule)
    random_state : int, RandomState or None
    average : bool, answer with the mean of the weights on the way, which is steadier where classes overlap
    pocket : bool, answer with the weights on the way that had the fewest rows wrong
    normalize_weights : bool, divide (w, b) by their length after each epoch
    normalize_rows : bool, divide each row's criterion by |x|^2
    class_weight : dict of class to weight, 'balanced' or None; weights make corrections longer
    trace : {False, 'epoch', 'step'}, keep the weights on the way, in ``learned_[k].trace``

    Attributes
    ----------
    coef_, intercept_ : 1 x p and 1 for two classes, else K x p and K
    classes_, n_iter_ : n_iter_ is the most epochs that a class took
    n_updates_ : int, corrections that were made
    learned_ : list, one for each problem
        Objects with ``updates``, ``radius`` (R), ``gamma``, ``bound``, ``mistakes``, ``converged``, ``cycling``,
        ``separable``, ``trace`` and ``verdict``.

    Examples
    --------
    >>> from discrim import RosenblattPerceptron, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = RosenblattPerceptron(rule="chicago", shuffle=False).fit(X[:100], y[:100])
    >>> model.learned_[0].converged, model.score(X[:100], y[:100])
    (True, 1.0)
    >>> model.learned_[0].updates <= model.learned_[0].bound
    True
    """

    _constraints: ClassVar[dict[str, Check]] = {
        "rule": one_of(*RULES),
        "eta0": above(0),
        "fit_intercept": boolean(),
        "max_iter": integer(1),
        "shuffle": boolean(),
        **{name: SHARED[name] for name in ("random_state", "class_weight")},
        "average": boolean(),
        "pocket": boolean(),
        "normalize_weights": boolean(),
        "normalize_rows": boolean(),
        "trace": (lambda v: v is False or (isinstance(v, str) and v in {"epoch", "step"}), "False, 'epoch' or 'step'"),
    }

    random_state: Any = 0
    trace: Any = False
    class_weight: Any = None
    learned_: list[Learned] = field(init=False)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y; all rows are needed at once."""
        check_parameters(self, self._constraints)
        return self._at_once(lambda: self._found(X, y, sample_weight))

    def _updates(self) -> int:
        return sum(part.updates for part in self.learned_)

    def _draw(self, X: Any, y: Any, **options: Any) -> Any:
        from discrim import plots

        traced = len(self.learned_) == 1 and self.learned_[0].trace is not None
        if not traced:
            return super()._draw(X, y, **options)
        # A line on its way can be drawn over its rows; of more columns the rows that are wrong, step by step.
        if X is None or y is None or self.n_features_in_ != 2:
            return plots.convergence(self, **{"what": "mistakes", **options})
        return plots.steps(self, X, y, **options)

    def _found(self, X: Any, y: Any, sample_weight: Any) -> Mapping[str, Any]:
        rows = self._read(X, y, sample_weight)
        if isinstance(rows, Scan):
            raise ParameterError(
                "RosenblattPerceptron needs all rows in memory: give arrays or a table, not a scan. "
                "Perceptron reads scans."
            )
        columns = self.columns_of(X, rows)
        block = in_memory(rows, first_read=True)
        refuse_one_class(block.classes)
        with columns_named(rows):
            learned = self._learned_of(block)
        _warn(learned, block.classes)
        coef, intercept = np.array([part.coef for part in learned]), np.array([part.intercept for part in learned])
        written = self._written(coef, intercept, columns["_design"].dtype)
        epochs = max(part.epochs for part in learned)
        return {**columns, **written, "classes_": block.classes, "n_iter_": epochs, "learned_": learned}

    def _learned_of(self, block: Block) -> list[Learned]:
        counts = np.bincount(block.codes, minlength=len(block.classes))
        weight = weighted(block, class_gains(self.class_weight, block.classes, counts)).weight
        x = np.asarray(block.dense(), dtype=np.float64)
        k = problem_count(block.classes)
        seeds = as_random_state(self.random_state).randint(LARGEST, size=k)
        problems = zip([1] if k == 1 else range(k), seeds.tolist(), strict=True)
        return [learn(x, np.where(block.codes == code, 1.0, -1.0), self, weight, seed) for code, seed in problems]


def learn(
    x: Floats, sign: Floats, options: PerceptronOptions, weight: Floats | None = None, seed: int | None = None
) -> Learned:
    """Learn a hyperplane for dense rows x (n x p) with ``sign`` +1 or -1 each, and weights that scale corrections.

    Cost: n p for an epoch, and p for each correction; rows are scored many at a time between two corrections.
    """
    if weight is not None:
        x, sign, weight = x[weight > 0], sign[weight > 0], weight[weight > 0]
    state = Corrections(np.asarray(x, float), np.asarray(sign, float), options, weight)
    rng = None if state.same_order else np.random.default_rng(seed)
    rows = Block(state.x, (state.sign > 0).astype(np.int32), np.array([-1, 1]))
    lanes = [Lane((0,), Permuted(lambda: [rows], rng))]
    walked = walk(Rosenblatt(), state, lanes, Stopping(options.max_iter), len(rows))
    return outcome(state, walked.epochs[0], lambda: separable(state.x, state.sign, intercept=options.fit_intercept))


def separable(x: Floats, sign: Floats, *, intercept: bool) -> bool:
    """Is there a hyperplane with every row strictly on its side? By linear programs on the rows that matter."""
    classes = np.array([-1, 1])
    if not intercept:
        # A plane through the origin separates rows if and only if it does so for all of them on one side.
        x, sign = np.vstack([sign[:, None] * x, -sign[:, None] * x]), np.repeat([1.0, -1.0], len(x))
    elif len(np.unique(sign)) < 2:
        return True
    shift = x.mean(axis=0) if intercept else np.zeros(x.shape[1])
    scale = np.sqrt(((x - shift) ** 2).mean(axis=0))
    coordinates = Coordinates(shift, np.where(scale > 0, scale, 1.0), intercept)
    return find_separation(Objective(RowPasses(open_rows(x, sign.astype(np.int64))), classes, coordinates)).complete


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
