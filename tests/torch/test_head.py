"""RobustHead: better predictions from a trained network, and what it tells about labels."""

import copy
import pickle
from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from rehead import LayerEnsemble, ReheadWarning, score_labels
from rehead.torch import RobustHead, extract_features

# Heads here are fitted without held-out samples where their weights do not matter.
pytestmark = pytest.mark.filterwarnings("ignore:No held-out samples were given, so all members")

ROG = "RoG (the paper)"


def default_head(trained, **options):
    head = RobustHead(trained.net, random_state=0)
    return head.fit(trained.train, trained.held_out, **options)


def is_fitted(ensemble):
    return any(name.endswith("_") and not name.startswith("_") for name in vars(ensemble))


class TestPredictions:
    def test_three_lines_give_better_predictions_and_the_wrong_labels(self, trained, head):
        comparison = head.compare(trained.new)
        assert list(comparison.rows) == ["softmax", "2.input", "4.input", "robust"]
        assert comparison.rows["robust"].accuracy > 0.85
        assert comparison.rows["robust"].accuracy >= comparison.rows["softmax"].accuracy - 0.02
        suspects = [int(name.split()[1]) for name in head.find_mislabelled()]
        assert trained.wrong[suspects[:60]].mean() > 0.9
        assert "calibration" in str(comparison)

    def test_the_numpy_twin_gives_the_same_numbers(self, trained, head):
        features, of_held_out, of_new = (
            extract_features(trained.net, data, head.layers_)
            for data in (trained.train, trained.held_out, trained.new)
        )
        twin = LayerEnsemble("posterior", random_state=0).fit(
            features.layers, features.labels, validation=(of_held_out.layers, of_held_out.labels)
        )
        for method in ("predict", "predict_proba", "score_samples"):
            np.testing.assert_array_equal(
                getattr(twin, method)(of_new.layers), getattr(head, method)(trained.new)
            )

    def test_a_shuffled_loader_without_ids_is_still_right(self, trained):
        dataset = TensorDataset(*trained.train)
        heads = [
            RobustHead(trained.net, estimator="mcd", random_state=0).fit(
                DataLoader(dataset, batch_size=64, shuffle=shuffle)
            )
            for shuffle in (False, True)
        ]
        np.testing.assert_array_equal(*(h.find_mislabelled() for h in heads))
        np.testing.assert_allclose(*(h.predict_proba(trained.new) for h in heads))

    def test_the_softmax_can_be_a_member(self, trained):
        head = RobustHead(trained.net, estimator="mcd", softmax=True, random_state=0)
        head.fit(trained.train, validation=trained.held_out)
        assert head.ensemble_.members_ == ["2.input", "4.input", "softmax"]
        assert head.ensemble_.weights_.shape == (3,)
        assert head.predict_proba(trained.new).sum(axis=1) == pytest.approx(1.0)

    def test_a_second_fit_decides_anew_about_the_softmax(self, trained):
        x, noisy = trained.train
        head = RobustHead(trained.net, random_state=0)
        held, held_noisy = trained.held_out
        # Of three outputs, two classes that are none of them: the softmax has no place.
        with pytest.warns(ReheadWarning, match="3 outputs, and there are 2 classes"):
            head.fit((x, noisy % 2 + 5), (held, held_noisy % 2 + 5))
        assert "softmax" not in head.ensemble_.members_
        head.fit(trained.train, trained.held_out)
        assert "softmax" in head.ensemble_.members_
        with pytest.raises(ValueError, match="given= is for LayerEnsemble"):
            RobustHead(trained.net, given=["input"])

    def test_trusted_labels_and_groups_reach_the_ensemble(self, trained):
        x, noisy = trained.train
        y = torch.arange(400) % 3  # what is true
        trusted = np.arange(400) < 100
        labels = torch.where(torch.from_numpy(trusted), y, noisy)
        head = RobustHead(trained.net, random_state=0)
        head.fit((x, labels), validation=trained.held_out, trusted=trusted)
        assert (head.ensemble_.consensus_.trust[trusted] == 1).all()
        groups = np.arange(400) // 20
        with pytest.warns(ReheadWarning, match="held out"):
            alone = RobustHead(trained.net, random_state=0).fit(trained.train, groups=groups)
        held = np.isnan(alone.ensemble_.consensus_.trust).reshape(20, 20)
        assert held.any()
        assert (held.all(axis=1) == held.any(axis=1)).all()  # whole groups were held out
        with pytest.raises(ValueError, match="trusted"):
            RobustHead(trained.net).fit(trained.train, trusted=trusted[:3])

    def test_abstention_and_typicality_are_those_of_the_numpy_twin(self, trained, head):
        of_new = extract_features(trained.net, trained.new, head.layers_).layers
        assert (head.typicality(trained.new) <= 1).all()
        found = head.abstention_threshold(trained.new, error=0.3, confidence=0.9, checked=True)
        told = head.predict_or_abstain(trained.new, found, abstain=-1)
        sure = head.ensemble_.predict_proba(of_new).max(axis=1) >= found.threshold
        np.testing.assert_array_equal(told != -1, sure)
        assert found.coverage == pytest.approx(sure.mean())


