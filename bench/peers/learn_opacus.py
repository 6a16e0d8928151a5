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
from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping
from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(3)
torch.set_num_threads(1)
BATCH = 600
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0


def mlp():
    return nn.Sequential(nn.Linear(60, 1000), nn.ReLU(), nn.Linear(1000, 10)), torch.randn(BATCH, 60)


def cnn():
    net = nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10),
    )  # fmt: skip
    return net, torch.randn(BATCH, 1, 28, 28)


def timed(step):
    step()
    best, many, end = float("inf"), 0, time.monotonic() + SECONDS
    while many < 3 or time.monotonic() < end:
        start = time.process_time()
        step()
        best = min(best, time.process_time() - start)
        many += 1
    return BATCH / best


def plain(net, x, y):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()

    return step


def hooks(net, x, y):
    net = GradSampleModule(net)
    optimizer = DPOptimizer(
        torch.optim.SGD(net.parameters(), lr=0.0), noise_multiplier=0.0, max_grad_norm=1.0, expected_batch_size=BATCH
    )

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.clip_and_accumulate()

    return step


def ghost(net, x, y):
    net = GradSampleModuleFastGradientClipping(net, max_grad_norm=1.0, use_ghost_clipping=True)
    optimizer = DPOptimizerFastGradientClipping(
        torch.optim.SGD(net.parameters(), lr=0.0), noise_multiplier=0.0, max_grad_norm=1.0, expected_batch_size=BATCH
    )
    criterion = DPLossFastGradientClipping(net, optimizer, nn.CrossEntropyLoss(reduction="mean"))

    def step():
        optimizer.zero_grad()
        criterion(net(x), y).backward()

    return step


def main():
    found = {}
    for name, made in (("mlp", mlp), ("cnn", cnn)):
        found[name] = {}
        for way, build in (("torch, not private", plain), ("Opacus hooks", hooks), ("Opacus ghost", ghost)):
            net, x = made()
            found[name][way] = timed(build(net.train(), x, torch.randint(0, 10, (BATCH,))))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
