"""Probabilities of pairs of classes, coupled to one a class in a fixed number of operations."""

from __future__ import annotations

import numpy as np

from discrim.exports.program import Node, affine, apply, const, join, positive_part, take, total


def coupled(positive: Node, size: int, least: float) -> Node:
    """p that minimises sum_(i<j) (r_ji p_i - r_ij p_j)^2 with sum p = 1 (Wu, Lin, Weng 2004, second method).

    ``positive`` are the r_ji of the pairs (0, 1), (0, 2), ..., (1, 2), ...; r_ij = 1 - r_ji, and none is nearer to 0 or
    1 than ``least``. With Q_ii = sum_j r_ji^2, Q_ij = -r_ij r_ji, p is proportional to the z of (Q + 1 1') z = 1: that
    matrix is positive definite for any r, so that the elimination needs no search for pivots.
    """
    first, second = np.triu_indices(size, 1)
    wins = _within(positive, least).called("second_wins", "that the second class of a pair wins, away from 0 and 1")
    losses = _within(apply("subtract", 1.0, positive), least).called("first_wins")
    squares = join([apply("square", wins), apply("square", losses)]).called("squares")
    taken = np.hstack([np.equal.outer(np.arange(size), each) for each in (first, second)])
    diagonal = affine(squares, taken, 1.0, ("taken", "one")).called("diagonal", "of the equations of the posteriors")
    others = apply("subtract", 1.0, apply("multiply", wins, losses)).called("others", "what is beside the diagonal")
    places = np.full((size, size + 1), size + len(first))
    places[np.arange(size), np.arange(size)] = np.arange(size)
    places[first, second] = places[second, first] = size + np.arange(len(first))
    system = take(join([diagonal, others, const(1.0)]).called("parts"), places.ravel())
    share = positive_part(_solved(system, size)).called("shares", "proportional to the posteriors")
    return apply("divide", share, total(share).called("total")).called("coupled")


def _within(x: Node, least: float) -> Node:
    return apply("smaller", apply("larger", x, least), 1.0 - least)


def _solved(system: Node, size: int) -> Node:
    """The solution of equations whose rows, each with its right side, follow each other in a vector.

    The first unknown goes from all other equations, and its own becomes the last one: after as many turns as there are
    unknowns the order is that of the beginning.
    """
    for step in range(size):
        width = size + 1 - step
        place = np.arange(size * width).reshape(size, width)
        pivot = apply("divide", take(system, place[0, 1:]), take(system, 0)).called("pivot")
        factor = take(system, np.repeat(place[1:, 0], width - 1))
        change = apply("multiply", factor, take(pivot, np.tile(np.arange(width - 1), size - 1)))
        rest = apply("subtract", take(system, place[1:, 1:].ravel()), change).called("rest")
        system = join([rest, pivot]).called("left", f"the equations without the first {step + 1} unknowns")
    return system
