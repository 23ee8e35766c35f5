"""Whatever the route and the start, the same minimum."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import LogisticRegression
from discrim.block import Block
from discrim.engines import RowPasses
from discrim.engines.threads import passes_over
from discrim.families.logistic import fit as smooth
from discrim.families.logistic import quasi_newton as quasi_newton_module
from discrim.families.logistic.fit import PenaltyTerms, Problem, Work
from discrim.families.logistic.minimise import minimise
from discrim.families.logistic.objective import Coordinates, Enough, Objective, newton
from discrim.families.logistic.quasi_newton import Part, Smooth, descend, quasi_newton
from discrim.sources import open_rows
from discrim.statistics.likelihood import CURVATURE, GRADIENT


def objectives(n=4000, p=6, classes=2, part=8):
    """The objective of all rows, and of one row out of ``part``."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, p))
    eta = x @ rng.normal(size=(p, classes)) / 2
    y = (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)
    c = Coordinates(np.zeros(p), np.ones(p))
    return [
        Objective(RowPasses(open_rows(x[::step], y[::step])), np.arange(classes), c, softmax=classes > 2)
        for step in (1, part)
    ]


def problem_of(objective, strength, *, hold=False):
    free = np.ones(objective.shape, bool)
    if hold:
        free[0] = False
    return Smooth(np.full(objective.shape, strength), free, np.zeros(objective.shape))


