"""Child processes and interrupts find threads and limits in order."""

from __future__ import annotations

import linecache
import os
import sys
import textwrap
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from discrim import LinearDiscriminantAnalysis, SGDClassifier, parallel
from discrim.parallel import one_blas_thread

START = """
    import multiprocessing, os, sys, threading, time, warnings
    import numpy as np
    import discrim
    from discrim import parallel
    from discrim.parallel import one_blas_thread

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    # Enough rows for several tasks on the pool, and columns for the limit of BLAS.
    X = rng.normal(size=(40_000, 12))
    y = np.arange(40_000) % 3
    X[:, 0] += y

    def work(_=None):
        model = discrim.LinearDiscriminantAnalysis().fit(X, y)
        return float(model.score(X, y)) + float(discrim.LogisticRegression().fit(X[:5000], y[:5000]).coef_[0, 0])

    def in_child(task):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                task()
                status = 0
            finally:
                os._exit(status)
        return os.waitpid(pid, 0)[1]
"""


@pytest.fixture
def run(run_program):
    """The output of a program of its own; one that hangs is a failure."""

    def output(body: str) -> str:
        ran = run_program(textwrap.dedent(START) + textwrap.dedent(body))
        assert ran.returncode == 0, ran.stderr[-2000:]
        return ran.stdout

    return output


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forked children on this system")


def test_a_child_fits_after_its_parent_has_used_the_threads(run):
    found = run("""
        expected = [work() for _ in range(4)][-1]  # until the pool has all its threads
        assert in_child(lambda: None if work() == expected else 1 / 0) == 0
        assert work() == expected
        print("done")
    """)
    assert found == "done\n"


def test_a_child_made_while_other_threads_work_fits_too(run):
    found = run("""
        work()  # a child cannot end an import that another thread has begun
        stop = threading.Event()

        def keep_working():
            while not stop.is_set():
                with one_blas_thread():
                    work()

        others = [threading.Thread(target=keep_working) for _ in range(2)]
        for other in others:
            other.start()
        ends = []
        for _ in range(4):
            time.sleep(0.02)
            ends.append(in_child(work))
        stop.set()
        for other in others:
            other.join()
        print(ends)
    """)
    assert found == "[0, 0, 0, 0]\n"


def test_a_child_made_while_the_lock_was_held_does_not_wait_for_it(run):
    found = run("""
        held, free = threading.Event(), threading.Event()

        def hold():
            with parallel._owner.lock:
                held.set()
                free.wait()

        other = threading.Thread(target=hold)
        other.start()
        held.wait()
        status = in_child(work)
        free.set()
        other.join()
        print(status)
    """)
    assert found == "0\n"


def test_pools_of_processes_fit_after_their_parent(run):
    found = run("""
        expected = work()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, range(3)) == [expected] * 3
        from joblib import Parallel, delayed
        assert Parallel(n_jobs=2, backend="multiprocessing")(delayed(work)() for _ in range(3)) == [expected] * 3
        from sklearn.model_selection import cross_val_score
        model = discrim.OneVsRestClassifier(discrim.SGDClassifier(random_state=0, max_iter=3), n_jobs=2)
        for backend in ("loky", "threading"):
            from joblib import parallel_config
            with parallel_config(backend=backend):
                assert model.fit(X[:3000], y[:3000]).score(X, y) > 0.3
        print("done")
    """)
    assert found == "done\n"


def test_the_limit_of_another_thread_does_not_follow_into_a_child(run):
    found = run("""
        from threadpoolctl import threadpool_info
        import scipy.linalg
        blas_of = lambda: [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
        free = blas_of()
        inside, leave = threading.Event(), threading.Event()

        def stay():
            with one_blas_thread():
                inside.set()
                leave.wait()

        other = threading.Thread(target=stay)
        other.start()
        inside.wait()
        assert set(blas_of()) == {1}
        status = in_child(lambda: None if blas_of() == free else 1 / 0)
        with one_blas_thread():
            own = in_child(lambda: None if set(blas_of()) == {1} else 1 / 0)
        leave.set()
        other.join()
        print(status, own, blas_of() == free)
    """)
    assert found == "0 0 True\n"


def blas_threads_now() -> list[int]:
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads():
    """Outside of any limit there are two, so that a limit that was not lifted shows."""
    with threadpool_limits(2, user_api="blas"):
        assert set(blas_threads_now()) <= {2}
        yield


