"""Traces keep every step of a short run and some of a long one."""

import numpy as np
import pytest

from discrim.families.online import trace as module
from discrim.families.online.trace import Recorder


def recorded(steps, numbers=2):
    recorder = Recorder("step", numbers)
    for step in range(steps + 1):
        recorder.add(step, np.full(numbers, float(step)), -float(step), 10.0 / (step + 1), steps - step)
    return recorder.trace()


def test_a_short_run_is_kept_whole():
    trace = recorded(50)
    assert trace.step.tolist() == list(range(51))
    assert trace.coef.shape == (51, 2)
    assert trace.stride == 1
    assert repr(trace) == "Trace(51 points up to step 50)"


def test_a_long_run_is_thinned_evenly_and_keeps_its_ends():
    trace = recorded(10_001)
    assert len(trace) <= module.MOST_POINTS + 1
    assert trace.stride == 8
    assert trace.step[0] == 0
    assert trace.step[-1] == 10_001
    assert set(np.diff(trace.step[:-1])) == {8}
    np.testing.assert_array_equal(trace.coef[:, 0], trace.step)
    assert "every 8th kept" in repr(trace)


def test_memory_is_bounded_by_numbers_too():
    assert recorded(500, numbers=module.MOST_NUMBERS // 100).coef.size <= module.MOST_NUMBERS * 1.02


def test_a_step_that_is_told_twice_is_one_point():
    recorder = Recorder("step")
    for loss in (2.0, 1.0):
        recorder.add(0, np.zeros(1), 0.0, loss, 0)
    assert recorder.trace().loss.tolist() == [1.0]


def test_a_recorder_says_which_steps_it_does_not_want():
    recorder = Recorder("step")
    assert recorder.wants(3)
    recorder.stride = 2
    assert not recorder.wants(3)


def test_a_frame_has_a_column_for_each_weight():
    pytest.importorskip("pandas")
    frame = recorded(3).to_frame(["a", "b"])
    assert list(frame.columns) == ["step", "loss", "mistakes", "(Intercept)", "a", "b"]
    assert frame["a"].tolist() == [0, 1, 2, 3]


def test_the_weights_of_several_functions_have_columns_of_their_own():
    pytest.importorskip("pandas")
    recorder = Recorder("epoch")
    recorder.add(0, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0]), 0.5, 3)
    frame = recorder.trace().to_frame()
    assert list(frame.columns)[3:] == ["(Intercept)[0]", "(Intercept)[1]", "x0[0]", "x1[0]", "x0[1]", "x1[1]"]
    assert frame.iloc[0].tolist() == [0, 0.5, 3, 5, 6, 1, 2, 3, 4]
