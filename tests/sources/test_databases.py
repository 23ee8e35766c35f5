"""Tables and queries of SQLite, DuckDB and PostgreSQL, and JSON lines, give the models that arrays give."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

import discrim
from discrim import scan
from discrim.errors import DataError, ParameterError

duckdb = pytest.importorskip("duckdb")
pl = pytest.importorskip("polars")
NAMES = ["sepal length", "sepal width", "petal length", 'the "width"']


@pytest.fixture(scope="module")
def frame():
    data = discrim.datasets.load_iris()
    return pl.DataFrame({**dict(zip(NAMES, data.data.T, strict=True)), "species": data.target})


@pytest.fixture(scope="module")
def coefficients():
    return discrim.LinearDiscriminantAnalysis().fit(*discrim.datasets.load_iris().xy).coef_


def to_sqlite(path, frame, table="iris"):
    with sqlite3.connect(path) as connection:
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
        connection.execute(f'CREATE TABLE "{table}" ({columns})')
        places = ", ".join("?" * frame.width)
        connection.executemany(f'INSERT INTO "{table}" VALUES ({places})', frame.rows())
    connection.close()
    return path


@pytest.fixture
def sqlite(tmp_path, frame):
    return to_sqlite(tmp_path / "flowers.db", frame)


@pytest.fixture
def duck(tmp_path, frame):
    with duckdb.connect(str(tmp_path / "flowers.duckdb")) as connection:
        connection.register("frame", frame.to_arrow())
        connection.sql("CREATE TABLE iris AS SELECT * FROM frame")
        connection.sql("CREATE TABLE other AS SELECT 1 AS a")
    return tmp_path / "flowers.duckdb"


@pytest.fixture
def server(postgres, frame):
    """A connection to the server, with the flowers in the table iris."""
    driver = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with driver.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute('DROP TABLE IF EXISTS iris, "Two Words"')
        cursor.adbc_ingest("iris", frame.to_arrow(), mode="create")
        cursor.execute("CREATE TABLE \"Two Words\" AS SELECT * FROM iris WHERE species <> 'setosa'")
        connection.commit()
        yield connection


def fitted(*arguments, **options):
    return discrim.LinearDiscriminantAnalysis().fit(scan(*arguments, target="species", **options)).coef_


@pytest.mark.parametrize("table", ["", "::iris", "::IRIS", "::main.iris", "::select * from iris", "::WITH a AS "])
def test_a_table_or_query_of_sqlite_gives_the_same_model(sqlite, coefficients, table):
    if table.startswith("::WITH"):
        table += "(SELECT * FROM iris) SELECT * FROM a"
    np.testing.assert_array_equal(fitted(f"{sqlite}{table}"), coefficients)


@pytest.mark.parametrize("table", ["::iris", "::main.iris", "::select * from iris"])
def test_a_table_or_query_of_duckdb_gives_the_same_model(duck, coefficients, table):
    np.testing.assert_array_equal(fitted(f"{duck}{table}"), coefficients)


@pytest.mark.parametrize("table", ["::iris", "::public.iris", "::select * from iris"])
def test_a_table_or_query_of_postgresql_gives_the_same_model(postgres, server, coefficients, table):
    np.testing.assert_array_equal(fitted(f"{postgres}{table}"), coefficients)
    assert next(scan(f"{postgres}::Two Words", target="species").blocks()).classes.tolist() == [
        "versicolor",
        "virginica",
    ]


def test_a_query_goes_through_an_open_connection(sqlite, duck, server, coefficients):
    query = "SELECT * FROM iris;"
    with sqlite3.connect(sqlite) as connection:
        np.testing.assert_array_equal(fitted(query=query, connection=connection), coefficients)
    connection.close()
    with duckdb.connect(str(duck)) as connection:
        np.testing.assert_array_equal(fitted(query=query, connection=connection), coefficients)
    np.testing.assert_array_equal(fitted(query=query, connection=server), coefficients)
    np.testing.assert_array_equal(fitted(query=query, connection=sqlite), coefficients)


def test_json_lines_are_read_and_a_name_that_a_line_lacks_is_missing(tmp_path, frame, coefficients):
    frame.write_ndjson(tmp_path / "iris.jsonl")
    np.testing.assert_array_equal(fitted(tmp_path / "iris.jsonl"), coefficients)
    with (tmp_path / "iris.jsonl").open("a") as file:
        file.write('{"species": "setosa", "sepal width": 1.0}\n')
    with pytest.raises(DataError, match="column 'sepal length' has 1 NaN"):
        fitted(tmp_path / "iris.jsonl")


def test_every_pass_over_a_server_reads_one_state(postgres, server):
    """Logistic regression reads the rows several times; labels of rows that come meanwhile would be a third class."""
    rows = scan(f"{postgres}::Two Words", target="species", features=NAMES[:2])
    before = [block.classes.tolist() for block in rows.blocks()]
    with server.cursor() as cursor:
        cursor.execute('INSERT INTO "Two Words" SELECT * FROM iris')
        server.commit()
    assert [block.classes.tolist() for block in rows.blocks()] == before
    assert scan(f"{postgres}::Two Words", target="species").labelled
    now = scan(f"{postgres}::Two Words", target="species", features=NAMES[:2])
    assert sum(map(len, now.blocks())) == 250


def test_passes_over_a_server_may_be_nested(postgres, server):
    rows = scan(f"{postgres}::iris", target="species")
    assert [(len(one), len(two)) for one in rows.blocks() for two in rows.blocks()] == [(150, 150)]


def test_every_pass_over_an_sqlite_file_reads_one_state(sqlite):
    with sqlite3.connect(sqlite) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        rows = scan(sqlite, target="species")
        assert rows.n_rows == 150
        writer.execute("INSERT INTO iris SELECT * FROM iris")
        writer.commit()
        assert sum(map(len, rows.blocks())) == 150
        assert scan(sqlite, target="species").n_rows == 300
    writer.close()


def test_rows_of_sqlite_have_one_order_whatever_columns_are_read(sqlite):
    with sqlite3.connect(sqlite) as writer:
        writer.execute('CREATE INDEX sorted ON iris ("sepal width", species)')
    writer.close()
    widths = scan(sqlite, features=["sepal width"], target="species")
    np.testing.assert_array_equal(
        np.concatenate([block.x[:, 0] for block in widths.blocks()]), discrim.datasets.load_iris().data[:, 1]
    )


def test_values_of_several_types_in_a_column_of_sqlite(tmp_path):
    frame = pl.DataFrame({"a": [1, 2, 3], "b": [1.5, None, 2.0], "word": ["x", "y", "x"], "none": [None] * 3})
    path = to_sqlite(tmp_path / "t.db", frame, "t")
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO t VALUES (9007199254740993, 2, 7, NULL)")
        connection.execute("ALTER TABLE t ADD COLUMN image BLOB")
        connection.execute("UPDATE t SET image = x'00'")
    connection.close()
    head = scan(path, features=["a"]).head
    assert [head.type_of(name) for name in head.names] == ["int64", "double", "string", "null", "binary"]
    (table,) = scan(path, features=["a", "b", "word"]).tables()
    assert table.labels("word", 0, 4).to_pylist() == ["x", "y", "x", "7"]
    np.testing.assert_array_equal(table.numbers(["b"], 0, 4, np.float64)[:, 0], [1.5, np.nan, 2.0, 2.0])
    with pytest.raises(DataError, match="Column 'image' has the type binary"):
        list(scan(path).blocks())


def test_numbers_and_identifiers_of_postgresql_are_converted(postgres, server):
    query = "SELECT 1.25::numeric AS a, gen_random_uuid() AS id, true AS b, 2::smallint AS c"
    (table,) = scan(query=query, connection=postgres).tables()
    assert [table.kind(name) for name in table.names] == ["number", "text", "number", "number"]
    np.testing.assert_array_equal(table.numbers(["a", "b", "c"], 0, 1, np.float64), [[1.25, 1, 2]])


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("{duck}", "Which table of '{duck}'\\? Write it after two colons, as in ...::iris. It has 'iris', 'other'."),
        ("{duck}::irs", "There is no table 'irs' in '{duck}'. Did you mean 'iris'\\?"),
        ("{duck}::SELECT a FROM iris", "The query of '{duck}' cannot be read: .*\"a\""),
        ("{sqlite}::irs", "There is no table 'irs' in '{sqlite}'. Did you mean 'iris'\\?"),
        ("{sqlite}::select colour from iris", "The query of '{sqlite}' cannot be read: no such column: colour"),
        ("{sqlite}.txt::iris", "There is no file '{sqlite}.txt'."),
        ("{here}::iris", "is neither an SQLite nor a DuckDB database"),
        ("{postgres}::irs", "There is no table 'irs' in the PostgreSQL database. Did you mean 'iris'\\?"),
        ("{postgres}::SELECT a FROM iris", 'The query of PostgreSQL cannot be read: column "a" does not exist.'),
        ("postgresql://me:secret@/none?host=/nowhere::t", "The database of PostgreSQL cannot be read: (?!.*secret)"),
    ],
)
def test_what_cannot_be_read_is_named(duck, sqlite, postgres, server, address, message):
    values = {"duck": duck, "sqlite": sqlite, "postgres": postgres, "here": __file__}
    with pytest.raises(DataError, match=message.format(**values)):
        scan(address.format(**values), target="species")


def test_a_query_needs_a_connection(sqlite, postgres):
    with pytest.raises(ParameterError, match="The 'connection' parameter is None; it must be an open connection"):
        scan(query="SELECT 1")
    with pytest.raises(ParameterError, match="either data, or query"):
        scan(sqlite, query="SELECT 1")
    with pytest.raises(ParameterError, match="The 'query' parameter is 3"):
        scan(query=3, connection=sqlite)
    with pytest.raises(DataError, match="Column names occur more than once: 'a'"):
        scan(query="SELECT 1 AS a, 2 AS a", connection=postgres)


def test_an_empty_or_broken_database_is_reported(tmp_path):
    path = to_sqlite(tmp_path / "t.db", pl.DataFrame({"a": [1]}), "t")
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM t")
    connection.close()
    with pytest.raises(DataError, match=r"There are no rows in the table 't' of '.*t.db'."):
        scan(path)
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\x00" + b"\x07" * 2000)
    with pytest.raises(DataError, match=r"'.*broken.db' cannot be read as an SQLite database"):
        scan(tmp_path / "broken.db")
