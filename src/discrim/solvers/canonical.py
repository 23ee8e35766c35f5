"""Canonical directions: where the sphered centroids spread most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discrim.solvers.rules import LinearRule
from discrim.solvers.sphering import Sphering
from discrim.typing import Floats


@dataclass(frozen=True)
class Canonical:
    """The discriminant coordinates (x - origin)'scalings, most telling first.

    ``eigenvalues`` are those of W^-1 B with B = sum_k n_k (mu_k - mu)(mu_k - mu)' / divisor and
    W = Sigma; ``coordinates`` are the centroids in these coordinates (K x L).
    """

    origin: Floats
    scalings: Floats
    eigenvalues: Floats
    coordinates: Floats

    @property
    def explained(self) -> Floats:
        """Share of the between-class variance along each direction."""
        total = self.eigenvalues.sum()
        return self.eigenvalues / total if total > 0 else np.zeros_like(self.eigenvalues)


def canonical_directions(sphering: Sphering, mean: Floats, priors: Floats, weight: float) -> Canonical:
    """SVD of the centroids, sphered and weighted by the priors: B is a sum of squares throughout.

    Cost: p^2 K for the sphering and p K^2 for the SVD.
    """
    classes, p = mean.shape
    origin = priors @ mean
    centred = (mean - origin).T
    sphered = sphering.forward(centred)
    spread = np.sqrt(weight * priors / max(classes - 1, 1))
    left, values, _ = np.linalg.svd(sphered * spread, full_matrices=False)
    most = min(classes - 1, p, sphering.rank)
    # Centroids that differ by the rounding of their means only are equal.
    rounding = sphering.forward(8.0 * np.finfo(float).eps * np.abs(mean).max(axis=0)[:, None])
    values[values <= np.linalg.norm(rounding) * spread.max()] = 0.0
    kept = int((values[:most] > 1e-10 * values[:1].max(initial=0.0)).sum())
    scalings = sphering.backward(left[:, :kept])
    signs = _signs(scalings)
    eigenvalues = np.zeros(min(classes - 1, p))
    eigenvalues[: min(most, len(values))] = values[:most] ** 2
    coordinates = (left[:, :kept].T @ sphered).T * signs
    return Canonical(origin, scalings * signs, eigenvalues, coordinates)


def full_rule(sphering: Sphering, mean: Floats, log_priors: Floats, origin: Floats) -> LinearRule:
    """The Bayes rule: d_k'Sigma^-1 (x - mu) - d_k'Sigma^-1 d_k / 2 + log pi_k with d_k = mu_k - mu."""
    sphered = sphering.forward((mean - origin).T)
    coef = sphering.backward(sphered).T
    offset = log_priors - 0.5 * np.einsum("ik,ik->k", sphered, sphered)
    return LinearRule(np.ascontiguousarray(coef), offset, origin)


def uncentred(rule: LinearRule, sphering: Sphering) -> LinearRule:
    """The same rule with x'Sigma^-1 mu - mu'Sigma^-1 mu / 2 added to every score, so that coef_k = Sigma^-1 mu_k."""
    sphered = sphering.forward(rule.origin[:, None])
    added = sphering.backward(sphered)[:, 0]
    return LinearRule(rule.coef + added, rule.offset + 0.5 * float((sphered**2).sum()), rule.origin)


def reduced_rule(canonical: Canonical, log_priors: Floats, rank: int) -> LinearRule:
    """The same rule in the first ``rank`` discriminant coordinates only."""
    at = canonical.coordinates[:, :rank]
    coef = at @ canonical.scalings[:, :rank].T
    offset = log_priors - 0.5 * np.einsum("kl,kl->k", at, at)
    return LinearRule(np.ascontiguousarray(coef), offset, canonical.origin)


def _signs(scalings: Floats) -> Floats:
    """Each direction is turned so that its largest loading is positive: the same data, the same signs."""
    if not scalings.size:
        return np.ones(scalings.shape[1])
    largest = np.abs(scalings).argmax(axis=0)
    signs = np.sign(scalings[largest, np.arange(scalings.shape[1])])
    return np.asarray(np.where(signs == 0, 1.0, signs))
