"""A Llama in a GGUF file, with the tokenizer of SmolLM2, as a model folder: ``python -m frozenlab.models.language.converting FILE FOLDER``.

The transformers library reads the weights, but its tokenizer would end answers with the token that begins a turn, would have no token for
padding, and would not read digits one by one. So the tokenizer is built here, from what the file says.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from gguf import GGUFReader, TokenType
from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import AutoModelForCausalLM, GenerationConfig, PreTrainedTokenizerFast

from frozenlab.base.errors import LabError, one_line
from frozenlab.models.folders import WEIGHTS

KNOWN = {"general.architecture": "llama", "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm"}
"""What the file has to say, for the weights and the tokenizer to be read in the right way."""
TOKENS = {"bos_token": "bos", "eos_token": "eos", "pad_token": "padding", "unk_token": "unknown"}
"""Tokens with a role -> what the file calls it."""


class ConversionError(LabError, ValueError):
    """A GGUF file holds no model that can be converted; the message says why."""


def convert(file: Path, folder: Path) -> None:
    """Write the model of ``file`` to ``folder``: its weights in bfloat16, its tokenizer and its chat template. Raises ConversionError."""
    try:
        said = {name: field.contents() for name, field in GGUFReader(file).fields.items()}
    except (OSError, ValueError, IndexError) as error:
        raise ConversionError(f"{file.name} cannot be read as GGUF: {one_line(error)}") from None
    for name, value in KNOWN.items():
        if said.get(name) != value:
            raise ConversionError(f"{file.name} cannot be converted: its {name} is {said.get(name)!r}, not {value!r}")
    tokenizer_of(said).save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.bfloat16)
    del model.config.quantization_config, model.config._model_name_or_path, model.hf_quantizer  # it is not quantized any more
    roles = {f"{role}_id": said[f"tokenizer.ggml.{name}_token_id"] for role, name in TOKENS.items() if role != "unk_token"}
    model.generation_config = GenerationConfig(**roles)
    model.save_pretrained(folder)
    (folder / WEIGHTS).chmod((folder / "config.json").stat().st_mode)  # which safetensors lets the user alone read


def tokenizer_of(said: dict) -> PreTrainedTokenizerFast:
    """The tokenizer that a GGUF file describes, whose fields are ``said``."""
    tokens, kinds = said["tokenizer.ggml.tokens"], said["tokenizer.ggml.token_type"]
    merges = [tuple(merge.split(" ", 1)) for merge in said["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(BPE({token: number for number, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False, use_regex=True)])
    tokenizer.decoder = ByteLevelDecoder()
    special = [token for token, kind in zip(tokens, kinds, strict=True) if kind == TokenType.CONTROL]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **{role: tokens[said[f"tokenizer.ggml.{name}_token_id"]] for role, name in TOKENS.items()},
        model_max_length=said["llama.context_length"],
        clean_up_tokenization_spaces=False,
        chat_template=said["tokenizer.chat_template"],
    )


if __name__ == "__main__":
    try:
        convert(Path(sys.argv[1]), Path(sys.argv[2]))
    except LabError as error:
        sys.exit(str(error))
