"""Fetching a model by its name: pip's download of a package that the test makes, the conversion of a GGUF file, and what goes wrong."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFWriter, TokenType
from gguf.quants import quantize
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerBase

from frozenlab.base.errors import LabError
from frozenlab.base.files import locked
from frozenlab.cli.main import main
from frozenlab.experiments.references import references
from frozenlab.models import fetching
from frozenlab.models.fetching import GGUF, LOCK, SOURCES, FetchError, Progress, Source, fetch, progress
from frozenlab.models.folders import FETCHED, base_of, on_hub, policy_folder
from frozenlab.models.language.converting import ConversionError, convert
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.settings import LanguageSettings, Lora
from tests.language_sessions import REAL, needs_real_model

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
Q4, Q8, F32 = GGMLQuantizationType.Q4_1, GGMLQuantizationType.Q8_0, GGMLQuantizationType.F32
NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}  # fmt: skip
"""What a layer's weights are called in GGUF -> in transformers."""
PARAGRAPH = (
    "The water cycle describes how water moves on, above and below the surface of the Earth. Water evaporates from oceans, lakes and "
    "rivers, rises into the atmosphere, cools and condenses into clouds, and falls back to the ground as rain or snow. Some of it runs "
    "off into streams and rivers, some seeps into the soil, and some is taken up by plants, which give it back to the air."
)


def llama() -> LlamaForCausalLM:
    """A Llama of 70,000 random weights, with grouped queries."""
    torch.manual_seed(3)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=320, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            head_dim=16, max_position_embeddings=512, rope_theta=100_000.0, rms_norm_eps=1e-5, tie_word_embeddings=True,
        )
    )  # fmt: skip


def words() -> Tokenizer:
    """A byte-level BPE that reads digits one by one, as SmolLM2's."""
    tokenizer = Tokenizer(models.BPE())
    split = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Sequence(split), decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=SPECIAL, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False
    )
    tokenizer.train_from_iterator([PARAGRAPH] * 4, trainer)
    return tokenizer


