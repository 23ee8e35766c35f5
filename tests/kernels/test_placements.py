"""The walk along two sorted lists says what the NumPy reference and brute force say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from discrim import kernels
from discrim.kernels import reference_placements

few_values = st.lists(st.sampled_from([-np.inf, -2.0, -0.0, 0.0, 1e-300, 1.0, 3.5, np.inf]), max_size=40)
functions = pytest.mark.parametrize(
    "function", [kernels.placements, reference_placements.placements], ids=["kernel", "reference"]
)


@functions
@settings(max_examples=80, deadline=None)
@given(high=few_values, low=few_values)
def test_placements_count_what_lies_below_and_above_with_half_for_ties(function, high, low):
    a, b = np.sort(np.array(high, dtype=float)), np.sort(np.array(low, dtype=float))
    below, above = function(a, b)
    pairs = (b[None, :] < a[:, None]) + 0.5 * (b[None, :] == a[:, None])
    assert_array_equal(below, pairs.sum(axis=1))
    assert_array_equal(above, pairs.sum(axis=0))


@functions
@pytest.mark.parametrize("place", [0, 1, 2])
def test_nan_anywhere_is_refused_instead_of_walking_forever(function, place):
    some, wrong = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0])
    wrong[place] = np.nan
    for high, low in ((wrong, some), (some, wrong), (wrong, wrong), (wrong, np.empty(0))):
        with pytest.raises(ValueError, match="a value is NaN"):
            function(high, low)
