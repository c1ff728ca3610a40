"""How estimators are put before the problems of the zoo, and how their answers are summed up, for `zoo.py`."""
