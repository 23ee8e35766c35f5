"""Separation against enumeration and a linear program over all rows."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from discrim import scan
from discrim.datasets import load_endometrial, load_iris
from discrim.engines import RowPasses, passes_over
from discrim.families.logistic import separation
from discrim.families.logistic.objective import Coordinates, Objective, newton
from discrim.families.logistic.separation import find_separation, may_be_separated
from discrim.sources import open_rows
from discrim.statistics.likelihood import CURVATURE

CASE_A = np.repeat([0.0, 1.0], 10)[:, None], np.r_[np.tile([0, 1], 5), np.ones(10, int)]


def objective_of(x, y, weight=None, *, classes=2, softmax=False, intercept=True, standardise=True, **columns):
    x = np.asarray(x, float)
    y = np.asarray(y)
    rows = RowPasses(open_rows(sparse.csr_array(x) if columns.pop("sparse", False) else x, y, weight))
    rows = passes_over(dataclasses.replace(rows.whole, **columns))
    spread = x.std(axis=0)
    shift, scale = x.mean(axis=0), np.where(spread > 0, spread, 1.0)
    if not standardise:
        shift, scale = 0 * shift, 0 * scale + 1
    return Objective(rows, np.arange(classes), Coordinates(shift * intercept, scale, intercept), softmax=softmax)


def margin_vectors(x, y, classes=2, *, softmax=False):
    """Lines a with a'b >= 0 where b keeps the row on its side, for the user's coefficients b (reference left out)."""
    z = np.column_stack([np.ones(len(x)), x])
    if not softmax:
        return np.where(np.asarray(y) == 1, 1, -1)[:, None] * z
    lines = []
    for row, own in zip(z, y, strict=True):
        for k in set(range(classes)) - {own}:
            line = np.zeros((classes, z.shape[1]))
            line[own] += row
            line[k] -= row
            lines.append(line[1:].ravel())
    return np.array(lines)


def strict_by_program(vectors):
    """Which margins can be positive while none is negative: as many as possible reach one."""
    n, q = vectors.shape
    answer = linprog(
        np.r_[np.zeros(q), -np.ones(n)],
        A_ub=np.hstack([-vectors, np.eye(n)]),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * q + [(0, 1)] * n,
    )
    return answer.x[q:] > 0.5


def strict_found(found, vectors, objective):
    """Which margins the answer says are not zero."""
    user = objective.coordinates.to_user(found.span.T.reshape(-1, *objective.shape))
    user = (user[:, 1:] if objective.softmax else user).reshape(len(user), vectors.shape[1])
    return (np.abs(vectors @ user.T) > 1e-8).any(axis=1)


def test_every_labelling_of_a_line_is_told_by_the_order_of_its_points():
    x = np.array([0.0, 1.0, 1.0, 2.0, 3.0])
    for y in itertools.product([0, 1], repeat=5):
        y = np.array(y)
        low, high = x[y == 0], x[y == 1]
        one_class = not len(low) or not len(high)
        touch = one_class or low.max() <= high.min() or high.max() <= low.min()
        apart = one_class or low.max() < high.min() or high.max() < low.min()
        found = find_separation(objective_of(x[:, None], y))
        assert (found.separated, found.complete) == (touch, apart), y
        if touch and not one_class:
            assert found.infinite[1] == (1 if high.mean() > low.mean() else -1)


def test_every_labelling_of_a_grid_is_told_by_enumeration_of_directions():
    x = np.array(list(itertools.product([0, 1, 2], [0, 1])), float)
    box = np.array(list(itertools.product(range(-5, 6), repeat=3)))
    for y in itertools.product([0, 1], repeat=6):
        vectors = margin_vectors(x, y)
        cone = box[(vectors @ box.T >= 0).all(axis=0)]
        strict = (vectors @ cone.T > 0).any(axis=1)
        objective = objective_of(x, y)
        found = find_separation(objective)
        assert (found.separated, found.complete) == (strict.any(), strict.all())
        if not found.separated:
            continue
        assert found.span.shape[1] == np.linalg.matrix_rank(cone)
        assert (strict_found(found, vectors, objective) == strict).all()
        assert ((found.infinite != 0) | found.undetermined == (cone != 0).any(axis=0)).all()
        # Where all directions of infinity agree on a sign, that is the sign.
        agreed = np.where((cone >= 0).all(axis=0), 1, 0) - np.where((cone <= 0).all(axis=0), 1, 0)
        agreed[(cone == 0).all(axis=0)] = 0
        assert (found.infinite[agreed != 0] == agreed[agreed != 0]).all()
        assert (vectors @ found.direction >= -1e-12).all()
        assert ((vectors @ found.direction > 1e-12) == strict).all()


def test_every_labelling_of_four_points_by_three_classes_is_told_by_a_program():
    x = np.array([0.0, 1.0, 2.0, 4.0])[:, None]
    for y in itertools.product([0, 1, 2], repeat=4):
        vectors = margin_vectors(x, y, 3, softmax=True)
        strict = strict_by_program(vectors)
        objective = objective_of(x, y, classes=3, softmax=True)
        found = find_separation(objective)
        assert (found.separated, found.complete) == (strict.any(), strict.all()), y
        if found.separated:
            assert (strict_found(found, vectors, objective) == strict).all()
            assert (vectors @ found.direction[1:].ravel() >= -1e-12).all()


@st.composite
def small_data(draw):
    n, p = draw(st.integers(3, 40)), draw(st.integers(1, 3))
    x = np.array(draw(st.lists(st.lists(st.integers(-3, 3), min_size=p, max_size=p), min_size=n, max_size=n)), float)
    if draw(st.booleans()):
        # Labels by a plane, with few exceptions, so that separation is not rare.
        side = x @ np.array(draw(st.lists(st.integers(-2, 2), min_size=p, max_size=p))) + draw(st.integers(-1, 1))
        y = np.where(side == 0, draw(st.integers(0, 1)), side > 0).astype(int)
        y[: draw(st.integers(0, 2))] = 1
        return x, y
    return x, np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))


@settings(max_examples=150, deadline=None)
@given(small_data(), st.booleans())
def test_a_few_rows_at_a_time_give_the_answer_of_a_program_with_all(data, at_once):
    x, y = data
    vectors = margin_vectors(x, y)
    strict = strict_by_program(vectors)
    objective = objective_of(x, y)
    with pytest.MonkeyPatch.context() as patch:
        if not at_once:
            patch.setattr(separation, "ADDED", 1)
        found = find_separation(objective)
    assert (found.separated, found.complete) == (strict.any(), strict.all())
    assert (strict_found(found, vectors, objective) == strict).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 4))
def test_softmax_agrees_with_a_program_with_all_rows(seed, classes):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(classes, 14))
    x, y = rng.integers(-2, 3, size=(n, 2)).astype(float), rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    vectors = margin_vectors(x, y, classes, softmax=True)
    strict = strict_by_program(vectors)
    objective = objective_of(x, y, classes=classes, softmax=True)
    found = find_separation(objective)
    assert (found.separated, found.complete) == (strict.any(), strict.all())
    assert (strict_found(found, vectors, objective) == strict).all()


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("threaded", [False, True])
def test_a_scan_and_many_rows_are_told_alike(noise, threaded, tmp_path):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(70_000 if threaded else 500, 3)).round(2)
    y = (x @ [1, -2, 0.5] + noise * rng.logistic(size=len(x)) > 0.3).astype(int)
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header="a,b,c,y", comments="", fmt="%.6g")
    memory = objective_of(x, y)
    streamed = Objective(RowPasses(scan(path, target="y", batch_rows=999)), np.array([0, 1]), memory.coordinates)
    one, other = find_separation(memory), find_separation(streamed)
    assert one.separated == other.separated == (noise == 0)
    assert one.complete == other.complete
    assert (one.infinite == other.infinite).all()
    assert memory.passes <= 12


def test_iris_setosa_is_separated_completely_and_versicolor_is_not():
    x, y = load_iris().xy
    labels = np.unique(y)
    found = [find_separation(objective_of(x, (y == label).astype(int))) for label in labels]
    assert [one.separated for one in found] == [True, False, False]
    assert [one.complete for one in found] == [True, False, False]
    together = find_separation(objective_of(x, np.searchsorted(labels, y), classes=3, softmax=True))
    assert together.separated
    assert not together.complete
    assert together.classes.tolist() == [0]


@pytest.mark.parametrize(
    ("gap", "separated", "complete"),
    [
        (1e-2, True, True),
        (1e-6, True, True),
        (1e-9, True, True),
        (0.0, True, False),
        (-1e-9, False, False),
        (-1e-6, False, False),
        (-1e-2, False, False),
    ],
)
@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("place", [0.0, 3.0])
def test_classes_that_almost_touch(gap, separated, complete, unit, place):
    x = unit * (place + np.array([-1, -0.5, 0, gap, 0.5, 1]))
    found = find_separation(objective_of(x[:, None], [0, 0, 0, 1, 1, 1]))
    assert (found.separated, found.complete) == (separated, complete)


def test_units_and_origins_of_the_columns_do_not_matter():
    x, y = load_endometrial().xy
    before = find_separation(objective_of(x, y))
    after = find_separation(objective_of(x * [1e7, -1e-6, 10] + [1e4, 1, -500], y))
    assert after.separated
    # A column that goes to infinity takes the intercept with it unless its zero stays where the other rows are.
    assert before.infinite.tolist() == [0, 1, 0, 0]
    assert after.infinite.tolist() == [-1, 1, 0, 0]


def test_dependent_columns_are_not_separation():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    x = np.column_stack([x, x[:, 0] - 3 * x[:, 1], np.full(200, 7.0)])
    y = rng.integers(2, size=200)
    assert not find_separation(objective_of(x, y)).separated
    y = (x[:, 0] > 0).astype(int)
    assert find_separation(objective_of(x, y)).complete


def test_nearly_dependent_columns_separate_where_their_difference_does():
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    y = rng.integers(2, size=60)
    found = find_separation(objective_of(np.column_stack([x, x + 1e-6 * (y - 0.5)]), y))
    assert found.complete
    assert found.infinite[1:].tolist() == [-1, 1]
    mixed = np.column_stack([x, x + 1e-6 * rng.normal(size=60)])
    assert not find_separation(objective_of(mixed, y)).separated


def test_rows_of_weight_zero_ask_for_nothing():
    x, y = CASE_A
    weight = np.where((x[:, 0] == 0) & (y == 1), 0.0, 1.0)
    assert find_separation(objective_of(x, y, weight)).complete
    holes = np.where(weight[:, None] > 0, x, np.nan)
    objective = objective_of(holes, y, weight).with_coordinates(Coordinates(np.array([0.5]), np.array([0.5])))
    assert find_separation(objective).complete


def test_a_group_with_both_outcomes_holds_its_place():
    x = np.array([[0.0], [1.0], [2.0]])
    coded = np.array([0, 1, 1])

    def of(*share):
        return find_separation(objective_of(x, coded, np.full(3, 4.0), share=np.array(share)))

    assert of(0.0, 0.0, 1.0).complete
    quasi = of(0.0, 0.25, 1.0)
    assert (quasi.separated, quasi.complete, quasi.infinite.tolist()) == (True, False, [-1, 1])
    assert not of(0.0, 0.25, 0.75).separated


def test_held_entries_do_not_separate():
    x, y = load_endometrial().xy
    objective = objective_of(x, y)
    assert not find_separation(objective, np.array([True, False, True, True])).separated
    assert find_separation(objective, np.array([True, True, False, True])).infinite.tolist() == [0, 1, 0, 0]


def test_an_offset_changes_nothing_and_sparse_rows_are_rows():
    x, y = load_endometrial().xy
    offset = np.random.default_rng(0).normal(size=79) * 5
    assert find_separation(objective_of(x, y, offset=offset)).infinite.tolist() == [0, 1, 0, 0]
    shifted = objective_of(x, y, sparse=True, standardise=False)
    assert find_separation(shifted).infinite.tolist() == [0, 1, 0, 0]


def test_without_intercept_only_a_cone_from_the_origin_counts():
    x = np.array([[1.0], [2.0], [3.0]])
    assert not find_separation(objective_of(x, [0, 0, 1], intercept=False)).separated
    assert find_separation(objective_of(x, [1, 1, 1], intercept=False)).complete
    found = find_separation(objective_of(np.array([[0.0], [2.0], [-3.0]]), [0, 1, 0], intercept=False))
    assert (found.separated, found.complete, found.infinite.tolist()) == (True, False, [0, 1])


def test_a_start_that_separates_needs_no_program(monkeypatch):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 3))
    y = (x @ [1, -2, 0.5] > 0.3).astype(int)
    objective = objective_of(x, y)

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(separation, "_program", refuse)
    start = objective.coordinates.from_user(np.array([-0.3, 1, -2, 0.5]))
    assert find_separation(objective, start=start).complete


class TestScreen:
    def test_separated_rows_never_pass_wherever_one_looks(self):
        x = np.array(list(itertools.product([0, 1, 2], [0, 1])), float)
        rng = np.random.default_rng(0)
        seen = 0
        for y in itertools.product([0, 1], repeat=6):
            objective = objective_of(x, y)
            if not find_separation(objective).separated:
                continue
            seen += 1
            points = [*rng.normal(size=(4, 3)) * 3, newton(objective, np.zeros(3)).theta]
            assert all(may_be_separated(objective, objective.at(theta, depth=CURVATURE)) for theta in points)
        assert seen > 20

    def test_separated_classes_of_softmax_never_pass(self):
        rng = np.random.default_rng(1)
        x, y = load_iris().xy
        objective = objective_of(x, np.unique(y, return_inverse=True)[1], classes=3, softmax=True)
        free = np.ones(objective.shape, bool)
        free[0] = False
        solution = newton(objective, np.zeros(objective.shape), free=free)
        assert may_be_separated(objective, solution.at)
        for _ in range(10):
            theta = rng.normal(size=objective.shape) * 3
            assert may_be_separated(objective, objective.at(theta, depth=CURVATURE))

    @pytest.mark.parametrize("softmax", [False, True])
    def test_ordinary_rows_pass_at_their_optimum_without_another_look(self, softmax):
        rng = np.random.default_rng(2)
        x = rng.normal(size=(300, 4)) * [1, 10, 0.1, 3]
        y = rng.integers(3 if softmax else 2, size=300)
        objective = objective_of(x, y, classes=3 if softmax else 2, softmax=softmax)
        free = np.ones(objective.shape, bool)
        if softmax:
            free[0] = False
        solution = newton(objective, np.zeros(objective.shape), free=free)
        passes = objective.passes
        assert not may_be_separated(objective, solution.at)
        assert objective.passes == passes
        assert not may_be_separated(objective, replace(solution.at, least=0.0))
        assert objective.passes == passes + 1

    def test_dependent_columns_do_not_pass(self):
        rng = np.random.default_rng(3)
        x = rng.normal(size=(50, 2))
        objective = objective_of(x[:, [0, 1, 1]], rng.integers(2, size=50))
        at = objective.at(np.zeros(4), depth=CURVATURE)
        assert may_be_separated(objective, at)
        free = np.array([True, True, True, False])
        assert not may_be_separated(objective, newton(objective, np.zeros(4), free=free).at, free=free)
