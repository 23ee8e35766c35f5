"""Probabilities of levels from their counts, with Dirichlet's prior."""

from __future__ import annotations

import numpy as np

from discrim.typing import Floats

# Where the prior's strength is looked for, as logarithms.
_RANGE = np.linspace(np.log(1e-3), np.log(1e6), 73)


def log_probabilities(count: Floats, alpha: float) -> Floats:
    """log (N_kl + alpha) / (N_k + alpha L) of counts K x L; alike for all levels where there is nothing to go by."""
    smoothed = count + alpha
    total = smoothed.sum(axis=1, keepdims=True)
    size = max(count.shape[1], 1)
    with np.errstate(divide="ignore"):
        return np.where(total > 0, np.log(smoothed) - np.log(np.where(total > 0, total, 1.0)), -np.log(size))


def log_unseen(count: Floats, alpha: float) -> Floats:
    """What a level that no row had is given in each class: log alpha / (N_k + alpha L); zeros with alpha = 0."""
    if alpha == 0:
        return np.zeros(len(count))
    return np.asarray(np.log(alpha) - np.log(count.sum(axis=1) + alpha * max(count.shape[1], 1)))


def leave_one_out_alpha(count: Floats) -> float:
    """The alpha under which each row is likeliest, in its class, given all others.

    Without one of the N_kl rows its probability is (N_kl - 1 + alpha) / (N_k - 1 + alpha L): the sum over the rows of
    its logarithm needs the counts alone. The maximum is found on a grid of 1e-3 to 1e6 and refined. A single
    level has nothing to choose. Weights count as numbers of rows.
    """
    if count.shape[1] < 2 or not count.any():
        return 1.0

    def loss(log_alpha: float) -> float:
        alpha = np.exp(log_alpha)
        left = np.maximum(count - 1.0, 0.0)
        others = np.maximum(count.sum(axis=1, keepdims=True) - 1.0, 0.0)
        return -float((count * (np.log(left + alpha) - np.log(others + alpha * count.shape[1]))).sum())

    losses = [loss(log_alpha) for log_alpha in _RANGE]
    best = int(np.argmin(losses))
    if best in (0, len(_RANGE) - 1):
        return float(np.exp(_RANGE[best]))
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        loss, bounds=(_RANGE[best - 1], _RANGE[best + 1]), method="bounded", options={"xatol": 1e-9}
    )
    return float(np.exp(found.x))
