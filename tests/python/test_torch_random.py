"""Random numbers: of one seed those of eager, by the decorator and by torch.compile."""

import warnings

import polyblocks
import pytest
import torch
from polyblocks import polyblocks_jit_torch
from torch import nn
from torch.nn import functional as F

if not torch.cuda.is_available():
    torch.cuda.is_current_stream_capturing = lambda: False  # which asks the driver

X = torch.randn(3, 20, generator=torch.Generator().manual_seed(0))


def next_words(logits):
    """A step of sampling: the five best, one of them by chance."""
    best, at = logits.topk(5)
    return at.gather(-1, torch.multinomial((best / 0.8).softmax(-1), 1))


def distributions(x):
    D = torch.distributions
    made = [D.Normal(x, 1.0).rsample(), D.Normal(x, 1.0).sample((2,)), D.Uniform(x, x + 1).rsample(), D.Laplace(x, 1.0).rsample()]
    return *made, D.Gumbel(x, 1.0).rsample(), D.Cauchy(x, 1.0).rsample(), D.Exponential(x.exp()).rsample(), D.Categorical(logits=x).sample()


CASES = {
    "next_words": next_words,
    "distributions": distributions,
    "classes": lambda x: (torch.multinomial(x.softmax(-1), 4), torch.multinomial(x[0].exp(), 30, replacement=True)),
    "gumbel": lambda x: (F.gumbel_softmax(x), F.gumbel_softmax(x, hard=True)),
    "in_place": lambda x: (torch.empty(3, 4).uniform_(), x.clone().uniform_(-1, 2), x.clone().normal_(2, 3), x.clone().exponential_(2.0)),
    "truths": lambda x: (torch.bernoulli(x.sigmoid()), torch.bernoulli(x, 0.3), torch.empty(3).bernoulli_(0.5), x.sigmoid().bernoulli()),
    "normal": lambda x: (torch.normal(x, 1.0), torch.normal(0.0, x.abs()), torch.normal(x, x.abs()), torch.normal(0.0, 1.0, (3,))),
    "plain": lambda x: (torch.rand(3), torch.randn_like(x), torch.randint(0, 5, (3,)), torch.randperm(5), torch.rand_like(x) < 0.5),
    "no generator": lambda x: (torch.rand(3, generator=None), torch.randint(2, 5, (3,), generator=None), torch.randint(5, (3,), generator=None), torch.randperm(5, generator=None), torch.empty(3).normal_(generator=None)),
    "dropout": lambda x: (F.dropout(x, 0.3), F.dropout1d(x, 0.5), F.alpha_dropout(x, 0.5, True), F.feature_alpha_dropout(x, 0.3, True)),
    "turned": lambda x: (F.dropout(x.T, 0.3), x.clone().T.uniform_(), F.dropout(x[:, ::2], 0.5)),
    "attention": lambda x: F.scaled_dot_product_attention(x.view(3, 5, 4), x.view(3, 5, 4), x.view(3, 5, 4), dropout_p=0.5),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("way", ["decorator", "compile"])
def test_same_seed(name, way):
    torch.compiler.reset()
    function = CASES[name]
    compiled = polyblocks_jit_torch(function) if way == "decorator" else torch.compile(function, backend="polyblocks")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
        for seed in (1, 2):
            torch.manual_seed(seed)
            want = function(X)
            torch.manual_seed(seed)
            torch.testing.assert_close(compiled(X), want, rtol=1e-5, atol=1e-5)


def test_slopes():
    """Eager draws numbers for what is below 0 alone; here each has one."""
    y = polyblocks_jit_torch(lambda x: F.rrelu(x, 0.1, 0.4, training=True))(X)
    slope = (y / X)[X < 0]
    assert torch.equal(y[X >= 0], X[X >= 0]) and slope.min() >= 0.1 and slope.max() <= 0.4 and slope.std() > 0.05


def test_layers_that_train():
    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.drop, self.norm = nn.Linear(20, 20), nn.Dropout(0.2), nn.BatchNorm1d(20)

        def forward(self, x):
            return self.drop(self.norm(self.a(x)))

    module = Layers()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
        for train in (True, False):
            module.train(train)
            torch.manual_seed(3)
            state = {k: v.clone() for k, v in module.state_dict().items()}
            want = module(X)
            module.load_state_dict(state)
            torch.manual_seed(3)
            torch.testing.assert_close(polyblocks_jit_torch(module)(X), want, rtol=1e-5, atol=1e-5)


def test_draws_in_a_loop_are_refused():
    from torch._higher_order_ops import while_loop

    def walk(x):
        return while_loop(lambda k, x: k < 3, lambda k, x: (k + 1, x + torch.rand(3)), (torch.tensor(0), x))

    with pytest.raises(polyblocks.NotSupported, match="in a branch or a loop"):
        polyblocks_jit_torch(walk)(torch.zeros(3))
