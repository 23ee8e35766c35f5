"""``discrim predict``: the class of every row of a table of any size."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from discrim.cli import options
from discrim.cli.running import note, verb
from discrim.cli.writing import write_json


@verb(
    "predict",
    "Write the class and posteriors of every row.",
    examples="""
    discrim predict crabs.discrim new.csv
    discrim predict crabs.discrim new.csv --id crab -o classes.csv
    discrim predict paid.discrim 'trips-*.parquet' --id trip,day -o paid.parquet
    discrim predict paid.discrim - --json < trips.jsonl
    """,
)
@options.model_file
@options.data
@options.columns("--id", "Columns to copy to the output; by default rows are numbered from 1.")
@options.text
@options.types
@options.sep
@options.to_file("-o", "--output", text="Write to this .csv, .tsv, .parquet, .arrow or .jsonl file.")
@options.as_json
def predict(path: Path, data: str, *, id: list[str], output: Path | None, as_json: bool, **reading: Any) -> None:  # noqa: A002 - the name of the option
    """Write the class of every row of DATA, with its posterior probabilities.

    MODEL is a file from 'discrim fit', 'discrim compare --save' or 'model.save'. Columns are matched by name, in any
    order; what the model does not use is not read. Of a folder of documents every file has a row. The rows are read in
    parts, so that DATA may be larger than memory, and a file appears under its name when it is complete. Without -o the
    output is CSV on the terminal; --json makes it JSON lines there, and a summary of what was written with -o.
    """
    from discrim.cli.answering import Question
    from discrim.cli.folders import FILE
    from discrim.cli.tables import as_path, load_model
    from discrim.cli.tabular import open_output
    from discrim.errors import name_list

    question = Question(load_model(path), as_path(data), **reading)
    ids = id or ([FILE] if question.is_folder else [])
    question = replace(question, besides=ids)
    if question.unused:
        note(f"the model does not use {name_list(question.unused)}.")
    counts: Counter[str] = Counter()
    with open_output(output, question.names, ids, as_json=as_json) as out:
        for answers in question.answers("predicting"):
            out.write(answers)
            counts.update(map(str, answers.predicted.tolist()))
    if output is not None and as_json:
        write_json({"output": str(output), "rows": counts.total(), "classes": counts})
    elif output is not None:
        shares = ", ".join(f"{counts[str(label)]:,} {label}" for label in question.model.classes_)
        note(f"{counts.total():,} rows written to '{output}': {shares}.")
