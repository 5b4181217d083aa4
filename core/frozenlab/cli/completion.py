"""Completion of commands and options in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

SCRIPT = """_frozenlab() {
  local words
  case "${COMP_WORDS[*]:1:COMP_CWORD-1} " in
%s
  esac
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _frozenlab frozenlab"""
FOR_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
"""zsh reads what is written for bash after this."""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script that completes all words of a whole parser."""
    cases = "\n".join(f'    "{" ".join([*path, ""])}"*) words="{" ".join(words)}" ;;' for path, words in words_after(parser))
    return (FOR_ZSH if shell == "zsh" else "") + SCRIPT % cases


def words_after(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """(the words of a command, what may follow), the longest first, for the shell takes the first that fits."""
    words = [name for action in parser._actions for name in action.option_strings if name.startswith("--")]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            words = [*action.choices, *words]
            for name, below in action.choices.items():
                yield from words_after(below, (*path, name))
    yield path, words
