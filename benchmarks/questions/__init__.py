"""Topics of daily work, and whether each is answered by the study that it asks for.

`open.yaml` may be looked at while the reader of topics is mended. `blind.yaml`, where it exists,
was written before and is looked at when done; of it only counts are printed.
"""
