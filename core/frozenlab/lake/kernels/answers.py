"""The compiled reader of answers: the grammar of words/answers.py on UTF-8 bytes, and the judge behind it. Imports numba."""

from __future__ import annotations

import numpy as np

from frozenlab.lake.kernels.compiled import entry, kernel
from frozenlab.lake.kernels.judge import DOWN, LEFT, MISSING, RIGHT, UP, WAIT, judge_plan
from frozenlab.lake.rules import FAULTS
from frozenlab.lake.words.answers import FILLERS

PARSE_ERROR = FAULTS.index("parse_error")
NEWLINE, COLON, ZERO, NINE = (ord(letter) for letter in "\n:09")
STRIDE = 32
"""Bytes looked at together when a line is skipped."""
LOWER = 32
"""The bit that makes an ASCII letter lower case."""
IS_FILLER = np.array([chr(byte) in FILLERS if byte < 128 else False for byte in range(256)])
ARROW = tuple("→".encode())
"""The one filler of more than one byte."""
ACTION_OF_LETTER = np.zeros(256, np.uint8)
"""The action of a lower-case letter, 0 for the letters that are none."""
for _letter in "UDLRW":
    ACTION_OF_LETTER[ord(_letter) | LOWER] = ord(_letter)


def _packed(word: str) -> int:
    return int.from_bytes(word.encode("ascii"), "big")


AGENT_WORD = _packed("agent")
UP_WORD, DOWN_WORD, LEFT_WORD, RIGHT_WORD, WAIT_WORD, STAY_WORD = map(_packed, ("up", "down", "left", "right", "wait", "stay"))


@entry("answers")
def check_answers(text, ends, which, exits, cell_ends, width, starts, goals, agent_ends, out, on_goal):
    """Reads and judges one text after the other.

    Args:
        text: uint8, all texts one after the other in UTF-8; ``ends`` int64[n] says where each ends.
        which: int64[n], the number of each text's board.
        exits, starts, goals: the arrays of :func:`frozenlab.lake.kernels.judge.judge_plan`, all boards one after the other;
            ``cell_ends`` and ``agent_ends`` int64[boards] say where each board ends in them, ``width`` int64[boards] how wide it is.
        out: int64[n, 6], written; a row is what judge_plan writes.
        on_goal: int64[n], written: the agents whose motion string ends on their goal, whatever goes wrong on the way.
    """
    begin = longest = 0
    for end in ends:
        longest = max(longest, end - begin)
        begin = end
    letters = np.empty(longest, np.uint8)
    begin = 0
    for i in range(len(ends)):
        b = which[i]
        first_cell, first_agent = (cell_ends[b - 1], agent_ends[b - 1]) if b > 0 else (0, 0)
        team = agent_ends[b] - first_agent
        offsets, lengths = np.zeros(team, np.int64), np.full(team, MISSING, np.int64)
        read_answer(text[begin : ends[i]], letters, offsets, lengths)
        begin = ends[i]
        if lengths.max() == MISSING:
            out[i, :] = -1
            out[i, 0] = PARSE_ERROR
            on_goal[i] = 0
            continue
        moves = np.empty((team, lengths.max()), np.uint8)
        for agent in range(team):
            for step in range(lengths[agent]):
                moves[agent, step] = letters[offsets[agent] + step]
        from_, to = starts[first_agent : agent_ends[b]], goals[first_agent : agent_ends[b]]
        judge_plan(exits[first_cell : cell_ends[b]], width[b], from_, to, moves, lengths, out[i])
        on_goal[i] = _count_on_goal(width[b], from_, to, moves, lengths)


@kernel
def read_answer(text, letters, offsets, lengths):
    """Finds the last mention of each agent: its action letters are ``letters[offset : offset + length]``.

    Args:
        text: uint8, one text.
        letters: uint8, written; at least as long as the text, which has no more actions than bytes.
        offsets, lengths: int64[team], written for the agents that are mentioned.
    """
    at, used = 0, 0
    while at < len(text):
        at, agent, count = _read_line(text, at, letters, used)
        if count > 0 and agent < len(lengths):
            offsets[agent], lengths[agent] = used, count
            used += count
        at = _line_end(text, at) + 1


@kernel
def _line_end(text, at):
    """The first line feed from ``at`` on, or the end of the text; most of a text is prose, so this is where the time goes."""
    while at + STRIDE <= len(text):
        found = False
        for byte in text[at : at + STRIDE]:
            found |= byte == NEWLINE
        if found:
            break
        at += STRIDE
    while at < len(text) and text[at] != NEWLINE:
        at += 1
    return at


@kernel
def _read_line(text, at, letters, used):
    """(where reading stopped, agent, number of actions written to ``letters[used:]``); no actions where the line is no mention."""
    at = _skip_fillers(text, at)
    at, word, _ = _read_word(text, at)
    if word != AGENT_WORD:
        return at, 0, 0
    at = _skip_fillers(text, at)
    agent = digits = 0
    while at < len(text) and ZERO <= text[at] <= NINE and digits <= 3:
        agent = 10 * agent + (text[at] - ZERO)
        digits += 1
        at += 1
    at = _skip_fillers(text, at)
    if not 1 <= digits <= 3 or at == len(text) or text[at] != COLON:
        return at, 0, 0
    at += 1
    count = 0
    while True:
        gap = at
        at = _skip_fillers(text, at)
        if at == len(text) or text[at] == NEWLINE:
            return at, agent, count
        if count > 0 and at == gap:
            return at, 0, 0
        begin = at
        at, word, single = _read_word(text, at)
        if single:
            for place in range(begin, at):
                letters[used + count] = ACTION_OF_LETTER[text[place] | LOWER]
                count += 1
        else:
            action = _action(word)
            if action == 0:
                return at, 0, 0
            letters[used + count] = action
            count += 1


@kernel
def _read_word(text, at):
    """(end of the ASCII letters that begin at ``at``, the first seven packed in lower case, whether all are single-letter actions)."""
    begin, word, single = at, 0, True
    while at < len(text):
        letter = text[at] | LOWER
        if not 97 <= letter <= 122:
            break
        if at - begin < 7:
            word = word << 8 | np.int64(letter)
        single &= ACTION_OF_LETTER[letter] != 0
        at += 1
    return at, word, single and at > begin


@kernel
def _action(word):
    """The action letter of a packed word, 0 if it is none."""
    if word == UP_WORD:
        return UP
    if word == DOWN_WORD:
        return DOWN
    if word == LEFT_WORD:
        return LEFT
    if word == RIGHT_WORD:
        return RIGHT
    if word in (WAIT_WORD, STAY_WORD):
        return WAIT
    return 0


@kernel
def _skip_fillers(text, at):
    """The first place from ``at`` on that is no filler."""
    while at < len(text):
        if IS_FILLER[text[at]]:
            at += 1
        elif at + 2 < len(text) and text[at] == ARROW[0] and text[at + 1] == ARROW[1] and text[at + 2] == ARROW[2]:
            at += 3
        else:
            break
    return at


@kernel
def _count_on_goal(width, starts, goals, moves, lengths):
    """How many agents' motion strings end on their goal, when they may walk over holes and edges."""
    count = 0
    for i in range(len(lengths)):
        row, col = starts[i] // width, starts[i] % width
        for step in range(lengths[i]):
            letter = moves[i, step]
            row += (letter == DOWN) - (letter == UP)
            col += (letter == RIGHT) - (letter == LEFT)
        count += lengths[i] >= 0 and row == goals[i] // width and col == goals[i] % width
    return count
