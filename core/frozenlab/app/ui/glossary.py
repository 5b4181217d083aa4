"""The words of the lab, each in a sentence."""

from __future__ import annotations

import re
from html import escape

import streamlit as st

from frozenlab.base.numbers import unbroken

GLOSSARY: dict[str, dict[str, str]] = {
    "Boards and plans": {
        "MAPF": "Multi-agent path finding: paths for several agents at once that never collide.",
        "agent": "One of those who cross a board, drawn as a disc with a number.",
        "board": "A grid of frozen cells and holes, with a start and a goal for each agent.",
        "plan": "One list of moves per agent: right, up, left, down or wait. All agents move at the same time.",
        "valid": "A plan that brings every agent to its goal, without an agent that leaves the board, enters a hole, or collides.",
        "makespan": "The number of time steps until all agents stand on their goals for good.",
        "optimal": "A valid plan with the smallest possible makespan, unless another measure is named, such as the sum of costs. The "
        "solver proves it.",
        "sum of costs": "The time steps until each agent is on its goal for good, added up over all agents.",
        "must wait": "A board that no plan solves in the best makespan unless some agent waits for another. On other boards agents may be "
        "delayed as well: they go a longer way instead.",
        "conflict": "Two agents in each other's way, on one cell or on one edge. A valid plan has none.",
        "vertex conflict": "Two agents are on the same cell at the same time step.",
        "edge conflict": "Two agents change places in one time step, and meet on the edge between their cells.",
    },
    "Solvers": {
        "prioritized planning": "The agents plan one after the other, each around the paths of those before it. It is quick, but may find "
        "no plan where there is one.",
        "Conflict-Based Search": "An exact solver, CBS for short. Every agent plans alone; where two collide, the search branches, and "
        "each branch forbids the conflict to one of them. It always continues with the cheapest node that is open.",
        "complete": "A planner that finds a plan wherever there is one.",
        "NP-hard": "No method is known whose time stays below a power of the size on all boards; one would solve all of NP so fast.",
        "space-time A∗": "A shortest path among agents that move: the search goes through cells and time steps.",
        "PIBT": "Priority inheritance with backtracking: a planner that moves all agents one step at a time, the most urgent first.",
        "LaCAM": "A complete planner: it searches over how the whole team stands, and lets PIBT propose the next step.",
        "ECBS": "Conflict-Based Search that ends with a plan of at most w times the smallest cost, much earlier.",
        "large neighbourhood search": "LNS for short: a few agents plan anew among all others, again and again, and what is not dearer is "
        "kept.",
        "anytime": "A planner that has a plan whenever it is stopped, and a better one the longer it ran.",
        "lifelong": "Of MAPF where every agent that reaches its goal gets another one.",
        "throughput": "The goals that a team reaches in a time step, where that never ends.",
        "constraint": "What Conflict-Based Search forbids an agent: to be on a cell, or to cross an edge, at a certain time step.",
    },
    "Environments": {
        "config": "The description that the boards of a stage are drawn from: a share, a hole ratio and a wait ratio for each cell.",
        "cell of a config": "A kind of board that a config has numbers for: a map size, and a team or a layout if it keeps those "
        "apart. Written 6, 3@6 (3 agents on 6×6) or maze6.",
        "share": "The fraction of a stage's boards that are of a given cell.",
        "hole ratio": "The fraction of a board's cells that are holes.",
        "wait ratio": "The fraction of the boards of a cell that must wait.",
        "knob": "One of these numbers, of one cell.",
        "layout": "How the holes lie: scattered, or as rooms, corridors and the like.",
    },
    "Training": {
        "model": "The language model that writes the plans. Training changes its weights.",
        "checkpoint": "The model as it was after a stage; the base is the model before any training.",
        "stage": "A number of training steps on the boards of one config. After each stage the engineer may change the config.",
        "reinforcement learning": "Learning by trial: the model tries, each try is given a reward, and what was worth more "
        "becomes likelier.",
        "GRPO": "Group relative policy optimization: several plans are sampled for a board, and the better ones of them become likelier.",
        "reward": "What a sampled plan is worth in training, from 0 to 1.",
        "validation boards": "Boards that the model never trains on. The engineer sees how the model does on them.",
        "held-out boards": "Boards that the model never trains on: the validation boards and the test boards.",
        "95 % interval": "Where the rate of all boards like these would lie: the true value is inside in 95 of 100 such intervals.",
        "test boards": "More boards that the model never trains on, and that no engineer sees. Results come from them.",
    },
    "Engineers and studies": {
        "engineer": "The one who writes the next config: the model itself, another model, fixed rules, or a person.",
        "evidence": "The lines that the engineer reads: training, failures, statistics, preserved cells, and history.",
        "claim": "A line of a proposal: a change on one cell, the reason for it, and the valid rate that it should bring.",
        "guard": "The check that every proposal passes. It limits how far a knob moves in a stage, and keeps configs that can be drawn.",
        "ledger": "All claims with their measured outcomes. Skill 0 is as good as predicting no change.",
        "oracle": "An engineer with secret knowledge, such as the weakness planted in a model, which it uses to choose the config. "
        "It shows what was possible.",
        "headroom": "How much more the oracle gains than a config with equal shares: what an engineer could win.",
        "value of information": "How much more is gained if each model gets the config that is best for it, and not all the one that is "
        "best on average: what reading a model can be worth.",
        "fork": "Training that continues from a stage of another session: from the same model, with another config.",
        "arm": "One of the variants that a study or a replay compares. Arms differ in one thing only.",
        "dose": "How far apart the configs of two arms were, on average over knobs.",
        "clear of chance": "A difference with a p value below 0.05 after Holm's correction for all comparisons of its kind.",
        "p value": "How often chance alone would bring a difference at least as large as the one that was found.",
        "McNemar test": "A test of two models on the same boards. It counts the boards that one of them solves and the other does not.",
        "points": "Percentage points: from 80 % to 85 % is 5 points.",
    },
}


