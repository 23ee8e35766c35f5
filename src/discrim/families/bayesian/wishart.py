"""The inverse-Wishart prior of covariance matrices: its units, its evidence, its leave-one-out density.

    Sigma ~ IW(nu, Psi), density |Sigma|^(-(nu + p + 1)/2) exp(-tr(Psi Sigma^-1)/2), proper for nu > p - 1;
    mu_k flat.

A scatter matrix S with m degrees of freedom (n_k - 1 for one class, n - K for K classes that share Sigma) makes
of it IW(nu + m, Psi + S). In units in which Psi = psi I, the eigenvalues of S say everything about every psi.

A statistic of depth 'full' has one covariance a class, one of depth 'pooled' one for all classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import digamma, gammaln

from discrim.families.gaussian.covariance import EPS, Within, each_within
from discrim.families.gaussian.leave_one_out import rho_of
from discrim.families.gaussian.quadratic import ClassMatrices
from discrim.families.gaussian.recipe import Statistic
from discrim.statistics import ClassFactors, Depth
from discrim.typing import Codes, Floats, Mask


@dataclass(frozen=True)
class Units:
    """Psi = psi U with U = diag(root^2) (``root`` is p numbers), or U = root root' (lower triangle)."""

    root: Floats

    @property
    def log_det(self) -> float:
        diagonal = self.root if self.root.ndim == 1 else np.diagonal(self.root)
        return 2.0 * float(np.log(diagonal).sum())

    def of_class(self, k: int) -> Units:  # noqa: ARG002 - the same for all
        return self

    def rows(self, x: Floats) -> Floats:
        """Rows in these units: those with the scatter S get U^-1/2 S U^-T/2."""
        if self.root.ndim == 1:
            return np.asarray(x / self.root)
        return np.asarray(solve_triangular(self.root, x.T, lower=True, check_finite=False).T)


@dataclass(frozen=True)
class ClassUnits:
    """Psi_k = psi U_k with U_k = diag(roots[k]^2): every class has its own scale."""

    roots: Floats

    def of_class(self, k: int) -> Units:
        return Units(self.roots[k])


class Prior(NamedTuple):
    """IW(nu, psi U), or IW(nu, psi U_k) for every class."""

    units: Units | ClassUnits
    psi: float
    nu: float


@dataclass(frozen=True)
class _OfSpectra:
    """What both criteria know of the rows: how well a prior (psi, nu) fits them, and its slopes along log psi and nu.

    ``values[g]`` are the eigenvalues of S_g, of m = ``degrees[g]``, in the units of Psi; any further ones are zero.
    ``log_volume`` are the log det U of every S_g.
    """

    values: tuple[Floats, ...]
    degrees: Floats
    n_columns: int
    log_volume: Floats

    @property
    def scale(self) -> float:
        """The mean variance of the columns, in the units of the prior."""
        total = float(self.degrees.sum()) * self.n_columns
        return float(sum(v.sum() for v in self.values)) / total if total > 0 else 0.0


