"""From class statistics and an inverse-Wishart prior to posterior matrices, their rule, and what chooses a prior.

A statistic of depth 'full' has one covariance a class, one of depth 'pooled' one for all classes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.solvers.leave_one_out import rho_of
from discrim.solvers.quadratic import ClassMatrices, low_rank_rule, projected_rule, quadratic_rule
from discrim.solvers.student import GaussianRule
from discrim.solvers.wishart import Evidence, LeftOut, Units
from discrim.statistics import ClassFactors, ClassMoments, Depth

Floats = NDArray[np.float64]
Statistic = ClassMoments | ClassFactors


class Prior(NamedTuple):
    """IW(nu, psi U)."""

    units: Units
    psi: float
    nu: float


def of_columns(statistic: Statistic, alive: NDArray[np.bool_]) -> Statistic:
    """The statistic of some of the columns."""
    if alive.all():
        return statistic
    mean = statistic.mean[:, alive]
    if isinstance(statistic, ClassFactors):
        return replace(statistic, mean=mean, factors=tuple(r[:, alive] for r in statistic.factors))
    return replace(statistic, mean=mean, scatter=statistic.scatter[..., alive, :][..., alive])


def scatter_diagonal(statistic: Statistic) -> Floats:
    """Diagonal of the pooled scatter S."""
    if isinstance(statistic, ClassFactors):
        return np.asarray(np.sum([np.einsum("ij,ij->j", r, r) for r in statistic.factors], axis=0))
    total = statistic.scatter if statistic.depth is Depth.POOLED else statistic.scatter.sum(axis=0)
    return np.diagonal(total).copy()


def posterior_matrices(statistic: Statistic, prior: Prior) -> ClassMatrices:
    """psi U + S_k of every class, or psi U + S once."""
    scatters = _scatters(statistic)
    p, root = statistic.n_features, prior.units.root
    size = len(scatters)
    mean = statistic.mean if statistic.depth is Depth.FULL else np.zeros((1, p))
    ones, ridge = np.ones(size), np.zeros((size, p))
    if root.ndim == 1:
        ridge[:] = prior.psi * np.square(root)
        if isinstance(statistic, ClassMoments):
            return ClassMatrices(mean, ones, ridge, matrices=np.stack(scatters))
        return ClassMatrices(mean, ones, ridge, rows=scatters)
    if isinstance(statistic, ClassMoments):
        return ClassMatrices(mean, ones, ridge, matrices=np.stack(scatters) + prior.psi * (root @ root.T))
    rows = tuple(np.vstack([r, np.sqrt(prior.psi) * root.T]) for r in scatters)
    return ClassMatrices(mean, ones, ridge, rows=rows)


def posterior_rule(statistic: Statistic, prior: Prior, noise: Floats, eps: float, *, reread: bool) -> GaussianRule:
    """Distances by (psi U + S_k)^-1, with -log det(psi U + S_k)/2 as offsets; one class where S is pooled.

    Raises SingularError. Cost K p^3 / 3; with more columns than rows K n^2 p, and nothing p x p unless U is.
    """
    parts = posterior_matrices(statistic, prior)
    present = np.where(statistic.weight > 0, 0.0, -np.inf) if statistic.depth is Depth.FULL else np.zeros(1)
    wide = isinstance(statistic, ClassFactors) and statistic.rows.sum() <= statistic.n_features
    if wide and parts.ridge.any():
        assert isinstance(statistic, ClassFactors)
        if prior.units.even:
            return projected_rule(statistic, parts, present, statistic.n_features)
        return low_rank_rule(parts, present, shared_null=False)
    return quadratic_rule(parts, present, noise, eps, 0.0, reread=reread)


def evidence_of(statistic: Statistic, units: Units) -> Evidence:
    """The evidence as a function of psi and nu. Cost K p^3, or K n^2 p from factors."""
    degrees, present = _degrees(statistic)
    scatters = [s for s, kept in zip(_scatters(statistic), present, strict=True) if kept]
    if isinstance(statistic, ClassMoments):
        values = tuple(np.maximum(np.linalg.eigvalsh(units.matrix(s)), 0.0) for s in scatters)
    else:
        values = tuple(np.linalg.svd(units.rows(r), compute_uv=False) ** 2 for r in scatters)
    return Evidence(values, degrees, statistic.weight, statistic.n_features, units.log_det)


def left_out(z: Floats, codes: NDArray[np.int32], statistic: Statistic, units: Units) -> LeftOut:
    """The leave-one-out density as a function of psi and nu; ``z`` are the rows in the units of the prior.

    Cost n p^2 + K p^3, or K n_k^2 p for classes of fewer rows than columns.
    """
    degrees, _ = _degrees(statistic)
    d = z - units.rows(statistic.mean)[codes]
    rho = rho_of(statistic.weight)[codes]
    full = statistic.depth is Depth.FULL
    members = [codes == k for k in np.flatnonzero(statistic.weight > 0)] if full else [np.ones(len(codes), bool)]
    values, squares, logs = [], [], []
    for member in members:
        spectrum, along = _principal(d[member])
        several = rho[member] > 0
        values.append(spectrum)
        squares.append(np.square(along[several]) * rho[member][several, None])
        logs.append(np.log(rho[member][several]))
    return LeftOut(tuple(values), tuple(squares), tuple(logs), degrees, z.shape[1], units.log_det)


def _principal(d: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues of d'd and the coordinates of the rows along its eigenvectors; those that are zero left out."""
    if len(d) > d.shape[1]:
        values, vectors = np.linalg.eigh(d.T @ d)
        return np.maximum(values, 0.0), d @ vectors
    values, left = np.linalg.eigh(d @ d.T)
    keep = values > 1e-13 * max(float(values[-1]), 0.0)
    return values[keep], left[:, keep] * np.sqrt(values[keep])


def _degrees(statistic: Statistic) -> tuple[Floats, NDArray[np.bool_]]:
    """n_k - 1 of the classes that are there, or n - K; and which scatters these are of."""
    present = statistic.weight > 0
    each = (statistic.weight - 1.0)[present]
    if statistic.depth is Depth.FULL:
        return each, present
    return np.array([each.sum()]), np.ones(1, bool)


def _scatters(statistic: Statistic) -> tuple[Floats, ...]:
    """S_k, or S; as matrices or as rows."""
    if isinstance(statistic, ClassFactors):
        return statistic.factors
    return tuple(statistic.scatter) if statistic.depth is Depth.FULL else (statistic.scatter,)
