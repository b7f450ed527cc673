"""When to stop: rules for looking at results as they come, what they guarantee, and the log of looks."""
