"""Empirical risk: the mean of a loss over rows, on those that were learned from and on new ones side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError, name_list
from discrim.losses import LOSSES, find_loss
from discrim.sources import check_weights, recode
from discrim.typing import Floats

ANSWERS = {"labels": "predict", "scores": "decision_function", "probabilities": "predict_proba"}
NAMED = ("error", "log_loss", *LOSSES)


class MeanLoss(NamedTuple):
    """The mean of a loss, its standard error, and the number of rows."""

    mean: float
    std_error: float
    rows: int


@dataclass(frozen=True)
class EmpiricalRisk:
    """Mean losses of one model on rows ``train`` and ``test``; the latter is None without test rows."""

    loss: str
    train: MeanLoss
    test: MeanLoss | None

    @property
    def optimism(self) -> float:
        """Test minus train: what the training rows promise too much. NaN without test rows."""
        return float("nan") if self.test is None else self.test.mean - self.train.mean

    def __str__(self) -> str:
        parts = [("train", self.train)] + ([] if self.test is None else [("test", self.test)])
        lines = [f"{'':5}  {'risk':>9}  {'std. error':>10}  {'rows':>8}"]
        lines += [f"{name:5}  {part.mean:9.4f}  {part.std_error:10.4f}  {part.rows:8,}" for name, part in parts]
        return "\n".join([f"Empirical risk, loss: {self.loss}", *lines])

    __repr__ = __str__


def empirical_risk(
    model: Any,
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    loss: Any = "error",
    of: str = "labels",
    sample_weight: Any = None,
) -> EmpiricalRisk:
    """The mean loss of a fitted classifier on the rows (X, y), and on test rows beside it.

    ``loss`` is "error" (0/1), "log_loss" (-log of the posterior of the row's own class), the name of a loss of scores
    ("hinge", "log", "squared", "perceptron", ...; for two classes), a K x K matrix of costs (rows: true class, columns:
    answer), or a function ``loss(y, answer)`` that gives a number for each row. Its answers are what ``of`` says:
    "labels", "scores" (``decision_function``) or "probabilities" (``predict_proba``); y are the labels as given.
    Weights are those of (X, y).

    Cost: one prediction of all rows.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> from discrim.evaluation import empirical_risk
    >>> X, y = datasets.load_iris().xy
    >>> model = LinearDiscriminantAnalysis().fit(X[::2], y[::2])
    >>> risk = empirical_risk(model, X[::2], y[::2], X[1::2], y[1::2])
    >>> round(risk.train.mean, 4), round(risk.test.mean, 4)
    (0.0267, 0.04)
    """
    if (X_test is None) != (y_test is None):
        raise ParameterError("X_test and y_test belong together: give both, or neither.")
    if of not in ANSWERS:
        raise ParameterError.bad_value("of", of, f"one of {name_list(list(ANSWERS))}")
    if of != "labels" and not callable(loss):
        raise ParameterError(f"of='{of}' says what a function 'loss' is given; loss={loss!r} knows that by itself.")
    each, name = _loss_of(model, loss, ANSWERS[of])
    train = _mean(each(X, y), sample_weight)
    return EmpiricalRisk(name, train, None if X_test is None else _mean(each(X_test, y_test), None))


def _mean(losses: Floats, sample_weight: Any) -> MeanLoss:
    given = check_weights(sample_weight, len(losses))
    weight = np.ones(len(losses)) if given is None else np.asarray(given, dtype=np.float64)
    share = weight / weight.sum()
    mean = float(share @ losses)
    spread = float(np.sqrt(share**2 @ (losses - mean) ** 2))
    # Equal weights give the usual standard error, with the divisor n - 1.
    n = float(1.0 / (share @ share))
    return MeanLoss(mean, float(spread * np.sqrt(n / (n - 1.0))) if n > 1 else float("nan"), len(losses))


def _loss_of(model: Any, loss: Any, method: str) -> tuple[Callable[[Any, Any], Floats], str]:
    """A function of rows and labels that gives the loss of each, and its name."""
    classes: NDArray[Any] = np.asarray(model.classes_)
    if callable(loss):
        answers = getattr(model, method, None)
        if answers is None:
            raise DataError(f"{type(model).__name__} has no {method}, which a loss of this kind is computed from.")
        return lambda X, y: _checked(loss(np.asarray(y), answers(X)), len(y)), getattr(loss, "__name__", "given")
    if not isinstance(loss, str):
        cost = _cost_matrix(loss, classes)
        return lambda X, y: cost[recode(y, classes), recode(model.predict(X), classes)], "costs"
    if loss == "error":
        return lambda X, y: (np.asarray(model.predict(X)) != np.asarray(y)).astype(np.float64), "error"
    if loss == "log_loss":
        return lambda X, y: -np.asarray(model.predict_log_proba(X))[np.arange(len(y)), recode(y, classes)], "log loss"
    if loss not in LOSSES:
        raise ParameterError.bad_value(
            "loss", loss, f"one of {name_list(NAMED, most=len(NAMED))}, a matrix, a function"
        )
    if len(classes) != 2:
        raise DataError(f"The loss '{loss}' is of the score of two classes; the model has {len(classes)}.")
    found = find_loss(loss)
    target = np.array(found.targets)
    return lambda X, y: found.value(np.asarray(model.decision_function(X)), target[recode(y, classes)]), loss


def _cost_matrix(loss: Any, classes: NDArray[Any]) -> Floats:
    cost = np.asarray(loss, dtype=np.float64)
    if cost.shape != (len(classes), len(classes)) or not np.isfinite(cost).all():
        size = len(classes)
        raise ParameterError.bad_value("loss", f"of shape {cost.shape}", f"{size} x {size} finite costs")
    return cost


def _checked(losses: Any, rows: int) -> Floats:
    try:
        found = np.asarray(losses, dtype=np.float64)
    except (TypeError, ValueError):
        got = f"a function whose values are no numbers, such as {losses!r:.40}"
        raise ParameterError(f"loss is {got}; give one with {rows} numbers as values.") from None
    if found.shape != (rows,):
        raise ParameterError.bad_value("loss", f"a function with values of shape {found.shape}", f"{rows} numbers")
    missing = int(np.isnan(found).sum())
    if missing:
        got = f"a function that gives NaN for {missing} of {rows} rows"
        raise ParameterError(f"loss is {got}; give one with a number for every row.")
    return found
