"""Weights of a model that meets new classes."""

import numpy as np
from numpy.testing import assert_array_equal

from discrim.families.online.updates import Learning, Weights

LEARNING = Learning(average=1.0)


def weights(problems):
    rng = np.random.default_rng(problems)
    made = Weights.at(rng.normal(size=(problems, 3)), rng.normal(size=problems), LEARNING)
    made.averages[:] = rng.normal(size=(problems, 3))
    return made


def test_the_same_classes_change_nothing():
    one = weights(1)
    assert one.with_classes(np.array([1, 2]), np.array([1, 2]), LEARNING) is one


def test_a_class_before_the_only_one_turns_the_sign():
    one = weights(1)
    after = one.with_classes(np.array(["b"]), np.array(["b", "c"]), LEARNING)
    assert_array_equal(after.w, one.w)
    before = one.with_classes(np.array(["b"]), np.array(["a", "b"]), LEARNING)
    assert_array_equal(before.w, -one.w)
    assert_array_equal(before.averages, -one.averages)
    assert_array_equal(before.intercept, -one.intercept)


def test_two_classes_become_three_with_both_sides_kept():
    one = weights(1)
    three = one.with_classes(np.array([1, 3]), np.array([1, 2, 3]), LEARNING)
    assert_array_equal(three.w, [-one.w[0], np.zeros(3), one.w[0]])
    assert_array_equal(three.intercept, [-one.intercept[0], -1.0, one.intercept[0]])


def test_more_classes_keep_their_weights_in_their_new_places():
    three = weights(3)
    five = three.with_classes(np.array([1, 3, 5]), np.arange(1, 6), LEARNING)
    assert_array_equal(five.w[[0, 2, 4]], three.w)
    assert_array_equal(five.averages[[0, 2, 4]], three.averages)
    assert_array_equal(five.intercept[[1, 3]], [-1.0, -1.0])