@pytest.mark.parametrize("route", ["newton", "quasi-newton"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("with_sample", [False, True])
def test_every_route_ends_at_the_minimum(route, classes, with_sample):
    every, some = objectives(classes=classes)
    problem = problem_of(every, 2.0)
    expected = newton(every, problem.start, ridge=problem.ridge)
    found = minimise(problem, every, [Part(some, 1 / 8)] * with_sample, route, 100)
    assert found.converged
    assert_allclose(found.value, expected.value, rtol=1e-11)
    assert_allclose(found.theta, expected.theta, atol=1e-5)


@pytest.mark.parametrize("route", ["newton", "quasi-newton"])
def test_a_sample_saves_passes_over_all_rows(route):
    every, some = objectives(n=20_000)
    minimise(problem_of(every, 0.0), every, [], route, 100)
    without, every.passes = every.passes, 0
    minimise(problem_of(every, 0.0), every, [Part(some, 1 / 8)], route, 100)
    assert every.passes < without
    if route == "newton":
        assert every.passes <= 3


def test_a_sample_saves_the_second_newton_step_over_a_file():
    every, some = objectives(n=240_000)
    exact = newton(every, np.zeros(every.shape), close=1e-15)
    every.passes, every.costly = 0, True
    found = minimise(problem_of(every, 0.0), every, [Part(some, 1 / 8)], "newton", 100)
    assert found.converged
    assert (every.passes, found.iterations) == (2, 2)
    assert_allclose(found.theta, exact.theta, atol=1e-8)


def test_a_sample_of_other_rows_does_not_mislead_a_fit_of_a_file():
    every, some = objectives(n=40_000)
    other = RowPasses(open_rows(some.rows.whole.x * 1.3, some.rows.whole.codes))
    every.costly = True
    misled = Objective(other, some.classes, some.coordinates)
    found = minimise(problem_of(every, 0.5), every, [Part(misled, 1 / 8)], "newton", 100)
    assert found.converged
    ridge = np.full(every.shape, 0.5)
    assert_allclose(found.theta, newton(every, np.zeros(every.shape), ridge=ridge).theta, atol=1e-6)


def depths_of_passes(objective, monkeypatch):
    """What each pass over all rows is asked for, as a list that grows."""
    depths, at = [], objective.at
    monkeypatch.setattr(
        objective, "at", lambda theta, *, depth=GRADIENT, **more: depths.append(depth) or at(theta, depth=depth, **more)
    )
    return depths


@pytest.mark.parametrize("strength", [0.0, 30.0])
def test_the_first_step_from_a_large_sample_asks_all_rows_for_their_gradient_only(monkeypatch, strength):
    every, some = objectives(n=240_000)
    problem = problem_of(every, strength)
    expected = newton(every, problem.start, ridge=problem.ridge, close=1e-15)
    depths = depths_of_passes(every, monkeypatch)
    found = minimise(problem, every, [Part(some, 1 / 8)], "newton", 100)
    assert depths == [GRADIENT, CURVATURE, CURVATURE]
    assert found.converged
    assert found.iterations == 3
    assert_allclose(found.theta, expected.theta, rtol=0, atol=1e-12)


def test_where_a_pass_is_costly_each_brings_the_curvature(monkeypatch):
    every, some = objectives(n=240_000)
    every.costly = True
    depths = depths_of_passes(every, monkeypatch)
    minimise(problem_of(every, 0.0), every, [Part(some, 1 / 8)], "newton", 100)
    assert set(depths) == {CURVATURE}


def test_a_coefficient_that_is_held_stays_where_it_is_in_the_first_step():
    every, some = objectives(n=240_000)
    problem = problem_of(every, 0.0)
    problem.free[2] = False
    expected = newton(every, problem.start, free=problem.free, close=1e-15)
    found = minimise(problem, every, [Part(some, 1 / 8)], "newton", 100)
    assert found.theta[2] == 0.0
    assert_allclose(found.theta, expected.theta, rtol=0, atol=1e-12)


def test_a_sample_that_misleads_costs_passes_but_not_the_minimum():
    every, some = objectives(n=240_000)
    other = RowPasses(open_rows(some.rows.whole.x, 1 - some.rows.whole.codes))
    misled = Objective(other, some.classes, some.coordinates)
    problem = problem_of(every, 0.0)
    found = minimise(problem, every, [Part(misled, 1 / 8)], "newton", 100)
    assert found.converged
    assert_allclose(found.theta, newton(every, problem.start).theta, rtol=0, atol=1e-7)


def test_without_a_penalty_quasi_newton_keeps_the_classes_balanced():
    every, some = objectives(classes=4)
    problem = problem_of(every, 0.0)
    found = minimise(problem, every, [Part(some, 1 / 8)], "quasi-newton", 200)
    assert found.converged
    assert_allclose(found.theta.sum(axis=0), 0.0, atol=1e-10)
    held = problem_of(every, 0.0, hold=True)
    expected = newton(every, held.start, free=held.free)
    assert_allclose(found.theta - found.theta[0], expected.theta, atol=1e-4)


def test_without_a_curvature_the_minimum_is_the_same():
    every, some = objectives()
    problem = replace(problem_of(every, 1.0), plain=500)
    found = minimise(problem, every, [Part(some, 1 / 8)], "limited-memory", 500)
    assert found.converged
    exact = newton(every, problem.start, ridge=problem.ridge)
    assert_allclose(found.value, exact.value, rtol=1e-11)


def test_a_curvature_is_taken_where_the_plain_steps_were_not_enough(monkeypatch):
    every, _ = objectives()
    monkeypatch.setattr(every, "quasi_newton_steps", lambda *_: None)
    depths = depths_of_passes(every, monkeypatch)
    found = minimise(replace(problem_of(every, 1.0), plain=4), every, [], "limited-memory", 500)
    assert found.converged
    assert CURVATURE not in depths[:5]
    assert CURVATURE in depths[5:]


def test_slopes_up_to_flat_end_the_fit_and_without_it_all_digits_are_found():
    every, _ = objectives()
    problem = replace(problem_of(every, 1.0), plain=500)
    loose = minimise(replace(problem, flat=np.full(every.shape, 1e-3)), every, [], "limited-memory", 500)
    exact = minimise(problem, every, [], "limited-memory", 500)
    assert loose.converged
    assert loose.iterations < exact.iterations
    assert loose.gap > exact.gap
    assert np.abs(every.at(loose.theta).gradient + loose.theta).max() <= 1e-3 * loose.at.weight


def test_the_first_step_promises_no_more_than_there_is_to_gain():
    every, _ = objectives()
    seen = []
    enough = Enough(watch=seen.append, least=0.0)
    quasi_newton(every, np.zeros(every.shape), inverse=lambda right: right, enough=enough, most=1)
    at = every.at(np.zeros(every.shape))
    assert_allclose(-np.vdot(at.gradient, seen[0]), at.loss, rtol=1e-9)


def test_knowing_how_large_the_columns_are_saves_passes_where_there_is_no_curvature():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 30)) * np.geomspace(0.05, 20.0, 30)
    y = (x @ (rng.normal(size=30) / np.geomspace(0.05, 20.0, 30)) / 4 + rng.logistic(size=2000) > 0).astype(int)
    objective = Objective(RowPasses(open_rows(x, y)), np.arange(2), Coordinates(np.zeros(30), np.ones(30)))
    blind = replace(problem_of(objective, 1.0), plain=2000)
    seeing = replace(blind, squares=np.append(1.0, np.mean(x**2, axis=0)))
    passes = []
    for problem in (blind, seeing):
        objective.passes = 0
        found = minimise(problem, objective, [], "quasi-newton", 2000)
        assert found.converged
        passes.append(objective.passes)
    assert passes[1] < passes[0] / 2


