"""Which prompts deserve the next generations: what one more is worth on each, and how a budget is spent."""
