"""Checks of a session's folder: which stages have to be trained, perhaps again, and whether it contains links."""

from __future__ import annotations

from frozenlab.models.training.checkpoints import damage
from frozenlab.session.session import Session


def stages_to_train(session: Session) -> dict[int, str | None]:
    """The stages that have to be trained, each with its damage if it was trained before (None if it was not).

    Random draws depend only on the spec, so a stage that is trained again ends as before. Training a stage continues from the stage before
    it, and its config must have been decided.
    """
    untrained: dict[int, str | None] = {}
    for stage in reversed(range(session.spec.stages)):
        trained = session.stage_dir(stage) / "policy"
        if not trained.exists():
            untrained[stage] = None
        elif what := damage(trained, to_go_on=stage + 1 in untrained):
            untrained[stage] = f"{trained.relative_to(session.dir)}/{what}"
        elif session.proposal(stage) is None and session.recorded_steps(stage) < session.spec.training.steps:
            untrained[stage] = f"{session.stage_dir(stage).relative_to(session.dir)}: metrics.jsonl or completions.parquet lacks some steps"
    return untrained


def problems_of(session: Session) -> list[str]:
    """All damage in the session's folder, from a check of every file."""
    steps, damages = session.spec.training.steps, []
    session.state(), session.events()
    for stage in (None, *range(session.spec.stages)):
        session.environment(stage), session.context(stage), session.proposal(stage), session.test(stage)
        validated = session.validation(stage) is not None
        if stage is None:
            continue
        session.given(stage)
        folder = session.stage_dir(stage)
        here = folder.relative_to(session.dir)
        if (folder / "policy").exists() and (what := damage(folder / "policy")):
            damages.append(f"{here}/policy/{what}")
        if validated and (recorded := session.recorded_steps(stage)) < steps:
            damages.append(f"{here}: metrics.jsonl or completions.parquet lacks steps from {recorded + 1} on")
    return [*session.problems, *damages]
