"""Points in time as people write them on the command line, for click."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import click

from dragoman.archive.times import point_in_time


class When(click.ParamType[float]):
    """A point in time: ``7d``, ``12h``, ``today``, ``yesterday`` or ``2026-11-15``, with or without a time of day."""

    name = "when"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if not isinstance(value, str):
            return value
        try:
            return point_in_time(value)
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


class Day(click.ParamType[datetime]):
    """A day in local time, or a number of days before today."""

    name = "day"

    def convert(
        self, value: str | datetime, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        today = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        if value in ("today", "yesterday"):
            return today - timedelta(days=("today", "yesterday").index(value))
        try:
            if value.endswith("d") and value[:-1].isdigit():
                return today - timedelta(days=int(value[:-1]))
            day = date.fromisoformat(value)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is not a day (use 2026-11-15, today, yesterday or 7d)", param, ctx
            )
        return datetime(day.year, day.month, day.day).astimezone()
