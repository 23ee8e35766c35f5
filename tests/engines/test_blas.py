"""One owner of threads."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from discrim.parallel import one_blas_thread


@pytest.fixture
def count():
    """How many threads each linear algebra library would use now; four outside of any context."""
    np.linalg.inv(np.eye(2))
    controller = ThreadpoolController().select(user_api="blas")
    if not controller.lib_controllers:
        pytest.skip("no linear algebra library whose threads can be counted")
    with controller.limit(limits=4):
        yield lambda: {library["num_threads"] for library in controller.info()}


def test_the_limit_holds_inside_and_is_lifted_after(count):
    assert count() == {4}
    with one_blas_thread():
        assert count() == {1}
    assert count() == {4}


def test_contexts_nest(count):
    with one_blas_thread():
        with one_blas_thread():
            assert count() == {1}
        assert count() == {1}
    assert count() == {4}


def test_the_limit_is_lifted_after_an_error(count):
    with pytest.raises(ValueError, match="inside"), one_blas_thread():
        raise ValueError("inside")
    assert count() == {4}


def test_contexts_of_two_threads_may_overlap_in_any_order(count):
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert count() == {1}
    second.__exit__(None, None, None)
    assert count() == {4}
