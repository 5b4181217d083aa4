"""``frozenlab replay``: the answers, refusals, and the question before an API is paid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frozenlab.cli.main import main
from tests.cli.calls import answer, reason

pytestmark = pytest.mark.usefixtures("built")


def test_a_replay_is_asked_once_and_its_id_shows_it_again(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    rows, who = root / "rows.csv", ("--engineers", "random,fixed")
    report = answer(capsys, "replay", "built:2", *who, "--samples", "3", "--id", "mine", "--out", str(rows))
    assert (report["id"], report["status"], report["answers"], report["stage"]) == ("mine", "done", 6, 2)
    assert [(arm["arm"], arm["n"], arm["p"] is None) for arm in report["arms"]] == [("random", 3, True), ("fixed", 3, False)]
    assert len(rows.read_text().splitlines()) == 1 + 6 * 4 and len(report["sentences"]) == 4
    assert answer(capsys, "replay", "mine") == report, "what is there is not asked again"
    one = ("--vary", "leave-one-out", "--sections", "failures", "--engineers", "rules", "--samples", "1")
    left = answer(capsys, "replay", "built:2", *one)
    assert [arm["arm"] for arm in left["arms"]] == ["all", "no-failures"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody",), "'nobody' is neither a replay nor a session and a stage like example-quick:1"),
        (("built:1",), "the arm failures-statistics-preserved cannot be asked: the engineer policy needs the weights of stage 1"),
        (("built:9",), "built has not validated a stage 9"),
        (("built:1", "--engineers", "me"), "there is no engineer 'me'; there are policy, base"),
        (("built:1", "--vary", "one-at-a-time", "--engineers", "rules,fixed"), "--vary one-at-a-time asks one engineer"),
        (("built:1", "--vary", "two-by-two", "--engineers", "rules"), "--vary two-by-two asks policy and base"),
        (("built:1", "--vary", "engineers", "--sections", "failures"), "--sections varies what one engineer sees"),
        (("built:1", "--engineers", "rules", "--samples", "0"), "argument --samples: Input should be greater than or equal to 1"),
        (("built:1", "--engineers", "api"), "the engineer api has settings of its own"),
    ],
)
def test_a_replay_that_cannot_be_asked_is_refused_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], root: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert reason(capsys, "replay", *arguments).startswith(said)
    assert not (root / "replays").exists()


def test_an_api_is_not_paid_before_a_person_agrees(capsys: pytest.CaptureFixture[str], root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.engineer.chat.RETRIES", 0)
    where = {"base_url": "http://127.0.0.1:9/v1", "model": "any", "input_price": 1, "output_price": 8, "timeout": 1}
    (root / "api.json").write_text(json.dumps(where))
    asked = ["replay", "built:1", "--vary", "leave-one-out", "--sections", "history", "--engineers", "api", "--samples", "1"]
    asked += ["--api", str(root / "api.json"), "--allow-host", "127.0.0.1:9"]
    assert main(asked) == 2
    estimate, refusal = capsys.readouterr().err.splitlines()
    assert estimate.startswith("2 requests, about ") and "which cost at most 0.26" in estimate
    assert refusal == "frozenlab: nothing was asked; --yes skips the confirmation"
    assert not (root / "replays").exists()
    report = answer(capsys, *asked, "--yes")
    assert [(arm["n"], arm["unusable"]) for arm in report["arms"]] == [(1, 1), (1, 1)], "there is no server"
