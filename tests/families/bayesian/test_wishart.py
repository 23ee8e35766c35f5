"""Evidence and leave-one-out density of an inverse-Wishart prior, against what they are by definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import invgamma, multivariate_t

from discrim.block import Block
from discrim.families.bayesian.prior import best_prior, best_psi, units_left_out
from discrim.families.bayesian.wishart import ClassUnits, Prior, Units, evidence_of, left_out
from discrim.statistics import ClassFactors, ClassMoments, Depth

each_depth = pytest.mark.parametrize("depth", [Depth.FULL, Depth.POOLED])
each_shape = pytest.mark.parametrize("shape", [(24, 3), (12, 20)], ids=["long", "wide"])


def sample(n=24, p=3, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.sort(np.concatenate([np.arange(classes).repeat(2), rng.integers(0, classes, n - 2 * classes)]))
    x = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=(classes, p))[codes]
    return x, codes.astype(np.int32)


def statistic(x, codes, depth, kind=ClassMoments):
    return kind.of(Block(x, codes, np.arange(codes.max() + 1)), depth)


def student(x, rows, scatter, m, psi, nu):
    """The predictive density of x in a class with these rows, whose covariance has this scatter of m degrees."""
    p = len(x)
    df = nu + m - p + 1
    n = len(rows)
    return multivariate_t(rows.mean(axis=0), (psi + scatter) * (1 + 1 / n) / df, df).logpdf(x)


def scatter_of(rows):
    d = rows - rows.mean(axis=0)
    return d.T @ d


def one_after_another(x, codes, psi, nu, depth):
    """The product of the densities of each row given those before; the first of a class has the flat density one."""
    total = 0.0
    for i in range(1, len(x)):
        before, known = x[:i], codes[:i]
        own = before[known == codes[i]]
        if not len(own):
            continue
        scatter, m = scatter_of(own), len(own) - 1
        if depth is Depth.POOLED:
            scatter = sum(scatter_of(before[known == k]) for k in np.unique(known))
            m = i - len(np.unique(known))
        total += student(x[i], own, scatter, m, psi, nu)
    return total


@each_depth
@each_shape
@pytest.mark.parametrize("kind", [ClassMoments, ClassFactors])
def test_the_evidence_is_the_product_of_sequential_predictions(depth, shape, kind):
    x, codes = sample(*shape)
    p = shape[1]
    rng = np.random.default_rng(1)
    root = np.linalg.cholesky(np.cov(rng.normal(size=(3 * p, p)).T) + np.eye(p))
    for units, unit in (
        (Units(np.linspace(0.5, 2, p)), np.diag(np.linspace(0.5, 2, p) ** 2)),
        (Units(root), root @ root.T),
    ):
        evidence = evidence_of(statistic(x, codes, depth, kind), units)
        for psi, nu in ((0.3, p + 2.0), (4.0, p - 0.5), (50.0, p + 30.0)):
            expected = one_after_another(x, codes, psi * unit, nu, depth)
            assert evidence.value(psi, nu) == pytest.approx(expected, rel=1e-10)


def test_the_evidence_of_one_column_is_an_integral():
    x, psi, nu = np.array([0.3, -1.2, 2.0, 0.7]), 1.7, 2.5
    n, scatter = len(x), np.square(x - x.mean()).sum()

    def joint(variance):
        """Prior of the variance times the likelihood with the mean integrated out."""
        likelihood = (2 * np.pi * variance) ** (-(n - 1) / 2) / np.sqrt(n) * np.exp(-scatter / (2 * variance))
        return invgamma(nu / 2, scale=psi / 2).pdf(variance) * likelihood

    expected = integrate.quad(joint, 0, np.inf, epsabs=1e-14)[0]
    found = evidence_of(statistic(x[:, None], np.zeros(n, np.int32), Depth.FULL), Units(np.ones(1))).value(psi, nu)
    assert np.exp(found) == pytest.approx(expected, rel=1e-8)


@each_depth
@each_shape
def test_the_left_out_density_is_that_of_refitting(depth, shape):
    x, codes = sample(*shape)
    p = shape[1]
    scale = np.linspace(0.5, 2, p)
    units = Units(scale)
    criterion = left_out(x, codes, statistic(x, codes, depth), units)
    for psi, nu in ((0.3, p + 2.0), (20.0, p + 9.0)):
        expected = 0.0
        for i in range(len(x)):
            others, known = np.delete(x, i, axis=0), np.delete(codes, i)
            own = others[known == codes[i]]
            scatter, m = scatter_of(own), len(own) - 1
            if depth is Depth.POOLED:
                scatter, m = sum(scatter_of(others[known == k]) for k in range(3)), len(others) - 3
            expected += student(x[i], own, scatter, m, psi * np.diag(scale**2), nu)
        assert criterion.value(psi, nu) == pytest.approx(expected, rel=1e-9)


def test_a_row_alone_in_its_class_is_not_counted():
    x, codes = sample()
    alone = np.vstack([x, [50.0, 0.0, -50.0]]), np.append(codes, 3).astype(np.int32)
    units = Units(np.ones(3))
    plain = left_out(x, codes, statistic(x, codes, Depth.FULL), units)
    more = left_out(alone[0], alone[1], statistic(*alone, Depth.FULL), units)
    assert more.value(2.0, 5.0) == pytest.approx(plain.value(2.0, 5.0), rel=1e-12)


@each_depth
@each_shape
@pytest.mark.parametrize("kind", ["evidence", "left out"])
def test_slopes_are_differences_of_values(depth, shape, kind):
    x, codes = sample(*shape)
    p, units = shape[1], Units(np.ones(shape[1]))
    s = statistic(x, codes, depth)
    criterion = evidence_of(s, units) if kind == "evidence" else left_out(x, codes, s, units)
    h = 1e-5
    for psi, nu in ((0.5, p + 1.0), (30.0, p + 25.0)):
        along_psi = (criterion.value(psi * np.exp(h), nu) - criterion.value(psi * np.exp(-h), nu)) / (2 * h)
        along_nu = (criterion.value(psi, nu + h) - criterion.value(psi, nu - h)) / (2 * h)
        assert criterion.along_psi(psi, nu) == pytest.approx(along_psi, rel=1e-6, abs=1e-5)
        assert criterion.along_nu(psi, nu) == pytest.approx(along_nu, rel=1e-6, abs=1e-5)


@each_depth
@each_shape
@pytest.mark.parametrize("kind", ["evidence", "left out"])
def test_no_prior_on_a_fine_grid_is_better_than_the_one_found(depth, shape, kind):
    x, codes = sample(*shape)
    p, units = shape[1], Units(np.ones(shape[1]))
    s = statistic(x, codes, depth)
    criterion = evidence_of(s, units) if kind == "evidence" else left_out(x, codes, s, units)
    psis = criterion.scale * np.geomspace(1e-4, 1e6, 400)
    alone = best_psi(criterion, p + 2.0, p)
    assert criterion.value(alone, p + 2.0) >= max(criterion.value(psi, p + 2.0) for psi in psis)
    both = best_prior(criterion, None, None, p)
    values = [criterion.value(psi, nu) for nu in p - 1 + np.geomspace(0.05, 1e6, 60) for psi in psis[::8]]
    assert criterion.value(*both) >= max(values)
    given = best_prior(criterion, alone, None, p)
    assert given[0] == alone
    assert criterion.value(*given) >= max(criterion.value(alone, nu) for nu in p - 1 + np.geomspace(0.05, 1e6, 200))


def test_the_evidence_of_repeated_rows_counts_the_distinct_ones():
    """Twice the same rows have twice the degrees of freedom but no more dimensions; psi would fall to zero."""
    x, codes = sample(12, 20)
    plain = evidence_of(statistic(x, codes, Depth.FULL, ClassFactors), Units(np.ones(20)))
    twice = np.vstack([x, x]), np.concatenate([codes, codes])
    doubled = evidence_of(statistic(*twice, Depth.FULL, ClassFactors), Units(np.ones(20)))
    assert best_psi(doubled, 22.0, 20) < 1e-5
    # Two copies have twice the scatter in 2 n_k - 1 = 2 m + 1 degrees, of which m count.
    scaled = tuple(v * 2 * m / (2 * m + 1) for v, m in zip(plain.values, plain.degrees, strict=True))
    assert best_psi(doubled.bounded(), 22.0, 20) == pytest.approx(best_psi(replace(plain, values=scaled), 22.0, 20))
    assert plain.bounded().value(1.0, 22.0) == pytest.approx(plain.value(1.0, 22.0), rel=1e-12)


@each_shape
@pytest.mark.parametrize("kind", [ClassMoments, ClassFactors])
def test_units_of_classes_are_those_of_fitting_each_class_alone(shape, kind):
    x, codes = sample(*shape)
    p, rng = shape[1], np.random.default_rng(2)
    units = ClassUnits(rng.uniform(0.5, 2, (3, p)))
    s = statistic(x, codes, Depth.FULL, kind)
    for psi, nu in ((0.3, p + 2.0), (20.0, p + 9.0)):
        evidence, held_out = 0.0, 0.0
        for k in range(3):
            alone = x[codes == k], np.zeros((codes == k).sum(), np.int32)
            own = statistic(*alone, Depth.FULL)
            evidence += evidence_of(own, Units(units.roots[k])).value(psi, nu)
            held_out += left_out(*alone, own, Units(units.roots[k])).value(psi, nu)
        assert evidence_of(s, units).value(psi, nu) == pytest.approx(evidence, rel=1e-10)
        assert left_out(x, codes, s, units).value(psi, nu) == pytest.approx(held_out, rel=1e-10)


@pytest.mark.parametrize("shape", [(60, 3), (60, 40)], ids=["long", "wide"])
@pytest.mark.parametrize("own", [True, False])
def test_units_that_lose_the_row_too_are_near_those_of_refitting(shape, own):
    x, codes = sample(*shape)
    p = shape[1]
    s = statistic(x, codes, Depth.FULL)
    squares = s.squares
    own_units = ClassUnits(np.sqrt(squares / s.weight[:, None]))
    units = own_units if own else Units(np.sqrt(squares.sum(axis=0) / len(x)))
    psi, nu = 3.0 * p, p + 2.0
    expected = 0.0
    for i in range(len(x)):
        others, known = np.delete(x, i, axis=0), np.delete(codes, i)
        scatters = [scatter_of(others[known == k]) for k in range(3)]
        rows, scatter = others[known == codes[i]], scatters[codes[i]]
        variances = np.diag(scatter) / len(rows) if own else np.diag(sum(scatters)) / len(others)
        expected += student(x[i], rows, scatter, len(rows) - 1, psi * np.diag(variances), nu)
    held = left_out(x, codes, s, units).value(psi, nu)
    change = units_left_out(x, codes, s, Prior(units, psi, nu))
    assert change < 0
    assert change == pytest.approx(expected - held, rel=0.2)
