"""Cross-validation over a grid of penalties: the fits of all folds, their scores, and the choice."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block
from discrim.errors import DataError, ParameterError, plural
from discrim.families.logistic.elastic_net import fold_path, path_scores
from discrim.families.logistic.elastic_net_gram import Fitted
from discrim.families.logistic.fit import PenaltyTerms, Problem
from discrim.families.recipe import OneBlock, Selection, row_losses
from discrim.models.logistic.regression import LogisticRegression
from discrim.parallel import one_blas_thread, run
from discrim.typing import Floats, Index

# Scores that need no estimator, and rows that are scored at once.
PLAIN = ("accuracy", "neg_log_loss")
CHUNK = 8192
# As scikit-learn's log_loss: probabilities are held this far from 0 and 1.
LEAST = float(np.finfo(float).eps)

Folds = list[tuple[Index, Index]]


@dataclass(frozen=True)
class PenaltyGrid:
    """``Cs`` by ``l1_ratios``; ``given`` are the l1_ratios as the user gave them, None where they were not."""

    Cs: Floats
    l1_ratios: Floats
    given: Any
    terms: tuple[tuple[PenaltyTerms, ...], ...]


@dataclass(frozen=True)
class GridResult:
    """For every fold, l1_ratio and C: ``theta`` (F x R x C x K x (1 + p), intercept first) and its score."""

    grid: PenaltyGrid
    theta: Floats
    iterations: NDArray[np.int32]
    converged: NDArray[np.bool_]
    scores: Floats
    intercept: bool
    rows: int

    def chosen(self, selection: Selection) -> tuple[int, int]:
        """The places of the l1_ratio and the C of the best mean score; of equals the first C, then the first l1_ratio.

        "one-se" takes the smallest C whose mean is within a standard error of the best, with its best l1_ratio.
        """
        mean = np.where(np.isnan(self.scores).any(axis=0), -np.inf, self.scores.mean(axis=0)).T
        c, r = np.unravel_index(int(mean.argmax()), mean.shape)
        if selection == "one-se" and len(self.scores) > 1:
            error = self.scores[:, r, c].std(ddof=1) / np.sqrt(len(self.scores))
            near = np.flatnonzero((mean >= mean[c, r] - error).any(axis=1))
            c = near[self.grid.Cs[near].argmin()]
            r = mean[c].argmax()
        return int(r), int(c)

    def start(self, r: int, c: int) -> Floats | None:
        """The mean over the folds, to begin the fit of all rows with; None where that costs more than it saves."""
        theta = self.theta[:, r, c].mean(axis=0)
        if self.rows <= theta.shape[-1]:
            return None
        return np.asarray(theta[0] if len(theta) == 1 else theta)

    def attributes(self, classes: NDArray[Any], setting: tuple[float, Any], *, legacy: bool) -> dict[str, Any]:
        """scikit-learn's attributes of a search, in their present or their older shapes.

        ``setting`` is the C and l1_ratio of the model.
        """
        C, l1_ratio = setting
        paths = self.theta[..., 1:]
        if self.intercept:
            paths = np.concatenate([paths, self.theta[..., :1]], axis=-1)
        tried = {
            "Cs_": self.grid.Cs,
            "l1_ratios_": np.asarray([None] if self.grid.given is None else self.grid.given),
        }
        if not legacy:
            more = {"C_": C, "l1_ratio_": float(l1_ratio or 0.0), "coefs_paths_": paths, "scores_": self.scores}
            return {**tried, **more, "n_iter_": self.iterations}
        labels = classes[1:] if len(classes) == 2 else classes
        # Folds x Cs x l1_ratios, without the last where no l1_ratios were given.
        place: Any = (slice(None), slice(None), 0) if self.grid.given is None else ...
        scores, iterations, paths = (np.swapaxes(each, 1, 2)[place] for each in (self.scores, self.iterations, paths))
        return {
            **tried,
            "C_": np.full(len(labels), C),
            "l1_ratio_": np.array([l1_ratio] * len(labels)),
            "coefs_paths_": {label: paths[..., k, :] for k, label in enumerate(labels)},
            "scores_": dict.fromkeys(labels, scores),
            "n_iter_": iterations[None],
        }

    def averaged(self) -> tuple[Floats, float, float]:
        """The mean over the folds of coefficients, C and l1_ratio, each fold with its own best setting."""
        shape = self.scores.shape[:0:-1]
        best = [np.unravel_index(int(scores.T.argmax()), shape)[::-1] for scores in self.scores]
        theta = np.mean([self.theta[f, r, c] for f, (r, c) in enumerate(best)], axis=0)
        C, l1_ratio = np.mean([(self.grid.Cs[c], self.grid.l1_ratios[r]) for r, c in best], axis=0)
        return theta, float(C), float(l1_ratio)


def cross_validated(block: Block, problem: Problem, grid: PenaltyGrid, folds: Folds, judge: Judge) -> GridResult:
    """All fits and their scores. Folds run side by side, each on one thread; scorers of others are asked in order."""
    _check_weights(block, folds, judge)

    def fit_fold(f: int) -> tuple[list[list[Fitted]], Floats | None]:
        train, test = folds[f]
        part = OneBlock(block.take(train))
        paths = [fold_path(part, problem, terms) for terms in grid.terms]
        return paths, judge.of(paths, block.take(test), test) if judge.plain else None

    with one_blas_thread():
        found = run(fit_fold, len(folds))
    scores = [
        score if score is not None else judge.of(paths, block.take(test), test)
        for (paths, score), (_, test) in zip(found, folds, strict=True)
    ]
    steps = [[step for path in paths for step in path] for paths, _ in found]
    shape = (len(folds), len(grid.terms), len(grid.Cs))
    theta = np.array([[step.theta for step in fold] for fold in steps])
    return GridResult(
        grid,
        theta.reshape(*shape, *theta.shape[2:]),
        np.array([[step.iterations for step in fold] for fold in steps], dtype=np.int32).reshape(shape),
        np.array([[step.converged for step in fold] for fold in steps], dtype=bool).reshape(shape),
        np.stack(scores),
        problem.intercept,
        len(block),
    )


def _check_weights(block: Block, folds: Folds, judge: Judge) -> None:
    for f, (train, test) in enumerate(folds):
        learned = block.weight is None or bool(block.weight[train].any())
        if not (learned and judge.weighs(test)):
            raise DataError(
                f"Fold {f} has no weight to {'be scored on' if learned else 'learn from'}: the weights or trials of "
                f"its {plural(len(test if learned else train), 'row')} are all zero. Use fewer or shuffled folds, or "
                "leave such rows out."
            )


def folds_of(cv: Any, block: Block, successes: Any, parameters: dict[str, Any]) -> Folds:
    """Training and test rows of each fold, as a number of folds, a splitter or a list says it.

    Rows that are groups have no class to be stratified by; a splitter sees their numbers of ``successes`` (None where
    rows are single observations).
    """
    # Takes a tenth of a second to import, and most fits do not need it.
    from sklearn.model_selection import check_cv

    y = block.classes[block.codes] if successes is None else np.asarray(successes)
    try:
        splits = list(check_cv(cv, y=y, classifier=successes is None).split(block.x, y, **parameters))
    except (TypeError, ValueError, IndexError) as error:
        raise ParameterError(f"The 'cv' parameter cannot split these {plural(len(block), 'row')}: {error}") from error
    numbers = np.arange(len(block))
    return [(numbers[train], numbers[test]) for train, test in splits]


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
        """Is there anything to be scored in these rows, as far as their weights show?"""
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
    each = np.empty((len(steps), len(held)))
    for start in range(0, len(held), CHUNK):
        part = held.rows(start, min(start + CHUNK, len(held)))
        wrong, loss = row_losses(path_scores(theta, part), part.codes)
        score = 1.0 - wrong if scoring == "accuracy" else -np.clip(loss, -np.log1p(-LEAST), -np.log(LEAST))
        each[:, start : start + len(part)] = score
    return np.asarray(np.average(each, axis=1, weights=weight))


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