@dataclass(frozen=True)
class Evidence(_OfSpectra):
    """The log marginal likelihood of all rows, as a function of psi and nu.

        sum_g log [pi^(-m p/2) |Psi|^(nu/2) / |Psi + S_g|^((nu + m)/2) Gamma_p((nu + m)/2) / Gamma_p(nu/2)]
            - p/2 sum_k log n_k,

    with ``weight`` n_k. The flat means count as densities of one. Along log psi it rises, then falls: its slope
    decreases. O(p) for each psi.
    """

    weight: Floats

    def bounded(self) -> Evidence:
        """The same where it has a maximum.

        Repeated or weighted rows, and columns that determine each other, give a scatter of fewer dimensions than
        degrees of freedom. No density explains it better than one that shrinks to those dimensions, and the evidence
        grows without bound for psi -> 0. Such a scatter counts as so many rows as it has dimensions.
        """
        p, values, degrees = self.n_columns, list(self.values), self.degrees.copy()
        for g, spectrum in enumerate(self.values):
            rank = np.count_nonzero(spectrum > 1e-13 * p * spectrum.max(initial=0.0))
            if 0 < rank < min(p, degrees[g]):
                values[g], degrees[g] = spectrum * (rank / degrees[g]), rank
        return replace(self, values=tuple(values), degrees=degrees)

    def value(self, psi: float, nu: float) -> float:
        p, m = self.n_columns, self.degrees
        grown = np.array([np.log1p(values / psi).sum() for values in self.values])
        each = -0.5 * m * (p * np.log(np.pi * psi) + self.log_volume) - 0.5 * (nu + m) * grown
        each += _gamma_terms(gammaln, nu, m, p)
        return float(each.sum() - 0.5 * p * np.log(self.weight[self.weight > 0]).sum())

    def along_psi(self, psi: float, nu: float) -> float:
        shares = np.array([(values / (values + psi)).sum() for values in self.values])
        return 0.5 * float(((nu + self.degrees) * shares - self.degrees * self.n_columns).sum())

    def along_nu(self, psi: float, nu: float) -> float:
        grown = np.array([np.log1p(values / psi).sum() for values in self.values])
        return 0.5 * float((_gamma_terms(digamma, nu, self.degrees, self.n_columns) - grown).sum())


@dataclass(frozen=True)
class LeftOut(_OfSpectra):
    """The sum over the rows of log f(x_i | all other rows), f the predictive density of the row's own class.

    With A = Psi + S, E = d'A^-1 d, d = x - mu_k and rho = n_k/(n_k - 1), leaving x out turns A into A - rho dd'
    and d into rho d, and nearly everything cancels:

        log f = log Gamma((nu + m)/2) - log Gamma((nu + m - p)/2) - p/2 log(pi rho) - log|A|/2
                + (nu + m - 1)/2 log(1 - rho E).

    ``squares[g]`` (rows x r_g) are the squared coordinates of d along the eigenvectors of S_g, times rho.
    O(n p) for each psi. Rows that are alone in their class have no such density and are left out.
    """

    squares: tuple[Floats, ...]
    log_rho: tuple[Floats, ...]

    def value(self, psi: float, nu: float) -> float:
        p, total = self.n_columns, 0.0
        for (values, squares, log_rho, m), log_volume in zip(self._groups(), self.log_volume, strict=True):
            log_det = p * np.log(psi) + np.log1p(values / psi).sum() + log_volume
            constant = gammaln((nu + m) / 2) - gammaln((nu + m - p) / 2) - 0.5 * (p * np.log(np.pi) + log_det)
            total += len(squares) * constant - 0.5 * p * log_rho.sum()
            total += 0.5 * (nu + m - 1) * np.log(_left(squares, values, psi)).sum()
        return float(total)

    def along_psi(self, psi: float, nu: float) -> float:
        total = 0.0
        for values, squares, _, m in self._groups():
            total -= 0.5 * len(squares) * (self.n_columns - (values / (values + psi)).sum())
            gain = squares @ (psi / np.square(values + psi)) / _left(squares, values, psi)
            total += 0.5 * (nu + m - 1) * gain.sum()
        return float(total)

    def along_nu(self, psi: float, nu: float) -> float:
        total = 0.0
        for values, squares, _, m in self._groups():
            total += len(squares) * (digamma((nu + m) / 2) - digamma((nu + m - self.n_columns) / 2))
            total += np.log(_left(squares, values, psi)).sum()
        return 0.5 * float(total)

    def _groups(self) -> zip[tuple[Floats, Floats, Floats, float]]:
        return zip(self.values, self.squares, self.log_rho, self.degrees.tolist(), strict=True)


Criterion = Evidence | LeftOut


