"""Clusters of this machine, each started once for all tests that ask for it, on loopback."""

import os
import shutil
import sys

import pytest


@pytest.fixture(scope="session")
def two_workers():
    """A Dask client with two worker processes, which is used only within ``as_current``."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with (
        distributed.LocalCluster(**settings) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark_session():
    """A function that starts a classic or a Connect session in place of the one before."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'discrim[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17: apt-get install openjdk-17-jre-headless")
    from pyspark.sql import SparkSession

    before, running = os.environ.get("PYSPARK_PYTHON"), {}
    os.environ["PYSPARK_PYTHON"] = sys.executable

    def session(kind):
        if kind not in running:
            for name in list(running):
                running.pop(name).stop()
            if kind == "connect":
                pytest.importorskip("grpc", reason="Spark Connect needs grpcio: pip install 'pyspark[connect]'")
            builder = getattr(SparkSession.builder, {"connect": "remote", "classic": "master"}[kind])("local[2,4]")
            for name, value in {
                "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
                "spark.sql.shuffle.partitions": "2", "spark.log.level": "ERROR",
            }.items():  # fmt: skip
                builder = builder.config(name, value)
            running[kind] = builder.getOrCreate()
        return running[kind]

    yield session
    for one in running.values():
        one.stop()
    del os.environ["PYSPARK_PYTHON"]
    if before is not None:
        os.environ["PYSPARK_PYTHON"] = before