def permuted(weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows of queries or keys in the order of llama.cpp, which turns neighbours where transformers turns halves."""
    return weight.reshape(heads, 2, len(weight) // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def write_gguf(path: Path, model: LlamaForCausalLM, tokenizer: Tokenizer, pre: str = "smollm") -> Path:
    """The model as llama.cpp writes it: linear maps in Q4_1, the embedding in Q8_0, norms in float32."""
    writer, config, known = GGUFWriter(path, "llama"), model.config, json.loads(tokenizer.to_str())["model"]
    writer.add_name("Tiny")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(100_000.0)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    tokens = sorted(known["vocab"], key=known["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL if token in SPECIAL else TokenType.NORMAL for token in tokens])
    writer.add_token_merges([" ".join(merge) for merge in known["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}

    def add(name: str, weight: np.ndarray, kind: GGMLQuantizationType) -> None:
        writer.add_tensor(f"{name}.weight", quantize(weight, kind), raw_dtype=kind)

    add("token_embd", weights["model.embed_tokens.weight"], Q8)
    add("output_norm", weights["model.norm.weight"], F32)
    for layer in range(config.num_hidden_layers):
        for ours, theirs in NAMES.items():
            weight = weights[f"model.layers.{layer}.{theirs}.weight"]
            if ours in ("attn_q", "attn_k"):
                weight = permuted(weight, config.num_attention_heads if ours == "attn_q" else config.num_key_value_heads)
            add(f"blk.{layer}.{ours}", weight, F32 if "norm" in ours else Q4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return words()


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Path:
    return write_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf", llama(), tokenizer)


@pytest.fixture(scope="module")
def converted(gguf: Path) -> Path:
    convert(gguf, gguf.parent / "converted")
    return gguf.parent / "converted"


@pytest.fixture(scope="module")
def read(converted: Path) -> PreTrainedTokenizerBase:
    return AutoTokenizer.from_pretrained(converted)


# --- the conversion --------------------------------------------------------------------------------------------------


def test_the_weights_come_back_within_what_their_bits_allow(converted: Path) -> None:
    before, model = llama(), AutoModelForCausalLM.from_pretrained(converted, dtype=torch.float32)
    assert type(model) is LlamaForCausalLM and model.lm_head.weight is model.model.embed_tokens.weight
    assert (model.config.rope_parameters["rope_theta"], model.config.max_position_embeddings) == (100_000, 512)
    found = dict(model.named_parameters())
    for name, weight in before.named_parameters():
        blocks = weight.detach().reshape(-1, 32)
        steps = (blocks.amax(1) - blocks.amin(1)) / 15 if "proj" in name else blocks.abs().amax(1) / 127
        bound = 0.55 * steps[:, None] + blocks.abs() / 128 if "norm" not in name else blocks.abs() / 256
        assert bool((found[name].detach().reshape(-1, 32) - blocks).abs().le(bound).all()), name
    ids = torch.arange(40)[None]
    with torch.no_grad():
        assert float((model(ids).logits - before(ids).logits).std() / before(ids).logits.std()) < 0.2  # unpermuted: above 1


def test_the_tokenizer_ends_and_pads_as_the_file_says(converted: Path, read: PreTrainedTokenizerBase) -> None:
    assert (read.bos_token_id, read.eos_token_id, read.pad_token_id, read.unk_token_id) == (1, 2, 2, 0)
    assert (read.eos_token, read.model_max_length, read.chat_template) == ("<|im_end|>", 512, TEMPLATE)
    generation = json.loads((converted / "generation_config.json").read_text())
    assert (generation["eos_token_id"], generation["pad_token_id"]) == (2, 2)
    assert "quantization" not in (converted / "config.json").read_text()
    asked = read.apply_chat_template([{"role": "user", "content": "12"}], tokenize=True, return_dict=True)["input_ids"]
    assert asked[0] == 1 and asked[-2] == 2, "each mark of a turn is one token"


@given(text=st.text(st.characters(codec="utf-8")), number=st.integers(0, 10**6))
def test_any_text_is_read_as_before_and_digits_one_by_one(
    text: str, number: int, tokenizer: Tokenizer, read: PreTrainedTokenizerBase
) -> None:
    whole = f"{text}{number}"
    ids = read(whole, add_special_tokens=False)["input_ids"]
    assert ids == tokenizer.encode(whole).ids
    assert read.decode(ids) == whole
    assert all(not piece.isdigit() for piece in read.convert_ids_to_tokens(ids) if len(piece) > 1 and piece.isascii())


def test_a_file_of_another_kind_is_refused(tmp_path: Path, tokenizer: Tokenizer) -> None:
    write_gguf(tmp_path / "other.gguf", llama(), tokenizer, pre="llama-bpe")
    (tmp_path / "torn.gguf").write_bytes(b"GGUF\3\0\0\0")
    for name, said in (("other.gguf", "tokenizer.ggml.pre is 'llama-bpe', not 'smollm'"), ("torn.gguf", "cannot be read as GGUF")):
        with pytest.raises(ConversionError, match=said):
            convert(tmp_path / name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- the download ----------------------------------------------------------------------------------------------------


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


Offer = Callable[..., Source]


@pytest.fixture
def offer(store: object, gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """Makes a package with the GGUF file and offers it to pip, in place of that of ``smollm2``."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(fetching, "_failures", {})
    index = tmp_path / "index"
    for name, value in {"CONFIG_FILE": os.devnull, "NO_INDEX": "1", "FIND_LINKS": str(index), "RETRIES": "0"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)

    def make(file: Path = gguf, **changes: object) -> Source:
        index.mkdir(exist_ok=True)
        wheel, about = index / "llm_tiny-0.1-py3-none-any.whl", "llm_tiny-0.1.dist-info"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.write(file, "llm_tiny/tiny.gguf")
            archive.writestr(f"{about}/LICENSE", "free")
            archive.writestr(
                f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-tiny\nVersion: 0.1\nRequires-Dist: no-such-package-at-all\n"
            )
            archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{about}/RECORD", "")
        own = {"package": "llm-tiny", "version": "0.1", "wheel": sha256(wheel), "size": wheel.stat().st_size, "room": 10**6}
        own |= {"member": "llm_tiny/tiny.gguf", "gguf": sha256(file), "licence_file": f"{about}/LICENSE"}
        monkeypatch.setitem(SOURCES, "smollm2", source := SOURCES["smollm2"]._replace(**own | changes))
        return source

    return make


def test_a_model_is_fetched_whole_and_goes_by_its_name(offer: Offer, capsys: pytest.CaptureFixture[str], converted: Path) -> None:
    assert set(SOURCES) == set(FETCHED) and not on_hub("smollm2")
    assert not references({"policy": "smollm2"}), "a session that is imported elsewhere finds it by its name"
    source, folder = offer(), policy_folder("smollm2")
    with pytest.raises(LabError, match="the model smollm2 is not on this machine yet: frozenlab fetch-model smollm2"):
        HFPolicy.load("smollm2", LanguageSettings())
    assert main(["evaluate", "smollm2", "--suite", "quick"]) == 2
    assert capsys.readouterr().err.strip() == "frozenlab: the model smollm2 is not on this machine yet: frozenlab fetch-model smollm2"
    assert main(["fetch-model", "smollm2"]) == 0
    assert "Apache-2.0" in (said := capsys.readouterr()).err and said.out.startswith(f"smollm2 is in {folder}: ")
    assert [path.name for path in folder.parent.iterdir()] == ["smollm2"]
    assert sha256(folder / "model.safetensors") == sha256(converted / "model.safetensors")
    origin = json.loads((folder / "source.json").read_text())
    assert (origin["package_sha256"], origin["file_sha256"], origin["licence"]) == (source.wheel, source.gguf, "Apache-2.0")
    assert (folder / "LICENSE").read_text() == "free"
    assert len({path.stat().st_mode for path in folder.iterdir()}) == 1, "who may read one file may read all"

    before = (folder / "config.json").stat()
    assert main(["fetch-model", "smollm2", "--json"]) == 0, "it is there, so nothing is done"
    assert json.loads(capsys.readouterr().out) == {"model": "smollm2", "folder": str(folder), "fetched": False}
    assert (folder / "config.json").stat() == before
    assert progress("smollm2").status == "ready"

    policy = HFPolicy.load("smollm2", LanguageSettings(device="cpu", dtype="float32", max_tokens=100, lora=Lora(rank=2)), to_train=True)
    policy.save(folder.parent / "adapters")
    assert base_of(str(folder.parent / "adapters")) == "smollm2", "and no folder of this machine"
    assert str(folder) not in "".join(path.read_text() for path in (folder.parent / "adapters").glob("*.json"))
    again = HFPolicy.load(str(folder.parent / "adapters"), policy.settings)
    assert again.ends == [2] and again.settings.context == 512
    HFPolicy.load("smollm2", policy.settings.model_copy(update={"lora": None})).save(folder.parent / "whole")
    assert str(folder) not in (folder.parent / "whole" / "config.json").read_text()


def refused(name: str = "smollm2") -> str:
    """Why a model is not fetched; of what was come until then nothing is left."""
    with pytest.raises(LabError) as error:
        fetch(name)
    assert not policy_folder(name).parent.exists()
    assert "\n" not in str(error.value)
    return str(error.value)


class Half(SimpleHTTPRequestHandler):
    """A package index that promises whole files and sends half of each."""

    def copyfile(self, source, outputfile) -> None:  # type: ignore[no-untyped-def]  # as the library has it
        data = source.read()
        outputfile.write(data if self.path.endswith("/") else data[: len(data) // 2])


def test_what_cannot_be_fetched_leaves_nothing(offer: Offer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = "what came is not the file that was published"
    offer(wheel="0" * 64)
    assert published in refused()
    offer(gguf="0" * 64)
    assert "llm_tiny/tiny.gguf has the SHA-256" in refused()
    offer(member="llm_tiny/else.gguf")
    assert "llm_tiny-0.1-py3-none-any.whl is not as expected" in refused()
    offer(version="0.2")
    assert refused() == "SmolLM2-135M-Instruct was not fetched: the package index that pip uses does not have it"
    offer(room=10**18)
    assert "it takes 1000000000000 MB of disk" in refused()
    (tmp_path / "models").write_text("")
    with pytest.raises(LabError, match=r"nothing can be kept in .*: set FROZENLAB_SESSIONS"):
        fetch("smollm2")
    (tmp_path / "models").unlink()

    offer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Half, directory=str(tmp_path / "index")))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv("PIP_FIND_LINKS", f"http://127.0.0.1:{server.server_port}/")
    assert published in refused(), "half a download"
    server.shutdown()
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_RETRIES", "1")  # of which pip says why
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    server.server_close()
    assert refused() == "SmolLM2-135M-Instruct was not fetched: the package index cannot be reached: is this machine online?"


def test_a_python_without_pip_is_named(offer: Offer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    monkeypatch.setattr(fetching, "sys", SimpleNamespace(executable=str(tmp_path / "bare" / "bin" / "python")))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert "this Python has no pip" in refused()


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("SafetensorError: Error while serializing: I/O error: No space left on device (os error 28)", "the disk is full"),
        ("tiny.gguf cannot be converted", "tiny.gguf cannot be converted"),
        ("", "its conversion was ended from outside: is there 1 GB of free memory?"),
    ],
)
def test_a_conversion_that_fails_says_why(offer: Offer, monkeypatch: pytest.MonkeyPatch, printed: str, said: str) -> None:
    offer()
    run = subprocess.run

    def fails(command: list[str], **named: object) -> subprocess.CompletedProcess[str]:
        converts = "frozenlab.models.language.converting" in command
        ending = f"import sys; print({printed!r}, file=sys.stderr); sys.exit(1)"
        return run([sys.executable, "-c", ending] if converts else command, **named)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(subprocess, "run", fails)
    assert refused() == f"SmolLM2-135M-Instruct was not fetched: {said}"


def test_what_a_killed_process_has_left_goes_and_one_at_work_is_left_alone(offer: Offer) -> None:
    source, models = offer(version="0.2"), policy_folder("smollm2").parent
    (left := models / ".smollm2-killed").mkdir(parents=True)
    (left / "half.whl").write_bytes(b"half")
    assert progress("smollm2") == Progress("absent")
    refused()
    left.mkdir(parents=True)
    with locked(left / LOCK):
        (left / "half.whl").write_bytes(bytes(source.size // 2))
        now = progress("smollm2")
        assert (now.status, round(now.done, 2)) == ("fetching", 0.35) and now.words.endswith("MB")
        (left / GGUF).write_bytes(b"")
        assert progress("smollm2").words == "it is converted"
        with pytest.raises(FetchError, match="SmolLM2-135M-Instruct is being fetched by another process"):
            fetch("smollm2")
        fetching.begin("smollm2")
        assert not fetching._begun
    assert progress("smollm2").status == "absent"
    (models / "smollm2").mkdir()
    with pytest.raises(FetchError, match="holds no whole model: delete it"):
        fetch("smollm2")


def test_in_the_background_it_says_how_it_ended(offer: Offer) -> None:
    (policy_folder("smollm2").parent.parent / "index").mkdir()
    fetching.begin("smollm2")
    assert progress("smollm2").status == "fetching"
    while progress("smollm2").status == "fetching":
        time.sleep(0.1)
    said = "SmolLM2-135M-Instruct was not fetched: the package index that pip uses does not have it"
    assert [progress("smollm2") for _ in range(2)] == [Progress("failed", said)] * 2
    assert not policy_folder("smollm2").parent.exists()


def test_ended_in_the_middle_it_leaves_nothing(offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:  # an index that never answers
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{mute.getsockname()[1]}/simple")
        fetching.begin("smollm2")
        mute.accept()
        (hidden,) = policy_folder("smollm2").parent.iterdir()
        assert progress("smollm2") == Progress("fetching", "0 of 93 MB", pytest.approx(0, abs=1e-3)), "seen in its folder"
        fetching._begun["smollm2"].terminate()
        while hidden.exists() or progress("smollm2").status == "fetching":
            time.sleep(0.1)
    assert progress("smollm2") == Progress("failed", "SmolLM2-135M-Instruct was not fetched: its process was ended")
    assert not policy_folder("smollm2").parent.exists()


# --- the real model --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_real_model
def test_the_real_model_writes_english() -> None:
    tokenizer, model = AutoTokenizer.from_pretrained(REAL), AutoModelForCausalLM.from_pretrained(REAL, dtype=torch.float32)
    assert (tokenizer.eos_token_id, tokenizer.pad_token_id) == (2, 2)
    assert tokenizer.tokenize("12 345") == ["1", "2", "Ġ", "3", "4", "5"]
    with torch.no_grad():
        ids = torch.tensor([tokenizer(PARAGRAPH)["input_ids"]])
        assert float(model(ids, labels=ids).loss.exp()) < 15
        asked = tokenizer("The capital of France is", return_tensors="pt")
        assert tokenizer.decode(model.generate(**asked, max_new_tokens=3, do_sample=False)[0]).startswith("The capital of France is Paris.")
