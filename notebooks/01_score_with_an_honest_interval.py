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
# # A score with an honest interval
#
# *Two checkpoints of a 3B system answered the 30 prompts of AIME 2024, 50 times each. About one answer in forty was
# correct. Which score, and which interval, may the paper print?*
#
# The answer depends on which of two questions is meant. How would the system score **on these 30 prompts**, could we
# ask for ever? Or how does it score **on prompts like these**, of which these 30 are all we have? The first is known
# within a percentage point. The second is not, and no number of further generations will change that.
#
# Everything here runs on data that come with the package, in less than a minute.

# %%
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import bayeseval as be
from bayeseval import metrics, plots

scratch = Path(tempfile.mkdtemp())  # for the files that this notebook writes

# %% [markdown]
# ## The data
#
# Everything starts from counts: for each prompt, how many generations were run, and how many of them were correct.

# %%
counts = be.example("aime24-50")
counts

# %% [markdown]
# Your own results come in through `be.read`: a CSV, JSON Lines, Parquet or NPZ file, a folder of them, or a data frame,
# with one row a generation or one row a prompt. The common column names are recognised. What was taken for what is
# printed, so that a wrong guess does not stay hidden, and each choice can be overridden.

# %%
results = pd.DataFrame(
    {
        "model_name": "my-system",
        "task": "ten sums",
        "question_id": range(10),
        "num_samples": 8,
        "n_correct": [8, 8, 7, 0, 3, 8, 0, 1, 5, 8],
    }
)
mine = be.read(results)
mine

# %% [markdown]
# ## What papers print
#
# `be.moments` gives the estimators in use: the mean, the part of its variance that comes from generation noise and the
# part that comes from prompts being unequally hard, and the two standard errors that belong to the two questions.

# %%
be.moments(counts)

# %% [markdown]
# The usual intervals, mean ± a multiple of the standard error, are refused for both questions, and the reasons are
# given. The theorem behind them needs many successes and many failures. One answer to each of the 30 prompts would here
# bring less than one success, and fewer than ten prompts were answered both rightly and wrongly.
#
# ## Fit
#
# The default model says that each prompt has its own probability of a correct answer, P(correct), and that these
# probabilities follow one Beta distribution over prompts. Its mean and its spread are unknown, and estimated. Sampling
# is by NUTS. The program is compiled on first use and kept, so that later fits of this kind need not wait for it.

# %%
posts = be.fit(counts, seed=1, progress=False)
posts

# %% [markdown]
# Each run, a system on a benchmark, has two lines: *population* means prompts like these, *benchmark* means these
# prompts. The warnings will be taken up in a moment. First, did the sampler work, and does the model describe the data?

# %%
post = posts.select(system="llama-3b-instruct-step800")
post.check()

# %% [markdown]
# R-hat near 1, thousands of effective draws and no divergences: the chains agree. For this model the posterior can also
# be computed without sampling, and the draws are compared with that. A distance of one or two Monte Carlo standard
# errors (MCSE) is what chance gives.
#
# The figure shows how many prompts had 0, 1, 2, … correct answers, and what the fitted model expects. A point or two
# outside a 95% band is no alarm where there are 51 points.

# %%
ax = post.check().plot()

# %% [markdown]
# The sampler is fine, and the counts look like counts from the model. Yet the warning stands: **the posterior mean of
# the population score, 0.04, lies well above the share of correct answers, 0.027.** Thirty prompts, most of them never
# solved, cannot rule out that prompts like these include a few that the system solves often, and the prior leaves room
# for that. The second answer to the same question, called *robust*, weights the 30 fitted prompts by a Bayesian
# bootstrap. It asks nothing of the shape of the distribution, and knows of no other prompts than those 30.

# %%
ax = post.mean().plot()

# %% [markdown]
# They differ because these data do not say which one to believe, and a paper should say so. With more prompts solved
# the two come together. Where the model fails its check, the robust one becomes the headline, as we shall see.
#
# ## All the scores, for both questions
#
# A score asks something of one or several attempts at a prompt:
#
# - **mean**: one attempt is correct. This is the usual score.
# - **pass@k**: at least one of k attempts is correct. What the system *can* do, if something picks the right answer.
# - **pass^k**: all k attempts are correct. What it does *reliably*.
# - **G-Pass@k** with threshold τ: at least a share τ of k attempts is correct. τ = 1 gives pass^k, τ = 0 pass@k.
# - **mG-Pass@k**: the average of G-Pass@k over thresholds from one half to one.

# %%
chosen = [
    metrics.mean(),
    metrics.pass_at(16),
    metrics.pass_hat(4),
    metrics.g_pass(16, "0.5"),
    metrics.mg_pass(16),
]
post.scores(chosen)

