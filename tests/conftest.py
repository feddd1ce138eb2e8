"""Property tests have no deadline per example: other tests share the machine's cores."""

from hypothesis import settings

settings.register_profile("shared-cores", deadline=None)
settings.load_profile("shared-cores")
