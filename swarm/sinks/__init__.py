"""Where metrics are projected to: the only package that touches MLflow."""
