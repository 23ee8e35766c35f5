"""What show_versions reports, and the warning where large data meet the pure-Python install."""

from __future__ import annotations

import os
import sys
import textwrap

import numpy as np
import pytest
import scipy
import sklearn

import discrim
from discrim import kernels
from discrim.kernels import versions

WITHOUT_NATIVE = 'import sys\nsys.modules["discrim.kernels._native"] = None  # makes its import fail\n'


@pytest.fixture
def run(run_program):
    """The script in a process of its own, as where no compiler was found."""

    def ran(script, **environment):
        kept = {name: value for name, value in os.environ.items() if name != versions.VARIABLE}
        found = run_program(WITHOUT_NATIVE + textwrap.dedent(script), kept | environment)
        assert found.returncode == 0, found.stderr
        return found

    return ran


def test_the_report_names_versions_kernels_threads_and_blas(capsys):
    discrim.show_versions()
    said = capsys.readouterr().out
    for name, module in (("discrim", discrim), ("numpy", np), ("scipy", scipy), ("scikit-learn", sklearn)):
        assert f"{name}: {module.__version__}" in said
    assert sys.version.split()[0] in said
    assert f"version: {kernels.VERSION}, of reference" in said
    assert "polars: " in said
    assert "threads: " in said
    assert "BLAS: " in said
    if kernels.BACKEND == "native":
        assert "running: native" in said
        assert any(f"compiler: {name} " in said for name in ("gcc", "clang"))


def test_the_report_of_a_pure_python_install_says_what_to_do(run):
    said = run("import discrim; discrim.show_versions()").stdout
    assert "running: reference" in said
    assert "install a C++17 compiler and reinstall" in said


LARGE = """
    import warnings
    warnings.simplefilter("always")
    import numpy as np, discrim
    from discrim.errors import DiscrimWarning, SlowKernelsWarning
    from scipy import sparse
    X = np.random.default_rng(0).normal(size=(200_000, 5))
    y = (X[:, 0] > 0).astype(int)
    def warned(act):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            act()
        return [w for w in caught if issubclass(w.category, SlowKernelsWarning)]
"""


FITS = [
    "discrim.LinearDiscriminantAnalysis().fit(X, y)",
    "discrim.LinearDiscriminantAnalysis().partial_fit(X, y)",
    "discrim.GaussianNB().fit(pd.DataFrame(X), y)",
    "discrim.MultinomialNB().fit(sparse.csr_array(np.abs(X)), y)",
    "discrim.CategoricalNB().fit((X > 0).astype(int), y)",
    "discrim.GaussianNB().fit(discrim.scan(frame, target='y'))",
]


def test_a_pure_python_install_warns_once_at_the_first_large_fit(run):
    run(
        LARGE
        + f"""
    import pandas as pd, polars as pl
    from discrim.kernels.versions import _warn_once
    frame = pl.LazyFrame({{"a": X[:, 0], "y": y}})
    assert not warned(lambda: discrim.LinearDiscriminantAnalysis().fit(X[:1000], y[:1000]).predict(X))
    for first in {FITS!r}:
        _warn_once.cache_clear()  # as in a new process
        (one,) = warned(lambda: eval(compile(first, "user.py", "eval")))
        assert issubclass(one.category, DiscrimWarning)
        assert one.filename == "user.py", first
        for words in ("without its compiled kernels", "Install a C++17 compiler", "reinstall", "show_versions()"):
            assert words in str(one.message), first
        assert not warned(lambda: eval(first)), first
        assert not warned(lambda: discrim.LinearDiscriminantAnalysis().fit(X, y)), first
    """
    )


def test_whoever_asks_for_the_reference_is_not_warned(run):
    run(LARGE + "    assert not warned(lambda: discrim.GaussianNB().fit(X, y))", DISCRIM_KERNELS="reference")


def test_import_and_compiled_kernels_warn_of_nothing(run, run_program):
    ran = run("import warnings; warnings.simplefilter('error'); import discrim; discrim.LinearDiscriminantAnalysis")
    assert not ran.stderr
    if kernels.BACKEND == "native":
        script = textwrap.dedent(LARGE) + "assert not warned(lambda: discrim.GaussianNB().fit(X, y))"
        assert run_program(script).returncode == 0
