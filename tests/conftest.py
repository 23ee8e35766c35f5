"""The same examples in every run, and tests that run on every version of the kernels that this machine has."""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
import scipy.linalg  # noqa: F401 - brings the linear algebra library whose threads are counted below
from hypothesis import settings
from threadpoolctl import threadpool_limits

from discrim import kernels
from discrim.kernels import versions
from discrim.models import registry

# A failure that is found stays found, and a pass does not depend on how busy the machine is.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# Processes of pytest-xdist share the cores, and threads of linear algebra that wait for a core spin: in tests of wide
# tables they took four tenths of the processor time. Tests that are about these threads ask for several, and programs
# that tests start have the usual ones.
if "PYTEST_XDIST_WORKER" in os.environ:
    threadpool_limits(1, user_api="blas")

# Tests start many programs, and without compiled files each of them would compile the package, and each run the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

MARKER = "every_version"
ONCE = "any_version"
# Of the cases of a test the other versions run one in so many.
ONE_IN = 3
KERNELS = Path(__file__).parent / "kernels"
# The reference alone where nothing is compiled or it is asked for; the asked version alone; or all compiled ones.
VERSIONS = (
    (kernels.VERSION,)
    if kernels.BACKEND == "numpy" or os.environ.get(versions.VARIABLE)
    else tuple(name for name in versions.available() if name != versions.REFERENCE)
)


def pytest_configure(config):
    config.addinivalue_line(
        "markers", f"{MARKER}: asserts exact zeros, counts or bits, so it runs once for each version of the kernels"
    )
    config.addinivalue_line("markers", f"{ONCE}: a test of kernels to which the version in use does not matter")


def pytest_report_header():
    return f"kernels: {kernels.VERSION}; tests of kernels and of exact results run on {', '.join(VERSIONS)}"


def pytest_generate_tests(metafunc):
    once = metafunc.definition.get_closest_marker(ONCE)
    of_kernels = metafunc.definition.path.is_relative_to(KERNELS) and not once
    if of_kernels or metafunc.definition.get_closest_marker(MARKER):
        metafunc.parametrize("kernel_version", VERSIONS, indirect=True, scope="module")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """A case of a NumPy reference alone never calls a compiled kernel: it runs once, not with each version.

    All versions are compiled from one source. Of a test with many cases the best version runs all of them, and of the
    cases of the others two in three are slow tests.
    """
    if len(VERSIONS) == 1:
        return
    items[:] = [item for item in items if not repeats_a_reference(item)]
    seen = Counter()
    for item in items:
        version = item.callspec.params.get("kernel_version") if hasattr(item, "callspec") else None
        if version in VERSIONS[:-1]:
            seen[item.path, item.originalname, version] += 1
            if seen[item.path, item.originalname, version] % ONE_IN != 1:
                item.add_marker(pytest.mark.slow)


def repeats_a_reference(item):
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    if parameters.get("kernel_version", VERSIONS[-1]) == VERSIONS[-1]:
        return False
    return versions.REFERENCE in item.callspec.id.split("-")


@pytest.fixture(autouse=True, scope="module")
def kernel_version(request):
    """The version in which the kernels run, here and in processes that a test starts."""
    name = getattr(request, "param", None)
    if name is None or kernels.BACKEND == "numpy":
        yield kernels.VERSION
        return
    before = os.environ.get(versions.VARIABLE)
    kernels._native.use(name)
    os.environ[versions.VARIABLE] = name
    yield name
    kernels._native.use(kernels.VERSION)
    if before is None:
        del os.environ[versions.VARIABLE]
    else:
        os.environ[versions.VARIABLE] = before


@pytest.fixture
def own_registry(monkeypatch):
    """The registry of models, with which a test may do what it likes."""
    monkeypatch.setattr(registry, "_entries", registry.all_entries())
    return registry


# Reads programs from a pipe, and runs each in a child as `python -c` does; the answer is how the child ended.
LAUNCHER = """
import os, pickle, sys
import scipy.linalg, scipy.special, sklearn.base

answers = os.fdopen(os.dup(1), "wb")
while True:
    try:
        code, folder, environment, files = pickle.load(sys.stdin.buffer)
    except EOFError:
        sys.exit()
    child = os.fork()
    if child == 0:
        break
    pickle.dump(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), answers)
    answers.flush()
answers.close()
for number, path in enumerate((os.devnull, *files)):
    os.dup2(os.open(path, os.O_RDWR), number)
os.chdir(folder)
os.environ.clear()
os.environ.update(environment)
exec(compile(code, "<string>", "exec"))
"""


@pytest.fixture(scope="session")
def launcher():
    """A process that has imported scikit-learn, on which a new one spends most of its time."""
    # Of a session of its own, so that it can be ended together with its children.
    command = [sys.executable, "-c", LAUNCHER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def run_program(launcher, tmp_path_factory):
    """Run a program in a process that has not imported discrim, and give how it ended and what it printed."""

    def run(code, env=None, timeout=120):
        folder = tmp_path_factory.mktemp("program")
        files = [folder / "stdout", folder / "stderr"]
        for path in files:
            path.touch()
        environment = dict(os.environ if env is None else env)
        pickle.dump((textwrap.dedent(code), str(folder), environment, list(map(str, files))), launcher.stdin)
        launcher.stdin.flush()
        if not select.select([launcher.stdout], [], [], timeout)[0]:
            os.killpg(launcher.pid, signal.SIGKILL)
            pytest.fail(f"The program has not ended after {timeout} seconds.")
        status = pickle.load(launcher.stdout)
        return subprocess.CompletedProcess("", status, *(path.read_text() for path in files))

    return run
