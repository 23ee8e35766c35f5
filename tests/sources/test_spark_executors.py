"""A cluster of Spark whose executors are processes of their own: one of them is killed as a whole in mid-fit."""

import os
import shutil
import sys

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'discrim[spark]'")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java 17: apt-get install openjdk-17-jre-headless", allow_module_level=True)

# In a process of its own, since a process has one session of Spark.
KILLED = """
import os

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

import discrim
from discrim.families.logistic import recipe

recipe.SAMPLE_VALUES = 400  # as if the rows were too many to be gathered


def killing(marker):
    def passed_on(batches):
        import os
        import signal
        import time
        from pathlib import Path

        for batch in batches:
            if batch.num_rows and not Path(marker).exists():
                parent = Path(f"/proc/{os.getppid()}/stat").read_text().rsplit(")", 1)[1].split()[1]
                assert "CoarseGrainedExecutorBackend" in Path(f"/proc/{parent}/cmdline").read_text()
                Path(marker).write_text(parent)
                os.kill(int(parent), signal.SIGKILL)
                time.sleep(2)
            yield batch

    return passed_on


rng = np.random.default_rng(12)
X = rng.normal(size=(3000, 3)) * [1.0, 100.0, 1e-3]
y = np.where(X[:, 0] + 0.01 * X[:, 1] + rng.logistic(size=3000) > 0, "yes", "no")
table = pd.DataFrame(X, columns=list("abc")).assign(y=y)
builder = SparkSession.builder.master("local-cluster[2,1,1024]")
for name, value in {
    "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
    "spark.log.level": "OFF",
}.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()
frame = session.createDataFrame(table).repartition(6)
for model in (discrim.LinearDiscriminantAnalysis(), discrim.LogisticRegression(tol=0)):
    marker = f"{type(model).__name__}.killed"
    rows = frame.mapInArrow(killing(os.path.abspath(marker)), frame.schema)
    found = np.array(model.fit(discrim.scan(rows, target="y")).coef_)
    whole = model.fit(discrim.scan(table, target="y")).coef_
    gone = not os.path.exists(f"/proc/{open(marker).read()}")
    print(marker, gone, np.abs(found / whole - 1).max() < 1e-9)
session.stop()
"""


def test_an_executor_that_is_killed_in_mid_fit_changes_nothing(run_program):
    # A Connect session that was started here leaves its marks among the variables.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    ran = run_program(KILLED, {**plain, "PYSPARK_PYTHON": sys.executable}, timeout=400)
    assert ran.stdout.splitlines() == [
        "LinearDiscriminantAnalysis.killed True True",
        "LogisticRegression.killed True True",
    ], ran.stderr[-3000:]