def test_counts_with_heavy_tails_need_fewer_passes_than_with_the_whole_curvature_of_the_data():
    """Words of Zipf's frequencies in texts of very different lengths."""
    rng = np.random.default_rng(0)
    words = 3.0 / np.arange(1, 301)
    x = rng.poisson(np.exp(rng.normal(scale=1.5, size=(400, 1))) * words) * 1.0
    y = (x @ (rng.normal(size=(300, 3)) * 0.3)).argmax(axis=1)
    where = Coordinates(np.zeros(300), np.ones(300))
    objective = Objective(RowPasses(open_rows(x, y)), np.arange(3), where, softmax=True)
    ridge = np.ones(objective.shape)
    ridge[:, 0] = 0.0
    squares = np.append(1.0, (x**2).mean(axis=0))
    problem = Smooth(ridge, np.ones(objective.shape, bool), np.zeros(objective.shape), squares=squares, plain=2000)
    found = minimise(problem, objective, [], "quasi-newton", 2000)
    assert found.converged
    passes, objective.passes = objective.passes, 0
    # Of classes of equal shares p (1 - p) is 2 / 9.
    whole = (400 * 2 / 9 * squares + ridge).ravel()
    quasi_newton(objective, problem.start, inverse=lambda right: right / whole, ridge=ridge, most=2000)
    assert passes < 0.8 * objective.passes
    free = np.ones(objective.shape, bool)
    free[0, 0] = False
    assert_allclose(found.value, newton(objective, problem.start, ridge=ridge, free=free).value, rtol=1e-7)


def test_a_curvature_that_nobody_needs_afterwards_must_be_cheaper():
    by_rows = Work(100_000, 70, 1, 7_000_000, ridge=False).costs()
    used = Work(100_000, 70, 1, 7_000_000, ridge=False, used=True).costs()
    assert used["newton"] / used["quasi-newton"] < by_rows["newton"] / by_rows["quasi-newton"]


@pytest.mark.parametrize(("rows", "width"), [(3_000, 900_000), (900_000, 3_000), (20_000, 20_001), (40_000, 1_900)])
def test_no_way_is_cubic_in_the_larger_of_rows_and_columns(rows, width):
    """Ten times as many of the larger cost no more than ten times as much."""
    one, ten = (Work(n, p, 1, n * p, used=False).costs() for n, p in [(rows, width), _ten_times(rows, width)])
    for way in one.keys() & ten.keys():
        assert ten[way] <= 10.1 * one[way], way


