"""What a network says about inputs as they are."""

import numpy as np
import torch

from rehead.torch.training.predictions import predict_logits, predict_probabilities

CPU = torch.device("cpu")


def test_predictions_are_those_of_evaluation_mode_whatever_the_batches(conv_net, images) -> None:
    net, X = conv_net(), torch.from_numpy(images[0])
    found = predict_logits(net, X, CPU, batch_size=7)
    with torch.no_grad():
        expected = net.eval()(X)
    torch.testing.assert_close(found, expected)


def test_probabilities_are_the_softmax_in_double_precision(make_net, noisy) -> None:
    net, X = make_net(), torch.from_numpy(noisy.X)
    p = predict_probabilities(net, X, CPU)
    assert p.dtype == np.float64
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(
        np.log(p[:, 1] / p[:, 0]),
        (predict_logits(net, X, CPU) @ torch.tensor([-1.0, 1.0, 0.0])),
        atol=1e-5,
    )


def test_predictions_leave_the_mode_of_a_network_as_it_was(conv_net, images) -> None:
    net = conv_net().train()
    predict_logits(net, torch.from_numpy(images[0]), CPU)
    assert net.training
    assert net.bn.training
    assert int(net.bn.num_batches_tracked) == 0
