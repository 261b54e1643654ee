"""activation_alpha and activation_beta of recurrent layers: taken in order by the functions that take one."""

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
