"""The engineer's task in the lab dialect: a context becomes words, words become a proposal.

The prompt names each cell by its place in the config, and says what makes it up; then come the sections, line by line::

    <engineer> #1 k2 size9 #2 k2 size6 doors #3 numbers2 <failures> valid#1 82.5% optimal 60% hole 10% ... <rationale>

A proposal is written rationale first, then config, one word a token::

    #1 F S valid#1 82.5% usually 85% because hole #2 F S valid#2 10% usually 77.5% because locked_door ...
    <config> share#1 10% hole#1 keep wait#1 keep expect 82.5% spread 10% share#2 70% ...

A cell's rationale is: the sections it cites (letters), the valid rate as it reads it, the rate that is usual on such a cell, and the fault
that it blames. Its config is: the share, the ratios, and the valid rate to expect after the next stage, with its spread. Numbers move in
steps of 2.5 %. :func:`proposal_words` is the grammar: constrained decoding asks it for the words that may come next, and the parser walks
it, so whatever decoding allows parses.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from frozenlab.base.cells import Cell, Config, Settings
from frozenlab.base.errors import LabError, cut
from frozenlab.engineer.schema import Attempt, Claim, Context, Evidence, Proposal, Written
from frozenlab.engineer.sections import SECTIONS
from frozenlab.engineer.sentences import claim_on, summary_sentence
from frozenlab.tasks import vocabulary as v
from frozenlab.tasks.vocabulary import RATIO_WORDS, kind_words, ratios_of

READABLE = tuple(section for section in SECTIONS if section.in_lab_dialect)
"""The sections that the lab model reads; others are left out of its prompt."""


class ProposalError(LabError, ValueError):
    """A completion is not a proposal; the message names the word that is wrong and what belongs there."""


# --- context -> prompt ----------------------------------------------------------------------------------------------


def render_context(context: Context) -> str:
    """The prompt: the task, what makes up each cell, and each section that is on, line by line."""
    words = [v.ENGINEER]
    for place, cell in zip(v.PLACES, context.cells, strict=False):
        words += [place, *kind_words(cell)]
    for section in READABLE:
        if section.name in context.sections:
            words.append(section.tag)
            for line in context.sections[section.name]:
                words += section.words(line, place_of(context, line))
    return " ".join([*words, v.RATIONALE])


def place_of(context: Context, line: Evidence) -> str:
    """The word for the cell that a line speaks of; empty if it speaks of none."""
    return "" if line.cell is None else v.PLACES[context.names.index(line.cell)]


def words_of_sections(prompt: str) -> dict[str, int]:
    """How many words of a prompt each section takes, its tag included; none if the prompt is in another language."""
    words, names = prompt.split(), {section.tag: section.name for section in READABLE}
    if words[:1] != [v.ENGINEER]:
        return {}
    starts = [place for place, word in enumerate(words) if word in names or word == v.RATIONALE]
    return {names[words[start]]: end - start for start, end in pairwise(starts)}


# --- the grammar of a proposal --------------------------------------------------------------------------------------

SHARES = v.PERCENTS[1:]
"""A share of nothing cannot be written: every cell stays in the config."""
UNKNOWN, KEEP = "unknown", "keep"
TOLERANCE = 1e-9
RATES = (*v.PERCENTS, UNKNOWN)


@dataclass
class CellWords:
    """What a completion says of one cell."""

    cited: list[str] = field(default_factory=list)
    now: float | None = None
    usual: float | None = None
    cause: str | None = None
    share: str = ""
    ratios: dict[str, str] = field(default_factory=dict)
    """Percent words, as written, or ``keep``."""
    expected: float | None = None
    spread: float | None = None


def proposal_words(context: Context) -> Generator[Sequence[str], str, list[CellWords]]:
    """Yields the words that may come next, is sent the one that came; returns what was said of each cell.

    A cell can cite only evidence that the context holds for it, and blame only a fault that was shown.
    """
    said = [CellWords() for _ in context.cells]
    for place, cell, words in zip(v.PLACES, context.cells, said, strict=False):
        yield [place]
        letters = [section.letter for section in READABLE if context.evidence(section.name, cell.name)]
        while (word := (yield [*letters, f"valid{place}"])) != f"valid{place}":
            words.cited.append(word)
            letters = letters[letters.index(word) + 1 :]
        words.now = rate((yield RATES))
        yield [v.USUALLY]
        words.usual = rate((yield RATES))
        yield [v.BECAUSE]
        cause = yield [*faults_shown(context, cell), UNKNOWN]
        words.cause = None if cause == UNKNOWN else cause
    yield [v.CONFIG]
    for place, cell, words in zip(v.PLACES, context.cells, said, strict=False):
        yield [f"share{place}"]
        words.share = yield SHARES
        for ratio in ratios_of(cell):
            yield [f"{RATIO_WORDS[ratio]}{place}"]
            words.ratios[ratio] = yield [*v.PERCENTS, KEEP]
        yield ["expect"]
        words.expected = rate((yield RATES))
        yield [v.SPREAD]
        words.spread = rate((yield RATES))
    return said


def faults_shown(context: Context, cell: Cell) -> list[str]:
    """The faults that the section ``failures`` names for a cell."""
    line = context.evidence("failures", cell.name)
    return [fault for fault in v.EVERY_FAULT if line is not None and fault in line.numbers]


def rate(word: str) -> float | None:
    return None if word == UNKNOWN else v.percent_value(word)


def follow(context: Context, words: Sequence[str]) -> tuple[Sequence[str], list[CellWords] | None]:
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
    words_of = dict(zip(context.names, said, strict=True))
    kept_shares = all(own.share == v.percent_word(before.cells[name].share) for name, own in words_of.items())
    total = sum(v.percent_value(own.share) for own in said)
    cells = {}
    for name, own in words_of.items():
        old = before.cells[name]
        ratios = {ratio: v.percent_value(word) for ratio, word in own.ratios.items() if word not in (KEEP, ratio_word(old, ratio))}
        cells[name] = old.model_copy(update=ratios | {"share": old.share if kept_shares else v.percent_value(own.share) / total})
    claims = [claim for cell in context.cells for claim in claims_of(cell, words_of[cell.name], before.cells[cell.name], cells[cell.name])]
    preserved = tuple(name for name, own in words_of.items() if "P" in own.cited and keeps_ratios(before.cells[name], cells[name]))
    summary = summary_sentence(claims, preserved, context.words)
    return Proposal(summary=summary, claims=tuple(claims), preserved=preserved, config=before.with_cells(cells))


def ratio_word(own: Settings, ratio: str) -> str:
    return v.percent_word(own.settings()[ratio])


def turned(before: Settings, after: Settings) -> Iterator[str]:
    """The knobs that differ."""
    old, new = before.settings(), after.settings()
    return (knob for knob in ("share", *RATIO_WORDS) if knob in new and abs(new[knob] - old[knob]) > TOLERANCE)


def keeps_ratios(before: Settings, after: Settings) -> bool:
    return not set(turned(before, after)) & set(RATIO_WORDS)


def claims_of(cell: Cell, words: CellWords, before: Settings, after: Settings) -> Iterator[Claim]:
    """One claim a knob that is turned, or one that the cell is kept."""
    knobs: list[str | None] = [*turned(before, after)]
    for knob in knobs or [None]:
        yield claim_on(
            cell.name,
            cell.words,
            knob,
            before.settings(),
            after.settings(),
            evidence=[f"{letter}{cell.name}" for letter in words.cited],
            now=words.now,
            usual=words.usual,
            cause=words.cause,
            expected=words.expected,
            spread=words.spread,
        )


# --- proposal -> words (for demonstrations) -------------------------------------------------------------------------


def render_proposal(context: Context, proposal: Proposal) -> str:
    """Writes a proposal in the dialect, without the end token; the inverse of parsing, up to rounding."""
    rationale, config = list[str](), [v.CONFIG]
    for place, cell in zip(v.PLACES, context.cells, strict=False):
        claims = {claim.knob: claim for claim in proposal.claims if claim.cell == cell.name}
        first, own = next(iter(claims.values())), proposal.config.cells[cell.name]
        letters = sorted({line[0] for line in first.evidence} & set(v.EVIDENCE_LETTERS), key=v.EVIDENCE_LETTERS.index)
        rationale += [place, *letters, f"valid{place}", percent_or_unknown(first.now)]
        rationale += [v.USUALLY, percent_or_unknown(first.usual), v.BECAUSE, first.cause or UNKNOWN]
        config += [f"share{place}", max(v.percent_word(own.share), SHARES[0], key=v.percent_value)]
        for ratio in ratios_of(cell):
            config += [f"{RATIO_WORDS[ratio]}{place}", ratio_word(own, ratio) if ratio in claims else KEEP]
        config += ["expect", percent_or_unknown(first.expected), v.SPREAD, percent_or_unknown(first.spread)]
    return " ".join(rationale + config)


def percent_or_unknown(value: float | None) -> str:
    return UNKNOWN if value is None else v.percent_word(value)


# --- an engineer that speaks it ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabEngineer:
    """A model that reads and writes the lab dialect."""

    write: Callable[[str, ProposalGrammar, int], str]
    """(prompt, grammar, seed) -> completion under the grammar."""
    kind: str = "policy"

    def prompt(self, context: Context) -> str:
        return render_context(context)

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        text = self.write(render_context(context), ProposalGrammar(context), seed)
        return Written(text, tokens=len(text.split()))

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        return parse_proposal(context, config, raw)
