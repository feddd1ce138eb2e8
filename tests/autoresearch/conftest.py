"""Puts this folder on the import path, so that tests share `synthetic_study`."""
