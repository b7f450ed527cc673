"""The posterior of a run, the scores that follow from it, and whether it can be trusted."""
