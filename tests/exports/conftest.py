"""Exported models, each run in the real thing: onnxruntime, gcc, an isolated Python, DuckDB, SQLite, PostgreSQL."""

import ctypes
import json
import sqlite3
import subprocess
import sys
from types import SimpleNamespace

import duckdb
import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

from discrim.exports import export


def labels_of(model, answers):
    """As the model writes them; None for a row without an answer."""
    return [None if answer in {None, "", -(2**63)} else answer for answer in answers]


def run_onnx(model, frame, tmp_path, dtype="float64"):
    graph = export(model, "onnx", dtype=dtype)
    onnx.checker.check_model(onnx.load_from_string(graph), full_check=True)
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    wanted = [each.name for each in session.get_inputs()]
    if wanted == ["X"]:
        feed = {"X": frame.to_numpy(dtype=dtype)}
    else:
        feed = {
            name: frame[[name]].astype(object).where(frame[[name]].notna(), "").to_numpy(dtype=object)
            if session.get_inputs()[place].type == "tensor(string)"
            else frame[[name]].to_numpy(dtype=dtype)
            for place, name in enumerate(wanted)
        }
    label, *posterior = session.run(None, feed)
    return labels_of(model, label.tolist()), posterior[0] if posterior else None


def run_python(model, frame, tmp_path):
    export(model, "python", tmp_path / "model.py")
    text = (tmp_path / "model.py").read_text(encoding="utf-8")
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    caller = (
        "import json, sys\nmade = {}\nexec(compile(sys.stdin.read(), 'model', 'exec'), made)\nfound = []\n"
        "for row in json.load(open(sys.argv[1])):\n"
        "    try:\n        posterior = made['predict_proba'](row) if 'predict_proba' in made else []\n"
        "        found.append([made['predict'](row), posterior])\n"
        "    except ValueError:\n        found.append([None, []])\nprint(json.dumps(found))"
    )
    command = [sys.executable, "-I", "-S", "-c", caller, str(tmp_path / "rows.json")]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, encoding="utf-8")
    found = json.loads(done.stdout)
    size = max((len(posterior) for _, posterior in found), default=0)
    return [label for label, _ in found], np.array([p or [np.nan] * size for _, p in found]) if size else None


def run_c(model, frame, tmp_path):
    export(model, "c", tmp_path / "model.c")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    library = tmp_path / f"model{len(list(tmp_path.glob('*.so')))}.so"
    subprocess.run(["gcc", *flags, "-o", str(library), str(tmp_path / "model.c"), "-lm"], check=True)
    loaded, answer = ctypes.CDLL(str(library)), SimpleNamespace()
    answer.predict = loaded.model_predict
    source = (tmp_path / "model.c").read_text(encoding="utf-8")
    texts = [name for name in frame if frame[name].dtype.kind not in "fiub"]
    numbers = frame.drop(columns=texts).to_numpy(dtype=float)
    count = int(source.split("model_classes[")[1].split("]")[0])
    labels = _labels_in_c(loaded, source)
    found, posteriors = [], []
    has = "this model has none" not in source
    for row, levels in zip(numbers, frame[texts].to_numpy(dtype=object), strict=True):
        out = (ctypes.c_double * count)(*[np.nan] * count)
        arguments = [np.ascontiguousarray(row).ctypes.data_as(ctypes.POINTER(ctypes.c_double))]
        if texts:
            given = [None if pd.isna(level) else str(level).encode() for level in levels]
            arguments.append((ctypes.c_char_p * len(given))(*given))
        place = answer.predict(*arguments, out)
        found.append(labels[place] if place >= 0 else None)
        posteriors.append(list(out) if place >= 0 else [np.nan] * count)
    return found, np.array(posteriors) if has else None


