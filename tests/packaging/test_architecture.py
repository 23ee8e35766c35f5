"""What nobody may do, however convenient: know models by name, reach into other objects, or draw another picture."""

from __future__ import annotations

import ast
import importlib.util
import re
import tomllib
from pathlib import Path

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
