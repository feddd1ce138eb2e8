"""Topics of daily work, and whether each is answered by the study that it asks for.

`open.yaml` may be looked at while the reader of topics is mended. `blind.yaml` is not, until that
is done; of it only counts are printed.
"""
