"""A session that goes wrong gives the right alarm within ten steps, and one that does not is left in peace."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from frozenlab.experiments.headroom.spec import alone
from frozenlab.jobs.state import Status
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.suites import SuiteSpec
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.models.policy import PolicyError
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.models.training.stage_run import StageRun
from frozenlab.session import recorder as recorder_module
from frozenlab.session.health import alerts as health
from frozenlab.session.health.alerts import alerts, of_machine, of_results, of_steps, of_suite
from frozenlab.session.health.rules import NAMES, STEPS
from frozenlab.session.recorder import Recorder
from frozenlab.session.runs import runs
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import event_words
from frozenlab.session.store import SessionStore
from tests.builders import build_session, short_spec
from tests.language_sessions import tiny_spec
from tests.running import finish, finished, weights

ROOT = Path(__file__).parents[2]
WELL = {
    "clipped": 0.1, "sampling_kl": 0.002, "sampling_cut": 0.0,
    "mixed": 0.6, "valid": 0.5, "reward": 0.4, "entropy": 0.14, "length": 30.0, "seconds": 1.0,
}  # fmt: skip
RECORDED = sorted(path.parent for path in (ROOT / "sessions").glob("example-*/session.json"))


def log(steps: int = STEPS, **figures: float) -> pd.DataFrame:
    return pd.DataFrame([{**WELL, **figures}] * steps)


def broken(after: int, **figures: float) -> pd.DataFrame:
    """Steps that go well, then ten that do not."""
    return pd.concat([log(after), log(STEPS).assign(**figures)], ignore_index=True)


def rules(metrics: pd.DataFrame) -> list[str]:
    return [alert.rule for alert in of_steps(metrics)]


@pytest.mark.parametrize(
    ("figure", "value", "rule", "words"),
    [
        ("clipped", 0.95, "cut-off", "95 % of the answers are cut off"),
        ("sampling_kl", 0.15, "unlike-weights", "(KL) is 0.15 nats"),
        ("sampling_kl", -0.2, "unlike-weights", "(KL) is -0.20 nats"),
        ("sampling_cut", 0.06, "cut-weights", "6 % of the tokens"),
        ("mixed", 0.05, "nothing-to-learn", "In only 5 % of the groups"),
        ("valid", 0.0, "too-hard", "Only 0 % of the sampled plans"),
    ],
)
def test_a_figure_out_of_bounds_gives_an_alarm_with_what_helps(figure: str, value: float, rule: str, words: str) -> None:
    [alert] = of_steps(log(**{figure: value}))
    assert alert.rule == rule and words in alert.evidence and alert.helps
    assert rules(log(STEPS - 1, **{figure: value})) == [], "too early to tell"


@pytest.mark.parametrize(
    ("figure", "value", "rule"),
    [
        ("reward", 0.1, "reward-collapse"),
        ("entropy", 0.01, "entropy-collapse"),
        ("entropy", 0.9, "entropy-blow-up"),
        ("length", 120.0, "longer-answers"),
        ("seconds", 6.0, "slower"),
    ],
)
def test_a_figure_that_changes_in_the_stage_gives_an_alarm_within_ten_steps(figure: str, value: float, rule: str) -> None:
    assert rules(broken(20, **{figure: value})) == [rule]
    assert rules(broken(20, **{figure: value}).head(22)) == [], "two odd steps are no change"


def test_no_alarm_is_given_where_all_is_well_or_nothing_was_measured() -> None:
    assert rules(log(40)) == rules(pd.DataFrame()) == rules(log().drop(columns=list(WELL))) == []
    assert rules(log(clipped=float("nan"))) == []


def test_figures_that_are_no_numbers_give_an_alarm_at_once_and_hide_no_other() -> None:
    for figures in ({"entropy": nan}, {"entropy": inf, "reward": nan}, {"grad_norm": nan}):
        metrics = pd.concat([log(4, grad_norm=0.3), log(1, **figures)], ignore_index=True).assign(step=range(1, 6)).replace(inf, nan)
        [alert] = of_steps(metrics)
        assert alert.rule == "not-finite" and all(name in alert.evidence for name in ("step 5", *figures))
    gap = log(40, valid=0.0).assign(step=range(1, 41))
    gap.loc[5, ["entropy", "length"]] = gap.loc[35, "valid"] = nan
    gap.loc[30:, "length"] = 120.0
    assert rules(gap) == ["too-hard", "longer-answers"], "one step without a number"


def test_weights_that_are_no_numbers_end_a_session_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(self: StageRun, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 3:
            next(iter(self.policy.model.parameters())).data[0, 0] = nan

    monkeypatch.setattr(StageRun, "on_pre_optimizer_step", spoil, raising=False)
    session = SessionStore(tmp_path).create(spec_of(SMALL, training={"steps": 12}), "nan")
    assert finish(session) == 1
    state = session.state()
    assert state.status == "failed" and "after step 4 of the stage" in str(state.error) and "not finite" in str(state.error)
    assert "third of the learning rate" in str(state.error) and "Error" not in str(state.error)
    assert len(session.metrics(0)) == 4, "its last step is recorded"
    assert not list(session.stage_dir(0).glob("trainer/checkpoint-4")), "and its weights are not"


def test_a_model_with_weights_that_are_no_numbers_is_not_loaded(tmp_path: Path) -> None:
    policy = LabPolicy(build_network(hidden=32, layers=1, intermediate=32).eval(), build_tokenizer())
    next(iter(policy.model.parameters())).data[0, 0] = inf
    policy.save(tmp_path)
    with pytest.raises(PolicyError, match="not finite numbers"):
        LabPolicy.load(tmp_path)


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: folder.name)
def test_a_recorded_session_gives_no_alarm_at_any_step(folder: Path) -> None:
    session = Session(folder)
    for stage in range(session.spec.stages):
        metrics = session.metrics(stage)
        assert len(metrics), "it was trained"
        busy = {"slower"} if (folder.name, stage) == ("example-smollm2-fixed", 0) else set()  # it trained beside other work
        assert {rule for steps in range(1, len(metrics) + 1) for rule in rules(metrics.head(steps))} == busy
        assert [*of_results(session, stage), *of_suite(session, stage)] == []
    assert alerts(session) == []


# --- sessions that are made to fail ---------------------------------------------------------------------------------


def spec_of(config: EnvironmentConfig, sizes: tuple[int, ...] = (3, 4), boards: int = 5, **fields: Any) -> SessionSpec:
    training = {"steps": 12, "boards_per_step": 8, "completions_per_board": 4} | fields.pop("training", {})
    suite = SuiteSpec(agents=config.teams, sizes=sizes, boards_per_cell=boards, seed=1)
    return short_spec("fixed", stages=1, initial_config=config, training=TrainingSettings(**training), suite=suite, **fields)


SMALL = EnvironmentConfig.uniform((3, 4), agents=2)
ONLY_SMALLEST = alone(EnvironmentConfig.uniform((3, 8), agents=2), ["3"])


def trained(root: Path, spec: SessionSpec) -> Session:
    return finished(SessionStore(root).create(spec, "broken"))


def first_alarm(session: Session) -> tuple[int, list[str]]:
    """The step at which the steps of the first stage give an alarm, and of which rules."""
    metrics = session.metrics(0)
    return next((steps, rules(metrics.head(steps))) for steps in range(1, len(metrics) + 1) if rules(metrics.head(steps)))


def test_a_temperature_of_almost_nothing(tmp_path: Path) -> None:
    session = trained(tmp_path, spec_of(SMALL, training={"temperature": 0.01}))
    assert first_alarm(session) == (10, ["nothing-to-learn"])


def test_a_size_that_no_held_out_board_measures(tmp_path: Path) -> None:
    session = trained(tmp_path, spec_of(SMALL, (3,), training={"steps": 2}))
    [alert] = alerts(session)
    assert alert.rule == "not-measured" and "4×4" in alert.evidence


@pytest.mark.slow
def test_a_size_that_is_forgotten(tmp_path: Path) -> None:
    training = {"method": "imitation", "learning_rate": 1e-2, "steps": 40}
    session = trained(tmp_path, spec_of(ONLY_SMALLEST, (3, 8), 30, training=training))
    assert [alert for alert in of_results(session, 0) if alert.rule == "forgotten" and "8×8" in alert.evidence]


def test_with_a_rate_too_high_it_stops_for_a_rule_that_its_spec_names_and_looks_at_new_steps_when_resumed(tmp_path: Path) -> None:
    spec = spec_of(SMALL, training={"learning_rate": 1e-2, "steps": 30}, stop_if=("reward-collapse", "too-hard"))
    session = SessionStore(tmp_path).create(spec, "broken")
    assert finish(session) == 3 and session.state().status == "stopped"
    [alarm] = [event for event in session.events() if event["kind"] == "alarm" and event["stops"]]
    assert alarm["rule"] == "reward-collapse" and "collapse: The reward fell from" in event_words(alarm)
    stopped_at = session.state().step
    step, found = first_alarm(session)
    assert step <= 10 and "reward-collapse" in found and stopped_at <= STEPS + 1
    assert finish(session) == 3 and session.state().step == stopped_at + STEPS + 1, "still nothing is valid"


@pytest.mark.slow
def test_stopped_for_a_rule_and_resumed_it_equals_one_without(tmp_path: Path) -> None:
    spec = spec_of(SMALL, training={"learning_rate": 3e-3, "steps": 14}, stop_if=("reward-collapse",))
    session = SessionStore(tmp_path / "with").create(spec, "broken")
    while finish(session) != 0:
        pass
    assert weights(session) == weights(trained(tmp_path / "without", spec.changed(stop_if=())))


def test_an_alarm_is_given_once_a_session_and_stands_in_the_state_while_it_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notified: list[str] = []
    monkeypatch.setattr(recorder_module, "notify_alarm", lambda folder, kind, title, alarm, helps: notified.append(alarm.rule))
    session = SessionStore(tmp_path).create(spec_of(SMALL, training={"steps": 60}), "hard")

    def steps(worker: Recorder, first: int, valid: float) -> list[str]:
        for step in range(first, first + STEPS):
            worker.step(0, {**WELL, "step": step, "valid": valid}, [], saving=False)
        return [alarm.rule for alarm in session.state().alarms]

    worker = Recorder(session)
    worker.begin()
    worker.phase("training", 0)
    assert steps(worker, 1, 0.5) == []
    assert steps(worker, 11, 0.0) == ["too-hard"]
    assert steps(worker, 21, 0.5) == []
    assert steps(worker, 31, 0.0) == ["too-hard"]
    [alarm] = [event for event in session.events() if event["kind"] == "alarm"]
    assert not alarm["stops"] and "stops" not in event_words(alarm)
    resumed = Recorder(session)
    resumed.begin()
    resumed.phase("training", 0)
    assert session.state().alarms == []
    assert steps(resumed, 41, 0.0) == ["too-hard"]
    assert notified == ["too-hard"]
    [listed] = [run for run in runs(SessionStore(tmp_path).listed()) if run.id == "hard"]
    assert listed.alarms == ("too-hard",) and listed.standing == "⚠ too hard"
    resumed.end("done")
    [listed] = [run for run in runs(SessionStore(tmp_path).listed()) if run.id == "hard"]
    assert listed.standing == "done"


@pytest.mark.slow
def test_answers_that_are_cut_off(tmp_path: Path, tiny_model: Path) -> None:
    spec = tiny_spec(tiny_model, "lora", "fixed", max_tokens=8)
    session = trained(tmp_path, spec.changed(stages=1, training=spec.training.model_copy(update={"steps": STEPS})))
    step, found = first_alarm(session)
    assert step == STEPS and "cut-off" in found


@pytest.mark.parametrize(("status", "error"), [("failed", "The disk is full, in some folder."), ("crashed", None), ("stalled", None)])
def test_a_worker_that_ended_or_is_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: Status, error: str | None) -> None:
    session = build_session(tmp_path, finished_stages=1)
    state = session.state().model_copy(update={"status": status, "error": error})
    monkeypatch.setattr(Session, "state", lambda self: state)
    [alert] = [alert for alert in alerts(session) if alert.rule == status]
    assert alert.helps and (error or "worker") in alert.evidence


def test_a_machine_without_room_gives_an_alarm_while_the_session_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = build_session(tmp_path, finished_stages=1)
    running = session.state().model_copy(update={"status": "running", "host": None})
    monkeypatch.setattr(Session, "state", lambda self: running)
    assert [*of_machine(session)] == []
    monkeypatch.setattr(health.shutil, "disk_usage", lambda folder: SimpleNamespace(free=5e8))
    monkeypatch.setattr(health.machine, "memory", lambda: SimpleNamespace(total=64e9, available=1e9))
    assert [alert.rule for alert in of_machine(session)] == ["little-disk", "little-memory"]
    ended = running.model_copy(update={"status": "done"})
    monkeypatch.setattr(Session, "state", lambda self: ended)
    assert [*of_machine(session)] == []


def test_a_spec_names_rules_that_there_are() -> None:
    assert spec_of(SMALL, stop_if=NAMES).stop_if == NAMES
    with pytest.raises(ValueError, match="there is no rule 'bad'; there is cut-off, "):
        spec_of(SMALL, stop_if=("bad",))


def test_the_document_has_every_rule() -> None:
    document = (ROOT / "docs" / "health.md").read_text()
    assert [name for name in NAMES if f"`{name}`" not in document] == []
