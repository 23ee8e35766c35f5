"""One probability a class from the probabilities of all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.typing import Floats

# Probabilities of pairs are kept this far from 0 and 1: certain pairs can contradict each other in a circle.
LEAST = 1e-10
# Numbers of the systems that are solved at once.
BATCH = 1 << 20
MOST_STEPS = 1000


def couple(pairs: Floats, method: str, weight: Floats) -> Floats:
    """Probabilities n x K from ``pairs`` n x K x K, where r_ij is that of class i among i and j, r_ji = 1 - r_ij.

    'wu-lin-weng': p minimises sum_(i<j) (r_ji p_i - r_ij p_j)^2 with sum p = 1 (their second method): one linear
    system a row. 'hastie-tibshirani': p makes p_i / (p_i + p_j) closest to r_ij in mean Kullback-Leibler distance,
    the pairs weighed by n_ij = n_i + n_j of the class weights: rescaled in turn until it stands still.
    """
    r = np.clip(pairs, LEAST, 1.0 - LEAST)
    k = r.shape[1]
    r[:, np.arange(k), np.arange(k)] = 0.0
    step = max(BATCH // (k + 1) ** 2, 1)
    parts = [r[start : start + step] for start in range(0, len(r), step)]
    if method == "wu-lin-weng":
        return np.concatenate([_least_squares(part) for part in parts])
    return np.concatenate([_rescaled(part, weight) for part in parts])


def pair_matrix(positive: Floats, classes: int) -> Floats:
    """r, n x K x K, from the probabilities of the second class of each pair (0, 1), (0, 2), ..., (1, 2), ...."""
    i, j = np.triu_indices(classes, 1)
    r = np.zeros((len(positive), classes, classes))
    r[:, j, i], r[:, i, j] = positive, 1.0 - positive
    return r


def _least_squares(r: Floats) -> Floats:
    """Q p + b = 0, sum p = 1 with Q_ii = sum_j r_ji^2 and Q_ij = -r_ij r_ji."""
    n, k, _ = r.shape
    system = np.ones((n, k + 1, k + 1))
    system[:, :k, :k] = -r * r.transpose(0, 2, 1)
    system[:, np.arange(k), np.arange(k)] = np.einsum("nji,nji->ni", r, r)
    system[:, k, k] = 0.0
    right: NDArray[Any] = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :k, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _rescaled(r: Floats, weight: Floats) -> Floats:
    pair_weight = weight[:, None] + weight[None, :]
    np.fill_diagonal(pair_weight, 0.0)
    wins = np.einsum("ij,nij->ni", pair_weight, r)
    p = wins / wins.sum(axis=1, keepdims=True)
    for _ in range(MOST_STEPS):
        # A pair of vanishing probabilities shares as it did.
        sums = np.maximum(p[:, :, None] + p[:, None, :], np.finfo(float).tiny)
        new = wins / np.einsum("ij,nij->ni", pair_weight, 1.0 / sums)
        new /= new.sum(axis=1, keepdims=True)
        moved = np.abs(new - p).max()
        p = new
        if moved < 1e-12:
            break
    return np.asarray(p)
