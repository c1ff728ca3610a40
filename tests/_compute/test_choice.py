"""Which engine is chosen, the error if one is missing, and that the choice changes no answer."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import vwkde
from vwkde._compute import choice
from vwkde._compute.choice import ENGINE_NAMES, choose_resources
from vwkde._compute.engines import ENGINES, NUMBA, triton_engine
from vwkde._compute.executors import DASK, THREADS
from vwkde._compute.resources import Resources
from vwkde._compute.torch_state import exact_products
from vwkde._models.weights.expansion import fit_expansion
from vwkde._models.weights.residual import BiasTerms

torch = pytest.importorskip("torch")

RANDOM = np.random.default_rng(0)
P, Q, Z = RANDOM.normal(size=(300, 4)), RANDOM.normal(0.4, 1.2, size=(260, 4)), RANDOM.normal(size=(30, 4))
NEEDS_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")


class OnGpu:
    """What the rules see of a tensor on a GPU."""

    device = "cuda:0"

    def detach(self):
        raise AssertionError("only looked at")


@pytest.fixture
def gpu(monkeypatch):
    """Pretend that torch and a GPU are present."""
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: None)
    installed = {"triton"}
    for module in (choice, triton_engine):
        monkeypatch.setattr(module, "find_spec", lambda name: object() if name in installed else None)
    return installed


def chosen(engine, device, *inputs):
    resources = choose_resources(engine, device, inputs)
    return resources.name, resources.device


def test_arrays_and_tensors_on_the_cpu_take_numba():
    assert chosen("auto", None, P, Q) == ("numba", "cpu")
    assert chosen("auto", None, torch.tensor(P), Q) == ("numba", "cpu")
    assert chosen("auto", "cpu", OnGpu()) == ("numba", "cpu")


def test_a_gpu_takes_triton_or_torch_where_there_is_none(gpu):
    assert chosen("auto", "cuda", P, Q) == ("triton", "cuda")
    assert chosen("auto", None, P, OnGpu()) == ("triton", "cuda:0")
    assert chosen("triton", None, P, Q) == ("triton", "cuda")
    assert chosen("torch", None, P, Q) == ("torch", "cpu")
    assert chosen("numba", "cuda", P, Q) == ("numba", "cuda")
    gpu.clear()
    assert chosen("auto", "cuda", P, Q) == ("torch", "cuda")
    with pytest.raises(ImportError, match="pip install triton"):
        choose_resources("triton", "cuda")


def test_triton_on_the_cpu_is_refused(gpu):  # noqa: ARG001
    with pytest.raises(ValueError, match=r"'triton' needs a CUDA GPU\. Got device='cpu'"):
        choose_resources("triton", "cpu")


def test_dask_is_numba_on_the_workers_of_dask():
    pytest.importorskip("distributed")
    resources = choose_resources("dask", None)
    assert (resources.engine, resources.executor, resources.name) == (NUMBA, DASK, "dask")
    array = pytest.importorskip("dask.array").from_array(P)
    assert choose_resources("auto", None, (array, Q)) == resources
    assert choose_resources("numba", None, (array, Q)).executor == THREADS


def test_every_engine_may_be_asked_for_by_its_name():
    assert set(ENGINE_NAMES) == {"auto", "dask", *ENGINES}
    for name in ENGINE_NAMES[1:]:
        engine, executor = choice._CHOICES[name]
        assert Resources(engine, executor).name == name


@pytest.mark.parametrize("name", ENGINE_NAMES[1:])
def test_resources_travel_to_other_processes(name):
    resources = Resources(*choice._CHOICES[name], memory_budget=10**6)
    assert pickle.loads(pickle.dumps(resources)) == resources


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA GPU")
def test_a_gpu_that_is_not_there_is_told():
    with pytest.raises(ValueError, match=r"The device 'cuda' cannot be used.*pip install"):
        vwkde.DensityRatio(engine="triton").fit(P, Q)
    with pytest.raises(ValueError, match=r"The device 'cuda' cannot be used.*device='cpu'"):
        vwkde.DensityRatio(device="cuda").fit(P, Q)


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="The 'engine' parameter of DensityRatio must be"):
        vwkde.kl_divergence(P, Q, engine="abacus")


def test_without_torch_the_command_that_installs_it_is_told():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from vwkde._compute.choice import choose_resources\n"
        "try: choose_resources('torch', None)\n"
        "except ImportError as error: print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "The engine 'torch' needs torch; install it with: pip install 'vwkde[torch]'\n"


@pytest.mark.parametrize("method", ["vwkde-mb", "kde", None])
def test_torch_gives_the_answers_of_numba(method):
    one, other = (vwkde.kl_divergence(P, Q, method=method, engine=engine) for engine in ("numba", "torch"))
    assert (one.diagnostics["engine"], other.diagnostics["engine"]) == ("numba", "torch")
    assert other.diagnostics["device"] == "cpu"
    np.testing.assert_allclose([other.value, other.standard_error], [one.value, one.standard_error], rtol=1e-9)
    ratios = [vwkde.log_density_ratio(P, Q, at=Z, method=method, engine=engine) for engine in ("numba", "torch")]
    np.testing.assert_allclose(ratios[1], ratios[0], atol=1e-9)
    assert np.ptp(ratios[0]) > 0.5


def test_the_weight_is_the_same_on_a_device():
    x, direction, unweighted = RANDOM.normal(size=(400, 3)), RANDOM.normal(size=(400, 3)), RANDOM.normal(size=400)
    arguments = x, BiasTerms(direction, unweighted), RANDOM.uniform(0.5, 1.5, 400), x[:50], 1.5, 0.1
    # a small budget, so that rows are split into several blocks
    one, other = (fit_expansion(*arguments, choose_resources(engine, None, (), 10**5)) for engine in ("numba", "torch"))
    np.testing.assert_allclose(other.coefficients, one.coefficients, rtol=1e-8)
    np.testing.assert_allclose(other.log_weight(Z[:, :3]), one.log_weight(Z[:, :3]), rtol=1e-8)
    np.testing.assert_allclose(other.slope(x, direction), one.slope(x, direction), rtol=1e-7, atol=1e-9)
    assert np.ptp(one.log_weight(x)) > 0.01


def test_the_classifier_passes_engines_on_and_answers_in_kind():
    x, y = np.concatenate([P, Q]), np.repeat([0, 1], [len(P), len(Q)])
    ratio = vwkde.DensityRatio(guide=None)
    expected = vwkde.RatioClassifier(ratio=ratio).fit(x, y).predict_proba(Z)
    classifier = vwkde.RatioClassifier(ratio=ratio.set_params(engine="torch")).fit(torch.tensor(x), torch.tensor(y))
    found = classifier.predict_proba(torch.tensor(Z))
    assert isinstance(found, torch.Tensor)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-9)
    assert classifier.ratios_[0, 1].diagnostics_["engine"] == "torch"
    np.testing.assert_array_equal(classifier.predict(torch.tensor(Z)), expected.argmax(axis=1))


@NEEDS_GPU
def test_tensors_on_a_gpu_are_answered_there():
    expected = vwkde.DensityRatio(guide=None).fit(P, Q)
    found = vwkde.DensityRatio(guide=None).fit(torch.tensor(P, device="cuda"), torch.tensor(Q, device="cuda"))
    assert found.diagnostics_["engine"] in ("triton", "torch")
    assert found.diagnostics_["device"].startswith("cuda")
    values = found.log_ratio(torch.tensor(Z, device="cuda"))
    assert values.device.type == "cuda"
    np.testing.assert_allclose(values.cpu(), expected.log_ratio(Z), atol=1e-8)
    np.testing.assert_allclose(found.divergence("kl").value, expected.divergence("kl").value, rtol=1e-8)


@NEEDS_GPU
def test_the_classifier_follows_tensors_to_the_gpu():
    x, y = np.concatenate([P, Q]), np.repeat([0, 1], [len(P), len(Q)])
    ratio = vwkde.DensityRatio(guide=None)
    expected = vwkde.RatioClassifier(ratio=ratio).fit(x, y).predict_proba(Z)
    classifier = vwkde.RatioClassifier(ratio=ratio).fit(torch.tensor(x, device="cuda"), torch.tensor(y, device="cuda"))
    found = classifier.predict_proba(torch.tensor(Z, device="cuda"))
    assert found.device.type == "cuda"
    np.testing.assert_allclose(found.cpu(), expected, atol=1e-8)


def test_a_device_that_is_none_is_refused_whatever_the_engine():
    for engine in ("auto", "numba", "reference"):
        with pytest.raises(ValueError, match="The device 'gpu' cannot be used"):
            choose_resources(engine, "gpu", (P, Q))


def test_products_stay_exact_while_one_of_several_users_needs_them():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        first, second = exact_products(), exact_products()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert torch.get_float32_matmul_precision() == "highest"
        second.__exit__(None, None, None)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


def test_tensors_of_half_precision_go_in():
    found = vwkde.kl_divergence(*(torch.tensor(x, dtype=torch.bfloat16) for x in (P, Q)), method="kde")
    assert found.value == pytest.approx(vwkde.kl_divergence(P, Q, method="kde").value, rel=0.05)
