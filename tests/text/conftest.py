"""One small corpus, poured into every place that documents are read from."""

from __future__ import annotations

import csv

import numpy as np
import pytest

WORDS = {
    "garden": "rose tulip bee spade soil rain sun seed",
    "kitchen": "bread salt oven knife soup rain seed spoon",
    "straße": "tram bicycle rain bridge straße café lamp",
}


@pytest.fixture(scope="session")
def corpus():
    """60 documents, class by class as a folder gives them, with commas, quotes and lines in them; and their labels."""
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for label, words in WORDS.items():
        for _ in range(20):
            drawn = rng.choice([*words.split(), "The", "and", "of"], size=rng.integers(3, 15))
            texts.append(', "the"\n'.join([" ".join(drawn[:3]), " ".join(drawn[3:])]))
            labels.append(label)
    return texts, labels


def as_folder(texts, labels, path):
    for i, (text, label) in enumerate(zip(texts, labels, strict=True)):
        folder = path / "folder" / label
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i:03}.txt").write_bytes(text.encode())
    return {"data": path / "folder"}


def as_csv(texts, labels, path):
    with (path / "texts.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["n", "text", "label"])
        writer.writerows(zip(range(len(texts)), texts, labels, strict=True))
    return {"data": path / "texts.csv", "text": "text", "target": "label"}


def as_parquet(texts, labels, path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"text": texts, "label": labels}), path / "texts.parquet", row_group_size=16)
    return {"data": path / "texts.parquet", "text": "text", "target": "label"}


def as_pandas(texts, labels, path):
    frame = pytest.importorskip("pandas").DataFrame({"label": labels, "text": texts})
    return {"data": frame, "text": "text", "target": "label"}


def as_categories(texts, labels, path):
    frame = pytest.importorskip("pandas").DataFrame({"label": labels, "text": texts}, dtype="category")
    return {"data": frame, "text": "text", "target": "label"}


def as_polars(texts, labels, path):
    frame = pytest.importorskip("polars").DataFrame({"label": labels, "text": texts})
    return {"data": frame.lazy(), "text": "text", "target": "label"}


def as_arrow(texts, labels, path):
    pa = pytest.importorskip("pyarrow")
    return {"data": pa.table({"label": labels, "text": texts}), "text": "text", "target": "label"}


def as_duckdb(texts, labels, path):
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    relation = duckdb.connect().from_arrow(pa.table({"label": labels, "text": texts}))
    return {"data": relation, "text": "text", "target": "label"}


PLACES = {
    "folder": as_folder,
    "csv": as_csv,
    "parquet": as_parquet,
    "pandas": as_pandas,
    "pandas categories": as_categories,
    "polars lazy": as_polars,
    "arrow": as_arrow,
    "duckdb": as_duckdb,
}


@pytest.fixture(params=list(PLACES))
def place(request, corpus, tmp_path):
    """The arguments with which ``documents`` reads the corpus from one kind of place."""
    return PLACES[request.param](*corpus, tmp_path)
