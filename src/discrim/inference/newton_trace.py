"""The way of Newton's method from zero to the estimate of a logistic regression."""

from __future__ import annotations

import numpy as np

from discrim.errors import DataError
from discrim.families.logistic.objective import newton
from discrim.families.online.trace import Recorder, Trace
from discrim.inference.fitted import FIRTH, Fitted
from discrim.statistics.likelihood import GRADIENT
from discrim.typing import Floats


def newton_trace(fitted: Fitted) -> Trace:
    """Iteratively reweighted least squares from coefficients of zero. Cost: two passes over the rows a step.

    ``loss`` is minus the log-likelihood, plus the L2 penalty; ``mistakes`` are not counted, -1. Coefficients of several
    classes sum to zero.
    """
    if fitted.sparse_penalty or fitted.penalty in FIRTH:
        raise DataError(
            f"The trace is that of Newton's method, which did not find this fit (penalty: {fitted.penalty})."
        )
    problem = fitted.problem("The trace")
    start = np.zeros_like(fitted.theta)
    recorder = Recorder("step", start.size)

    def add(theta: Floats) -> None:
        step = len(seen)
        seen.append(theta)
        loss = problem.at(theta, depth=GRADIENT).loss + 0.5 * float(np.sum(fitted.ridge * theta * theta))
        user = fitted.coordinates.to_user(theta)
        user = user - user.mean(axis=0) if fitted.softmax else user
        recorder.add(step, user[..., 1:], user[..., 0], loss, -1)

    seen: list[Floats] = []
    add(start)
    newton(problem, start, ridge=fitted.ridge, free=fitted.free, watch=add)
    return recorder.trace()
