"""The kernels read nothing outside the array: it ends, and begins, at pages that cannot be read."""

from __future__ import annotations

import sys

import pytest

from discrim import kernels

# A read outside kills the process, so the exercise has one of its own.
EXERCISE = """
    import ctypes, mmap
    import numpy as np
    from discrim import kernels

    page = mmap.PAGESIZE
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def guarded(pages):
        memory = mmap.mmap(-1, (pages + 2) * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for guard in (start, start + (pages + 1) * page):
            assert libc.mprotect(guard, page, 0) == 0
        return memory, np.frombuffer(memory, np.uint8)[page : (pages + 1) * page]

    keep, room = guarded(4)

    def at_an_end(n, p, dtype, first):
        size = n * p * np.dtype(dtype).itemsize
        part = room[:size] if first else room[len(room) - size :]
        x = part.view(dtype).reshape(n, p)
        x[:] = 1.5
        return x

    if {crash}:
        x = at_an_end(40, 20, np.float64, False)
        np.lib.stride_tricks.as_strided(x, (40, 21), x.strides).sum()
    for dtype in (np.float32, np.float64):
        for n in (1, 2, 7, 8, 9, 16, 17, 40):
            for p in range(1, 21):
                codes = (np.arange(n) % 2).astype(np.int32)
                for first in (True, False):
                    x = at_an_end(n, p, dtype, first)
                    for view in (x, x[::-1], x[:, ::-1], x.reshape(p, n).T):
                        for depth in (0, 1, 2):
                            for weight in (None, np.ones(n)):
                                kernels.class_moments(view, codes, weight, 2, depth)
                        rule = (0, np.zeros(p), np.ones((2, p)), np.zeros(2), False)
                        for output in (0, 2, 3):
                            kernels.score(view, *rule, output, np.empty((n, 2)))
                        kernels.score(view, *rule, 1, np.empty(n, np.int64))
"""


@pytest.fixture
def exercise(run_program):
    return lambda *, crash: run_program(EXERCISE.replace("{crash}", str(crash)))


@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect")
@pytest.mark.skipif(kernels.BACKEND != "native", reason="the compiled kernels are not built")
def test_no_kernel_reads_beyond_either_end_of_the_rows(exercise):
    ran = exercise(crash=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.any_version
@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect")
def test_the_guard_pages_do_stop_a_read_beyond_the_end(exercise):
    assert exercise(crash=True).returncode < 0
