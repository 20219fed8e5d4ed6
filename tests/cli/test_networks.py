"""Networks and inputs as users name them."""

import pytest

from rehead.cli.networks import chosen_layers, open_inputs, open_network, run_network
from rehead.torch.loading import Reading


def test_a_network_and_a_loader_of_a_module(project):
    assert type(open_network("mine:net", None, False)).__name__ == "Sequential"
    assert len(list(open_inputs("mine:data", Reading()))) == 3


def test_layers_by_word_or_by_name():
    assert chosen_layers(" auto ") == "auto"
    assert chosen_layers("0, 2,") == ["0", "2"]


def test_that_a_network_fails_is_for_the_user_to_mend():
    def work():
        raise RuntimeError("shapes cannot be multiplied")

    with pytest.raises(ValueError, match=r"fails on these inputs: shapes .* --transform"):
        run_network(work)
