import threading
from threading import Event

import pytest

from trajanon.common import threads_and_dask
from trajanon.common.threads_and_dask import in_threads

SOON = 60.0
"""Seconds after which a test that waits in vain fails."""


def test_a_job_that_ends_late_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_and_dask, "cores", lambda: 2)
    second_done = Event()

    def first(_: Event) -> str:
        assert second_done.wait(SOON)
        return "first"

    def second(_: Event) -> str:
        second_done.set()
        return "second"

    assert in_threads([first, second]) == ["first", "second"]


@pytest.mark.parametrize("cores", [1, 3])
def test_no_more_threads_work_than_there_are_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    monkeypatch.setattr(threads_and_dask, "cores", lambda: cores)
    all_work = threading.Barrier(cores)
    lock, busy, most = threading.Lock(), 0, 0

    def job(_: Event) -> None:
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        all_work.wait(SOON)  # so that as many work at once as can
        with lock:
            busy -= 1

    in_threads([job] * (4 * cores))
    assert most == cores


def test_jobs_do_not_work_in_the_callers_thread() -> None:
    (thread,) = in_threads([lambda _: threading.current_thread()])
    assert thread is not threading.current_thread()
    assert not thread.is_alive()


def test_the_error_of_a_job_comes_out_and_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_and_dask, "cores", lambda: 2)
    told = Event()

    def fails(_: Event) -> None:
        msg = "not here"
        raise LookupError(msg)

    def waits(stop: Event) -> None:
        if stop.wait(SOON):
            told.set()

    with pytest.raises(LookupError, match="not here"):
        in_threads([waits, fails, *[waits] * 5])
    assert told.is_set()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_what_interrupts_the_wait_comes_out_when_all_jobs_have_ended(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    monkeypatch.setattr(threads_and_dask, "cores", lambda: 2)
    begun, ended = Event(), list[bool]()

    def job(stop: Event) -> None:
        begun.set()
        ended.append(stop.wait(SOON))

    def watch() -> None:
        assert begun.wait(SOON)
        raise error

    before = set(threading.enumerate())
    with pytest.raises(error):
        in_threads([job] * 5, watch)
    assert ended
    assert all(ended)
    assert set(threading.enumerate()) <= before


def test_somebody_watches_while_work_goes_on() -> None:
    watched = Event()

    def job(_: Event) -> bool:
        return watched.wait(SOON)

    assert in_threads([job], watched.set) == [True]
