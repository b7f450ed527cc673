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
# # Is A better than B?
#
# *Sixteen systems answered the 15 problems of AIME 2025 I, four times each. The leaderboard has an order. How much of
# it can be believed?*
#
# The intervals of two scores do not answer that. Both systems met the same problems, and what is hard for one is hard
# for the other: the difference has to be taken problem by problem. Everything here runs on data that come with the
# package, in less than a minute.

# %%
from pathlib import Path

import numpy as np
import pandas as pd

import bayeseval as be

arena = be.example("matharena-aime2025")
runs = [run for run in arena.runs() if run.benchmark[0] == "AIME-2025-I"]
by_name = {run.system[0]: run for run in runs}
len(runs)

# %% [markdown]
# ## Two systems
#
# The best system of the table against another one that is close to it.

# %%
a, b = by_name["o3-mini (high)"], by_name["o1 (medium)"]
difference = be.contrast(a, b, rope=0.02, seed=1)
difference

# %%
ax = difference.plot()

# %% [markdown]
# "Prompts like these" is what most claims are about: would the order hold on the next contest? On *these* 15 problems
# the question is easier, since only the noise of the generations is uncertain.

# %%
be.contrast(a, b, estimand="benchmark", seed=1)

# %% [markdown]
# Taking the two scores for independent throws away that both met the same problems. The interval is then wider, here:

# %%
pd.concat([be.contrast(a, b, paired=paired, seed=1).to_frame() for paired in (True, False)], ignore_index=True)[
    ["design", "value", "sd", "lower", "upper", "p_greater"]
].round(3)

# %% [markdown]
# What could a study of this size have resolved? The answer is sobering, and it is the reason to plan
# (`be.plan_contrast`) before running.

# %%
print(difference.power_sentence())

# %% [markdown]
# ## The whole leaderboard

# %%
ranking = be.rank(runs, seed=1)
ax = ranking.plot()

# %% [markdown]
# Systems that share a letter are not told apart by this contest. The order of the middle of the table is mostly noise,
# which the probabilities of ranks show:

# %%
ax = ranking.plot_ranks()

# %%
pairs = ranking.pairs()
pairs["verdict"].value_counts()

# %% [markdown]
# On these very problems more can be said. The order is much the same, and more systems are told apart.

# %%
here = be.rank(runs, estimand="benchmark", seed=1)
pd.DataFrame({"like these": pairs["verdict"].value_counts(), "these": here.pairs()["verdict"].value_counts()})

# %% [markdown]
# ## One generation each
#
# Many tables have one answer to a prompt. What counts then is the number of prompts that one system alone has right.
# Of 220 prompts, 25 are answered by A alone and 10 by B alone; 120 by both, 65 by neither.

# %%
table = (120, 25, 10, 65)
one = be.Counts.from_arrays(np.repeat([1, 1, 0, 0], table), 1, system="A")
two = be.Counts.from_arrays(np.repeat([1, 0, 1, 0], table), 1, system="B")
be.contrast(one, two, draws=100_000, seed=1)

# %% [markdown]
# P(A > B) is .9943, that of a flat prior on the four outcomes. A comparison that forgets the pairing has p = .14, and
# would have called this nothing.
#
# ## Did the runs share their noise?
#
# Everything above takes the generations of both systems for independent. Runs with equal seeds on systems with one
# vocabulary are not. A test needs outcomes, one row a generation; here are two runs that share 60% of their noise.

# %%
rng = np.random.default_rng(1)
p = rng.beta(1.2, 1, 200)[:, None]
noise, own = rng.random((2, 200, 6))
first = be.Outcomes.from_matrix((noise < p).astype(int), system="16 bit")
mixed = np.where(rng.random((200, 6)) < 0.6, noise, own)
second = be.Outcomes.from_matrix((mixed < p**1.1).astype(int), system="8 bit")
be.shared_noise(first, second)

# %% [markdown]
# Shared by design, it is a gift: the difference on these prompts has less noise, and fewer generations are needed.

# %%
be.coupled_savings(first, second)

# %% [markdown]
# ## On real coupled generations
#
# [Corvelo Benz et al.](https://arxiv.org/abs/2502.01754) ran 19 systems on GSM8K with shared and with separate noise.
# Their repository states no licence, so bayeseval does not ship the answers. Where a folder `shared` with the data
# lies beside the checkout, here is a system against its own 8-bit copy.

# %%
places = [folder / "shared/data/coupled-gsm8k/outcomes.parquet" for folder in [Path.cwd(), *Path.cwd().parents]]
found = next((place for place in places if place.is_file()), None)
if found is None:
    print("no folder shared beside the checkout: nothing to show")
else:
    outcomes = pd.read_parquet(found)
    names = ["Llama-3.1-8B-Instruct", "Llama-3.1-8B-Instruct-bnb-8bit"]
    roles = dict(system="model", prompt="prompt_id", generation="generation", correct="correct", benchmark="benchmark")
    real = {
        (name, condition): be.Outcomes.from_frame(part, **roles, group=False, quiet=True)
        for (name, condition), part in outcomes[outcomes["model"].isin(names)].groupby(["model", "condition"])
    }
    coupled, independent = (tuple(real[name, kind] for name in names) for kind in ("coupled", "independent"))
    savings = be.coupled_savings(*coupled, independent)
    print(savings)
    print(savings.marginals.round(4).to_string(index=False))
    ax = savings.plot()
