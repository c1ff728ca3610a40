import pytest

import vwkde
from vwkde._runtime.keywords import refuse_unknown


def function(*, first=1, **others):
    del first, others


def test_known_keywords_pass():
    refuse_unknown(["first", "second"], ["second"], function)


def test_an_unknown_keyword_names_the_function_and_what_was_meant():
    with pytest.raises(TypeError, match=r"function has no parameter 'secnod'. Did you mean 'second'"):
        refuse_unknown(["secnod"], ["second"], function)
    with pytest.raises(TypeError, match=r"function has no parameter 'x' with y. It has: 'first', 'second'."):
        refuse_unknown(["x"], ["second"], function, "y")


@pytest.mark.parametrize(
    "asked",
    [
        vwkde.kl_divergence,
        vwkde.divergence,
        vwkde.mutual_information,
        lambda *data, **named: vwkde.log_density_ratio(*data, at=data[0], **named),
        lambda *data, **named: vwkde.conditional_mutual_information(*data, data[0], **named),
    ],
)
def test_every_function_that_passes_keywords_on_names_itself(asked):
    rows = [[float(i)] for i in range(20)]
    with pytest.raises(TypeError, match=r"(divergence|ratio|information) has no parameter 'bandwith'. Did you mean"):
        asked(rows, rows, bandwith=1.0)


def test_the_estimator_names_itself():
    with pytest.raises(TypeError, match=r"DensityRatio.__init__\(\) got an unexpected keyword argument 'bandwith'"):
        vwkde.DensityRatio(bandwith=1.0)
