"""Curves of a comparison's out-of-fold predictions: what its report and its ``plot`` draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discrim.comparison.metrics import binary_score
from discrim.errors import DataError, ParameterError
from discrim.evaluation.curves import ROC, roc
from discrim.evaluation.probability_scores import Calibration, calibration
from discrim.evaluation.retrieval import PrecisionRecall, precision_recall
from discrim.typing import Floats

if TYPE_CHECKING:
    from discrim.comparison.result import Comparison


def plotted(found: Comparison, what: Any, options: dict[str, Any]) -> Any:
    """The picture of this name, with its options."""
    from discrim import plots

    draw: dict[str, Callable[[], Any]] = {
        "errors": lambda: plots.compared(found, **options),
        "roc": lambda: plots.roc(roc_curves(found), **options),
        "precision_recall": lambda: plots.precision_recall(precision_curves(found), **options),
        "calibration": lambda: plots.calibration(calibration_of(found), **options),
        "confusion": lambda: found[found.chosen].plot(**options),
    }
    if not isinstance(what, str) or what not in draw:
        raise ParameterError.bad_value("what", what, f"one of {', '.join(map(repr, draw))}")
    return draw[what]()


def roc_curves(found: Comparison) -> dict[str, ROC]:
    """Of two classes a curve for each model, the chosen one first; of more, of the chosen one for each class."""
    return {name: roc(truth, score, positive=True) for name, (truth, score) in _scored(found).items()}


def precision_curves(found: Comparison) -> dict[str, PrecisionRecall]:
    """As ``roc_curves``."""
    return {name: precision_recall(truth, score, positive=True) for name, (truth, score) in _scored(found).items()}


def calibration_of(found: Comparison) -> Calibration:
    """Of the chosen model: the class of interest of two, or all classes together."""
    codes, posterior = found.codes[found.held_out], np.clip(_posterior(found), 0.0, 1.0)
    if len(found.classes) == 2:
        k = found.of_interest
        return calibration(codes == k, posterior[:, k], positive=True, bins=10, strategy="quantile")
    happened = codes[:, None] == np.arange(len(found.classes))
    return calibration(happened.ravel(), posterior.ravel(), positive=True, bins=10)


def _scored(found: Comparison) -> dict[str, tuple[NDArray[np.bool_], Floats]]:
    """Which rows are positive, and their scores, by model or by class."""
    rows, codes = found.held_out, found.codes[found.held_out]
    if len(found.classes) > 2:
        posterior = _posterior(found)
        return {str(label): (codes == k, posterior[:, k]) for k, label in enumerate(found.classes)}
    k, done = found.of_interest, [row.name for row in found.rows if row.done and row.name != found.chosen]
    scores = {name: binary_score(found.trials[name], k) for name in [found.chosen, *done]}
    return {name: (codes == k, score[rows]) for name, score in scores.items() if score is not None}


def _posterior(found: Comparison) -> Floats:
    if not found.trials[found.chosen].has_posterior:
        raise DataError(f"{found.chosen}, which was chosen, has no probabilities, which this picture needs.")
    return found[found.chosen].posterior[found.held_out]
