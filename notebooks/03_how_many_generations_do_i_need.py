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
# # How many generations do I need?
#
# *A 3B system answered the 30 prompts of AIME 2024, eight times each. The score shall be known within a percentage
# point. How many more generations does that take, on which prompts, and when may we stop?*
#
# In fact the system answered every prompt 50 times. So we can plan from the first eight generations, and then look at
# what the other 42 brought. The answers come with the package.

# %%
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import bayeseval as be
from bayeseval import metrics

pd.options.display.float_format = "{:.4f}".format
answers = be.example("aime24-50", kind="outcomes").to_frame()
answers = answers[answers["system"] == "llama-3b-instruct-step800"]


def generations(first, last):
    """The recorded generations of every prompt, from one number up to, but without, another."""
    chosen = answers["generation"].between(first, last, inclusive="left")
    return be.Outcomes.from_frame(answers[chosen], quiet=True)


pilot = be.fit(generations(0, 8), engine="quadrature", seed=1, progress=False)
pilot

# %% [markdown]
# Two intervals for two questions. Were these 30 prompts asked for ever, what share of the answers would be correct
# (benchmark)? And on prompts like these (population)? The warning belongs to the second: five answers in 240 were
# correct, on three prompts, and what little is known about other prompts is in part the prior.
#
# ## These prompts
#
# A percentage point either way is an interval 0.02 wide. The plan draws 500 futures from the posterior, for each of a
# ladder of numbers of generations, fits each future anew, and counts those whose interval is narrow enough.

# %%
plan = be.plan(pilot, width=0.02, estimand="benchmark", progress=False)
plan

# %%
ax = plan.plot()

# %% [markdown]
# The band matters as much as the line. Where few answers are correct, the width depends on how many will be, and the
# pilot has seen five. So the plan does not promise a width. It gives the smallest number of generations with which the
# target is met in four of five futures; `assurance=0.95` asks for more.

# %%
ax = plan.plot_assurance()

# %% [markdown]
# ## What came
#
# All 50 generations were run, so for each number of them we know how wide the interval became.

# %%
ladder = [8, 12, 16, 20, 24, plan.k, 32, 40, 50]
ahead = be.plan(pilot, width=0.02, estimand="benchmark", generations=ladder, progress=False)
fits = {k: be.fit(generations(0, k), engine="quadrature", seed=1, progress=False) for k in ladder}
seen = np.array([fits[k].mean("benchmark").width for k in ladder])
ax = ahead.plot()
ax.plot(ladder, seen, "D", color="black", markersize=5, zorder=5)
ax.text(0.98, 0.94, "diamonds: what came", transform=ax.transAxes, ha="right", va="top")
table = ahead.to_frame()[["generations", "width_lower", "width", "width_upper", "assurance"]].assign(seen=seen)
table

# %%
met = next((k for k, width in zip(ladder, seen, strict=True) if width <= 0.02), None)
final = fits[50].mean("benchmark")
print(
    f"planned: {plan.k} generations for a width of 0.02, with probability {plan.assurance:g}\n"
    f"width seen with {plan.k}: {seen[ladder.index(plan.k)]:.4f}; first of these numbers that reached 0.02: {met}\n"
    f"score after the pilot {pilot.mean('benchmark').value:.4f}, after all 50 generations {final.value:.4f}"
)

# %% [markdown]
# The plan fell short by a little. The system turned out somewhat better than its first eight generations, and scores
# nearer to one half are noisier. An assurance of 0.8 allows for that in one case of five; all widths keep within the
# band or at its edge. There are two remedies: more assurance, or looking while the run goes on, as below.
#
# ## Prompts like these
#
# For the other question 30 prompts are too few, and no number of generations mends that.

# %%
be.plan(pilot, width=0.06, progress=False)

# %%
ax = be.plan(pilot, width=0.06, progress=False).plot()

# %% [markdown]
# The dotted line is the floor: the width that would remain, in the median, if P(correct) of every prompt were known.
# Eight generations have come close to it, and the other 42 changed little:

# %%
widths = {f"{k} generations": fits[k].mean().width for k in (8, 24, 50)}
pd.Series(widths, name="width, prompts like these").to_frame()

# %% [markdown]
# ## More prompts, or more generations?
#
# Suppose that a fresh prompt of this kind costs 5 dollars to write and check, and a generation 50 cents. `frontier`
# finds, for each number of generations, how many prompts the target needs, and what that costs.

