"""The sections say what people need to know, and the lab model's words stay those of the shipped checkpoint."""

from __future__ import annotations

import json

import pytest

from frozenlab.engineer.dialects.lab import READABLE, render_context
from frozenlab.engineer.dialects.plain import render_request
from frozenlab.engineer.schema import Evidence
from frozenlab.engineer.sections import BY_NAME, NAMES, SECTIONS, Section, help_of
from frozenlab.models.folders import LAB_MODEL
from frozenlab.session.presets import preset_spec
from frozenlab.tasks import vocabulary as v
from tests.engineer.builders import of_sizes


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_every_section_says_what_it_is(section: Section) -> None:
    assert BY_NAME[section.name] is section and section.heading and section.help
    assert len(section.letter) == 1 and [other.letter for other in SECTIONS].count(section.letter) == 1
    assert ("language models only" in help_of(section.name)) != section.in_lab_dialect


def test_the_words_of_the_lab_model_are_those_of_the_shipped_checkpoint() -> None:
    tokenizer = json.loads((LAB_MODEL / "tokenizer.json").read_text(encoding="utf-8"))
    words = list(tokenizer["model"]["vocab"])
    assert words == list(v.WORDS[: len(words)]), "their order is that of its embedding rows"
    assert tuple(section.tag for section in READABLE) == v.SECTION_TAGS
    assert tuple(section.letter for section in READABLE) == v.EVIDENCE_LETTERS


def test_a_section_without_words_is_left_out_of_the_lab_models_prompt_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    context, _ = of_sizes(4)
    line = Evidence(id="Z", section="failures", cell=None, text="Something new.")
    both = context.model_copy(update={"sections": context.sections | {"failures": (line,)}})
    monkeypatch.setattr("frozenlab.engineer.dialects.lab.READABLE", tuple(s for s in READABLE if s.name != "failures"))
    assert render_context(both) == render_context(context.model_copy(update={"sections": {**context.sections, "failures": ()}}))
    assert "Something new." in render_request(both)


def test_a_spec_names_known_sections_only() -> None:
    with pytest.raises(ValueError, match=f"there is no section 'weather'; there are {', '.join(NAMES)}"):
        preset_spec("study").changed(sections=("failures", "weather"))
