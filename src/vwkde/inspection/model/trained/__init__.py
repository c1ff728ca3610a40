"""Small networks that are trained on good images with made-up defects, in the manner of DRÆM and CutPaste.

DRÆM: Zavrtanik, Kristan and Skočaj, "DRÆM: a discriminatively trained reconstruction embedding for surface anomaly
detection", ICCV 2021. CutPaste: Li and others, "CutPaste: self-supervised learning for anomaly detection and
localization", CVPR 2021. Needs PyTorch, which is imported where it is used.
"""
