"""CSV files of other programs: their separators and decimal commas are recognised, or asked for."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pytest

from discrim import scan
from discrim.errors import ParameterError
from discrim.sources.csv_files import Dialect, dialect_of

PARSERS = ["polars", "duckdb", "pyarrow"]


def numbers(rows):
    return np.concatenate([block.dense() for block in rows.blocks()])


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_a_separator_without_a_comma_in_the_header_is_recognised_with_its_decimal_commas(
    tmp_path, monkeypatch, parser, sign
):
    pytest.importorskip(parser)
    monkeypatch.setattr(sys.modules["discrim.sources.csv_files"], "installed", lambda package: package == parser)
    (tmp_path / "t.csv").write_text(f"a{sign}b{sign}y\n1,5{sign}3{sign}u\n-2,25{sign}4{sign}v\n")
    rows = scan(tmp_path / "t.csv", target="y")
    assert numbers(rows).tolist() == [[1.5, 3.0], [-2.25, 4.0]]
    assert next(rows.blocks()).classes.tolist() == ["u", "v"]


def test_a_decimal_point_beside_commas_is_no_decimal_comma(tmp_path):
    (tmp_path / "t.csv").write_text('a;place;y\n1.5;"Ulm, Bonn";u\n2.5;3,4;v\n')
    assert dialect_of(tmp_path / "t.csv", None) == Dialect(";", decimal_comma=False)


def test_one_time_written_with_a_point_does_not_turn_decimal_commas_into_text(tmp_path):
    (tmp_path / "t.csv").write_text("at;wing;weight;y\n9:10;37,5;1,2;u\n9.53;38,5;1,4;v\n")
    assert dialect_of(tmp_path / "t.csv", None) == Dialect(";", decimal_comma=True)
    rows = scan(tmp_path / "t.csv", target="y", features=["wing", "weight"])
    assert numbers(rows).tolist() == [[37.5, 1.2], [38.5, 1.4]]


def test_a_comma_in_the_header_wins_and_sep_overrides_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b;y\n1;u\n2;v\n")
    assert dialect_of(path, None).separator == ","
    assert scan(path, target="y", sep=";").features == ["a,b"]
    with pytest.raises(ParameterError, match="The 'sep' parameter is 'tab'; it must be a single character"):
        scan(path, target="y", sep="tab")


def test_gzipped_and_tsv_files_are_looked_into(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("a;y\n1,5;u\n")
    assert dialect_of(tmp_path / "t.csv.gz", None) == Dialect(";", decimal_comma=True)
    (tmp_path / "t.tsv").write_text("a, b\ty\n1\tu\n")
    assert dialect_of(tmp_path / "t.tsv", None).separator == "\t"
