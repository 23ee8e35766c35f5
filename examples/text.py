"""Which package of discrim does a docstring come from? ``python examples/text.py``. Prints what the model learned.

The docstrings are written to a folder with one subfolder per package, and read back block by block.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import discrim
from discrim.models.text_classifier import TextClassifier
from discrim.text import WordCounts, documents

PACKAGES = ("sources", "statistics", "families", "inference", "models")
STOP_WORDS = ["the", "of", "and", "or", "is", "are", "in", "to", "with", "at", "from", "that", "not", "for", "by"]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        train, test = Path(name) / "train", Path(name) / "test"
        write_docstrings(train, test)
        counts = WordCounts(min_df=2, stop_words=STOP_WORDS)
        model = TextClassifier(counts=counts).fit(documents(train, batch_rows=100))
        truth = np.concatenate([block.labels for block in documents(test).blocks()])
        found = model.predict(documents(test))

    packages, sizes = np.unique(truth, return_counts=True)
    print(model.summary(), "\n")
    right = np.mean(found == truth)
    print(f"Of {len(truth)} docstrings that the model has not seen, {right:.0%} are assigned to the right package.")
    print(f"Always answering '{packages[sizes.argmax()]}' is right for {sizes.max() / len(truth):.0%}.")


def write_docstrings(train: Path, test: Path) -> None:
    """Every other docstring is written to the folder for testing."""
    for package in PACKAGES:
        for i, text in enumerate(docstrings(Path(discrim.__file__).parent / package)):
            folder = (test if i % 2 else train) / package
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{i:04}.txt").write_text(text, encoding="utf-8")


def docstrings(package: Path) -> Iterator[str]:
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                yield text


if __name__ == "__main__":
    main()
