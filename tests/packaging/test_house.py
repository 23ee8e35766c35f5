"""The rules of CONTRIBUTING.md, as claims about the source tree and its pages."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
HEAVY = ("pandas", "polars", "pyarrow", "matplotlib", "duckdb", "click")


def functions_of(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def code_lines(function, text):
    """Lines of a function that hold code: no docstring, no blank line, no comment of its own."""
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    if not statements:
        return 0
    lines = text.splitlines()[statements[0].lineno - 1 : function.end_lineno]
    return sum(1 for line in lines if line.strip() and not line.strip().startswith("#"))


def parameters(function):
    arguments = function.args
    named = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return [name for name in named if name not in ("self", "cls")]


def test_there_is_something_to_check():
    assert len(SOURCES) > 10


def test_no_source_file_is_longer_than_600_lines():
    files = [p for pattern in ("*.py", "*.cpp", "*.hpp") for p in (ROOT / "src").rglob(pattern)]
    sizes = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in files}
    assert {name: size for name, size in sizes.items() if size > 600} == {}


def test_no_function_is_longer_than_60_code_lines():
    long = {}
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        for function in functions_of(path):
            if code_lines(function, text) > 60:
                long[f"{path.relative_to(ROOT)}:{function.name}"] = code_lines(function, text)
    assert long == {}


# The public function whose settings are the whole interface of a package.
MANY_PARAMETERS = ("compare", "scan")


def test_no_function_but_a_constructor_takes_more_than_8_parameters():
    many = {
        f"{path.relative_to(ROOT)}:{function.name}": len(parameters(function))
        for path in SOURCES
        for function in functions_of(path)
        if function.name not in ("__init__", *MANY_PARAMETERS) and len(parameters(function)) > 8
    }
    assert many == {}


@pytest.mark.parametrize(
    "package", ["", ".basis", ".decision", ".evaluation", ".models", ".plots", ".sources", ".statistics"]
)
def test_a_public_name_is_never_the_file_of_that_name(package):
    module = importlib.import_module(f"discrim{package}")
    public = () if package else (*(path.parent.name for path in (ROOT / "src/discrim").glob("*/__init__.py")), "errors")
    values = {name: getattr(module, name) for name in module.__all__}
    assert [name for name, value in values.items() if inspect.ismodule(value) and name not in public] == []


def test_importing_discrim_adds_nothing_heavy_or_optional_to_scikit_learn():
    code = "\n".join(
        [
            "import sys, sklearn.base",
            f"before = {{m for m in {HEAVY!r} if m in sys.modules}}",
            "import discrim",
            "discrim.LinearDiscriminantAnalysis, discrim.cross_validate, discrim.scan",
            f"print(sorted({{m for m in {HEAVY!r} if m in sys.modules}} - before))",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_discrim_alone_imports_no_numbers_so_that_help_is_quick():
    code = "import sys, discrim, discrim.cli.commands; print(sorted({'numpy', 'sklearn', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_discrim_says_nothing():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import discrim"], capture_output=True, text=True, check=True
    )
    assert done.stdout + done.stderr == ""


def test_the_package_is_marked_as_typed():
    assert (ROOT / "src/discrim/py.typed").exists()


def modules_with_examples():
    paths = [path for path in SOURCES if ">>> " in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in paths]
    return [name.removesuffix(".__init__") for name in names]


@pytest.mark.parametrize("name", modules_with_examples())
def test_the_examples_in_the_docstrings_are_true(name):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert failed == 0
    assert tried


def python_blocks(page):
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"))
    assert blocks
    return blocks


def test_the_python_blocks_of_the_documentation_run_one_after_another(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for block in python_blocks("docs/index.md"):
        exec(compile(block, "docs/index.md", "exec"), names)


def installed_by(extra):
    """The packages that the extra of discrim brings along."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [(Requirement(text), "") for text in project["dependencies"] + project["optional-dependencies"][extra]]
    found = set()
    while needed:
        requirement, of = needed.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": of}):
            continue
        if name == "discrim":
            texts = [text for more in requirement.extras for text in project["optional-dependencies"][more]]
            needed += [(Requirement(text), "") for text in texts]
        elif name not in found:
            found.add(name)
            extras = requirement.extras or {""}
            needed += [(Requirement(each), more) for more in extras for each in metadata.requires(name) or []]
    return found | {"discrim"}