def _left(squares: Floats, values: Floats, psi: float) -> Floats:
    """1 - rho E, which is positive for psi > 0 but for rounding."""
    return np.maximum(1.0 - squares @ (1.0 / (values + psi)), np.finfo(float).eps)


def _gamma_terms(of: np.ufunc, nu: float, m: Floats, p: int) -> Floats:
    """sum_j [of((nu + m + 1 - j)/2) - of((nu + 1 - j)/2)], j = 1, ..., p, for every m."""
    base = 0.5 * (nu - np.arange(p))
    return np.array([(of(base + 0.5 * degrees) - of(base)).sum() for degrees in m])


def of_columns(statistic: Statistic, alive: Mask) -> Statistic:
    """The statistic of some of the columns."""
    if alive.all():
        return statistic
    mean, low = statistic.mean[:, alive], None if statistic.low is None else statistic.low[:, alive]
    if isinstance(statistic, ClassFactors):
        return replace(statistic, mean=mean, low=low, factors=tuple(r[:, alive] for r in statistic.factors))
    return replace(statistic, mean=mean, low=low, scatter=statistic.scatter[..., alive, :][..., alive])


def posterior_matrices(statistic: Statistic, prior: Prior, eps: float = EPS) -> ClassMatrices:
    """psi U + S_k of every class, or psi U + S once."""
    full = statistic.depth is Depth.FULL
    mean = statistic.mean if full else np.zeros((1, statistic.n_features))
    parts = ClassMatrices.plain(mean, each_within(statistic, np.ones(len(mean)), eps))
    roots = [prior.units.of_class(k).root for k in range(len(mean))]
    if roots[0].ndim == 1:
        return replace(parts, ridge=prior.psi * np.square(np.stack(roots)))
    scale = np.sqrt(prior.psi)
    return replace(parts, within=tuple(own.with_rows(scale * u.T) for own, u in zip(parts.within, roots, strict=True)))


def evidence_of(statistic: Statistic, units: Units | ClassUnits) -> Evidence:
    """The evidence as a function of psi and nu. Cost K p^3, or K n^2 p from factors."""
    degrees, present = _degrees(statistic)
    scatters, kept = each_within(statistic, np.ones(len(present)), EPS), np.flatnonzero(present)
    own = [units.of_class(k) for k in kept.tolist()]
    values = tuple(_spectrum(scatters[k], u) for k, u in zip(kept, own, strict=True))
    volumes = np.array([u.log_det for u in own])
    return Evidence(values, degrees, statistic.n_features, volumes, statistic.weight)


def left_out(x: Floats, codes: Codes, statistic: Statistic, units: Units | ClassUnits) -> LeftOut:
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
    return LeftOut(tuple(values), degrees, x.shape[1], np.array(volumes), tuple(squares), tuple(logs))


def _principal(d: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues of d'd and the coordinates of the rows along its eigenvectors; those that are zero left out."""
    if len(d) > d.shape[1]:
        values, vectors = np.linalg.eigh(d.T @ d)
        return np.maximum(values, 0.0), d @ vectors
    values, left = np.linalg.eigh(d @ d.T)
    keep = values > 1e-13 * max(float(values[-1]), 0.0)
    return values[keep], left[:, keep] * np.sqrt(values[keep])


def _degrees(statistic: Statistic) -> tuple[Floats, Mask]:
    """n_k - 1 of the classes that are there, or n - K; and which scatters these are of."""
    present = statistic.weight > 0
    each = (statistic.weight - 1.0)[present]
    if statistic.depth is Depth.FULL:
        return each, present
    return np.array([each.sum()]), np.ones(1, bool)


def _spectrum(scatter: Within, units: Units) -> Floats:
    """Eigenvalues in these units."""
    if scatter.thin:
        return np.asarray(np.linalg.svd(units.rows(scatter.rows), compute_uv=False) ** 2)
    return np.asarray(np.maximum(np.linalg.eigvalsh(units.rows(units.rows(scatter.values).T)), 0.0))
