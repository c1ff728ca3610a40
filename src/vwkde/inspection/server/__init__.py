"""The inspection as a web page and an HTTP interface."""
