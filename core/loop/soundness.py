"""Whether a session's folder is whole: which stages have to be trained, once more perhaps, and whether it leads elsewhere."""

from __future__ import annotations

from frozenlab.loop.store import Session
from frozenlab.training.checkpoints import damage


def stages_to_train(session: Session) -> dict[int, str | None]:
    """The stages that have to be trained, each with what is damaged of one that was trained before (None: it was not).

    Draws hang on the spec alone, so a stage that is trained again ends as it did. Where a stage is to be trained, training has to go on
    from the one before; what a stage was decided on has to be known until then.
    """
    found: dict[int, str | None] = {}
    for stage in reversed(range(session.spec.stages)):
        trained = session.stage_dir(stage) / "policy"
        if not trained.exists():
            found[stage] = None
        elif what := damage(trained, to_go_on=stage + 1 in found):
            found[stage] = f"{trained.relative_to(session.dir)}/{what}"
        elif session.proposal(stage) is None and session.recorded_steps(stage) < session.spec.training.steps:
            found[stage] = f"{session.stage_dir(stage).relative_to(session.dir)}: metrics.jsonl or completions.parquet lacks some steps"
    return found


def problems_of(session: Session) -> list[str]:
    """What is damaged in the session's folder, after a look at every file of it."""
    steps, found = session.spec.training.steps, []
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
            found.append(f"{here}/policy/{what}")
        if validated and (known := session.recorded_steps(stage)) < steps:
            found.append(f"{here}: metrics.jsonl or completions.parquet lacks steps from {known + 1} on")
    return [*session.problems, *found]
