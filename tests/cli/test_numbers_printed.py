"""Commands and reports print numbers in one way."""

from __future__ import annotations

from argparse import Namespace

import pytest

from frozenlab.base import places
from frozenlab.cli.main import main
from frozenlab.cli.replay import print_replay
from frozenlab.cli.students import print_headroom
from frozenlab.experiments.benchmark.results import read_report
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.studies.report_page import html_page
from frozenlab.experiments.studies.store import Study
from frozenlab.experiments.studies.tables import recorded_report
from tests.pages.apptest import misprinted


def test_commands_on_what_ships_print_numbers_in_one_way(capsys: pytest.CaptureFixture[str]) -> None:
    for measurement in Headroom.shipped():
        print_headroom(measurement, Namespace(json=False, out=None))
    for replay in Replay.shipped():
        print_replay(replay, Namespace(json=False, out=None))
    for session in sorted(places.SESSIONS.iterdir()):
        main(["status", session.name])
    for study in Study.shipped():
        print(html_page(recorded_report(study)))
    for report in places.ASSETS.glob("results/*/report.json"):
        print(*read_report(report.read_text(encoding="utf-8")).lines(), sep="\n")
    said = capsys.readouterr().out
    assert "points" in said and " %" in said and not misprinted(said)
