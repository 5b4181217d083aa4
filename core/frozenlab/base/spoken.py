"""What a language model says aloud in a text that it wrote: without its thoughts, the marks of its chat format and unusual signs."""

from __future__ import annotations

import re
import unicodedata

NAMES = "(?:think|thinking|thoughts?|reason|reasoning|reflection|analysis|scratchpad|seed:think)"
OPENING = re.compile(rf"<{NAMES}>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>|<unused94>", re.IGNORECASE)
"""Marks before the thoughts of Qwen3 and DeepSeek, Seed, Magistral, Kimi, Sky-T1, Command and MedGemma, and what prompts ask for."""
CLOSING = re.compile(rf"</{NAMES}>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>|<unused95>", re.IGNORECASE)
MARK = re.compile(rf"{OPENING.pattern}|{CLOSING.pattern}|<\|channel\|>", re.IGNORECASE)
FINAL = re.compile(r"<\|channel\|>final[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>|^analysis[\s\S]*assistantfinal")
"""Before the answer of gpt-oss; the second where its marks were left out."""
END = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|end_?of_?text|end|return|call|eos|end[▁_]of[▁_]sentence|END_OF_TURN_TOKEN)\|>"
    r"|</s>|<end_of_turn>|<turn\|>|<eos>|\[EOS\]",
    re.IGNORECASE,
)
"""The end of an answer, as a server may leave it in the text."""
BREAK = re.compile(
    r"<\|[^<>|]{1,40}\|>|</?(?:answer|final|final_answer|plan|solution|output|response|result|br|p|div|li|ul|ol|pre)\b[^<>\n]{0,80}>"
    r"|[\u2028\u2029\x85\v\f]",
    re.IGNORECASE,
)
NOTHING = re.compile(
    r"</?(?:b|i|u|em|strong|code|span|tt)(?: [^<>\n]{0,80})?>|[\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0e\ufe0f\ufeff]",
    re.IGNORECASE,
)
"""Tags within a line, and characters that have no width."""
COMMAS = str.maketrans("、。", ",.")


def after_thinking(text: str) -> str:
    """The text after its thoughts, or before them if nothing follows; nothing where they never end.

    >>> after_thinking("<think>UP? No.</think>DOWN"), after_thinking("<think>UP? Let me check"), after_thinking("DOWN <think>sure</think>")
    ('DOWN', '', 'DOWN ')
    """
    *thoughts, said = FINAL.split(text)
    if not thoughts and "<|channel|>" in text:
        return ""
    *thoughts, rest = CLOSING.split(said)
    opened = OPENING.search(said)
    if OPENING.search(rest) or not (thoughts and opened and not rest.strip()):
        return "" if OPENING.search(rest) else rest
    return said[: opened.start()]


def spoken(text: str) -> str:
    """What is said after the thoughts and before the end of the turn, with tags left out and with plain signs and spaces.

    >>> spoken("<think>UP?</think><answer>Agent 0： ＲＩＧＨＴ、DOWN</answer><|im_end|>")
    '\\nAgent 0: RIGHT,DOWN\\n'
    """
    plain = unicodedata.normalize("NFKC", after_thinking(text)).translate(COMMAS)
    turns = [turn for turn in END.split(plain) if turn.strip()]
    return NOTHING.sub("", BREAK.sub("\n", turns[0])) if turns else ""
