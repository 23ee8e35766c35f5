"""What pyproject.toml, the Makefile and the README promise about installing the package."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import discrim

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
IMPORTED_AS = {"scikit-learn": "sklearn"}


def packages(requirements):
    """The names under which the required packages are imported; those of other extras included."""
    found = set()
    for requirement in requirements:
        if own := re.match(r"discrim\[(.+)\]", requirement):
            found |= set().union(*(packages(EXTRAS[extra]) for extra in own[1].split(",")))
        else:
            name = re.match(r"[\w-]+", requirement)[0]
            found.add(IMPORTED_AS.get(name, name.replace("-", "_")))
    return found


def imported_in(*folders):
    """The packages that are imported anywhere in the code, those for type checkers alone left out."""
    found = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        guarded = {
            id(inner)
            for node in nodes
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        for node in nodes:
            if id(node) in guarded:
                continue
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.split(".")[0])
    return found - sys.stdlib_module_names - {"discrim"}


def test_the_package_declares_what_it_imports_and_nothing_else():
    # joblib comes with scikit-learn, whose interface it is part of.
    assert packages(PROJECT["dependencies"]) | packages(EXTRAS["all"]) == imported_in("src") - {"joblib"}


def test_the_examples_need_what_their_extra_lists():
    assert packages(EXTRAS["examples"]) - packages(EXTRAS["app"]) == {"matplotlib"}
    assert imported_in("examples") <= packages(PROJECT["dependencies"]) | packages(EXTRAS["examples"])


def test_the_benchmarks_import_every_peer_of_their_extra():
    assert packages(EXTRAS["bench"]) - packages(EXTRAS["app"]) <= imported_in("benchmarks")


def test_the_version_is_written_in_one_place():
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert "0.1.0" not in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert f"## [{discrim.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    # How the build reads it; any other statement that looks like it would confuse it.
    text = (ROOT / "src/discrim/__init__.py").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^__version__ = \"(.+)\"$", text) == [discrim.__version__]


def test_the_installed_version_is_that_of_the_package():
    try:
        installed = metadata.version("discrim")
    except metadata.PackageNotFoundError:
        pytest.skip("discrim is imported from its source folder, without being installed")
    assert installed == discrim.__version__


def test_the_readme_installs_extras_and_makes_targets_that_exist():
    named = re.findall(r"pip install '\.\[(.+)\]'", README)
    assert named
    assert set(named) <= set(EXTRAS)
    rules = set(re.findall(r"(?m)^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    assert set(re.findall(r"`?\bmake ([a-z-]+)", "\n".join(re.findall(r"`[^`]+`|^make .*", README)))) <= rules


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/index.md"])
def test_the_links_of_a_page_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    assert links
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


@pytest.mark.skipif(not shutil.which("make"), reason="make is not on this machine")
def test_make_demo_reports_each_step_before_it_takes_time(tmp_path):
    command = ["make", "--dry-run", "demo", f"VENV={tmp_path / 'venv'}", f"PYTHON={sys.executable}"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    steps = [said.index(words) for words in (
        "== Creating the environment", "-m venv", "== Installing", "-qq install --editable '.[examples]'",
        "== Comparing", "examples/crabs.py",
    )]  # fmt: skip
    assert steps == sorted(steps)
    assert "-qqq" not in said  # errors of pip are shown