# %%
cost = be.Cost(prompt=5, generation=0.5, unit="$")
cheapest = be.frontier(pilot, cost, width=0.06, progress=False)
print(cheapest.sentence())
ax = cheapest.plot()

# %% [markdown]
# The optimum is flat: a few generations more or less cost little, dozens cost a multiple. Where it lies depends on two
# numbers, the ratio of the two costs and how much prompts differ.

# %% [markdown]
# ## Which prompts?
#
# Back to these 30. Three of them were solved at least once, and most of what is uncertain about the score lies there.
# `allocate` gives 600 more generations to where they are expected to tell most.

# %%
chosen = be.allocate(pilot, budget=600)
print(chosen.sentence())
ax = chosen.plot()

# %% [markdown]
# What a harness needs is a table of prompts and numbers.

# %%
path = chosen.write(Path(tempfile.mkdtemp()) / "next.csv")
pd.read_csv(path).sort_values("extra", ascending=False).head(8)

# %% [markdown]
# With generations given by what was seen, the mean of the shares of correct answers is biased; the posterior is not, as
# long as its model describes the prompts. See "Which prompts deserve the next generations".
#
# ## Looking while the run goes on
#
# Who may stop at any time need not plan exactly. Here the system is a recording: it gives the next four generations of
# every prompt. Put your own system in its place, and the loop stays.

# %%
have, post = 8, pilot
looks = be.Looks(be.stop_at_width(0.02, estimand="benchmark"), most=1500).add(post)
while not looks.stop:
    post, have = post.update(generations(have, have + 4), progress=False), have + 4
    looks = looks.add(post)
print(looks)
ax = looks.plot()

# %% [markdown]
# The loop stops when the interval is narrow enough, whatever the plan had hoped for. A rule on the width hardly
# disturbs coverage; rules on a direction do, and "When to stop" counts how much.
#
# ## Does it work on other data?
#
# Nineteen systems answered GSM8K ten times
# ([arXiv:2502.01754](https://arxiv.org/abs/2502.01754)). The repository states no licence, so bayeseval does not ship
# the answers. Where a folder `shared` with the data lies beside the checkout, here is one of them: planned from four
# generations, seen at ten.

# %%
places = [folder / "shared/data/coupled-gsm8k/outcomes.parquet" for folder in [Path.cwd(), *Path.cwd().parents]]
file = next((place for place in places if place.is_file()), None)


def planned_and_seen(rows):
    """Width of the interval at ten generations: predicted from the first four, and seen."""
    y = rows.sort_values(["prompt_id", "generation"])["correct"].to_numpy().astype(int).reshape(-1, 10)
    few, full = (
        be.fit(
            be.Counts.from_arrays(y[:, :k].sum(axis=1), k, system="Llama-3.2-3B-Instruct", benchmark="GSM8K"),
            engine="quadrature", seed=1, progress=False,
        )
        for k in (4, 10)
    )  # fmt: skip
    for score in (metrics.mean(), metrics.pass_at(4)):
        for estimand in ("population", "benchmark"):
            ahead = be.plan(few, 0.05, score=score, estimand=estimand, generations=[10], futures=100, progress=False)
            row = ahead.curve.iloc[0]
            yield {
                "score": score.name,
                "estimand": estimand,
                "predicted": row["width"],
                "lower": row["width_lower"],
                "upper": row["width_upper"],
                "seen": full.score(score, estimand, method=ahead.method).width,
            }


if file is None:
    print(
        "The answers are not here, so this part is left out. The page 'Planning sample budgets' shows all 19 systems."
    )
else:
    rows = pd.read_parquet(file)
    rows = rows[(rows["model"] == "Llama-3.2-3B-Instruct") & (rows["condition"] == "independent")]
    print(pd.DataFrame(planned_and_seen(rows)).to_string(index=False))

# %% [markdown]
# All 19 systems, and what is off where, are on the page "Planning sample budgets".
#
# ## What to write in a proposal

# %%
print(plan.sentence())

# %% [markdown]
# In short:
#
# - Say which question. For *these prompts* generations are all that counts; for *prompts like these* look at the floor
#   first.
# - A plan is a probability. Take an assurance that you can live with, or look while the run goes on.
# - Few generations on many prompts are mostly the cheaper way to a population score.
# - The plan assumes that the model of the pilot is right and that the system stays what it was.
