"""The fitted inspection: patches, features, the library of good images, calibration, the model file."""