EVERYDAY = {"agent", "board", "plan", "model", "valid", "points", "stage", "share"}
"""Words that need no explanation in a sentence."""
_MEANINGS = {word: meaning for words in GLOSSARY.values() for word, meaning in words.items() if word not in EVERYDAY}
_TERM = re.compile(rf"\b({'|'.join(sorted(map(re.escape, _MEANINGS), key=len, reverse=True))})(s?)\b", re.IGNORECASE)
_BY_LETTERS = {word.lower(): meaning for word, meaning in _MEANINGS.items()}


def explained(text: str) -> str:
    """Plain text as HTML in which each term of the field shows its meaning where it comes up first, under the pointer or the focus."""
    seen: set[str] = set()

    def mark(found: re.Match[str]) -> str:
        word = found[1].lower()
        if word in seen:
            return found[0]
        seen.add(word)
        return f'<dfn class="fl-term" tabindex="0" data-meaning="{escape(_BY_LETTERS[word])}">{found[0]}</dfn>'

    return _TERM.sub(mark, escape(unbroken(text)))


def note(text: str) -> None:
    """A quiet line below what it is about, with its terms explained. Needs the styles of :mod:`frozenlab.app.ui.markup`."""
    st.html(f'<p class="fl-note">{explained(text)}</p>')


def glossary() -> None:
    """A section to open at the end of a page. Needs the styles of :mod:`frozenlab.app.ui.markup`."""
    with st.expander("What the words mean", icon=":material/dictionary:"):
        every_word()


def every_word() -> None:
    """All words with their meanings, a tab a group."""
    for tab, words in zip(st.tabs(list(GLOSSARY)), GLOSSARY.values(), strict=True):
        entries = "".join(f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in words.items())
        tab.html(f'<dl class="fl-words fl-pairs">{entries}</dl>')
