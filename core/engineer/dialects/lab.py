"""The engineer's task in the lab dialect: a context becomes words, words become a proposal.

A proposal is written rationale first, then config, one word a token::

    size6 F S valid6 85% hole_ratio up wait_ratio keep expect 87.5% size7 valid7 unknown hole_ratio set ... expect unknown
    <config> share6 40% hole6 30% wait6 20% share7 ... <end>

A cell's rationale is: the sections it cites (letters), the valid rate as it reads it, what it does to each ratio, the valid rate it expects
next. Where a config mixes teams, a word for the team (``k3``) comes before all that is said of a cell. Numbers move in steps of 2.5 %.
:func:`proposal_words` is the grammar: constrained decoding asks it for the words that may come next, and the parser walks it, so whatever
decoding allows parses.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from frozenlab.cells import Cell, Config, Settings
from frozenlab.engineer.dialects.words import KNOB_WORDS
from frozenlab.engineer.schema import Claim, Context, Evidence, Proposal
from frozenlab.engineer.sections import SECTIONS
from frozenlab.engineer.sections.section import Section
from frozenlab.engineer.sentences import claim_on, summary_sentence
from frozenlab.errors import LabError, cut
from frozenlab.tasks.lake.dialects import vocabulary as v
from frozenlab.tasks.lake.words import RATIO_KNOBS

READABLE = tuple(section for section in SECTIONS if section.in_lab_dialect)
"""The sections that the lab model reads; others are left out of its prompt."""


class ProposalError(LabError, ValueError):
    """A completion is not a proposal; the message names the word that is wrong and what belongs there."""


# --- context -> prompt ----------------------------------------------------------------------------------------------


def render_context(context: Context) -> str:
    """The prompt: task, the sizes of each team, and each section that is on, line by line."""
    words = [v.ENGINEER]
    for team, cells in groupby(context.cells, key=team_of):
        words += [f"k{team}", "sizes", *(f"size{size_of(cell)}" for cell in cells)]
    for section in READABLE:
        if section.name in context.sections:
            words.append(section.tag)
            for line in context.sections[section.name]:
                words += line_words(context, section, line)
    return " ".join([*words, v.RATIONALE])


def line_words(context: Context, section: Section, line: Evidence) -> list[str]:
    """One line of a section."""
    if line.cell is None:
        return section.words(line, None)
    cell = next(cell for cell in context.cells if cell.name == line.cell)
    return team_words(cell) + section.words(line, size_of(cell))


def size_of(cell: Cell) -> int:
    return int(cell.place["size"])


def team_of(cell: Cell) -> int:
    return int(cell.place["agents"])


def team_words(cell: Cell) -> list[str]:
    """The word for the cell's team where the config mixes teams, so that the name has it too; else nothing: the prompt begins with it."""
    return [f"k{team_of(cell)}"] if "@" in cell.name else []


# --- the grammar of a proposal --------------------------------------------------------------------------------------

SHARES = v.PERCENTS[1:]
"""A share of nothing cannot be written: every cell stays in the config."""


@dataclass
class CellWords:
    """What a completion says of one cell."""

    cited: list[str] = field(default_factory=list)
    now: float | None = None
    directions: dict[str, str] = field(default_factory=dict)
    expected: float | None = None
    share: str = ""
    ratios: dict[str, str] = field(default_factory=dict)
    """Percent words, as written."""


def proposal_words(context: Context) -> Generator[Sequence[str], str, dict[str, CellWords]]:
    """Yields the words that may come next, is sent the one that came; returns what was said of each cell.

    A cell can cite only evidence that the context holds for it.
    """
    said = {name: CellWords() for name in context.names}
    for cell, words in zip(context.cells, said.values(), strict=True):
        size = size_of(cell)
        for word in team_words(cell):
            yield [word]
        yield [f"size{size}"]
        letters = [section.letter for section in READABLE if context.evidence(section.name, cell.name)]
        while (word := (yield [*letters, f"valid{size}"])) != f"valid{size}":
            words.cited.append(word)
            letters = letters[letters.index(word) + 1 :]
        words.now = rate((yield [*v.PERCENTS, "unknown"]))
        for knob in RATIO_KNOBS:
            yield [knob]
            words.directions[knob] = yield v.DIRECTIONS
        yield ["expect"]
        words.expected = rate((yield [*v.PERCENTS, "unknown"]))
    yield [v.CONFIG]
    for cell, words in zip(context.cells, said.values(), strict=True):
        for word in team_words(cell):
            yield [word]
        yield [f"share{size_of(cell)}"]
        words.share = yield SHARES
        for knob in RATIO_KNOBS:
            yield [f"{KNOB_WORDS[knob]}{size_of(cell)}"]
            words.ratios[knob] = yield v.PERCENTS
    return said


def rate(word: str) -> float | None:
    return None if word == "unknown" else v.percent_value(word)


def follow(context: Context, words: Sequence[str]) -> tuple[Sequence[str], dict[str, CellWords] | None]:
    """Walks the grammar along ``words``: the words that may come next and, once the proposal is complete, what it says.

    Raises:
        ProposalError: a word that the grammar does not allow, or words after the end.
    """
    walk = proposal_words(context)
    allowed = next(walk)
    for i, word in enumerate(words):
        if word not in allowed:
            raise ProposalError(f"word {i + 1} is {cut(repr(word), 60)}, expected {alternatives(allowed)}")
        try:
            allowed = walk.send(word)
        except StopIteration as stop:
            if i + 1 < len(words):
                raise ProposalError(f"the proposal is complete after word {i + 1}, but {len(words) - i - 1} more follow") from None
            return [], stop.value
    return allowed, None


