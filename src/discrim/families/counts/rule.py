"""The rule of counts without smoothing: what small alpha tend to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from discrim.families.rule import LinearRule, Output, Rule
from discrim.typing import Floats


@dataclass(frozen=True)
class LimitRule(Rule):
    """score_k(x) = offset_k + coef_k'x among the classes with the least never_offset_k + never_k'x, and -inf elsewhere.

    The second sum counts what a row has and its class cannot have; with a ``threshold`` the indicators x_j > threshold
    stand for x.
    """

    kind = "counts without smoothing"

    coef: Floats
    offset: Floats
    never: Floats
    never_offset: Floats
    threshold: float | None = None

    @property
    def constant(self) -> Floats:
        return self.offset

    @property
    def keeps_sparse(self) -> bool:
        return True

    @property
    def both(self) -> LinearRule:
        """Both sums as one rule of 2 K scores, for one read of the rows."""
        coef, offset = np.vstack([self.coef, self.never]), np.concatenate([self.offset, self.never_offset])
        return LinearRule(coef, offset, np.zeros(coef.shape[1]), self.threshold)

    def scores(self, x: NDArray[Any]) -> Floats:
        scores = np.empty((x.shape[0], len(self.offset)))
        self.fill(x, Output.SCORES, scores)
        return scores

    def fill(self, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
        size = len(self.offset)
        both = np.empty((x.shape[0], 2 * size))
        finite = self.both.fill(x, Output.SCORES, both)
        scores, never = both[:, :size], both[:, size:]
        never[:, np.isneginf(self.offset)] = np.inf
        scores[never > never.min(axis=1, keepdims=True)] = -np.inf
        if output is Output.SCORES:
            out[:] = scores
        elif output is Output.BEST:
            out[:] = scores.argmax(axis=1)
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for by the caller
                logs = log_softmax(scores, axis=1)
            out[:] = logs if output is Output.LOG_POSTERIOR else np.exp(logs)
        return finite
