from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import nn

from frozenlab.models.training.optimizers import Muon, MuonAndAdamW, orthogonal, step_in_float32

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
MUON = {"lr": 0.01, "weight_decay": 0.1, "adjust_lr_fn": "match_rms_adamw"}


def matrices() -> list[nn.Parameter]:
    torch.manual_seed(0)
    return [nn.Parameter(torch.randn(shape)) for shape in ((16, 16), (48, 16), (16, 48))]


def stepped(kind: type[torch.optim.Muon], steps: int) -> tuple[list[nn.Parameter], torch.optim.Muon]:
    weights = matrices()
    optimizer = kind(weights, **MUON)
    for _ in range(steps):
        for weight in weights:
            weight.grad = torch.randn_like(weight)
        optimizer.step()
    return weights, optimizer


@pytest.mark.parametrize("shape", [(16, 16), (48, 16), (16, 48)])
def test_an_orthogonal_update_moves_as_far_in_every_direction(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    update = orthogonal(torch.randn(shape) * 1e-3, COEFFICIENTS, steps=5)
    values = torch.linalg.svdvals(update)
    assert update.shape == shape and update.dtype == torch.float32
    assert values.min() > 0.5 and values.max() < 1.3
    assert torch.equal(orthogonal(torch.zeros(shape), COEFFICIENTS, steps=5), torch.zeros(shape))


def test_muon_steps_as_that_of_torch_does_to_within_the_rounding_of_bfloat16() -> None:
    (ours, _), (theirs, _), begun = stepped(Muon, 3), stepped(torch.optim.Muon, 3), matrices()
    for mine, other, start in zip(ours, theirs, begun, strict=True):
        moved, expected = (mine - start).detach().flatten(), (other - start).detach().flatten()
        assert nn.functional.cosine_similarity(moved, expected, dim=0) > 0.999
        assert float(moved.norm()) == pytest.approx(float(expected.norm()), rel=0.01)


def test_a_matrix_without_a_gradient_stays_as_it_is() -> None:
    weight = nn.Parameter(torch.ones(2, 2))
    Muon([weight], **MUON).step()
    assert torch.equal(weight, torch.ones(2, 2))


def test_a_checkpoint_of_the_optimizer_goes_on_where_it_was() -> None:
    torch.manual_seed(0)
    model, grads = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8)), [torch.randn(8, 8) for _ in range(2)]

    def step(optimizer: MuonAndAdamW, grad: torch.Tensor) -> None:
        for weight in model.parameters():
            weight.grad = grad[: len(weight)] if weight.ndim == 2 else grad[0]
        optimizer.step()

    first = MuonAndAdamW(model, 0.01)
    step(first, grads[0])
    kept, weights = deepcopy(first.state_dict()), {name: tensor.clone() for name, tensor in model.state_dict().items()}
    step(first, grads[1])
    straight = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    model.load_state_dict(weights)
    again = MuonAndAdamW(model, 0.5)
    again.load_state_dict(kept)
    step(again, grads[1])
    assert all(torch.equal(tensor, straight[name]) for name, tensor in model.state_dict().items())


def test_weights_in_bfloat16_are_stepped_in_float32_and_go_on_from_a_checkpoint_to_the_same_bits() -> None:
    torch.manual_seed(0)
    start, grads = torch.randn(16, 16).bfloat16(), torch.randn(6, 16, 16).bfloat16()

    def stepped(weight: nn.Parameter, optimizer: torch.optim.Optimizer, some: torch.Tensor) -> torch.Tensor:
        for grad in some:
            weight.grad = grad.to(weight.dtype)
            optimizer.step()
        return weight.detach().clone()

    def begun(weight: torch.Tensor) -> tuple[nn.Parameter, torch.optim.Optimizer]:
        parameter = nn.Parameter(weight.clone())
        optimizer = torch.optim.AdamW([parameter], 1e-4, weight_decay=0.0, fused=True)
        step_in_float32(optimizer)
        return parameter, optimizer

    half, whole = begun(start), begun(start.float())
    middle = stepped(*half, grads[:3]), deepcopy(half[1].state_dict())
    assert torch.equal(stepped(*half, grads[3:]), stepped(*whole, grads).bfloat16())
    assert not torch.equal(half[0], start), "steps that are lost one by one add up"
    again = begun(middle[0])
    again[1].load_state_dict(middle[1])
    assert torch.equal(stepped(*again, grads[3:]), half[0])
    older = begun(middle[0])
    older[1].load_state_dict({name: part for name, part in middle[1].items() if name != "float32"})
    assert torch.equal(stepped(*older, grads[:0]), middle[0]), "a checkpoint of weights in float32 goes on too"
