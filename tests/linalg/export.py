"""Makes data/NAME.mlir, NAME.onnx and NAME.json anew: ResNet-18 and a BERT as torch-mlir writes them in linalg on tensors,
the weights' blobs left out, and as PyTorch writes them in ONNX, the weights as inputs; NAME.json has the blobs' names with
those of the ONNX file, and the inputs. Needs PyTorch and torch-mlir, which no test installs (made with torch 2.13.0 and
torch-mlir 20261001):

    pip install torch==2.13.0 torch-mlir onnx && tests/linalg/export.py"""

import json
import math
import re
from pathlib import Path

import onnx
import torch
import torch.nn.functional as F
from torch import nn
from torch_mlir import fx

HERE = Path(__file__).parent / "data"


class Block(nn.Module):
    def __init__(self, ins, outs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(ins, outs, 3, stride, 1, bias=False), nn.BatchNorm2d(outs)
        self.conv2, self.bn2 = nn.Conv2d(outs, outs, 3, 1, 1, bias=False), nn.BatchNorm2d(outs)
        short = stride != 1 or ins != outs
        self.short = nn.Sequential(nn.Conv2d(ins, outs, 1, stride, bias=False), nn.BatchNorm2d(outs)) if short else None

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.short(x) if self.short else x))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        blocks, ins = [], 64
        for k, outs in enumerate((64, 128, 256, 512)):
            blocks += [Block(ins, outs, 2 if k else 1), Block(outs, outs, 1)]
            ins = outs
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(512, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 3, 2, 1)
        return self.head(torch.flatten(F.adaptive_avg_pool2d(self.blocks(x), 1), 1))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        each = width // self.heads
        q, k, v = (f(x).view(batch, length, self.heads, each).transpose(1, 2) for f in (self.q, self.k, self.v))
        p = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(each) + mask, -1)
        x = self.norm1(x + self.o((p @ v).transpose(1, 2).reshape(batch, length, width)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self, width=128, heads=4, layers=2, words=500, places=64):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(words, width), nn.Embedding(places, width), nn.Embedding(2, width)
        self.norm, self.layers = nn.LayerNorm(width), nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.pooler = nn.Linear(width, width)

    def forward(self, ids, kinds, mask):
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1]))[None] + self.kinds(kinds))
        mask = (1.0 - mask[:, None, None, :].float()) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


def digits(tensor):
    return tensor.detach().contiguous().numpy().tobytes().hex().upper()


def export(name, model, arguments):
    model.eval()
    for p in list(model.parameters()) + [b for b in model.buffers() if b.is_floating_point()]:
        nn.init.uniform_(p, 0.5, 1.5)  # no two alike, so that a blob's bytes say which it is
    names = {digits(p): n for n, p in list(model.named_parameters()) + list(model.named_buffers())}
    text = str(fx.export_and_import(model, *arguments, output_type="linalg-on-tensors", func_name="main"))
    module, blobs = text.split("\n{-#\n")
    found = re.findall(r'^ +"?([\w.]+)"?: "0x[0-9A-F]{8}([0-9A-F]*)"', blobs, re.M)
    weights = {blob: names[data] for blob, data in found}
    (HERE / f"{name}.mlir").write_text(module + "\n")
    inputs = [f"input{k}" for k in range(len(arguments))]
    target = HERE / f"{name}.onnx"
    torch.onnx.export(model, arguments, str(target), input_names=inputs, dynamo=False, export_params=False,
                      do_constant_folding=False, opset_version=17)
    graph = onnx.load(target)
    graph.producer_version = ""
    for node in graph.graph.node:
        node.doc_string = ""
    onnx.save(graph, target)
    kinds = {"weights": weights, "inputs": inputs}
    (HERE / f"{name}.json").write_text(json.dumps(kinds, indent=1) + "\n")


if __name__ == "__main__":
    torch.manual_seed(1)
    HERE.mkdir(exist_ok=True)
    export("resnet18", ResNet18(), (torch.randn(1, 3, 64, 64),))
    ids = torch.zeros(1, 24, dtype=torch.int64)
    export("bert", Bert(), (ids, ids.clone(), ids + 1))
