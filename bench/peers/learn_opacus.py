"""Opacus and plain torch on the nets of bench/learn_speed.py: examples a CPU second.

With one thread: torch's threads burn CPU time while they wait for each other, which would count against it.

python learn_opacus.py SECONDS
"""

import json
import sys
import time
import warnings

import torch
from opacus import GradSampleModule
from opacus.grad_sample import GradSampleModuleFastGradientClipping
from opacus.layers import DPLSTM
from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping
from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(3)
torch.set_num_threads(1)
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0


def mlp():
    net = nn.Sequential(nn.Linear(60, 1000), nn.ReLU(), nn.Linear(1000, 10))
    return net, torch.randn(600, 60), torch.randint(0, 10, (600,))


def cnn():
    net = nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10),
    )  # fmt: skip
    return net, torch.randn(600, 1, 28, 28), torch.randint(0, 10, (600,))


class Layer(nn.Module):
    """Attention of four heads and a feed-forward part, of width 128; with a rank, a low-rank change of q, k and v."""

    def __init__(self, rank=0):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(128), nn.LayerNorm(128)])
        self.qkv, self.out = nn.Linear(128, 384, bias=False), nn.Linear(128, 128, bias=False)
        self.up, self.down = nn.Linear(128, 512), nn.Linear(512, 128, bias=False)
        self.change = (
            nn.Sequential(nn.Linear(128, rank, bias=False), nn.Linear(rank, 384, bias=False)) if rank else None
        )

    def forward(self, x):
        y = self.norms[0](x)
        mixed = self.qkv(y) if self.change is None else self.qkv(y) + self.change(y)
        query, key, value = (part.reshape(*x.shape[:2], 4, 32).transpose(1, 2) for part in mixed.chunk(3, -1))
        seen = nn.functional.scaled_dot_product_attention(query, key, value)
        x = x + self.out(seen.transpose(1, 2).reshape(x.shape))
        return x + self.down(nn.functional.gelu(self.up(self.norms[1](x))))


def transformer(rank=0):
    net = nn.Sequential(nn.Embedding(512, 128), *(Layer(rank) for _ in range(4)), nn.Linear(128, 512, bias=False))
    if rank:
        for name, weight in net.named_parameters():
            weight.requires_grad = "change" in name
    words = torch.randint(0, 512, (32, 65))
    return net, words[:, :-1].contiguous(), words[:, 1:].contiguous()


def lora():
    return transformer(rank=8)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.turns, self.head = DPLSTM(128, 128, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.turns(x)[0][:, -1])


def lstm():
    return Recurrent(), torch.randn(64, 32, 128), torch.randint(0, 10, (64,))


def loss_of(outputs, y):
    """The mean loss; of words, over all of them."""
    return nn.functional.cross_entropy(outputs.flatten(0, -2), y.flatten())


def timed(step, examples):
    step()
    best, many, end = float("inf"), 0, time.monotonic() + SECONDS
    while many < 3 or time.monotonic() < end:
        start = time.process_time()
        step()
        best = min(best, time.process_time() - start)
        many += 1
    return examples / best


def trained(net):
    return [weight for weight in net.parameters() if weight.requires_grad]


def plain(net, x, y):
    optimizer = torch.optim.SGD(trained(net), lr=0.0)

    def step():
        optimizer.zero_grad()
        loss_of(net(x), y).backward()

    return step


def hooks(net, x, y):
    net = GradSampleModule(net)
    optimizer = DPOptimizer(
        torch.optim.SGD(trained(net), lr=0.0), noise_multiplier=0.0, max_grad_norm=1.0, expected_batch_size=len(x)
    )

    def step():
        optimizer.zero_grad()
        loss_of(net(x), y).backward()
        optimizer.clip_and_accumulate()

    return step


def ghost(net, x, y):
    net = GradSampleModuleFastGradientClipping(net, max_grad_norm=1.0, use_ghost_clipping=True)
    optimizer = DPOptimizerFastGradientClipping(
        torch.optim.SGD(trained(net), lr=0.0), noise_multiplier=0.0, max_grad_norm=1.0, expected_batch_size=len(x)
    )
    criterion = DPLossFastGradientClipping(net, optimizer, nn.CrossEntropyLoss(reduction="mean"))

    def step():
        optimizer.zero_grad()
        outputs = net(x)
        shape = tuple(y.shape) if y.ndim == 2 else None
        criterion(outputs.flatten(0, -2), y.flatten(), shape=shape).backward()

    return step


def main():
    found = {}
    for net_of in (mlp, cnn, transformer, lora, lstm):
        name = net_of.__name__
        found[name] = {}
        for way, build in (("torch, not private", plain), ("Opacus hooks", hooks), ("Opacus ghost", ghost)):
            net, x, y = net_of()
            try:
                found[name][way] = timed(build(net.train(), x, y), len(x))
            except (RuntimeError, NotImplementedError, ValueError, AttributeError, TypeError) as problem:
                print(f"{name}, {way}: {str(problem)[:200]}", file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
