"""Documents come from folders and columns in blocks of bounded size, in order, and errors name what is wrong."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from discrim.errors import DataError, ParameterError
from discrim.text import Documents, documents, open_documents
from discrim.text.documents import CHARACTERS

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


def gathered(source):
    blocks = list(source.blocks())
    return [text for block in blocks for text in block.texts], np.concatenate([b.labels for b in blocks]).tolist()


@pytest.mark.parametrize("batch_rows", [1, 7, 1024])
def test_every_place_gives_the_same_documents_in_blocks_of_at_most_so_many(place, corpus, batch_rows):
    source = documents(**place, batch_rows=batch_rows)
    assert isinstance(source, Documents)
    assert max(len(block) for block in source.blocks()) <= batch_rows
    assert gathered(source) == corpus
    assert gathered(source) == corpus  # and once more, in the same order
    assert source.classes().tolist() == sorted(set(corpus[1]))


def test_weights_come_from_their_column(corpus):
    texts, labels = corpus
    frame = pl.DataFrame({"t": texts, "y": labels, "w": np.arange(60.0)})
    blocks = list(documents(frame, text="t", target="y", weight="w", batch_rows=50).blocks())
    assert np.concatenate([block.weight for block in blocks]).tolist() == list(range(60))
    with pytest.raises(DataError, match="The weight column 'w' has 1 negative among 60 values"):
        next(documents(frame.with_columns(w=pl.col("w") - 1), text="t", weight="w").blocks())


def test_a_file_that_is_not_utf8_is_read_as_latin1(tmp_path):
    (tmp_path / "one").mkdir()
    for name, raw in {
        "a": "café".encode(),
        "b": "café".encode("latin-1"),
        "c": b"\xef\xbb\xbfcaf\xc3\xa9",
        "d": b"",
    }.items():
        (tmp_path / "one" / name).write_bytes(raw)
    assert gathered(documents(tmp_path))[0] == ["café", "café", "café", ""]


def test_files_come_by_name_and_hidden_or_stray_ones_do_not(tmp_path):
    for name in ("b/2", "b/10", "a/z", "b/.hidden", ".git/x", "README"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "b/deeper").mkdir()
    (tmp_path / "b/deeper/file").write_text("not read")
    assert gathered(documents(str(tmp_path))) == (["a/z", "b/10", "b/2"], ["a", "b", "b"])


def test_a_folder_of_files_alone_has_no_labels(tmp_path):
    (tmp_path / "mail").write_text("see you")
    source = documents(tmp_path)
    assert not source.labelled
    assert [(block.texts, block.labels) for block in source.blocks()] == [(["see you"], None)]
    assert repr(source) == f"Documents(folder '{tmp_path}', without labels)"


def test_large_files_end_a_block_early(tmp_path):
    (tmp_path / "long").mkdir()
    for i in range(5):
        (tmp_path / "long" / str(i)).write_bytes(b"word " * (CHARACTERS // 12))
    assert [len(block) for block in documents(tmp_path).blocks()] == [2, 2, 1]


def test_folders_that_cannot_be_read_say_why(tmp_path):
    with pytest.raises(DataError, match=f"^There is no folder '{tmp_path}/none'.$"):
        documents(tmp_path / "none")
    with pytest.raises(DataError, match=f"^The folder '{tmp_path}' holds no document."):
        documents(tmp_path)
    (tmp_path / "train" / "spam").mkdir(parents=True)
    with pytest.raises(DataError, match=r"holds no document, only the folders 'spam'. Give the folder whose folders"):
        documents(tmp_path)
    (tmp_path / "train" / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"The document '.*/train/gone' cannot be read: No such file or directory."):
        list(documents(tmp_path).blocks())
    (tmp_path / "train" / "gone").unlink()
    (tmp_path / "train" / "picture").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(DataError, match=r"picture' holds zero bytes: it is no text, or UTF-16. Convert it to UTF-8"):
        list(documents(tmp_path).blocks())


@pytest.mark.parametrize(
    "container",
    [
        lambda t: pl.DataFrame({"t": t}),
        lambda t: pd.DataFrame({"t": t}),
        lambda t: pd.DataFrame({"t": pd.Series(t, dtype="string")}),
        lambda t: pa.table({"t": t}),
    ],
    ids=["polars", "pandas", "pandas string", "arrow"],
)
def test_a_missing_document_is_an_error_or_an_empty_one(container):
    table = container(["one", "two", None, "four"])
    with pytest.raises(DataError, match=r"^Document 2 of column 't', counted from 0, is missing .None, NaN or null"):
        list(documents(table, text="t", batch_rows=2).blocks())
    found = [text for block in documents(table, text="t", missing="empty").blocks() for text in block.texts]
    assert found == ["one", "two", "", "four"]


def test_a_missing_document_is_counted_from_the_first_of_the_source(tmp_path):
    pl.DataFrame({"t": [*"abcdefg", None, "i"]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"^Document 7 of column 't', counted from 0, is missing"):
        list(documents(tmp_path / "t.parquet", text="t", batch_rows=2).blocks())


def test_an_empty_field_of_a_csv_file_is_a_missing_document(tmp_path):
    (tmp_path / "t.csv").write_text("t,y\nsome words,a\n,b\n")
    with pytest.raises(DataError, match="Document 1 of column 't'"):
        list(documents(tmp_path / "t.csv", text="t", target="y").blocks())
    assert gathered(documents(tmp_path / "t.csv", text="t", target="y", missing="empty"))[0] == ["some words", ""]


def test_a_csv_file_that_is_not_utf8_says_so(tmp_path):
    (tmp_path / "t.csv").write_bytes("t,y\ncafé,a\nthé,b\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"(?s)t.csv' cannot be read: .*in another encoding; save it as UTF-8"):
        list(documents(tmp_path / "t.csv", text="t").blocks())


def test_columns_that_hold_no_documents_are_named():
    frame = pd.DataFrame({"t": ["a", "b"], "n": [1, 2], "mixed": ["a", 3], "y": ["u", None]})
    for arguments, message in (
        ({"text": "n"}, "Column 'n' of 'pandas DataFrame' holds numbers; documents are strings."),
        ({"text": "tt"}, "There is no column 'tt' in 'pandas DataFrame'. Did you mean 't'?"),
        ({"text": "t", "target": "z"}, "There is no column 'z' in 'pandas DataFrame'."),
        ({"text": "mixed"}, "Column 'mixed' mixes the types int, str."),
        ({"text": "t", "target": "t"}, "The 'text' parameter is 't'; it must be another column than"),
        ({}, "The 'text' parameter is None; it must be the name of the column that holds the documents"),
        ({"text": "t", "batch_rows": 0}, "The 'batch_rows' parameter is 0; it must be a positive integer."),
        ({"text": "t", "missing": "drop"}, "The 'missing' parameter is 'drop'; it must be one of 'error', 'empty'."),
    ):
        with pytest.raises((DataError, ParameterError), match=re.escape(message)):
            documents(frame, **arguments)
    with pytest.raises(DataError, match="the labels in column 'y' contain NaN or null: 1 of 2 are missing"):
        list(documents(frame, text="t", target="y").blocks())
    with pytest.raises(DataError, match="no rows"):
        documents(frame[:0], text="t")


def test_a_file_needs_the_name_of_a_column_and_a_folder_has_none(tmp_path):
    (tmp_path / "t.csv").write_text("t\nword\n")
    with pytest.raises(
        ParameterError, match=r"'text' parameter is None; it must be the name of the column of '.*t.csv'"
    ):
        documents(tmp_path / "t.csv")
    with pytest.raises(ParameterError, match="'target' parameter is 'y'; it must be left out"):
        documents(tmp_path, target="y")


def test_labels_that_change_their_type_between_blocks_are_refused():
    frame = pd.DataFrame({"t": ["a", "b"], "y": np.array([1, "one"], dtype=object)})
    with pytest.raises(DataError, match="labels in column 'y' mix the types 'int', 'str', which have no common order"):
        documents(frame, text="t", target="y", batch_rows=1).classes()


def test_a_stream_is_read_once_and_says_so():
    stream = pa.table({"t": ["a", "b"], "y": [1, 2]}).to_reader()
    source = documents(stream, text="t", target="y")
    assert not source.rereadable
    with pytest.raises(DataError, match="can be read only once, but its labels must be known first"):
        source.classes()
    assert gathered(source) == (["a", "b"], [1, 2])
    with pytest.raises(DataError, match="can be read only once and has been read"):
        list(source.blocks())


STRINGS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "object array": lambda t: np.array(t, dtype=object),
    "pandas": pd.Series,
    "polars": pl.Series,
    "arrow": pa.array,
    "iterator": iter,
}


@pytest.mark.parametrize("kind", list(STRINGS))
def test_strings_in_memory_are_documents(kind, corpus):
    blocks = open_documents(STRINGS[kind](corpus[0])).blocks()
    texts = [text for block in blocks for text in block.texts]
    assert texts == corpus[0]
    assert Counter(map(type, texts)) == {str: 60}


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("one string", "X is a single string. Pass a list of documents"),
        ([["a"], ["b"]], "Document 0 of X, counted from 0, is of the type list; documents are strings."),
        (["a", 2.5], "Document 1 of X, counted from 0, is of the type float"),
        (["a", float("nan")], "Document 1 of X, counted from 0, is missing"),
        (["a", None], "Document 1 of X, counted from 0, is missing"),
        (["a", pd.NA], "Document 1 of X, counted from 0, is missing"),
        ([b"a"], "is of the type bytes; documents are strings. Decode it first."),
        ([], "There are no documents: X is empty."),
        (np.array([["a"]]), "X has 2 dimensions; documents are one string per row."),
        (pd.DataFrame({"t": ["a"]}), "X has 2 dimensions"),
        (pl.DataFrame({"t": ["a"]}), "X has 2 dimensions"),
        (pa.table({"t": ["a"]}), "X has 2 dimensions"),
        (np.array("a"), "X has 0 dimensions"),
        ({"a", "b"}, "X is of the type set. Pass a list of documents."),
        (None, "X is of the type NoneType. Pass a list of documents."),
    ],
)
def test_what_is_no_list_of_strings_is_refused(X, message):
    with pytest.raises(DataError, match=re.escape(message)):
        list(open_documents(X).blocks())


def test_labels_go_with_strings_and_not_with_documents(corpus):
    texts, labels = corpus
    assert gathered(open_documents(texts, labels)) == corpus
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[60, 59\]"):
        open_documents(texts, labels[1:])
    with pytest.raises(DataError, match="X is an iterator, whose documents cannot be matched with labels"):
        open_documents(iter(texts), labels)
    with pytest.raises(DataError, match="Documents bring their own labels and weights"):
        open_documents(documents(pl.DataFrame({"t": texts}), text="t"), labels)
