"""Numbers are written as R writes them."""

from __future__ import annotations

import numpy as np
import pytest

from discrim.inference.render import stars, write_column, write_number, write_p_values


@pytest.mark.parametrize(
    ("values", "digits", "expected"),
    [
        ([1.5, 20.0], 4, ["1.5", "20.0"]),
        ([5.006, 3.428, 1.462, 0.246], 7, ["5.006", "3.428", "1.462", "0.246"]),
        ([37.22727, -3.87783, -0.03177], 4, ["37.22727", "-3.87783", "-0.03177"]),
        ([1 / 3, 100.0], 4, ["0.3333", "100.0000"]),
        ([1e-10, 1.0], 4, ["1e-10", "1e+00"]),
        ([123456.789], 4, ["123457"]),
        ([0.99996], 4, ["1"]),
        ([50.0, 1000000.0], 4, ["50", "1000000"]),
        ([-0.5, np.nan, np.inf, -np.inf, None], 4, ["-0.5", "NaN", "Inf", "-Inf", ""]),
        ([np.int64(3), np.float32(0.5)], 4, ["3.0", "0.5"]),
        ([None, np.nan], 4, ["", "NaN"]),
        ([0.0, -0.0], 4, ["0", "0"]),
        ([], 4, []),
    ],
)
def test_a_column_shows_the_digits_that_its_neediest_number_asks_for(values, digits, expected):
    assert write_column(values, digits) == expected


def test_rounding_noise_beside_real_numbers_is_written_as_zero():
    assert write_column([32.19, 0.2854, -3e-17], 4) == ["32.1900", "0.2854", "0.0000"]


def test_a_number_of_its_own_size_is_not_noise():
    assert write_column([3e-17], 4) == ["3e-17"]


def test_p_values_are_those_printed_by_r_for_the_cars():
    values = [0.177915, 6.95e-06, 0.000216, 0.046716]
    assert write_p_values(values, 4) == ["0.177915", "6.95e-06", "0.000216", "0.046716"]


def test_the_tiniest_p_values_are_given_by_a_bound():
    assert write_p_values([0.0, 1e-300, 2.1e-16, 3e-16, 0.5], 4) == [
        "<2e-16",
        "<2e-16",
        "<2e-16",
        "3e-16",
        "0.5",
    ]


def test_missing_p_values_are_blank_or_nan():
    assert write_p_values([None, np.nan, 0.25], 4) == ["", "NaN", "0.25"]


@pytest.mark.parametrize(
    ("p", "mark"),
    [
        (0.0, "***"),
        (0.0009, "***"),
        (0.001, "**"),
        (0.01, "*"),
        (0.05, "."),
        (0.1, ""),
        (np.nan, ""),
        (None, ""),
    ],
)
def test_stars_change_at_the_levels_of_the_legend(p, mark):
    assert stars(p) == mark


@pytest.mark.parametrize(("value", "text"), [(150, "150"), (0.02343863, "0.023439"), ("svd", "svd"), (True, "True")])
def test_a_fact_is_written_by_its_kind(value, text):
    assert write_number(value, 5) == text