class TestBaselines:
    def test_they_are_compared_where_fit_was_asked_for_them(self, trained):
        head = default_head(trained, baselines=["paper", "sample"])
        rows = head.compare(trained.new).rows
        assert next(iter(rows)) == "softmax"
        assert list(rows)[-3:] == [ROG, "sample", "robust"]
        hidden = [name for name in head.layers_ if name != "input"]
        assert hidden != head.layers_
        paper = RobustHead(trained.net, layers=hidden, preset="paper", random_state=0)
        paper.fit(trained.train, trained.held_out)
        assert rows[ROG] == paper.compare(trained.new).rows["robust"]

    def test_without_them_there_is_none(self, trained):
        head = default_head(trained)
        assert head.baselines_ == {}
        rows = head.compare(trained.new).rows
        assert list(rows) == ["softmax", *head.layers_, "stack", "robust"]

    def test_none_and_no_hidden_layers(self, trained):
        assert default_head(trained, baselines=None).baselines_ == {}
        head = RobustHead(trained.net, layers=["input"], random_state=0)
        with pytest.raises(ValueError, match="hidden layers, and there are none"):
            head.fit(trained.train, trained.held_out, baselines=["paper"])

    def test_they_change_nothing_else(self, trained):
        plain, asked = default_head(trained), default_head(trained, baselines=["paper"])
        np.testing.assert_array_equal(*(h.predict_proba(trained.new) for h in (plain, asked)))
        np.testing.assert_array_equal(plain.report_.quality, asked.report_.quality)

    @pytest.mark.parametrize(
        ("baselines", "match"),
        [
            ("paper", r"must be a list of names, got 'paper'. Pass \['paper'\]"),
            (["papr"], r"baselines must be one of .*got 'papr'. Did you mean 'paper'"),
            (["sample", 3], "baselines must be one of .*got 3"),
        ],
    )
    def test_mistakes_are_found_before_the_network_runs(self, network, baselines, match):
        case = network("mlp")
        runs = []
        case.net.register_forward_hook(lambda *_: runs.append(1))
        with pytest.raises(ValueError, match=match):
            RobustHead(case.net).fit((case.x, case.y), baselines=baselines)
        assert runs == []


class TestSettings:
    @pytest.mark.parametrize("options", [{"n_starts": 3}, {"weights": "best"}], ids=str)
    def test_what_does_not_go_together_is_refused_before_the_network_runs(self, trained, options):
        (name,) = options
        runs = []
        hook = trained.net.register_forward_hook(lambda *_: runs.append(1))
        with pytest.raises(ValueError, match=name):
            RobustHead(trained.net, **options).fit(trained.train, trained.held_out)
        hook.remove()
        assert runs == []

    def test_priors_belong_to_the_default(self, trained):
        plain, told = (
            RobustHead(trained.net, random_state=0, **options).fit(trained.train, trained.held_out)
            for options in ({}, {"priors": [0.98, 0.01, 0.01]})
        )
        assert told.ensemble_.consensus_ is not None
        assert told.report_.noise_rate == pytest.approx(plain.report_.noise_rate)
        assert (told.predict(trained.new) == 0).mean() > (plain.predict(trained.new) == 0).mean()
        with torch.no_grad():
            exported = told.to_module()(torch.as_tensor(trained.new[0])).exp().numpy()
        np.testing.assert_allclose(exported, told.predict_proba(trained.new), atol=1e-4)

    def test_a_promise_needs_checked_labels_before_the_network_runs(self, trained, head):
        runs = []
        hook = trained.net.register_forward_hook(lambda *_: runs.append(1))
        with pytest.raises(ValueError, match="checked=True"):
            head.abstention_threshold(trained.new)
        hook.remove()
        assert runs == []


