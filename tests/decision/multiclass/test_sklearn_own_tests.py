"""scikit-learn's own tests of its multi-class schemes, which come with its wheel, pass with ours. None is left out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import discrim

HERE = Path(__file__).parent


def test_the_tests_of_scikit_learn_pass_with_our_schemes(tmp_path):
    paths = [str(HERE), str(Path(discrim.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment.pop("PYTEST_ADDOPTS", None)
    environment["OPENBLAS_NUM_THREADS"] = "1"  # these processes share the cores too
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "swap_multiclass"]
    command += ["--pyargs", "sklearn.tests.test_multiclass"]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-1000:]
    counts = {what: int(count) for count, what in re.findall(r"(\d+) (passed|deselected)", result.stdout)}
    assert counts["passed"] >= 50
    assert "deselected" not in counts
