"""From class statistics and an inverse-Wishart prior to posterior matrices, their rule, and what chooses a prior.

A statistic of depth 'full' has one covariance a class, one of depth 'pooled' one for all classes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.families.bayesian.wishart import ClassUnits, Evidence, LeftOut, Units
from discrim.families.gaussian.leave_one_out import rho_of
from discrim.families.gaussian.quadratic import ClassMatrices, low_rank_rule, projected_rule, quadratic_rule
from discrim.families.gaussian.student import GaussianRule
from discrim.statistics import ClassFactors, ClassMoments, Depth
from discrim.typing import Floats

Statistic = ClassMoments | ClassFactors
# A class has variances of its own if it still has some when a row is left out.
OWN_ROWS = 3


class Prior(NamedTuple):
    """IW(nu, psi U), or IW(nu, psi U_k) for every class."""

    units: Units | ClassUnits
    psi: float
    nu: float


def of_columns(statistic: Statistic, alive: NDArray[np.bool_]) -> Statistic:
    """The statistic of some of the columns."""
    if alive.all():
        return statistic
    mean, low = statistic.mean[:, alive], None if statistic.low is None else statistic.low[:, alive]
    if isinstance(statistic, ClassFactors):
        return replace(statistic, mean=mean, low=low, factors=tuple(r[:, alive] for r in statistic.factors))
    return replace(statistic, mean=mean, low=low, scatter=statistic.scatter[..., alive, :][..., alive])


def scatter_diagonal(statistic: Statistic) -> Floats:
    """Diagonal of the pooled scatter S."""
    if isinstance(statistic, ClassFactors):
        return np.asarray(np.sum([np.einsum("ij,ij->j", r, r) for r in statistic.factors], axis=0))
    total = statistic.scatter if statistic.depth is Depth.POOLED else statistic.scatter.sum(axis=0)
    return np.diagonal(total).copy()


def class_variances(statistic: Statistic) -> Floats:
    """S_k,jj / n_k of every class, K x p; zero for a class of fewer than OWN_ROWS. The statistic must be full."""
    if isinstance(statistic, ClassFactors):
        sums = np.stack([np.einsum("ij,ij->j", r, r) for r in statistic.factors])
    else:
        sums = np.maximum(np.diagonal(statistic.scatter, axis1=1, axis2=2), 0.0)
    weight = statistic.weight[:, None]
    return np.where(weight >= OWN_ROWS, sums / np.maximum(weight, 1.0), 0.0)


def posterior_matrices(statistic: Statistic, prior: Prior) -> ClassMatrices:
    """psi U + S_k of every class, or psi U + S once."""
    scatters = _scatters(statistic)
    p, size = statistic.n_features, len(scatters)
    root = prior.units.roots if isinstance(prior.units, ClassUnits) else prior.units.root
    mean = statistic.mean if statistic.depth is Depth.FULL else np.zeros((1, p))
    ones, ridge = np.ones(size), np.zeros((size, p))
    if root.ndim == 1 or isinstance(prior.units, ClassUnits):
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
        if isinstance(prior.units, Units) and prior.units.even:
            return projected_rule(statistic, parts, present, statistic.n_features)
        return low_rank_rule(parts, present, shared_null=False)
    return quadratic_rule(parts, present, noise, eps, 0.0, reread=reread)


def evidence_of(statistic: Statistic, units: Units | ClassUnits) -> Evidence:
    """The evidence as a function of psi and nu. Cost K p^3, or K n^2 p from factors."""
    degrees, present = _degrees(statistic)
    scatters, kept = _scatters(statistic), np.flatnonzero(present)
    own = [units.of_class(k) for k in kept.tolist()]
    if isinstance(statistic, ClassMoments):
        spectra = (np.linalg.eigvalsh(u.matrix(scatters[k])) for k, u in zip(kept, own, strict=True))
        values = tuple(np.maximum(spectrum, 0.0) for spectrum in spectra)
    else:
        rows = (u.rows(scatters[k]) for k, u in zip(kept, own, strict=True))
        values = tuple(np.linalg.svd(r, compute_uv=False) ** 2 for r in rows)
    volumes = np.array([u.log_det for u in own])
    return Evidence(values, degrees, statistic.weight, statistic.n_features, volumes)


def left_out(x: Floats, codes: NDArray[np.int32], statistic: Statistic, units: Units | ClassUnits) -> LeftOut:
    """The leave-one-out density of the rows ``x`` as a function of psi and nu.

    The units stay those of all rows. Cost n p^2 + K p^3, or K n_k^2 p for classes of fewer rows than columns.
    """
    degrees, _ = _degrees(statistic)
    d = x - statistic.mean[codes]
    rho = rho_of(statistic.weight)[codes]
    full = statistic.depth is Depth.FULL
    values, squares, logs, volumes = [], [], [], []
    for k in np.flatnonzero(statistic.weight > 0).tolist() if full else [0]:
        member, own = codes == k if full else np.ones(len(codes), bool), units.of_class(k)
        spectrum, along = _principal(own.rows(d[member]))
        volumes.append(own.log_det)
        several = rho[member] > 0
        values.append(spectrum)
        squares.append(np.square(along[several]) * rho[member][several, None])
        logs.append(np.log(rho[member][several]))
    return LeftOut(tuple(values), tuple(squares), tuple(logs), degrees, x.shape[1], np.array(volumes))


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
