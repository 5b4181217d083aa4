"""The `script`: an engineer of the user's own, a function in a Python file."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from frozenlab.base.cells import Config
from frozenlab.base.errors import LabError
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.engineers.curricula import by_shares, in_proportion, rated
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.models.training.checkpoints import checksum


class ScriptEngineer(Scripted):
    """An engineer in a file: ``propose(context, config, seed)`` returns how many boards each cell gets, or a whole :class:`Proposal`.

    Example:
        A file that gives all boards to the cell with the most failures::

            def propose(context, config, seed):
                lines = {cell: context.evidence("failures", cell) for cell in config.cells}
                worst = min((cell for cell in lines if lines[cell]), key=lambda cell: lines[cell].numbers["valid"], default=None)
                return {cell: float(cell == worst or worst is None) for cell in config.cells}
    """

    kind: Literal["script"] = "script"
    file: Annotated[str, Field(min_length=1, max_length=500)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Of the file, so that a session cannot go on with another function than it began with."""
    label = "a function in a Python file of your own"
    title = who = "your script"
    help = "A function propose(context, config, seed) in a Python file, which is run with all rights of your account."

    @classmethod
    def of(cls, file: Path) -> Self:
        """The engineer in a file. Raises LabError if it cannot be read or has no function ``propose``."""
        try:
            engineer = cls(file=str(file.resolve()), sha256=checksum(file))
            engineer.function()
        except (OSError, ProposalError) as error:
            raise LabError(f"{file}: {error}") from None
        return engineer

    def function(self) -> Any:
        """Runs the file. Raises ProposalError if that fails, or the file has no ``propose``, OSError if it is gone."""
        if checksum(Path(self.file)) != self.sha256:
            raise ProposalError(f"{self.file} has changed since the session was made")
        try:
            return runpy.run_path(self.file)["propose"]
        except KeyError:
            raise ProposalError("it has no function propose(context, config, seed)") from None
        except Exception as error:
            raise ProposalError(where(error, self.file)) from None

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """What the function says. Raises ProposalError where it fails, or names other cells than the config's."""
        function = self.function()
        try:
            found = function(context, config, seed)
        except Exception as error:
            raise ProposalError(where(error, self.file)) from None
        if isinstance(found, Proposal):
            return found
        if not isinstance(found, Mapping) or found.keys() != config.cells.keys():
            raise ProposalError(f"propose has to return a number for each of the cells {', '.join(config.cells)}")
        return by_shares(context, config, in_proportion(found), rated(context), "Boards are shared as the script says.")


def where(error: Exception, file: str) -> str:
    """The error and its line in the file."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{type(error).__name__}{f' in line {lines[-1]}' if lines else ''}: {error}"