def _ten_times(rows, width):
    return (10 * rows, width) if rows >= width else (rows, 10 * width)


def test_sparse_rows_are_not_made_dense_beyond_the_budget():
    ways = Work(5_000, 60_000, 1, 300_000, is_sparse=True).costs()
    assert set(ways) == {"limited-memory"}


def test_the_way_that_is_chosen_is_near_the_fastest_that_was_measured():
    path = Path(__file__).parents[3] / "benchmarks" / "paths.json"
    shapes = {}
    for timing in json.loads(path.read_text()):
        if timing["family"] == "logistic":
            shapes.setdefault(tuple(timing["shape"].items()), {})[timing["way"]] = timing["seconds"]
    assert len(shapes) > 20
    for shape, seconds in shapes.items():
        n, p, k, is_sparse, stored = dict(shape).values()
        costs = Work(n, p, 1 if k == 2 else k, stored, is_sparse=is_sparse).costs()
        assert costs.keys() == seconds.keys()
        assert seconds[min(costs, key=costs.get)] <= 2.0 * min(seconds.values()), (shape, seconds)


def test_a_part_of_the_rows_has_its_part_of_the_penalty():
    problem = Smooth(np.full(3, 8.0), np.ones(3, bool), np.zeros(3))
    assert problem.for_part(0.25).ridge.tolist() == [2.0, 2.0, 2.0]


def slow_rows(seed=0):
    """Rows of four classes for which quasi-Newton is the cheapest way."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(6000, 40)) * (rng.random(40) < 0.8) + (rng.random((6000, 40)) < 0.004)
    return x, (x @ rng.normal(size=(40, 4)) + rng.gumbel(size=(6000, 4))).argmax(axis=1)


def test_the_curvature_is_taken_once_from_a_start_that_a_part_of_the_rows_gives(monkeypatch):
    """From nowhere it is taken again after three steps."""
    every, some = objectives(classes=4)
    taken, once = [], quasi_newton_module._inverse
    monkeypatch.setattr(quasi_newton_module, "_inverse", lambda *a, **k: taken.append(1) or once(*a, **k))
    for near in (False, True):
        taken.clear()
        start = 1.2 * newton(some, np.zeros(every.shape), ridge=0.1).theta
        problem = replace(problem_of(every, 0.5), start=start)
        found = descend(problem, every, Part(some, 1 / 8), close=1e-13, most=100, near=near)
        assert found.converged
        assert found.iterations > 3
        assert len(taken) == (1 if near else 2)


def test_newton_finishes_what_quasi_newton_has_not_after_as_much_work(monkeypatch):
    x, y = slow_rows()
    assert LogisticRegression().fit(x, y).solver_ == "quasi-newton"
    monkeypatch.setattr(smooth, "_patience", lambda *_: 3)
    found = LogisticRegression().fit(x, y)
    expected = LogisticRegression(solver="newton", tol=0).fit(x, y)
    assert found.solver_ == "newton"
    assert 3 < found.n_iter_[0] < 100
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-7)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-7)


def test_patience_is_as_many_steps_as_newton_costs_and_none_for_a_named_solver():
    x, y = slow_rows()
    rows = passes_over(Block(x, y.astype(np.int32), np.arange(4)))
    problem = Problem(PenaltyTerms(0.0, 1.0), most=1000, tol=1e-4, classes=np.arange(4))
    work = Work.of(rows, problem)
    steps = smooth._patience(rows, problem, "quasi-newton")
    assert steps == pytest.approx(work.costs()["newton"] / work.one_pass, rel=0.3)
    assert 15 < steps < 1000
    assert smooth._patience(rows, replace(problem, most=10), "quasi-newton") == 10
    assert smooth._patience(rows, replace(problem, solver="quasi-newton"), "quasi-newton") == 1000
    assert smooth._patience(rows, problem, "limited-memory") == 1000
