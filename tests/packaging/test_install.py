"""The package can be installed with and without a compiler, and says which it was."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "src")
TOOLS = ("sh", "bash", "env", "uname", "cmake", "ninja", "make", "git")

pytestmark = pytest.mark.slow

# Fit and predict on the bundled data: enough to see that the installed files are whole.
TRY_IT = """
import sys
sys.path[:0] = sys.argv[1:]
import discrim
from discrim.kernels import BACKEND
X, y = discrim.datasets.load_crabs(log=True).xy
error = (discrim.LinearDiscriminantAnalysis().fit(X, y).predict(X) != y).mean()
print(BACKEND, discrim.__file__, round(error, 3))
"""

SHOW_COMPILER = """
import sys
sys.path[:0] = sys.argv[1:]
from discrim.kernels import _native
print(_native.compiler())
"""


@pytest.fixture
def checkout(tmp_path):
    """A copy of what a build needs, without anything that an earlier build left."""
    copy = tmp_path / "checkout"
    ignore = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=ignore)
        else:
            copy.mkdir(exist_ok=True)
            shutil.copy(source, copy / name)
    return copy


def build_wheel(checkout, out, environment):
    """The wheel that pip makes, and all that it said."""
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-deps", "-w", str(out), str(checkout)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = out.glob("*.whl")
    return wheel, done.stdout + done.stderr


def site_packages():
    return [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]


def try_installed(wheel, folder):
    """Unpack the wheel and use it, with the other packages of this environment but not this discrim."""
    zipfile.ZipFile(wheel).extractall(folder)
    # -S and -I: no .pth file, so the editable install of the tree cannot be what is imported
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", TRY_IT, str(folder), *site_packages()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    backend, file, error = done.stdout.split()
    assert Path(file).is_relative_to(folder)
    return backend, float(error)


@pytest.mark.skipif(not shutil.which("c++") and not shutil.which("g++"), reason="no C++ compiler on this machine")
def test_with_a_compiler_the_wheel_holds_the_extension_and_the_data_but_no_sources(checkout, tmp_path):
    wheel, said = build_wheel(checkout, tmp_path / "out", dict(os.environ))
    names = zipfile.ZipFile(wheel).namelist()
    assert any("kernels/_native" in name and not name.endswith(".pyi") for name in names)
    assert {"discrim/py.typed", "discrim/__init__.pyi", "discrim/datasets/crabs.csv"} <= set(names)
    assert [name for name in names if name.endswith((".cpp", ".hpp"))] == []
    assert "built with the compiled kernels" in said
    assert try_installed(wheel, tmp_path / "site")[0] == "native"


@pytest.mark.parametrize(("c", "cxx"), [("gcc", "g++"), ("clang", "clang++")])
def test_gcc_and_clang_both_build_the_kernels_without_a_warning(checkout, tmp_path, c, cxx):
    if not shutil.which(cxx):
        pytest.skip(f"{cxx} is not on this machine")
    wheel, said = build_wheel(checkout, tmp_path / "out", {**os.environ, "CC": c, "CXX": cxx})
    assert "built with the compiled kernels" in said
    warned = [line for line in said.splitlines() if "warning:" in line and "kernels" in line]
    assert warned == []
    assert try_installed(wheel, tmp_path / "site")[0] == "native"
    shown = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SHOW_COMPILER, str(tmp_path / "site"), *site_packages()],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.startswith(f"{c} ")


def broken_compiler(tmp_path):
    return {**os.environ, "CC": shutil.which("false"), "CXX": shutil.which("false")}


def no_compiler(tmp_path):
    """A search path with the tools of a build but no compiler."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (folder / tool).symlink_to(found)
    environment = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX")}
    return {**environment, "PATH": str(folder)}


@pytest.mark.parametrize("environment", [broken_compiler, no_compiler])
def test_without_a_working_compiler_the_install_is_pure_python_and_says_so_once(checkout, tmp_path, environment):
    wheel, said = build_wheel(checkout, tmp_path / "out", environment(tmp_path))
    assert wheel.name.endswith("-py3-none-any.whl")
    assert said.count("this is the pure-Python install") == 1
    backend, error = try_installed(wheel, tmp_path / "site")
    assert backend == "numpy"
    assert error < 0.1
