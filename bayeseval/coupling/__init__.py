"""Coupled token generation: several systems answer the same prompts with the same sampling noise.

Each system keeps its own law, but they tend to pick the same tokens, so differences between them are less noisy [1]_.
Noise is keyed by (seed, prompt, generation, position, token), and depends on nothing else.

- `generate_coupled`: from local models, prompts and a grader to outcomes.
- `CoupledLogitsProcessor` for transformers, `bayeseval.coupling.vllm_processor` for vLLM.
- `coupled_argmax` with `exponential_noise`: one step on arrays of NumPy, torch or JAX.
- `gumbel_joint`, `gumbel_agreement`: the exact joint law of one step.
- `match_vocabularies`: whether two systems can be coupled.

References
----------
.. [1] Corvelo Benz et al. (2025). Evaluation of Large Language Models via Coupled Token Generation.
   https://arxiv.org/abs/2502.01754
"""

from __future__ import annotations

from bayeseval.coupling.devices import jax_exponential, jax_noise_block, torch_exponential, torch_noise_block
from bayeseval.coupling.generate import generate_coupled
from bayeseval.coupling.laws import gumbel_agreement, gumbel_joint, independent_agreement
from bayeseval.coupling.noise import (
    exponential_noise,
    gumbel_noise,
    noise_block,
    noise_words,
    philox,
    row_keys,
    to_exponential,
)
from bayeseval.coupling.sampler import Sampler
from bayeseval.coupling.sampling import Decoding, coupled_argmax, warp
from bayeseval.coupling.systems import LogitsSystem
from bayeseval.coupling.transformers_processor import CoupledLogitsProcessor, greedy_options
from bayeseval.coupling.vocabularies import Vocabulary, VocabularyMatch, match_vocabularies

__all__ = [
    "CoupledLogitsProcessor",
    "Decoding",
    "LogitsSystem",
    "Sampler",
    "Vocabulary",
    "VocabularyMatch",
    "coupled_argmax",
    "exponential_noise",
    "generate_coupled",
    "greedy_options",
    "gumbel_agreement",
    "gumbel_joint",
    "gumbel_noise",
    "independent_agreement",
    "jax_exponential",
    "jax_noise_block",
    "match_vocabularies",
    "noise_block",
    "noise_words",
    "philox",
    "row_keys",
    "to_exponential",
    "torch_exponential",
    "torch_noise_block",
    "warp",
]