@dataclass(frozen=True)
class ProposalGrammar:
    """The grammar of the answer to one context, as constrained decoding asks for it."""

    context: Context

    def allowed(self, words: Sequence[str]) -> Sequence[str]:
        """The words that may follow ``words``; empty once the proposal is complete."""
        return follow(self.context, words)[0]


def alternatives(words: Sequence[str]) -> str:
    return " or ".join(words) if len(words) <= 4 else f"one of {', '.join(words[:3])}, ..., {words[-1]}"


# --- words -> proposal ----------------------------------------------------------------------------------------------


def parse_proposal(context: Context, before: Config, completion: str) -> Proposal:
    """Reads a completion. A value that is written as ``before`` rounds to it stays exactly as in ``before``, and so do the layouts and
    the wait definition, which the dialect has no words for.

    Raises:
        ProposalError: the completion breaks the grammar or ends too early.
    """
    words = completion.removesuffix(v.END).split()
    allowed, said = follow(context, words)
    if said is None:
        raise ProposalError(f"the proposal ends after word {len(words)}, expected {alternatives(allowed)}")
    kept_shares = all(told.share == v.percent_word(before.cells[name].share) for name, told in said.items())
    total = sum(v.percent_value(told.share) for told in said.values())
    cells = {}
    for name, told in said.items():
        old = before.cells[name]
        ratios = {str(k): getattr(old, k) if w == v.percent_word(getattr(old, k)) else v.percent_value(w) for k, w in told.ratios.items()}
        cells[name] = old.model_copy(update=ratios | {"share": old.share if kept_shares else v.percent_value(told.share) / total})
    claims = [claim for cell in context.cells for claim in claims_of(cell, said[cell.name], before.cells[cell.name], cells[cell.name])]
    preserved = tuple(name for name, told in said.items() if "P" in told.cited and set(told.directions.values()) == {"keep"})
    summary = summary_sentence(claims, preserved, context.words)
    return Proposal(summary=summary, claims=tuple(claims), preserved=preserved, config=before.with_cells(cells))


def claims_of(cell: Cell, words: CellWords, before: Settings, after: Settings) -> list[Claim]:
    """One claim a ratio that the rationale turns, or one that the cell is kept. Before and after are what the config really does."""
    claims = []
    turned: list[str | None] = [knob for knob, way in words.directions.items() if way != "keep"]
    for knob in turned or [None]:
        cited = [f"{letter}{cell.name}" for letter in words.cited]
        settings = before.settings(), after.settings()
        claim = claim_on(cell.name, cell.words, knob, *settings, evidence=cited, now=words.now, expected=words.expected)
        claims.append(claim.model_copy(update={"text": claim.text + contradiction(words, knob, before, after)}))
    return claims


def contradiction(words: CellWords, knob: str | None, before: Settings, after: Settings) -> str:
    """A remark where the config does not do what the rationale said."""
    moved: dict[str, float] = {k: getattr(after, k) - getattr(before, k) for k in RATIO_KNOBS}
    if knob is None:
        return " Yet its config changes them." if any(abs(change) > 1e-9 for change in moved.values()) else ""
    said_up, said_down = words.directions[knob] == "up", words.directions[knob] == "down"
    if (said_up and moved[knob] <= 0) or (said_down and moved[knob] >= 0):
        return f" Yet it said {words.directions[knob]}."
    return ""


# --- proposal -> words (for demonstrations) -------------------------------------------------------------------------


def render_proposal(context: Context, proposal: Proposal) -> str:
    """Writes a proposal in the dialect, without the end token; the inverse of parsing, up to rounding."""
    words: list[str] = []
    for cell in context.cells:
        claims = {claim.knob: claim for claim in proposal.claims if claim.cell == cell.name}
        first, size = next(iter(claims.values())), size_of(cell)
        letters = sorted({line[0] for line in first.evidence} & set(v.EVIDENCE_LETTERS), key=v.EVIDENCE_LETTERS.index)
        words += [*team_words(cell), f"size{size}", *letters, f"valid{size}", percent_or_unknown(first.now)]
        for knob in RATIO_KNOBS:
            words += [knob, direction(claims.get(knob))]
        words += ["expect", percent_or_unknown(first.expected)]
    words.append(v.CONFIG)
    for cell in context.cells:
        own, size = proposal.config.cells[cell.name], size_of(cell)
        share = max(v.percent_word(own.share), SHARES[0], key=v.percent_value)
        words += [*team_words(cell), f"share{size}", share]
        words += [word for knob in RATIO_KNOBS for word in (f"{KNOB_WORDS[knob]}{size}", v.percent_word(getattr(own, knob)))]
    return " ".join(words)


def percent_or_unknown(value: float | None) -> str:
    return "unknown" if value is None else v.percent_word(value)


def direction(claim: Claim | None) -> str:
    if claim is None:
        return "keep"
    if claim.before is None or claim.after is None:
        return "set"
    return "up" if claim.after > claim.before else "down"
