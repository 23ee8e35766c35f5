"""How well the fits of a fold predict the rows that were left out."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, softmax

from discrim.block import Block
from discrim.errors import ParameterError
from discrim.families.logistic.elastic_net_gram import Fitted
from discrim.models.logistic.regression import LogisticRegression
from discrim.typing import Floats

# Scores that need no estimator, and rows that are scored at once.
PLAIN = ("accuracy", "neg_log_loss")
CHUNK = 8192
# As scikit-learn's log_loss: probabilities are held this far from 0 and 1.
LEAST = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Judge:
    """Scores fits by ``scoring``, a name or a scikit-learn scorer, with ``parameters``, some with an entry a row.

    Where rows are groups, ``share`` is their part of successes, and ``sample_weight`` counts their trials.
    """

    scoring: Any
    parameters: Mapping[str, Any]
    of_rows: frozenset[str]
    share: Floats | None = None

    @property
    def plain(self) -> bool:
        """Does it need neither an estimator nor code of others?"""
        return isinstance(self.scoring, str)

    def weighs(self, test: NDArray[np.intp]) -> bool:
        """Is there anything to be scored in these rows, as far as their weights tell?"""
        known = (self.plain or self.share is not None) and "sample_weight" in self.of_rows
        return bool(self.parameters["sample_weight"][test].any()) if known else True

    def of(self, paths: Sequence[Sequence[Fitted]], held: Block, test: NDArray[np.intp]) -> Floats:
        """One score for every step of every path, on the rows ``held``, which are the rows ``test`` of all."""
        parameters = {name: value[test] if name in self.of_rows else value for name, value in self.parameters.items()}
        if self.share is not None:
            place, codes, counts = _outcomes(self.share[test], parameters["sample_weight"])
            offset = None if held.offset is None else held.offset[place]
            held = Block(held.x[place], codes, held.classes, offset=offset)
            rows = {name: parameters[name][place] for name in self.of_rows}
            parameters = {**parameters, **rows, "sample_weight": counts}
        if self.plain:
            weight = parameters.get("sample_weight")
            return np.stack([_plain_scores(path, held, self.scoring, weight) for path in paths])
        return np.stack([_scorer_scores(path, held, self.scoring, parameters) for path in paths])


def judge_for(scoring: Any, block: Block, share: Floats | None, parameters: Mapping[str, Any]) -> Judge:
    """The judge of a plain name or a scorer, for folds of these rows."""
    if not isinstance(scoring, str):
        _check_can_score(scoring, offset=block.offset is not None, grouped=share is not None)
    scorer = scoring if isinstance(scoring, str) else _with_labels(scoring, block.classes)
    arrays = {name: np.asarray(value) for name, value in parameters.items() if value is not None}
    of_rows = frozenset(name for name, array in arrays.items() if array.ndim and len(array) == len(block))
    kept = {name: array if name in of_rows else parameters[name] for name, array in arrays.items()}
    return Judge(scorer, kept, of_rows, share)


def _check_can_score(scorer: Any, *, offset: bool, grouped: bool) -> None:
    """A scorer sees rows and labels; offsets reach it through the predictions, trials through its weights."""
    score: Any = getattr(scorer, "_score_func", None)
    given = "trials" if grouped else "offset"
    if score is None and (offset or grouped):
        raise ParameterError(
            f"With `{given}`, the 'scoring' parameter must be a name or come from sklearn.metrics.make_scorer: a "
            f"function of model, X and y does not see the {given} of the rows."
        )
    if grouped and "sample_weight" not in inspect.signature(score).parameters:
        raise ParameterError(
            "With `trials`, the 'scoring' parameter must take sample_weight, which counts the trials; "
            f"{getattr(score, '__name__', score)!r} does not."
        )


def _outcomes(share: Floats, weight: Floats) -> tuple[NDArray[np.intp], NDArray[np.int32], Floats]:
    """Groups as failures and successes that occur: the row of each, its code and its weight."""
    both = np.concatenate([weight * (1.0 - share), weight * share])
    kept = np.flatnonzero(both)
    return kept % len(share), (kept // len(share)).astype(np.int32), both[kept]


def _plain_scores(steps: Sequence[Fitted], held: Block, scoring: str, weight: Any) -> Floats:
    """Accuracy or minus the log loss of every step on the ``held`` rows."""
    theta = np.stack([step.theta for step in steps])
    each = np.empty((len(held), len(steps)))
    for start in range(0, len(held), CHUNK):
        part = held.rows(start, min(start + CHUNK, len(held)))
        eta = np.asarray(part.x @ theta[..., 1:].reshape(-1, theta.shape[-1] - 1).T)
        eta = eta.reshape(len(part), *theta.shape[:2]) + theta[..., 0]
        if part.offset is not None:
            eta += part.offset[:, None, None]
        each[start : start + len(part)] = _right(eta, part) if scoring == "accuracy" else _log_probability(eta, part)
    return np.asarray(np.average(each, axis=0, weights=weight))


def _right(eta: Floats, part: Block) -> NDArray[np.bool_]:
    best = eta.argmax(axis=2) if eta.shape[2] > 1 else eta[..., 0] > 0
    return np.asarray(best == part.codes[:, None])


def _log_probability(eta: Floats, part: Block) -> Floats:
    if eta.shape[2] > 1:
        own = softmax(eta, axis=2)[np.arange(len(part)), :, part.codes]
    else:
        own = expit(np.where(part.codes == 1, 1.0, -1.0)[:, None] * eta[..., 0])
    return np.asarray(np.log(np.clip(own, LEAST, 1.0 - LEAST)))


def _scorer_scores(steps: Sequence[Fitted], held: Block, scorer: Any, parameters: Mapping[str, Any]) -> Floats:
    """What a scikit-learn scorer says of every step, asked one after the other.

    It asks for predictions without offsets: these are one more column, with the slope 1.
    """
    model, x, y, scores = LogisticRegression(), held.x, held.classes[held.codes], list[float]()
    model.classes_ = held.classes
    if held.offset is not None:
        known: Any = held.offset[:, None]
        x = np.hstack([x, known]) if isinstance(x, np.ndarray) else sparse.hstack([x, known], format="csr")
    for step in steps:
        slopes = step.theta[:, 1:]
        model.coef_ = slopes if held.offset is None else np.append(slopes, [[1.0]], axis=1)
        model.intercept_ = step.theta[:, 0]
        scores.append(float(scorer(model, x, y, **parameters)))
    return np.array(scores)


def _with_labels(scorer: Any, classes: NDArray[Any]) -> Any:
    """The scorer with all classes made known to it, for folds in which some are missing."""
    score = getattr(scorer, "_score_func", None)
    # The first two are the labels and the predictions, whatever their names.
    known = [] if score is None else list(inspect.signature(score).parameters)[2:]
    if "labels" not in known:
        return scorer
    from sklearn.metrics import make_scorer

    more = {"pos_label": classes[-1]} if len(classes) == 2 and "pos_label" in known else {}
    made = vars(scorer)
    return make_scorer(
        score,
        greater_is_better=made["_sign"] == 1,
        response_method=made["_response_method"],
        **{"labels": classes, **more, **made["_kwargs"]},
    )
