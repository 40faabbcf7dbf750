from dragoman.drive.restarting import Restarts


def test_pauses_grow_to_half_a_minute_and_then_it_is_given_up() -> None:
    restarts = Restarts(at_most=8)
    pauses = [restarts.pause(failures) for failures in range(1, 10)]
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30, None]


def test_no_restart_at_all() -> None:
    assert Restarts(at_most=0).pause(1) is None
