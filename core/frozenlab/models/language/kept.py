"""A writer that remembers: measuring a language model takes hours, and what it has written before a stop is not written again."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from frozenlab.base.files import append_line, read_lines
from frozenlab.models.language.writers import Ids, Schema, Text, Writer
from frozenlab.models.policy import Sampling


class Batch(NamedTuple):
    """Texts that were written together, and what that took."""

    texts: list[list[int]]
    seconds: float


@dataclass
class KeepingWriter:
    """Writes by another writer, keeps each batch in a file, and takes it from there when it is asked for again.

    The file is for one model. A batch is known by all that its texts depend on: prompts, limits, draws.
    """

    writer: Writer
    file: Path
    """A JSON object a line."""
    spared: float = 0.0
    """Seconds that the batches took which were there already."""

    def refresh(self, *, alone: bool = False) -> None:
        self.writer.refresh(alone=alone)

    def together(self, limit: int) -> int:
        return self.writer.together(limit)

    def write(self, prompts: Sequence[Ids], *, limit: int, sampling: Sampling, schema: Schema | None = None, until: Ids = ()) -> list[Text]:
        asked = [[list(prompt) for prompt in prompts], limit, vars(sampling), schema, list(until)]
        key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:24]
        if key in self.kept:
            self.spared += self.kept[key].seconds
            return [Text(ids) for ids in self.kept[key].texts]
        began = time.monotonic()
        texts = self.writer.write(prompts, limit=limit, sampling=sampling, schema=schema, until=until)
        append_line(self.file, {"key": key, "texts": [text.ids for text in texts], "seconds": time.monotonic() - began})
        return texts

    @cached_property
    def kept(self) -> dict[str, Batch]:
        """The batches of earlier tries."""
        return {line["key"]: Batch(line["texts"], line["seconds"]) for line in read_lines(self.file)[0]}
