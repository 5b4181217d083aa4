"""Ready-made sessions, by name: those of every task family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frozenlab.models.training.methods import title_of
from frozenlab.session import lake_presets as lake
from frozenlab.session.preset import Preset, PresetError

if TYPE_CHECKING:
    from frozenlab.engineer.protocol import EngineerSpec
    from frozenlab.session.spec import SessionSpec

PRESETS: dict[str, Preset] = {**lake.PRESETS}


def preset_spec(name: str, *, method: str = "grpo", engineer: str | EngineerSpec = "policy", seed: int = 0) -> SessionSpec:
    """The spec of a preset.

    Args:
        engineer: its name for the usual settings, or an engineer with its settings.

    Raises:
        KeyError: a name that is not in PRESETS.
        PresetError: a method that the preset has no numbers for.
        EngineerError: there is no such engineer, or it needs settings.
    """
    from frozenlab.engineer.engineers import engineer_of  # these load much that a list of presets does not need
    from frozenlab.engineer.own_model import ModelEngineer
    from frozenlab.models.settings import LanguageSettings
    from frozenlab.models.training.settings import TrainingSettings
    from frozenlab.session.spec import SessionSpec

    preset = PRESETS[name]
    if method not in preset.methods:
        raise PresetError(f"the preset {name} trains by {' or '.join(title_of(offered) for offered in preset.methods)}")
    chosen = engineer_of(engineer) if isinstance(engineer, str) else engineer
    if isinstance(engineer, str) and isinstance(chosen, ModelEngineer) and preset.proposal_tokens:
        chosen = chosen.model_copy(update={"max_tokens": preset.proposal_tokens})
    boards = preset.boards()
    return SessionSpec(
        title=preset.title + (f" by {title_of(method)}" if method != "grpo" else ""),
        policy=preset.policy,
        language=LanguageSettings(**preset.language) if preset.language else None,
        engineer=chosen,
        stages=preset.stages,
        initial_config=boards.config,
        training=TrainingSettings(method=method, **preset.numbers(method)),
        suite=boards.suite,
        test=boards.test,
        seed=seed,
    )