# %% [markdown]
# `post.pass_at(16)` and its relatives give one score at a time, with `.value`, `.lower`, `.upper` and `.draws`. There
# is a curve for pass@k and pass^k together; the distance between the two is how unstable the answers are.

# %%
post.pass_at(16, estimand="benchmark")

# %%
ax = plots.plot_pass_curve(post, estimand="benchmark", max_k=200)

# %% [markdown]
# Beyond the 50 generations that were run, shaded in the figure, a score is an extrapolation, and says so. How fast
# pass@k still grows out there depends on how many prompts have a *tiny* P(correct) and how many have none, which 50
# generations do not show: the shape of the model decides. Beyond ten times the generations no interval is given.

# %%
far = [metrics.pass_at(50), metrics.pass_at(128), metrics.pass_at(1000)]
post.scores(far, estimand="population")

# %% [markdown]
# Within the 50 generations there are unbiased estimates to compare with, which ask nothing of any shape. They are what
# papers print as pass@k. For k close to 50 it is worth a look whether the posterior agrees with them, since a prompt
# that was never solved counts there with what the model expects of it.

# %%
be.metric_estimates(post.counts, [metrics.pass_at(16), metrics.pass_at(50), metrics.pass_hat(4)])

# %%
post.scores([metrics.pass_at(16), metrics.pass_at(50), metrics.pass_hat(4)], estimand="benchmark")

# %% [markdown]
# ## Prompt by prompt
#
# The same draws give P(correct) of every prompt. Prompts lend each other strength: a prompt that was never solved is
# not declared impossible, and a prompt with 12 of 50 is drawn a little towards the others. The less was run on a
# prompt, the further it is drawn.

# %%
post.prompts().sort_values("mean", ascending=False).head(8).round(3)

# %% [markdown]
# ## Beside the usual intervals
#
# `be.compare_intervals` puts the posterior beside what papers print. The "naive pooled" interval treats the 1,500
# answers as independent, as if each had a prompt of its own.

# %%
comparison = be.compare_intervals(post)
comparison

# %%
ax = comparison.plot()

# %% [markdown]
# The naive interval happens to lie close to the one for *these* prompts. Read as a statement about prompts like these,
# as standard errors in papers usually are, it claims far too much: 1,500 answers, but only 30 prompts.
#
# ## When the model does not describe the data
#
# One Beta is a convenient shape, not a law. Suppose prompts come in two kinds: one in seven is solved nearly always,
# P(correct) = 0.95, and the rest nearly never, P(correct) = 0.02. We simulate 300 prompts with 32 generations each, so
# the truth is known.

# %%
truth = 0.15 * 0.95 + 0.85 * 0.02


def two_kinds(seed):
    """Counts of 300 prompts of two kinds, 32 generations each."""
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(300) < 0.15, 0.95, 0.02)
    correct = rng.binomial(32, p)
    return be.Counts.from_arrays(correct, 32, system="simulated", benchmark="two kinds")


odd = be.fit(two_kinds(seed=0), engine="quadrature", seed=1)
print(f"truth: {truth:.4f}")
odd.mean()

# %% [markdown]
# The check has fired, the result says so first, and the headline is the robust score. The score of the model itself is
# still there to look at. Its interval is narrow, and lies beside the truth: the Beta that comes closest to these counts
# has the wrong mean.

# %%
odd.mean(method="model")

# %%
ax = odd.check().plot()

# %% [markdown]
# One simulated data set proves little. Here are 50 of them. The exact engine makes this quick: it computes the
# posterior of this two-parameter model on a grid, without sampling.

# %%
covered = {"model": 0, "robust": 0}
fired = 0
for seed in range(50):
    fit = be.fit(two_kinds(seed), engine="quadrature", draws=250)
    fired += fit.check().misfit
    headline = fit.mean()
    for score in (headline, headline.other):
        covered[score.method] += score.lower <= truth <= score.upper
print(f"the check fired in {fired} of 50 data sets")
print("the truth lay inside the 95% interval in", covered)

# %% [markdown]
# So the check is worth believing, and so is the robust interval. The mean of the *benchmark*, these prompts, hardly
# depends on the shape here, because each prompt has 32 generations of its own to speak for it.
#
# ## Priors
#
# What does the default expect before it has seen data? Means between 0 and 1 alike, and often a U: many prompts always
# solved, many never.

# %%
be.prior_predictive()

# %% [markdown]
# For a rare success the prior matters, as the warning said. Changing it is one argument, and the honest thing is to
# show what it does. The population score moves with it; the score of these prompts does not.