def _labels_in_c(loaded, source):
    line = next(line for line in source.splitlines() if "model_labels[" in line)
    size = int(line.split("[")[1].split("]")[0])
    kind = {"char": ctypes.c_char_p, "int": ctypes.c_int, "long": ctypes.c_longlong, "double": ctypes.c_double}[
        line.split()[1]
    ]
    values = (kind * size).in_dll(loaded, "model_labels")
    return [value.decode() if kind is ctypes.c_char_p else value for value in values]


def sql_rows(model, frame, dialect, address=None, table="t", keep="row number"):
    """The answers of a query, in the order of the rows."""
    numbered = frame.assign(**{keep: np.arange(len(frame))})
    query = export(model, "sql", table=table, dialect=dialect, keep=keep)
    quoted = '"' + table.replace('"', '""') + '"'
    if dialect == "duckdb":
        database = duckdb.connect()
        database.register("given", numbered)
        rows = database.execute(f"CREATE TABLE {quoted} AS SELECT * FROM given").execute(query)
        names, rows = [column[0] for column in rows.description], rows.fetchall()
    elif dialect == "sqlite":
        database = sqlite3.connect(":memory:")
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in numbered)
        database.execute(f"CREATE TABLE {quoted} ({names})")
        values = numbered.astype(object).where(numbered.notna(), None).to_numpy().tolist()
        database.executemany(f"INSERT INTO {quoted} VALUES ({', '.join('?' * numbered.shape[1])})", values)
        rows = database.execute(query)
        names, rows = [column[0] for column in rows.description], rows.fetchall()
    else:
        names, rows = _in_postgres(numbered, table, quoted, query, address)
    assert len({name.lower() for name in names}) == len(names)
    rows = sorted(rows)
    labels, posteriors = [row[1] for row in rows], [row[2:] for row in rows]
    return labels, np.array(posteriors, dtype=float) if len(names) > 2 else None


def _in_postgres(frame, table, quoted, query, address):
    import adbc_driver_postgresql.dbapi
    import pyarrow as pa

    with adbc_driver_postgresql.dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {quoted}")
        cursor.adbc_ingest(table, pa.Table.from_pandas(frame, preserve_index=False), mode="create")
        cursor.execute(query)
        names, rows = [column[0] for column in cursor.description], cursor.fetchall()
        connection.commit()
    return names, rows


RUNNERS = {
    "onnx": run_onnx,
    "python": run_python,
    "c": run_c,
    "duckdb": lambda model, frame, _: sql_rows(model, frame, "duckdb"),
    "sqlite": lambda model, frame, _: sql_rows(model, frame, "sqlite"),
}


def same_answers(model, frame, found, tol=1e-12, X=None, but=()):
    """Are these the answers of ``predict`` and ``predict_proba``? ``but`` are rows that the model refuses."""
    labels, posterior = found
    kept = [i for i in range(len(frame)) if i not in set(but)]
    rows = frame if X is None else X
    rows = rows.iloc[kept] if hasattr(rows, "iloc") else rows[kept]
    wanted = model.predict(rows).tolist()
    assert [labels[i] for i in kept] == wanted
    assert [labels[i] for i in but] == [None] * len(but)
    assert (posterior is not None) == hasattr(model, "predict_proba")
    if posterior is not None:
        np.testing.assert_allclose(posterior[kept], model.predict_proba(rows), rtol=0, atol=tol)
        assert np.isnan(posterior[list(but)].astype(float)).all()


@pytest.fixture(scope="session")
def iris():
    from discrim import datasets

    X, y = datasets.load_iris().xy
    # Rows far from all classes too.
    rows = np.vstack([X[::4], X[::15] + 4.0, X[::15] - 4.0])
    return X, y, pd.DataFrame(rows, columns=[f"x{j}" for j in range(4)])


@pytest.fixture(scope="session")
def forms():
    """Functions of a model, a frame and a folder, by the form that each runs."""
    return RUNNERS


@pytest.fixture(scope="session")
def check():
    return same_answers


@pytest.fixture(scope="session")
def in_sql():
    return sql_rows


@pytest.fixture(scope="session")
def in_onnx():
    return run_onnx
