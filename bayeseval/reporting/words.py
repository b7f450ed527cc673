"""Sentences that stand in every report."""

from __future__ import annotations

__all__ = ["CAVEATS", "REFERENCES"]

CAVEATS = (
    "Everything that changed with the run as a whole. Generations are taken as independent given the prompt. A batch "
    "size, a serving stack, a hardware or a prompt template that shifts many prompts together is seen only by running "
    "again under other conditions.",
    "Wrong or ambiguous labels, and a grader that errs. P(correct) is the probability of being scored correct.",
    "How the prompts were chosen. “Prompts like these” are prompts drawn as these were; another topic, language or "
    "difficulty is another population. Prompts that the system was trained on count as they stand.",
    "Choices made after seeing results: the best of several settings, checkpoints or metrics looks better than it is.",
    "The shape of the fitted distribution, beyond what the predictive check can see. It matters most for scores of "
    "more attempts than were run, which are marked as extrapolated.",
)
"""What the intervals do not cover."""

REFERENCES = (
    "Zhang, Cai & Chen (2025). Beyond the Singular: the essential role of multiple generations in effective benchmark "
    "evaluation and analysis. arXiv:2502.08943. The hierarchical model and the variance of the score.",
    "Chen et al. (2021). Evaluating large language models trained on code. arXiv:2107.03374. pass@k.",
    "Yao et al. (2024). τ-bench: a benchmark for tool-agent-user interaction in real-world domains. arXiv:2406.12045. "
    "pass^k.",
    "Liu et al. (2024). Are your LLMs capable of stable reasoning? arXiv:2412.13147. G-Pass@k and mG-Pass@k.",
    "Miller (2024). Adding error bars to evals. arXiv:2411.00640. Standard errors for prompts like these.",
    "Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9, 130–134. doi:10.1214/aos/1176345338. The robust "
    "answer.",
    "Gelman, Meng & Stern (1996). Posterior predictive assessment of model fitness via realized discrepancies. "
    "Statistica Sinica 6, 733–807. The predictive check.",
)
