"""How a study is laid out before it runs: arms, seeds, power, looks and tuning."""