# %%
step800 = counts.select(system="llama-3b-instruct-step800")
priors = {
    "default: uniform on μ and ρ": {},
    "μ ~ Beta(½, ½)": {"mu": (0.5, 0.5)},
    "ρ ~ Beta(2, 2)": {"rho": (2, 2)},
    "μ ~ Beta(1, 9): most prompts too hard": {"mu": (1, 9)},
}
rows = {}
for name, prior in priors.items():
    fit = be.fit(step800, prior=prior, engine="quadrature", seed=1)
    for score in (fit.mean(), fit.mean("benchmark")):
        rows[name, score.estimand] = {"value": score.value, "lower": score.lower, "upper": score.upper}
pd.DataFrame(rows).T.round(3)

# %% [markdown]
# ## A model of your own
#
# A model is one short Python file. Copy one, change it, have it checked, and fit it by its path. Here the copy gets
# another prior written into it; any other change goes the same way.

# %%
path = be.copy_model("beta_binomial", scratch / "my_model.py")
text = path.read_text(encoding="utf-8")
text = text.replace('PRIOR = {"mu": (1.0, 1.0)', 'PRIOR = {"mu": (0.5, 0.5)')
path.write_text(text, encoding="utf-8")
be.check_model(path)

# %%
be.fit(step800, model=path, engine="quadrature", seed=1).mean("benchmark")

# %% [markdown]
# ## How many generations does the next run need?
#
# A plan simulates what could come. From the posterior it draws a P(correct) for each prompt, draws the generations
# still to be run, fits again, and looks how wide the interval is. The answer is the smallest number of generations with
# which four futures in five are narrow enough. Say the score on these prompts shall be known within ±0.005.

# %%
same = be.plan(post, width=0.01, estimand="benchmark", progress=False)
print(same.sentence())
ax = same.plot()

# %% [markdown]
# For prompts like these the answer is another one. The interval cannot fall below a floor that the number of prompts
# sets, however many generations are run, and the plan says what would help: more prompts.

# %%
print(be.plan(post, width=0.03, progress=False).sentence())

# %% [markdown]
# So plan for fresh prompts instead: 400 of them, with 1, 2, 4, … generations each. The pilot tells how they may differ,
# and is then set aside.

# %%
fresh = be.plan(
    post,
    width=0.05,
    prompts="fresh",
    n_prompts=400,
    generations=[1, 2, 4, 8, 16, 32],
    progress=False,
)
print(fresh.sentence())
ax = fresh.plot()

# %% [markdown]
# The curve is nearly flat from a few generations on. About prompts like these, 400 of them with one generation each
# would tell more than these 30 with any number.
#
# ## Many runs at once
#
# The same calls take a whole leaderboard. The two AIME 2025 papers were answered 4 times a prompt by 16 and by 19
# systems: 35 runs. With the exact engine this takes a few seconds.

# %%
board = be.fit(be.example("matharena-aime2025"), engine="quadrature", seed=1, progress=False)
ax = board.plot()

# %% [markdown]
# With 15 prompts most of the intervals overlap. That alone does not say that two systems cannot be told apart: they
# answered the *same* prompts, and their difference is known better than each score. But it shows how little 15 prompts
# say about prompts like these. `to_frame()` has all numbers, for both questions.

# %%
frame = board.to_frame()
columns = ["benchmark", "system", "estimand", "value", "lower", "upper"]
frame.loc[frame["headline"], columns].round(2).head(6)

# %% [markdown]
# ## Keep and report
#
# A posterior is saved as NetCDF, with its data, its seed, the versions, and the digest of the model file. What is read
# back answers every question as before. `post.data` has ArviZ's groups, so that `arviz_stats` can be asked too.

# %%
file = post.save(scratch / "step800.nc")
again = be.load(file)
print("same score:", again.mean("benchmark").value == post.mean("benchmark").value)
print("groups:", ", ".join(again.data.children))

# %% [markdown]
# A report is one self-contained HTML file: scores for both questions, what speaks against them, the usual intervals,
# checks, prompts, plan, and how all of it was made. With the ending `.json` the same numbers are written for programs.

# %%
page = be.report(posts, scratch / "report.html", plans=[same])
numbers = be.report(posts, scratch / "report.json", plans=[same])
for written in (page, numbers):
    print(f"{written.name}: {written.stat().st_size / 1000:.0f} kB")

# %% [markdown]
# ## The sentence to publish

# %%
here, there = post.mean("benchmark"), post.mean()
print(
    f"On the {here.n_prompts} prompts of AIME 2024, {here.system} scores {here.value:.1%} "
    f"({here.prob:.0%} credible interval {here.lower:.1%} to {here.upper:.1%}; 50 generations "
    f"per prompt, hierarchical beta-binomial model). On prompts like these its score is not well "
    f"known: {there.other.lower:.1%} to {there.other.upper:.1%} by a Bayesian bootstrap over the "
    f"{here.n_prompts} prompts, {there.lower:.1%} to {there.upper:.1%} under the model with "
    f"uniform priors."
)