class TestFits:
    def test_the_network_is_bit_identical(self, trained):
        before = {name: t.clone() for name, t in trained.net.state_dict().items()}
        RobustHead(trained.net, estimator="mcd").fit(trained.train).predict(trained.new)
        assert all(torch.equal(t, before[name]) for name, t in trained.net.state_dict().items())

    @pytest.mark.parametrize("options", [{}, {"estimator": "mcd", "n_starts": 3}], ids=str)
    def test_the_same_seed_gives_the_same_head_the_second_time_too(self, trained, options):
        head = RobustHead(trained.net, random_state=0, **options)
        found = []
        for _ in range(2):
            head.fit(trained.train, trained.held_out, baselines=["paper"])
            found.append((head.predict_proba(trained.new), head.report_, head.compare(trained.new)))
        (p, report, comparison), (p_again, report_again, comparison_again) = found
        np.testing.assert_array_equal(p, p_again)
        np.testing.assert_array_equal(report.quality, report_again.quality)
        assert comparison.rows == comparison_again.rows

    def test_settings_stay_settings(self, trained):
        head = RobustHead(trained.net, shrinkage=0.1, random_state=0)
        settings = head.ensemble
        before = settings.get_params()
        head.fit(trained.train, trained.held_out)
        assert head.ensemble is settings
        assert head.ensemble is not head.ensemble_
        assert not is_fitted(head.ensemble)
        assert is_fitted(head.ensemble_)
        assert head.ensemble.get_params() == before
        assert head.ensemble_.get_params() == {**before, "given": ["softmax"]}

    @pytest.mark.parametrize(
        ("failing", "match"),
        [
            ({"validation": "x"}, "validation loader gives no labels"),
            ({"trusted": [True]}, "trusted must be a boolean mask"),
            ({"baselines": ["nothing"]}, "baselines must be one of"),
            ({"groups": [0]}, "groups has shape"),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_a_fit_that_fails_leaves_the_head_as_it_was(self, trained, failing, match):
        x, noisy = trained.train
        if "validation" in failing:
            failing = {"validation": x}
        head = RobustHead(trained.net, estimator="mcd", random_state=0)
        with pytest.raises(ValueError, match=match):
            head.fit((x[:200], 2 - noisy[:200]), **failing)
        with pytest.raises(NotFittedError):
            head.predict(x)
        head.fit(trained.train, baselines=["sample"])
        before = head.predict_proba(x), head.compare(trained.new).rows, head.find_mislabelled()
        with pytest.raises(ValueError, match=match):
            head.fit((x[:200], 2 - noisy[:200]), **failing)
        np.testing.assert_array_equal(head.predict_proba(x), before[0])
        assert head.compare(trained.new).rows == before[1]
        np.testing.assert_array_equal(head.find_mislabelled(), before[2])

    def test_features_go_through_a_store(self, trained, tmp_path):
        data = trained.x, trained.noisy
        heads = [
            RobustHead(trained.net, estimator="mcd", random_state=0).fit(data, store=store)
            for store in (tmp_path / "features", None)
        ]
        np.testing.assert_array_equal(*(h.predict_proba(trained.x) for h in heads))


class TestLabels:
    """What a head tells about labels: of its training data, of others, what speaks against them."""

    def test_labels_of_other_samples_are_judged(self, audited):
        report = audited.head.score_labels(audited.loader(700, 900))
        assert report.ids[0] == "img700"
        assert not report.in_sample.any()
        found = [int(name.removeprefix("img")) for name in report.mislabelled()]
        assert audited.wrong[found].mean() > 0.8
        assert audited.wrong[700:][~report.suspect].mean() < 0.03

    def test_training_labels_are_judged_without_themselves(self, audited):
        head = audited.head
        assert head.report_.in_sample.all()
        again = head.score_labels(audited.loader(0, 500))
        np.testing.assert_allclose(again.quality, head.report_.quality, atol=1e-6)

    def test_neighbours_of_suspects(self, audited):
        head = audited.head
        suspects = head.find_mislabelled()[:5]
        found = head.neighbours(suspects, audited.loader(0, 500), k=3)
        assert found.ids.shape == (5, 3)
        assert (found.labels != found.given[:, None]).all()
        np.testing.assert_array_equal(found.ids, head.report_.ids[found.rows])

    def test_a_head_is_not_a_model_for_score_labels(self, audited):
        with pytest.raises(TypeError, match=r"head.report_.*head.score_labels"):
            score_labels(audited.head, np.ones((3, 6)), [0, 1, 2])

    def test_suspects_among_other_samples(self, audited):
        other = audited.loader(700, 900)
        expected = audited.head.score_labels(other).mislabelled()
        np.testing.assert_array_equal(audited.head.find_mislabelled(other), expected)

    def test_explain_tells_what_the_ensemble_found(self, audited):
        assert audited.head.explain() == audited.head.ensemble_.explain()
        assert "Labels were judged by" in audited.head.explain()


class TestErrors:
    def test_not_fitted(self):
        head, data = RobustHead(nn.Linear(2, 2)), (torch.ones(3, 2), torch.zeros(3))
        loaded = ("predict", "predict_proba", "score_samples", "compare", "typicality")
        for method in (*loaded, "score_labels", "abstention_threshold"):
            with pytest.raises(NotFittedError):
                getattr(head, method)(data)
        for method in ("find_mislabelled", "explain", "to_module"):
            with pytest.raises(NotFittedError):
                getattr(head, method)()
        with pytest.raises(NotFittedError):
            head.neighbours(0, data)
        with pytest.raises(NotFittedError):
            head.predict_or_abstain(data, 0.5)
        with pytest.raises(NotFittedError):
            head.save("head")

    def test_no_labels(self, trained):
        with pytest.raises(ValueError, match="training loader gives no labels"):
            RobustHead(trained.net).fit(trained.x)

    def test_labels_outside_the_fitted_classes(self, head, trained):
        with pytest.raises(ValueError, match=r"not fitted on these labels: 7"):
            head.compare((trained.x[:2], torch.tensor([0, 7])))

    def test_validation_samples_that_are_training_samples(self, trained):
        batch = [(trained.x, trained.noisy, torch.arange(600))]
        head = RobustHead(trained.net, estimator="mcd")
        with pytest.raises(ValueError, match="600 of 600 validation samples have the features"):
            head.fit(batch, validation=batch)
        relabelled = [(trained.x, (trained.noisy + 1) % 3)]  # and without ids
        with pytest.raises(ValueError, match="600 of 600 validation samples have the features"):
            head.fit(batch, validation=relabelled)

    def test_outputs_that_are_not_the_classes(self, trained):
        x = trained.x
        labels = [f"c{i}" for i in (trained.noisy % 2).tolist()]
        head = RobustHead(trained.net, estimator="mcd").fit([(x, labels)])
        with pytest.warns(ReheadWarning, match="3 outputs, and there are 2 classes"):
            rows = head.compare([(x, labels)]).rows
        assert list(rows) == [*head.layers_, "robust"]

    @pytest.mark.parametrize("share", [0.2, 1, True, "held out"])
    def test_a_share_is_no_validation(self, network, share):
        case = network("mlp")
        runs = []
        case.net.register_forward_hook(lambda *_: runs.append(1))
        with pytest.raises(ValueError, match=r"not trained on, got .*memorised their labels"):
            RobustHead(case.net).fit((case.x, case.y), validation=share)
        assert runs == []

    def test_neighbours_need_the_training_data(self, audited):
        for call in (
            lambda: audited.head.neighbours("img0"),
            lambda: audited.head.neighbours("img0", 5),
        ):
            with pytest.raises(ValueError, match="pass the training data again"):
                call()

    def test_settings_are_checked_at_once(self, trained):
        with pytest.raises(ValueError, match="class_names must be a list"):
            RobustHead(trained.net, class_names="a,b,c")
        with pytest.raises(ValueError, match="keys must be a dict"):
            RobustHead(trained.net, keys="image")


class TestOrderOfOutputs:
    """Labels that are names: the softmax is in their order, or no member."""

    names = np.array(["cat", "ant", "bee"])  # in the order of the outputs

    def fit(self, trained, net=None, **options):
        head = RobustHead(net or trained.net, random_state=0, **options)
        (x, y), (held, held_y) = trained.train, trained.held_out
        return head.fit((x, self.names[y]), (held, self.names[held_y]))

    def accuracy(self, trained, head):
        x, y = trained.new
        return head.compare((x, self.names[y])).rows["softmax"].accuracy

    def test_by_name_it_is_what_it_is_by_number(self, trained, tmp_path):
        by_number = default_head(trained)
        head = self.fit(trained, class_names=self.names.tolist())
        expected = by_number.compare(trained.new).rows["softmax"].accuracy
        assert self.accuracy(trained, head) == expected
        found = head.predict_proba(trained.new)[:, [2, 0, 1]]
        np.testing.assert_allclose(found, by_number.predict_proba(trained.new), atol=1e-5)
        head.save(tmp_path / "head")
        again = RobustHead.load(tmp_path / "head", trained.net)
        assert again.class_names == self.names.tolist()
        assert self.accuracy(trained, again) == expected

    def test_without_names_it_is_left_out_with_a_warning(self, trained):
        with pytest.warns(ReheadWarning, match=r"left out. To keep it, pass class_names="):
            head = self.fit(trained)
        assert "softmax" not in head.ensemble_.members_
        with pytest.warns(ReheadWarning, match="class_names="):
            assert "softmax" not in head.compare((trained.x, self.names[trained.noisy])).rows

    def test_names_in_sorted_order_need_not_be_given(self, trained):
        self.names = np.array(["ant", "bee", "cat"])
        assert "softmax" in self.fit(trained).ensemble_.members_

    def test_names_in_a_wrong_order_are_noticed(self, trained):
        with pytest.warns(ReheadWarning, match="in another order|less than by chance"):
            head = self.fit(trained, class_names=["bee", "cat", "ant"])
        assert "softmax" not in head.ensemble_.members_

    def test_names_that_a_hugging_face_configuration_has(self, trained):
        net = copy.deepcopy(trained.net)
        net.config = SimpleNamespace(id2label=dict(enumerate(self.names.tolist())))
        head = self.fit(trained, net)
        assert "softmax" in head.ensemble_.members_
        assert self.accuracy(trained, head) > 0.6

    def test_without_held_out_samples_training_labels_tell_the_order_for_compare(self, trained):
        x, y = trained.train
        head = RobustHead(trained.net, estimator="mcd", class_names=self.names, random_state=0)
        head.fit((x, self.names[y]))
        assert self.accuracy(trained, head) > 0.6


class TestNetworksOfOtherKinds:
    def test_features_before_logits_are_not_taken_for_them(self, trained):
        class Both(nn.Module):
            def __init__(self, net, narrow):
                super().__init__()
                self.net, self.narrow = net, narrow

            def forward(self, x):
                return x[:, : self.narrow], self.net(x)

        expected = default_head(trained).compare(trained.new).rows["softmax"]
        for narrow in (5, 2):  # features wider, and narrower than there are classes
            net = Both(trained.net, narrow)
            head = RobustHead(net, ["net.4.input"], random_state=0)
            head.fit(trained.train, trained.held_out)
            assert head.compare(trained.new).rows["softmax"] == expected
            x = trained.new[0]  # without labels it is still known which of the two
            found = head.to_module()(x).exp().detach()
            np.testing.assert_allclose(found, head.predict_proba(x), atol=1e-5)

    def test_an_encoder_without_logits(self, network):
        case = network("transformer", 90)
        net = nn.Sequential(case.net.embedding, case.net.encoder)
        train, held_out = (case.x[:60], case.y[:60]), (case.x[60:], case.y[60:])
        head = RobustHead(net, ["0", "1"], "sample", shrinkage=0.1).fit(train, held_out)
        assert "softmax" not in head.ensemble_.members_
        assert "softmax" not in head.compare((case.x, case.y)).rows
        head.softmax = True
        with pytest.warns(ReheadWarning, match="network has 0 outputs"):
            head.fit(train, held_out)

    @pytest.mark.parametrize(
        "wrap", [nn.DataParallel, lambda net: net.train(), lambda net: net.double()]
    )
    def test_wrapped_in_training_mode_or_double(self, trained, wrap):
        expected = default_head(trained).predict_proba(trained.new)
        head = RobustHead(wrap(copy.deepcopy(trained.net)), random_state=0)
        found = head.fit(trained.train, trained.held_out).predict_proba(trained.new)
        np.testing.assert_allclose(found, expected, atol=1e-3)


class TestChangedWeights:
    @pytest.fixture
    def own(self, trained):
        net = copy.deepcopy(trained.net)
        return RobustHead(net, random_state=0).fit(trained.train, trained.held_out)

    @pytest.mark.parametrize("method", ["predict", "compare", "score_labels", "typicality"])
    def test_they_are_noticed(self, own, trained, method):
        with torch.no_grad():
            own.net[0].weight *= 1.1
        with pytest.warns(ReheadWarning, match="weights have changed since the head was fitted"):
            getattr(own, method)(trained.new)
        with pytest.warns(ReheadWarning, match="weights have changed"):
            own.to_module()
        own.fit(trained.train, trained.held_out).predict(trained.new)  # which is silent again


def test_the_numpy_twin_gets_its_inputs_from_the_head(trained):
    head = default_head(trained)
    features = extract_features(trained.net, trained.new, head.layers_)
    inputs = head.ensemble_inputs(features)
    assert list(inputs) == [*head.layers_, "softmax"]
    expected = head.predict_proba(trained.new)
    np.testing.assert_array_equal(head.ensemble_.predict_proba(inputs), expected)


def test_a_layer_by_its_name(trained, tmp_path):
    head = RobustHead(trained.net, "4.input", "mcd", random_state=0).fit(trained.train)
    assert head.layers_ == ["4.input"]
    head.save(tmp_path / "head")
    again = RobustHead.load(tmp_path / "head", trained.net)
    np.testing.assert_array_equal(*(h.predict_proba(trained.new) for h in (head, again)))


def test_batches_with_names_of_their_own(trained, tmp_path):
    def rows(samples):
        x, y = samples
        return {"row": x, "junk": x, "grade": y}

    keys = {"inputs": "row", "labels": "grade"}
    head = RobustHead(trained.net, keys=keys, random_state=0)
    head.fit(rows(trained.train), rows(trained.held_out))
    assert head.score(rows(trained.new)) == default_head(trained).score(trained.new)
    head.save(tmp_path / "head")
    assert RobustHead.load(tmp_path / "head", trained.net).keys == keys


class TestLayerCalledSoftmax:
    """A name that the network's own softmax has as a member."""

    @pytest.fixture
    def net(self, trained):
        named = OrderedDict((f"part{i}", part) for i, part in enumerate(trained.net))
        last = list(named)[-1]
        named["softmax"] = named.pop(last)
        return nn.Sequential(named)

    def test_it_is_a_layer_like_any_other(self, trained, net, tmp_path):
        head = RobustHead(net, ["part0", "softmax"], "sample", weights="equal", shrinkage=0.1)
        head.fit(trained.train)
        features = extract_features(net, trained.new, ["part0", "softmax"]).layers
        expected = head.ensemble_.predict_proba(features)
        np.testing.assert_array_equal(head.predict_proba(trained.new), expected)
        assert head.layers_ == ["part0", "softmax"]
        head.save(tmp_path / "head")
        again = RobustHead.load(tmp_path / "head", net)
        np.testing.assert_array_equal(again.predict_proba(trained.new), expected)

    def test_beside_the_softmax_it_is_an_error(self, trained, net):
        head = RobustHead(net, ["part0", "softmax"], random_state=0)
        with pytest.raises(ValueError, match="A layer is called 'softmax'"):
            head.fit(trained.train, trained.held_out)


def test_a_loaded_head_has_the_settings_of_the_user(trained, tmp_path):
    head = default_head(trained)
    head.save(tmp_path / "head")
    again = RobustHead.load(tmp_path / "head", trained.net)
    assert (again.layers, again.softmax, again.pool) == (head.layers, head.softmax, head.pool)
    assert again.ensemble.get_params() == head.ensemble.get_params()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_predict_and_report_the_same(trained, copied):
    head = default_head(trained, baselines=["paper"])
    again = copied(head)
    np.testing.assert_array_equal(again.predict_proba(trained.new), head.predict_proba(trained.new))
    np.testing.assert_array_equal(again.report_.quality, head.report_.quality)
    assert again.compare(trained.new).rows == head.compare(trained.new).rows


def test_without_held_out_samples_the_softmax_is_no_member(trained):
    """It would be weighed on labels that it has memorised."""
    head = RobustHead(trained.net, random_state=0)
    with pytest.warns(ReheadWarning, match="No held-out samples"):
        head.fit(trained.train)
    assert "softmax" not in head.ensemble_.members_
    assert "softmax" in head.fit(trained.train, trained.held_out).ensemble_.members_


class TestHabitsOfScikitLearn:
    def test_labels_as_a_second_argument(self):
        x, y = torch.randn(20, 4), torch.arange(20) % 2
        net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
        for labels in (y, y.numpy()):
            with pytest.raises(ValueError, match=r"fit\(\(X, y\), validation="):
                RobustHead(net).fit(x, labels)

    def test_score_refuses_labels_of_another_kind(self):
        torch.manual_seed(0)
        y = torch.arange(120) % 2
        x = torch.randn(120, 4) + 3 * y[:, None]
        names = np.array(["ant", "bee"])[y.numpy()]
        net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
        head = RobustHead(net, ["2.input"], "sample").fit((x, names))
        assert head.score((x, names)) > 0.9
        with pytest.raises(ValueError, match="not fitted on these labels"):
            head.score((x, y))
