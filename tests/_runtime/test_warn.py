from pathlib import Path

import numpy as np
import pytest

from vwkde.exceptions import FewImagesWarning
from vwkde.inspection.model.calibration import calibrate


def test_a_warning_points_at_the_line_that_called_into_the_package():
    with pytest.warns(FewImagesWarning) as caught:
        calibrate(np.arange(10.0), 0.01)
    assert Path(caught[0].filename) == Path(__file__)
