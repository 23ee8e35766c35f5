"""The same examples in every run, and tests that run on every version of the kernels that this machine has."""

from __future__ import annotations

import os
import pickle
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest
import scipy.linalg  # noqa: F401 - brings the linear algebra library whose threads are counted below
import sklearn.utils._openmp_helpers  # noqa: F401 - and that of scikit-learn's loops
from hypothesis import settings
from threadpoolctl import threadpool_limits

from discrim import kernels
from discrim.kernels import versions
from discrim.models import registry

# A failure that is found stays found, and a pass does not depend on how busy the machine is.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# Processes of pytest-xdist share the cores, and threads of the libraries that wait for a core spin: in tests of wide
# tables they took four tenths of the processor time. Tests that are about these threads ask for several, and programs
# that tests start have the usual ones.
if "PYTEST_XDIST_WORKER" in os.environ:
    threadpool_limits(1)

# Tests start many programs, and without compiled files each of them would compile the package, and each run the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

MARKER = "every_version"
ONCE = "any_version"
# Versions of the kernels other than the best run one in so many of the cases of a test.
ONE_IN = 3
# Tests with more cases than this one are thinned out.
MANY = 24
KERNELS = Path(__file__).parent / "kernels"
REFERENCE = Path(__file__).parent / "reference"
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
    """A case of a NumPy reference alone never calls a compiled kernel: it runs once, not with each version."""
    if len(VERSIONS) > 1:
        items[:] = [item for item in items if not repeats_a_reference(item)]
    mark_repetitions([item for item in items if hasattr(item, "callspec")])


def mark_repetitions(items):
    """Make slow tests of cases that are unlikely to find what the others do not.

    - All versions of the kernels are compiled from one source: the best runs all cases, the others one in three.
    - Where a test goes through all combinations of three or more lists, a fault that needs three particular entries is
      rare: a case runs if it brings together two entries that have not met. Answers of other programs are all compared.
    """
    cases = Counter(item.nodeid.split("[")[0] for item in items)
    seen, met = Counter(), defaultdict(set)
    for item in items:
        test, version = item.nodeid.split("[")[0], item.callspec.params.get("kernel_version", VERSIONS[-1])
        seen[test, version] += 1
        pairs = set(combinations(entries_of_lists(item), 2))
        many = cases[test] > MANY and len(pairs) > 1 and not item.path.is_relative_to(REFERENCE)
        repeats = many and pairs <= met[test, version]
        met[test, version] |= pairs
        if repeats or (version != VERSIONS[-1] and seen[test, version] % ONE_IN != 1):
            item.add_marker(pytest.mark.slow)


def entries_of_lists(item):
    """For each list of parameters, of a test or of a fixture, the entry that the case has."""
    values = {name: value for name, value in item.callspec.params.items() if name != "kernel_version"}
    named = [mark.args[0] for mark in item.iter_markers("parametrize")]
    named = [names.replace(",", " ").split() if isinstance(names, str) else names for names in named]
    alone = [[name] for name in values if not any(name in names for names in named)]
    # An entry is written once: its values are the same objects in every case.
    return [tuple((name, id(values[name])) for name in names if name in values) for names in named + alone]


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
        code, folder, environment, files, arguments = pickle.load(sys.stdin.buffer)
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
sys.argv[1:] = arguments
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


@pytest.fixture(scope="session")
def run_program(launcher, tmp_path_factory):
    """Run a program in a process that has not imported discrim, and give how it ended and what it printed."""

    def run(code, env=None, timeout=120, folder=None, arguments=()):
        own = tmp_path_factory.mktemp("program")
        files = [own / "stdout", own / "stderr"]
        for path in files:
            path.touch()
        environment, names = dict(os.environ if env is None else env), [str(path) for path in files]
        task = textwrap.dedent(code), str(folder or own), environment, names, list(map(str, arguments))
        pickle.dump(task, launcher.stdin)
        launcher.stdin.flush()
        if not select.select([launcher.stdout], [], [], timeout)[0]:
            os.killpg(launcher.pid, signal.SIGKILL)
            pytest.fail(f"The program has not ended after {timeout} seconds.")
        status = pickle.load(launcher.stdout)
        return subprocess.CompletedProcess("", status, *(path.read_text() for path in files))

    return run


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """The address of an empty PostgreSQL server of this test run, reached through a socket in a folder of its own."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [Path(shutil.which("initdb") or "")]
    programs = found[-1].parent
    if not (programs / "pg_ctl").is_file():
        pytest.skip("PostgreSQL is not installed")
    # Of a short name, as a socket must have; and of another user, since the server refuses to run as root.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    as_root = os.geteuid() == 0
    if as_root:
        shutil.chown(folder, "postgres")
    start = ["runuser", "-u", "postgres", "--"] if as_root else []

    def run(program, *arguments):
        command = [*start, str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)

    run("initdb", "--auth=trust", "--username=postgres", "--no-sync", "--no-locale", "--encoding=UTF8")
    settings_of_server = f"-k {folder} -c listen_addresses= -c fsync=off"
    run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", settings_of_server, "start")
    yield f"postgresql:///postgres?host={folder}&user=postgres"
    run("pg_ctl", "-m", "immediate", "stop")
    shutil.rmtree(folder)
