"""Recurrent layers: activation_alpha and activation_beta are taken in order by the functions that take one; many turns."""

import numpy as np
from regression_cases import CASES, F32, Maker

GATES = {"RNN": (1, 1), "GRU": (3, 2), "LSTM": (4, 3)}  # and functions of a direction


def layer(label, kind, functions, alpha=(), beta=(), direction="forward", hidden=6):
    m = Maker(label, 14)
    gates, _ = GATES[kind]
    both = 1 + (direction == "bidirectional")
    x = m.input("x", 5, 3, 4)
    w, r, b = (m.const((m.rng.standard_normal(s) / 2).astype(F32)) for s in ((both, gates * hidden, 4), (both, gates * hidden, hidden), (both, 2 * gates * hidden)))
    attrs = {name: list(v) for name, v in (("activation_alpha", alpha), ("activation_beta", beta)) if v}
    y = m.op(kind, x, w, r, b, hidden_size=hidden, direction=direction, activations=functions.split(), **attrs)
    m.nodes[-1].output.append("last")
    return m.done(y, "last", targets=("cpu",))


LAYERS = {
    "second_alone": ("LSTM", "Sigmoid LeakyRelu Tanh", (0.3,)),
    "third_alone": ("LSTM", "Sigmoid Tanh Affine", (0.7,), (0.1,)),
    "all_three": ("LSTM", "HardSigmoid LeakyRelu Affine", (0.3, 0.02, 0.7), (0.4, 0.1)),
    "fewer_than_functions": ("LSTM", "HardSigmoid Elu LeakyRelu", (0.3,)),
    "none_said": ("LSTM", "HardSigmoid Elu LeakyRelu"),
    "beta_alone": ("LSTM", "HardSigmoid Tanh HardSigmoid", (), (0.4, 0.6)),
    "second_of_gates": ("GRU", "Sigmoid Elu", (0.3,)),
    "alpha_before_beta": ("GRU", "LeakyRelu HardSigmoid", (0.3, 0.1), (0.4,)),
    "thresholded": ("GRU", "Sigmoid ThresholdedRelu", (0.2,)),
    "scaled": ("RNN", "ScaledTanh", (0.5,), (0.6,)),
    "softsign_takes_none": ("RNN", "Softsign", (0.5,), (0.6,)),
    "backward": ("LSTM", "Relu LeakyRelu Tanh", (0.3,), (), "reverse"),
    "of_the_way_back": ("RNN", "Tanh LeakyRelu", (0.3,), (), "bidirectional"),
    "of_both_ways": ("GRU", "HardSigmoid Tanh HardSigmoid Elu", (0.3, 0.25, 0.8), (0.4,), "bidirectional"),
    "of_both_long_ways": ("LSTM", "Sigmoid Tanh Tanh HardSigmoid LeakyRelu Tanh", (0.3, 0.2), (0.4,), "bidirectional"),
}
for _name, _layer in LAYERS.items():
    CASES[f"numbers_of_functions_{_name}"] = lambda a=(f"numbers_of_functions_{_name}", *_layer): layer(*a)


def long(label, kind, turns, direction="forward", lengths=False, initial=False, peepholes=False):
    """More turns than are written out where cores run code."""
    m = Maker(label, 14)
    gates, hidden = GATES[kind][0], 6
    both = 1 + (direction == "bidirectional")

    def weights(*shape):
        return m.const((m.rng.standard_normal(shape) / 4).astype(F32))

    operands = [m.input("x", turns, 3, 4), weights(both, gates * hidden, 4), weights(both, gates * hidden, hidden), weights(both, 2 * gates * hidden)]
    operands.append(m.const(np.array([turns, 1, turns // 2], np.int32)) if lengths else "")
    if initial:
        operands += [m.input(f"h{k}", both, 3, hidden) for k in range(2 if kind == "LSTM" else 1)]
    if peepholes:
        operands += [""] * (7 - len(operands)) + [weights(both, 3 * hidden)]
    y = m.op(kind, *operands, hidden_size=hidden, direction=direction)
    last = ["last", "cell"] if kind == "LSTM" else ["last"]
    m.nodes[-1].output.extend(last)
    return m.done(y, m.op("Tanh", y), *last, targets=("cpu", "cpu:v3"))


LONG = {
    "lstm": ("LSTM", 100), "lstm_both_ways": ("LSTM", 65, "bidirectional", True, True), "lstm_with_peepholes": ("LSTM", 70, "reverse", False, True, True),
    "gru": ("GRU", 80, "reverse", True), "gru_both_ways": ("GRU", 66, "bidirectional", False, True), "rnn": ("RNN", 3000), "rnn_both_ways": ("RNN", 90, "bidirectional", True),
    "lstm_of_64": ("LSTM", 64, "bidirectional", True),
}
for _name, _layer in LONG.items():
    CASES[f"turns_of_{_name}"] = lambda a=(f"turns_of_{_name}", *_layer): long(*a)
