"""A person as engineer: what they propose waits in the session folder, and passes the same guard and ledger as any other proposal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from frozenlab.base.cells import Config, Settings
from frozenlab.base.errors import AwaitsProposal
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal, ProposalRecord
from frozenlab.engineer.sentences import claim_on, summary_sentence
from frozenlab.tasks.families import family_of

MOVED = 0.0005
"""A share that moves by less, because the others' sum to 1 with it, is no change that a person decided."""


class HumanEngineer(Scripted):
    kind: Literal["human"] = "human"
    label = "you, in the app: the session waits for you"
    title = who = "a person"
    help = "The session pauses after each stage, and you read the evidence in the app and write the next config."
    needs = frozenset({"person"})
    chooses_ratios = True
    expects = "A person named each number."

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """Raises AwaitsProposal: what a person decides reaches the loop as a :class:`Decision`."""
        raise AwaitsProposal


class Decision(HumanEngineer):
    """A person who has decided, also one who overrules the session's own engineer in a fork."""

    given: Proposal

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        return self.given


def decided(before: Config, cells: Mapping[str, Settings]) -> Config:
    """The config with these cells, their shares scaled to sum to 1."""
    total = sum(cell.share for cell in cells.values())
    shares = {name: cell.share / total if total else 1 / len(cells) for name, cell in cells.items()}
    return before.with_cells({name: cell.model_copy(update={"share": shares[name]}) for name, cell in cells.items()})


def rejecting(record: ProposalRecord, names: Collection[str]) -> Config:
    """What an engineer proposed, but for the cells that are to stay as they were."""
    old, new = record.config_before, record.config_after
    return decided(old, {name: (old if name in names else new).cells[name] for name in old.cells})


def proposal_of(
    before: Config,
    after: Config,
    *,
    why: str = "",
    now: Mapping[str, float] | None = None,
    expected: Mapping[str, float] | None = None,
    cited: Mapping[str, Sequence[str]] | None = None,
) -> Proposal:
    """A person's config with a claim for everything that it changes, and one for each size that it keeps.

    Args:
        why: their own words; without any, a sentence that tells the changes.
        now: the valid rate (0..1) of cells as they read it.
        expected: the valid rate (0..1) that they expect of cells after the next stage.
        cited: ids of the evidence lines that speak for what is done to a cell.
    """
    family, claims = family_of(before.family), []
    words = {cell.name: cell.words for cell in after.described()}
    for name, cell in after.cells.items():
        old = before.cells[name]
        was, now_is = old.settings(), cell.settings()
        moved: list[str | None] = [knob for knob in ("share", *family.ratios_of(old)) if abs(now_is[knob] - was[knob]) > MOVED]
        for knob in moved or [None]:
            claims.append(
                claim_on(
                    name, words[name], knob, was, now_is, evidence=(cited or {}).get(name, ()),
                    now=(now or {}).get(name), expected=(expected or {}).get(name),
                )
            )  # fmt: skip
    turned = {claim.cell for claim in claims if claim.knob in family.ratios}
    kept = tuple(name for name in after.cells if name not in turned)
    return Proposal(summary=why.strip() or summary_sentence(claims, kept, words), claims=tuple(claims), preserved=kept, config=after)
