"""Which kernels are in use."""

from __future__ import annotations

import os

import pytest

from discrim import kernels
from discrim.errors import KernelsError
from discrim.kernels import versions
from discrim.kernels.gaussian import reference

WITHOUT_NATIVE = """
    import sys
    sys.modules["discrim.kernels._native"] = None  # makes its import fail
    import numpy as np
    from discrim import kernels
    from discrim.block import Block
    from discrim.statistics import ClassMoments, Depth

    assert kernels.BACKEND == "numpy"
    for name in ("class_moments", "score"):
        assert getattr(kernels, name) is getattr(kernels.gaussian.reference, name)
    assert kernels.code_integers is kernels.reference_labels.code_integers
    block = Block(np.array([[1.0], [3.0]]), np.zeros(2, np.int32), np.array(["a"]))
    assert ClassMoments.of(block, Depth.POOLED).scatter.tolist() == [[2.0]]
"""


WHICH = "from discrim import kernels as k; print(k.BACKEND, k.VERSION, k.VERSION == 'reference' or k._native.version())"

# The kernels are chosen when they are imported, and most of the time of a new program goes into what they import.
IN_CHILDREN = f"""
    import os, sys
    import discrim.errors

    for asked in {(*versions.available(), "", None)!r}:
        if os.fork() == 0:
            os.environ.pop({versions.VARIABLE!r}, None)
            if asked is not None:
                os.environ[{versions.VARIABLE!r}] = asked
            {WHICH}
            sys.exit()
        assert os.wait()[1] == 0
"""


@pytest.fixture
def run(run_program):
    """The script in a process of its own, with DISCRIM_KERNELS set or unset."""

    def ran(script, asked=None):
        environment = {name: value for name, value in os.environ.items() if name != versions.VARIABLE}
        return run_program(script, environment if asked is None else environment | {versions.VARIABLE: asked})

    return ran


# Processes that set the variable themselves, or need no kernel, are the same whichever version runs here.
any_version = pytest.mark.any_version


@any_version
def test_without_the_compiled_module_the_references_are_used(run):
    ran = run(WITHOUT_NATIVE)
    assert ran.returncode == 0, ran.stderr


@any_version
def test_every_kernel_has_a_reference_of_the_same_name():
    references = {"class_moments": reference, "score": reference, "code_integers": kernels.reference_labels}
    for name, module in references.items():
        assert callable(getattr(kernels, name))
        assert getattr(kernels, name).__name__ == getattr(module, name).__name__


@any_version
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forked children on this system")
def test_the_variable_picks_the_version_and_without_it_the_best_runs(run):
    each = {name: f"native {name} {name}" for name in versions.available()} | {"reference": "numpy reference True"}
    best = each[versions.available()[-1]]
    ran = run(IN_CHILDREN)
    assert ran.stdout.splitlines() == [*(each[name] for name in versions.available()), best, best], ran.stderr


@any_version
def test_import_discrim_itself_does_not_ask_for_the_kernels(run):
    assert run("import discrim", "nonsense").returncode == 0


@any_version
def test_an_unknown_version_is_an_error_that_names_those_there_are(run):
    ran = run("from discrim import LinearDiscriminantAnalysis", "sse9")
    assert ran.returncode == 1
    assert "KernelsError: The environment variable DISCRIM_KERNELS is 'sse9'" in ran.stderr
    assert "'reference', 'baseline', 'avx2', 'avx512'" in ran.stderr


@any_version
def test_a_version_that_the_processor_or_the_build_lacks_is_an_error(run):
    assert versions.choose("", ("reference", "baseline")) == "baseline"
    with pytest.raises(
        KernelsError, match="asks for 'avx512', which this processor cannot run; it has 'reference', 'ba"
    ):
        versions.choose("avx512", ("reference", "baseline", "avx2"))
    with pytest.raises(KernelsError, match=r"this install has no compiled kernels. Install a C\+\+17 compiler"):
        versions.choose("baseline", ("reference",))
    without = """
        import os, sys
        sys.modules["discrim.kernels._native"] = None
        from discrim.errors import KernelsError
        try:
            from discrim import kernels
        except KernelsError:
            os.environ["DISCRIM_KERNELS"] = "reference"
            from discrim import kernels
            print(kernels.BACKEND)
    """
    ran = run(without, "avx2")
    assert ran.stdout == "numpy\n", ran.stderr


@pytest.mark.skipif(kernels.BACKEND != "native", reason="the compiled kernels are not built")
def test_the_module_itself_refuses_a_version_that_it_has_not(kernel_version):
    with pytest.raises(ValueError, match="no such version"):
        kernels._native.use("avx1024")
    assert kernels._native.version() == kernel_version
