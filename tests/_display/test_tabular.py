import json
import sys

import numpy as np
import pytest

import vwkde
from vwkde._display.tabular import Tabular, as_plain, latex_table


class Result(Tabular):
    def _answers(self):
        return {"name": "a_b", "value": np.float64(np.inf), "ends": (1, 2.5)}

    def _details(self):
        return {"rows": np.array([3, 4]), "of": {"x": np.nan}}


def test_a_dictionary_is_ready_for_json_with_details_last():
    assert json.dumps(Result().to_dict(), allow_nan=False) == (
        '{"name": "a_b", "value": null, "ends": [1, 2.5], "details": {"rows": [3, 4], "of": {"x": null}}}'
    )


def test_a_table_has_the_answers_that_are_single_values():
    assert Result().to_frame().to_dict("records") == [{"name": "a_b", "value": np.inf}]


def test_without_pandas_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_frame needs pandas; install it with: pip install 'vwkde\[pandas\]'"):
        Result().to_frame()


def test_a_latex_table_has_aligned_numbers_and_escaped_text():
    lines = [{"p_value": 1.23456e-7, "kind": "50 % of a_b & c"}, {"p_value": -0.5, "kind": True, "n": 3}]
    assert latex_table(lines).splitlines() == [
        r"\begin{tabular}{rlr}",
        r"\toprule",
        r"p value & kind & n \\",
        r"\midrule",
        r"$1.235 \times 10^{-7}$ & 50 \% of a\_b \& c & -- \\",
        r"$-0.5$ & yes & 3 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_a_caption_or_a_label_makes_the_table_float():
    text = Result().to_latex("Our result", label="tab:ours").splitlines()
    assert text[:4] == [r"\begin{table}", r"\centering", r"\caption{Our result}", r"\label{tab:ours}"]
    assert text[-1] == r"\end{table}"
    assert r"a\_b & $\infty$ \\" in text


def test_what_is_no_number_text_or_list_becomes_text():
    assert as_plain({1: np.bool_(True), "b": {2.5}, "c": Result}) == {"1": True, "b": [2.5], "c": str(Result)}


def test_the_parts_of_a_test_are_lines_of_its_table():
    random = np.random.default_rng(0)
    result = vwkde.two_sample_test(random.normal(size=(40, 2)), random.normal(size=(30, 2)) + 1, n_permutations=19)
    assert result.sizes == (40, 30)
    assert set(result.statistics) == {"means", "energy", "covariances", "kernels"}
    frame = result.to_frame().set_index("part")
    assert frame.loc["together", "p_value"] == result.p_value
    assert frame.loc["energy", "statistic"] == result.statistics["energy"] > 0
    found = json.loads(json.dumps(result.to_dict()))
    assert found["sizes"] == [40, 30]
    assert found["details"] == {"n_permutations": 19}
    assert "(40 and 30 rows, 19 permutations)" in str(result)