def without_other_packages():
    """Code that hides what is installed for the tests and not by `make demo`."""
    own = installed_by("examples") | {"pip", "setuptools"}
    homes = metadata.packages_distributions()
    other = sorted(name for name, of in homes.items() if not {canonicalize_name(each) for each in of} & own)
    assert {"pandas", "duckdb", "statsmodels", "pytest"} <= set(other)
    return f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {other!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


WITHOUT = without_other_packages()
# Width of the printed tables, and no window for pictures.
ENVIRONMENT = {**os.environ, "COLUMNS": "80", "MPLBACKEND": "agg"}


@pytest.fixture(scope="session")
def run_after_install(run_program):
    """Run code with what `make demo` installs and no more, in a folder; what it printed."""

    def run(code, folder, *arguments):
        done = run_program(WITHOUT + code, ENVIRONMENT, folder=folder, arguments=arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def after_the_demo(run_after_install, tmp_path_factory):
    """A folder in which the demo was run, with what it installs and no more, and what it printed."""
    folder = tmp_path_factory.mktemp("clone")
    demo = f"import runpy; runpy.run_path({str(ROOT / 'examples/crabs.py')!r}, run_name='__main__')"
    return folder, run_after_install(demo, folder)


@pytest.mark.parametrize("number", range(len(python_blocks("README.md"))))
def test_a_block_of_the_readme_runs_after_the_demo_alone(number, run_after_install, after_the_demo):
    run_after_install(python_blocks("README.md")[number], after_the_demo[0])


def test_the_command_of_the_readme_runs_after_the_demo_alone(run_after_install, after_the_demo):
    (line,) = re.findall(r"(?m)^discrim (compare .*)$", (ROOT / "README.md").read_text(encoding="utf-8"))
    run_after_install("from discrim.cli import main; main()", after_the_demo[0], *line.split())
    assert (after_the_demo[0] / "demo/mine.html").exists()


def test_the_demo_prints_its_table_and_leaves_a_page_and_a_table(after_the_demo):
    folder, printed = after_the_demo
    assert max(map(len, printed.splitlines())) <= 80
    page = (folder / "demo/report.html").read_text(encoding="utf-8")
    assert "LDA" in printed
    assert "<svg" in page
    assert re.findall(r"(?:src|href)=[\"']https?:", page) == []
    assert (folder / "demo/crabs.csv").read_text().startswith("FL,RW,CL,CW,BD,group\n")


# crabs.py is the demo; text.py has a test of its own, which gives it documents. More samples than 3 change no code.
@pytest.mark.parametrize(
    ("name", "arguments"), [("bayesian_qda", ["3"]), ("orings", []), ("perceptron", []), ("regions", [])]
)
def test_the_example_runs_with_what_the_demo_installs(name, arguments, run_after_install, tmp_path):
    script = f"import runpy; runpy.run_path({str(ROOT / 'examples' / name)!r} + '.py', run_name='__main__')"
    assert run_after_install(script, tmp_path, *arguments).strip()


def test_a_warning_points_at_the_line_outside_the_library(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, warnings, discrim\n"
        "X = np.c_[np.arange(12.0) ** 2 % 7, np.ones(12)]\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    discrim.BayesianQuadraticDiscriminantAnalysis().fit(X, [0, 1] * 6)\n"
        "print([(w.filename, w.lineno) for w in caught])\n"
    )
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    assert found.strip() == str([(str(script), 5)])
