"""Which prompts are asked, how rollouts are drawn and scored, and how they become token trees."""