@pytest.mark.traces
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_at_any_line_lifts_the_limit(error, two_blas_threads):
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = np.arange(60) % 3
    LinearDiscriminantAnalysis().fit(X, y)
    before, places = blas_threads_now(), {parallel.__file__}
    for line in range(1, 60):
        seen = 0

        def trace(frame, event, _, stop=line):
            nonlocal seen
            if frame.f_code.co_filename not in places:
                return trace if "discrim" in frame.f_code.co_filename else None
            # No signal arrives where a with block is left, but a tracer does.
            at_with = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with ")
            if event == "line" and not at_with:
                seen += 1
                if seen == stop:
                    raise error
            return trace

        tracer = sys.gettrace()
        sys.settrace(trace)
        try:
            LinearDiscriminantAnalysis().fit(X, y)
        except error:
            pass
        finally:
            sys.settrace(tracer)
        assert blas_threads_now() == before, f"stopped at line {line}"
        assert not parallel._owner.lock._is_owned(), f"stopped at line {line}"
    assert seen < 59


def test_an_error_in_a_worker_lifts_the_limit_and_ends_the_others(two_blas_threads):
    before, started = blas_threads_now(), []

    def task(i):
        started.append(i)
        if i == 3:
            raise MemoryError
        return i

    with pytest.raises(MemoryError), one_blas_thread():
        parallel.run(task, 10_000)
    assert blas_threads_now() == before
    assert len(started) < 10_000


def test_an_interrupt_of_the_waiting_thread_leaves_nobody_at_work(monkeypatch):
    running, done = threading.Event(), []

    def task(i):
        running.set()
        done.append(i)
        return i

    def interrupted(futures):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(parallel, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        parallel.run(task, 50, workers=3)
    count = len(done)
    parallel.run(lambda i: i, 8, workers=3)
    assert len(done) == count


INTERRUPTED = """
    import signal

    model = discrim.SGDClassifier(max_iter=3, tol=None, random_state=0).fit(X, y)
    before, classes = model.coef_.copy(), model.classes_.copy()
    model.set_params(max_iter=100_000)
    from threadpoolctl import threadpool_info
    info = [one["num_threads"] for one in threadpool_info()]
    ends = []
    for seconds in (0.01, 0.05, 0.2):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            model.fit(X, y.astype(str))
            ends.append("finished")
        except KeyboardInterrupt:
            ends.append("interrupted")
        assert (model.coef_ == before).all() and (model.classes_ == classes).all()
        assert [one["num_threads"] for one in threadpool_info()] == info
    print(ends)
"""


def test_ctrl_c_ends_a_long_fit_and_keeps_the_old_model(run):
    assert run(INTERRUPTED) == "['interrupted', 'interrupted', 'interrupted']\n"


def test_ctrl_c_comes_out_of_cross_validation_and_schemes(run):
    found = run("""
        import signal
        endless = discrim.SGDClassifier(max_iter=10**6, tol=None)
        calls = {
            "cross_validate": lambda: discrim.cross_validate(endless, X, y, cv=3),
            "one vs rest": lambda: discrim.OneVsRestClassifier(endless).fit(X, y),
            "perceptron": lambda: discrim.RosenblattPerceptron("chicago", max_iter=10**6).fit(X, y),
            "descent": lambda: discrim.GradientDescentClassifier(max_iter=10**6, tol=0.0).fit(X, y),
        }
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        for name, call in calls.items():
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            try:
                call()
                print(name, "finished")
            except KeyboardInterrupt:
                print(name, "interrupted")
            signal.setitimer(signal.ITIMER_REAL, 0)
    """)
    assert found.splitlines() == [
        "cross_validate interrupted",
        "one vs rest interrupted",
        "perceptron interrupted",
        "descent interrupted",
    ]


def test_ctrl_c_in_a_part_with_a_new_class_keeps_the_labels_in_place(monkeypatch):
    X = np.random.default_rng(0).normal(size=(90, 3)) + 3.0 * (np.arange(90) % 3)[:, None]
    y = np.array(["b", "c", "a"])[np.arange(90) % 3]
    old = y != "a"
    for model in (LinearDiscriminantAnalysis(), SGDClassifier(random_state=0)):
        model.partial_fit(X[old], y[old])
        before = model.predict(X)

        def pressed(*_, **__):
            raise KeyboardInterrupt

        name = "_assign" if isinstance(model, LinearDiscriminantAnalysis) else "_written"
        with monkeypatch.context() as patch:
            patch.setattr(type(model), name, pressed)
            with pytest.raises(KeyboardInterrupt):
                model.partial_fit(X, y)
        np.testing.assert_array_equal(model.predict(X), before)
        assert model.classes_.tolist() == ["b", "c"]
