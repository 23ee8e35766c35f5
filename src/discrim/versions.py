"""What runs here: packages, kernels, threads and linear algebra, as a bug report needs them."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from discrim import kernels
from discrim.kernels import versions
from discrim.parallel import thread_count

CORE = ("discrim", "numpy", "scipy", "scikit-learn", "threadpoolctl", "safetensors")
# What discrim can use where it is installed.
OPTIONAL = ("pandas", "polars", "pyarrow", "duckdb", "click")


def show_versions() -> None:
    """Print the versions of discrim, Python and the packages it uses, which kernels run, threads and BLAS.

    Examples
    --------
    >>> import discrim
    >>> discrim.show_versions()  # doctest: +ELLIPSIS
    System
      Python: ...
    """
    parts = {
        "System": [("Python", sys.version.replace("\n", " ")), ("platform", platform.platform())],
        "Packages": _installed(CORE),
        "Optional packages": _installed(OPTIONAL) or [("none", "")],
        "Kernels": _of_kernels(),
        "Threads and linear algebra": [("threads", str(thread_count())), *_of_blas()],
    }
    for title, facts in parts.items():
        lines = [f"  {name}: {value}".rstrip(": ") for name, value in facts]
        sys.stdout.write("\n".join([title, *lines]) + "\n")


def _installed(packages: Iterable[str]) -> list[tuple[str, str]]:
    """The packages that are there, found without importing them."""
    found: list[tuple[str, str]] = []
    for package in packages:
        try:
            found.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            continue
    return found


def _of_kernels() -> list[tuple[str, str]]:
    have = versions.available()
    compiler = "none: install a C++17 compiler and reinstall discrim for the compiled kernels"
    if have != (versions.REFERENCE,):
        from discrim.kernels import _native

        compiler = _native.compiler()
    return [
        ("running", "native (compiled)" if kernels.BACKEND == "native" else "reference (NumPy, slower)"),
        ("version", f"{kernels.VERSION}, of {', '.join(have)}"),
        ("compiler", compiler),
        (versions.VARIABLE, os.environ.get(versions.VARIABLE) or "not set"),
    ]


def _of_blas() -> list[tuple[str, str]]:
    """The linear algebra libraries that NumPy and SciPy have loaded."""
    import scipy.linalg  # noqa: F401 - loads the library that is asked about
    from threadpoolctl import threadpool_info

    found = [_in_words(library) for library in threadpool_info() if library["user_api"] == "blas"]
    return [("BLAS", words) for words in found or ["none that reports itself"]]


def _in_words(library: dict[str, Any]) -> str:
    version, processor = library["version"] or "of unknown version", library.get("architecture", "any processor")
    return f"{library['internal_api']} {version} ({processor}), {library['num_threads']} threads"
