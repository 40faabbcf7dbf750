from dragoman.drive.restarting import Restarts, Tries


def test_pauses_grow_to_half_a_minute_and_then_it_is_given_up() -> None:
    restarts = Restarts(at_most=8)
    pauses = [restarts.pause(failures) for failures in range(1, 10)]
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30, None]


def test_no_restart_at_all() -> None:
    assert Restarts(at_most=0).pause(1) is None


def test_only_a_process_that_lasted_starts_the_count_anew() -> None:
    tries = Tries(Restarts(at_most=2, pauses=(1, 2), lasts_after=60), now=0)
    assert tries.failed(10) == 1
    assert tries.failed(1000) == 2  # it could not be started: that took long, but it did not last
    tries.began(1001)
    assert tries.failed(1070) == 1
    tries.began(1071)
    assert tries.failed(1072) == 2
    assert tries.failed(1073) is None
