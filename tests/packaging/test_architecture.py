"""No module outside models/ knows a model, no object is reached into, and the documentation shows what is there."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import threading
import tomllib
from pathlib import Path

import numpy as np
import pytest

import discrim

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "discrim"
ESTIMATORS = {name for name in discrim.__all__ if name[0].isupper()}


def outside_models():
    """The modules that must get along with any model: all but the estimators, and the list of public names."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE)
        if name.parts[0] != "models" and name != Path("__init__.py"):
            yield str(name), path.read_text(encoding="utf-8")


def names_in(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def test_nobody_outside_models_asks_which_class_a_model_is():
    found = []
    for name, text in outside_models():
        # A scheme may know its own kind.
        own = {node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"isinstance", "issubclass"}:
                known = names_in(node.args[1]) & (ESTIMATORS - own)
                found += [f"{name}:{node.lineno} {', '.join(known)}"] if known else []
        found += [f"{name} {hit}" for hit in re.findall(r"type\(\w+\) is (?:not )?\w+", text)]
    assert found == []


def test_nobody_outside_models_has_a_table_of_models():
    found = []
    for name, text in outside_models():
        written = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
        found += [f"{name} {model!r}" for model in sorted(ESTIMATORS & {v for v in written if isinstance(v, str)})]
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Dict | ast.Set):
                keys = node.keys if isinstance(node, ast.Dict) else node.elts
                known = {name for key in keys if isinstance(key, ast.Name) for name in names_in(key)} & ESTIMATORS
                found += [f"{name}:{node.lineno} {', '.join(known)}"] if known else []
    assert found == []


def test_no_module_of_the_package_is_allowed_private_access():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    ignored = settings["tool"]["ruff"]["lint"]["per-file-ignores"]
    assert [pattern for pattern in ignored if pattern.startswith("src")] == []
    assert "SLF" in settings["tool"]["ruff"]["lint"]["select"]
    noted = [name for name, text in outside_models() if re.search(r"noqa: .*SLF001", text)]
    assert noted == []


def test_the_picture_of_the_packages_is_that_of_the_import_contract():
    spec = importlib.util.spec_from_file_location("draw_packages", ROOT / "docs" / "draw_packages.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PICTURE.read_text(encoding="utf-8") == script.drawing(), "run python docs/draw_packages.py"


def test_every_family_has_a_folder_of_estimators():
    families, models = (
        {p.parent.name for p in (SOURCE / stage).glob("*/__init__.py")} for stage in ("families", "models")
    )
    assert families == models


def files_that_run(call):
    """The Python files of the package in which a function is called."""
    home, seen = ROOT / "src/discrim", set()

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(home) and frame.f_code.co_name != "<module>":
            seen.add(path.relative_to(home).as_posix())

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


def test_the_tables_of_three_fits_list_the_files_that_run(tmp_path):
    polars = pytest.importorskip("polars", reason="a Parquet file is written")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    polars.DataFrame({**{f"x{j}": X[:, j] for j in range(4)}, "y": y}).write_parquet(tmp_path / "rows.parquet")
    fits = {
        "One pass": lambda: discrim.LinearDiscriminantAnalysis().fit(X, y),
        "A few passes": lambda: discrim.LogisticRegression().fit(discrim.scan(tmp_path / "rows.parquet", target="y")),
        "Rows in order": lambda: discrim.SGDClassifier().fit(X, y),
    }
    page = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    for title, fit in fits.items():
        fit()  # imports and public names that are looked up for the first time are no part of a fit
        table = page.split(f"**{title}.**")[1].split("\n\n")[1]
        listed = {name for row in table.splitlines() for name in re.findall(r"`([a-z_/]+\.py)`", row.split("|")[1])}
        assert listed == files_that_run(fit), title
