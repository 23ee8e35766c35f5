"""Is there anything to learn? The error under shuffled labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discrim.engines.progress import Progress
from discrim.errors import ParameterError
from discrim.evaluation.cross_validation import CrossValidation, trial_of
from discrim.statistics.folds import fold_numbers
from discrim.typing import Floats, Index


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """The cross-validated ``observed`` loss, those of shuffled labels, and the share of these that is no larger.

    ``p_value`` counts the labels as they are among the shuffles, (1 + #{shuffled <= observed}) / (1 + shuffles), so
    that it is valid for any number of them.
    """

    observed: float
    shuffled: Floats
    p_value: float
    criterion: str

    def __repr__(self) -> str:
        return (
            f"PermutationTest({self.criterion} {self.observed:.4g}; {len(self.shuffled)} shuffles have "
            f"{self.shuffled.mean():.4g} on average, p = {self.p_value:.4g})"
        )


def permutation_test(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = 10,
    shuffles: int = 199,
    criterion: str = "error",
    random_state: int = 0,
) -> PermutationTest:
    """Cross-validate with the labels as they are, and with labels that are shuffled among the rows.

    One-pass models need two reads of the rows in memory a shuffle, since folds are merged instead of refitted; any
    other classifier is refitted. ``criterion`` is 'error' or 'log_loss'.
    """
    if criterion not in {"error", "log_loss"}:
        raise ParameterError.bad_value("criterion", criterion, "'error' or 'log_loss'")
    if not isinstance(shuffles, (int, np.integer)) or shuffles < 1:
        raise ParameterError.bad_value("shuffles", shuffles, "an integer of at least 1")
    trial = trial_of(model, X, y)
    codes, rng = trial.block.codes, np.random.default_rng(random_state)

    def loss(order: Index | slice) -> float:
        """With the labels in this order."""
        shuffled = replace(trial, block=replace(trial.block, codes=codes[order]))
        folds = fold_numbers(cv, shuffled.block.codes)
        return float(getattr(CrossValidation.of(shuffled.block, folds, shuffled.run(folds)), criterion))

    observed, found = loss(slice(None)), np.empty(int(shuffles))
    with Progress("shuffling", len(found), "shuffles") as progress:
        for b in range(len(found)):
            found[b] = loss(rng.permutation(len(codes)))
            progress.add(1)
    # Losses that are equal but for rounding are ties.
    no_larger = int((found <= observed + 1e-12 * abs(observed)).sum())
    return PermutationTest(observed, found, (1 + no_larger) / (1 + len(found)), criterion)
