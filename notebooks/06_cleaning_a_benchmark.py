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
# # Cleaning a benchmark
#
# *A benchmark is built, systems have answered it several times, and some of the gold answers are wrong. Which ones
# shall a person look at first, and what becomes of the scores?*
#
# First the answers that come with the package, to AIME 2024, whose gold answers have been checked by many. Then, since
# we must know what is wrong in order to see what is found, 200 made-up prompts with two made-up systems.

# %%
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import bayeseval as be

pd.options.display.float_format = "{:.3f}".format
aime = be.example("aime24-50", "outcomes")
real = be.data_map(aime, seed=1)
ax = real.plot()

# %% [markdown]
# Nearly all prompts stand at the left: the system cannot solve them. Consistency tells something there. At the bottom
# the answers scatter, further up the system comes back to the same wrong answer. None is so consistent that the
# published rule would flag it.

# %%
real.suspects(top=5)

# %% [markdown]
# The probabilities are low, and rightly so: these gold answers have been checked by many. A system that is right in
# 2% of its answers is no judge of them. Answers such as `12 + 65 + 3 = 80` and `80` are the same, by the way, and we
# can say so.


# %%
def last_part(text):
    """What stands after the last equals sign."""
    return text.split("=")[-1].strip()


before, after = real.to_frame(), be.data_map(aime, last_part, seed=1).to_frame()
changed = pd.DataFrame({"prompt": before["prompt"], "exact": before["distinct"], "last part": after["distinct"]})
changed[changed["exact"] > changed["last part"]].head()

# %% [markdown]
# ## A benchmark with wrong gold answers
#
# 200 prompts, two systems, eight generations each. In ten prompts the gold answer is one of the wrong ones. Prompts
# differ in difficulty, and on some of them a distractor attracts both systems, although nothing is wrong with the
# gold answer.

# %%
rng = np.random.default_rng(7)
wrong_gold = set(rng.choice(200, 10, replace=False).tolist())
rows = []
for prompt in range(200):
    mistakes = rng.dirichlet(np.full(6, 0.3))
    gold = f"{1 + rng.choice(6, p=mistakes)}" if prompt in wrong_gold else "0"
    for system, (a, b) in {"large": (3, 1), "small": (1.2, 1)}.items():
        p = rng.beta(a, b)
        answers = rng.choice(7, 8, p=[p, *((1 - p) * mistakes)])
        rows += [(system, f"q{prompt:03d}", i, str(one), gold) for i, one in enumerate(answers)]
frame = pd.DataFrame(rows, columns=["system", "prompt", "generation", "answer", "gold"])
frame["correct"] = (frame["answer"] == frame["gold"]).astype(int)
benchmark = be.data_map(be.Outcomes.from_frame(frame.assign(benchmark="made up"), quiet=True), seed=1)
benchmark

# %%
ax = benchmark.plot()

# %% [markdown]
# The two distributions above the map show what kind of systems these are: the large one solves most prompts nearly
# always. In the shaded corner stand wrong gold answers and distractors side by side. The rule flags them all alike.
# The ranking asks whether both systems agree, how often each is right elsewhere, and how concentrated their mistakes
# are.

# %%
truth = {f"q{prompt:03d}" for prompt in wrong_gold}
ranked = benchmark.suspects().to_frame()
flagged = set(benchmark.published_rule()["prompt"])
pd.DataFrame(
    {
        "looked at": [len(flagged), 10, 20],
        "wrong among them": [
            len(flagged & truth), *(int(ranked["prompt"].head(size).isin(truth).sum()) for size in (10, 20)),
        ],
    },
    index=["published rule", "first 10 of the ranking", "first 20 of the ranking"],
)  # fmt: skip

# %% [markdown]
# ## A person looks
#
# The review has the first 15 suspects and 25 other prompts at random, in random order. As .html it is a page with a
# choice of verdicts; here a table, and a person who knows the truth.

# %%
folder = Path(tempfile.mkdtemp())
table = pd.read_csv(
    benchmark.review(folder / "review.csv", top=15, random=25, seed=1), dtype=str, keep_default_na=False
)
table["verdict"] = np.where(table["prompt"].isin(truth), "wrong label", "fine")
table.to_csv(folder / "verdicts.csv", index=False)
result = benchmark.reviewed(folder / "verdicts.csv", seed=1)
result

# %% [markdown]
# The precision of the flags has an interval, as 15 prompts are few. How many wrong ones remain is known from the
# random ones, roughly. The scores rise, and the interval of the difference is much narrower than that of either
# score, since both come from the same draws of P(correct).

# %%
found = int(table["prompt"].isin(truth).sum())
print(f"{found} of 10 found; in truth {10 - found} remain")
result.to_frame().set_index("system").T

# %% [markdown]
# Two systems were right about prompts where the gold answer was wrong, and the score of the large one suffered more:
# a benchmark with wrong gold answers underrates the better system. Better than to leave such prompts out is to mend
# them. Answers are clustered already, so scoring anew takes a line.

# %%
mended = dict.fromkeys(table.loc[table["verdict"] == "wrong label", "prompt"], "0")
frame["gold"] = frame["prompt"].map(mended).fillna(frame["gold"])
frame["correct"] = (frame["answer"] == frame["gold"]).astype(int)
frame.groupby("system")["correct"].mean()
