"""CSV files of other programs: their separators and decimal commas are recognised, or asked for."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pytest

from discrim import scan
from discrim.errors import DataError, ParameterError
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


def late(first, last, n=100_000):
    """So many rows of a column, whose last tenth is of another kind than the first rows, and the values."""
    return [first(i) if i < 0.9 * n else last(i) for i in range(n)]


@pytest.mark.parametrize("kind", ["csv", "semicolons", "jsonl"])
def test_fractions_after_many_whole_numbers_are_read(tmp_path, kind):
    pytest.importorskip("polars")
    values = late(lambda i: i % 9, lambda i: i % 9 + 0.5)
    path = tmp_path / ("t.jsonl" if kind == "jsonl" else "t.csv")
    if kind == "jsonl":
        path.write_text("".join(f'{{"a": {value}, "b": {i}}}\n' for i, value in enumerate(values)))
    else:
        sign, point = (";", ",") if kind == "semicolons" else (",", ".")
        lines = [f"{value}{sign}{i}.0\n".replace(".", point) for i, value in enumerate(values)]
        path.write_text("".join([f"a{sign}b\n", *lines]))
    rows = scan(path, features=["a", "b"])
    for _ in range(2):
        assert numbers(rows).tolist() == [[value, float(i)] for i, value in enumerate(values)]


@pytest.mark.parametrize(
    ("first", "last", "sentence"),
    [
        (lambda i: i % 9, lambda _: "-", "the column 'a' holds '-' among numbers, as its first 10,000 rows have them"),
        (lambda i: i / 8, lambda _: "x", "the column 'a' holds 'x' among numbers"),
        (lambda i: ("true", "false")[i % 2], lambda _: "yes", "the column 'a' holds 'yes' among true and false"),
    ],
    ids=["whole", "fractions", "true and false"],
)
def test_words_after_many_numbers_are_shown(tmp_path, first, last, sentence):
    pytest.importorskip("polars")
    (tmp_path / "t.csv").write_text("\n".join(["a", *map(str, late(first, last))]))
    with pytest.raises(DataError, match=rf"{sentence}.* Leave the field empty where a value is missing, or mend it\.$"):
        numbers(scan(tmp_path / "t.csv"))
    # Who does not read the column does not meet it.
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *(f"{value},1" for value in late(first, last))]))
    assert numbers(scan(tmp_path / "t.csv", features=["b"])).sum() == 100_000


def test_words_after_many_numbers_in_json_lines_are_shown(tmp_path):
    pytest.importorskip("polars")
    values = late(lambda i: str(i % 9), lambda _: '"x"', 20_000)
    (tmp_path / "t.jsonl").write_text("".join(f'{{"a": {value}}}\n' for value in values))
    with pytest.raises(
        DataError, match=r"holds 'x' among numbers.* Write null where a value is missing, or mend it\.$"
    ):
        numbers(scan(tmp_path / "t.jsonl"))


def test_plain_texts_are_tables_where_their_first_line_is_separated(tmp_path):
    (tmp_path / "t.tab").write_text("a, b\ty\n1\tu\n2\tv\n")
    assert scan(tmp_path / "t.tab", target="y").features == ["a, b"]
    for name, text in (("t.txt", "a;y\n1,5;u\n2,5;v\n"), ("t.data", "a,y\n1.5,u\n2.5,v\n")):
        (tmp_path / name).write_text(text)
        rows = scan(tmp_path / name, target="y")
        assert (rows.features, [block.x.tolist() for block in rows.blocks()]) == (["a"], [[[1.5], [2.5]]])
    (tmp_path / "note.txt").write_text("Dear all\n")
    with pytest.raises(DataError, match=r"note\.txt' is of an unknown file type"):
        scan(tmp_path / "note.txt", target="y")


@pytest.mark.parametrize("parser", PARSERS)
def test_names_with_quotes_are_as_they_were(tmp_path, monkeypatch, parser):
    pytest.importorskip(parser)
    monkeypatch.setattr(sys.modules["discrim.sources.csv_files"], "installed", lambda package: package == parser)
    (tmp_path / "t.csv").write_text('"term ""months""","a;b",y\n1,2,u\n3,4,v\n')
    rows = scan(tmp_path / "t.csv", target="y")
    assert rows.features == ['term "months"', "a;b"]
    assert numbers(rows).tolist() == [[1.0, 2.0], [3.0, 4.0]]
