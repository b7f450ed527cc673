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
# # When one Beta is not enough
#
# *A 3B system answered the 14,042 questions of MMLU, ten times each. The default model is fitted, and its check fails.
# Does it matter? What then? And what may be said of the 57 subjects, and of pass@k beyond ten attempts?*
#
# A model says how P(correct), the chance of a correct answer, spreads over prompts. The default takes a Beta
# distribution. With thirty prompts nobody can tell whether that is right. With fourteen thousand the data can, and they
# do.
#
# ## The data
#
# The answers are those published with "Evaluation of Large Language Models via Coupled Token Generation"
# ([arXiv:2502.01754](https://arxiv.org/abs/2502.01754)): three Llama systems, of which this notebook takes one, with
# independent generations. The repository states no licence, so bayeseval does not ship them. Where a folder `shared`
# with the data lies beside the checkout they are read from there. Elsewhere the notebook runs on **simulated** counts
# of a similar shape, and says so; the text below speaks of the real ones.

# %%
from pathlib import Path

import numpy as np
import pandas as pd

import bayeseval as be
from bayeseval import metrics, plots

pd.options.display.float_format = "{:.3f}".format


def real_counts(file):
    """One of the three systems, generations with seeds of their own."""
    rows = pd.read_csv(file, compression="gzip", dtype={"prompt_id": str})
    rows = rows[(rows["model"] == "Llama-3.2-3B-Instruct") & (rows["condition"] == "independent")]
    return be.Counts.from_frame(
        rows[["model", "prompt_id", "subject", "n", "c"]].assign(benchmark="MMLU"), group="subject", quiet=True
    )


def simulated_counts(seed=1):
    """Two kinds of prompts, hard ones and easy ones; a subject has more of the one or of the other."""
    rng = np.random.default_rng(seed)
    subject = np.repeat([f"subject {number:02d}" for number in range(1, 58)], 100)
    easy = np.repeat(rng.beta(4, 4, 57), 100) > rng.random(subject.size)
    p = np.where(easy, rng.beta(6, 0.6, subject.size), rng.beta(0.5, 1.5, subject.size))
    return be.Counts.from_arrays(
        rng.binomial(10, p), 10, system="simulated", benchmark="SIMULATED, not MMLU", group=subject
    )


places = [folder / "shared/data/coupled-mmlu/counts.csv.gz" for folder in [Path.cwd(), *Path.cwd().parents]]
file = next((place for place in places if place.is_file()), None)
if file is None:
    print("SIMULATED DATA: the real ones are not here, and no number below says anything about a real system.")
counts = simulated_counts() if file is None else real_counts(file)
counts

# %% [markdown]
# ## One Beta
#
# The exact engine does the default model in a second, whatever the number of prompts.

# %%
one = be.fit(counts, engine="quadrature", seed=1, progress=False)
one.check()

# %%
ax = one.check().plot()

# %% [markdown]
# The figure shows how many prompts had 0, 1, … 10 correct answers, and what the model expects. It misses nearly
# everywhere: it expects too many prompts with no correct answer and too few with one or two, too many with eight or
# nine and too few with ten.
#
# Does it matter? That depends on the question. Here are both, with the estimates that ask nothing of any shape.

# %%
moments = be.moments(counts).to_frame().iloc[0]
rows = {}
for estimand, words in (("population", "prompts like these"), ("benchmark", "these prompts")):
    rows[f"{words}: unbiased estimate"] = moments["mean"], moments[f"se_{estimand}"]
    for method, what in (("model", "one Beta"), ("robust", "robust")):
        score = one.mean(estimand, method=method)
        rows[f"{words}: {what}"] = score.value, score.sd
table = pd.DataFrame(rows, index=["mean", "standard error"]).T
table["errors from the estimate"] = (table["mean"] - moments["mean"]) / table["standard error"]
table

# %% [markdown]
# - **These prompts** (benchmark): one Beta does little harm, about one standard error, a tenth of a percentage point.
#   Each prompt has ten generations of its own, and the shape only decides how they are smoothed.
# - **Prompts like these** (population): the mean of the fitted Beta is several standard errors from what was seen, and
#   its interval, which looks as narrow as it should be, does not hold it. The mean of the Beta is tied to its shape:
#   the curve that comes closest to the histogram has the wrong mean.
#
# This is why a failed check makes the *robust* score the headline of both, without being asked. It is a repair for the
# mean. It does not tell what the shape is, and pass@k beyond the data needs a shape. The message names other families;
# let us look at them.
#
# ## Other families
#
# Four families, fitted at once. A list of models gives a stack: all of them, and weights under which their mixture
# predicts a left-out prompt best. 500 draws from each of four chains are enough here; the default is 1,000.

# %%
families = ["beta_binomial", "zero_one_inflated", "logit_normal", "beta_mixture"]
stack = be.fit(counts, model=families, engine="quadrature", draws=500, seed=1, progress=False)
stack.comparison

# %%
ax = plots.plot_families(stack)

# %% [markdown]
# Three families miss the histogram in ways that chance does not explain, each in its own way. The mixture of two Betas,
# hard prompts and easy ones, keeps within what chance does everywhere, passes its check, and predicts left-out prompts
# better by dozens of units of log density. What are the two kinds?

# %%
mixture = stack.members[families.index("beta_mixture")]
draws = mixture.parameters
pd.DataFrame(
    {
        "share of prompts": draws["weight"].mean(axis=(0, 1)),
        "mean of P(correct)": draws["mu"].mean(axis=(0, 1)),
        "correlation": draws["rho"].mean(axis=(0, 1)),
    },
    index=["harder kind", "easier kind"],
)

# %%
ax = mixture.plot()

# %% [markdown]
# Do not read more into the two kinds than that. The mixture is a flexible shape; other mixtures would do as well.
#
# Nearly all of the weight goes to it, so that here the stack *is* the mixture. With far fewer prompts the data would
# not choose so clearly, and the stack would be the honest answer.
#
# ## What each family says
#
# For the mean, and for pass@k up to the ten generations that were run and beyond. The unbiased estimates stand beside
# it; there are none beyond ten.

# %%
spread = stack.spread([1, 4, 10, 40, 100])
table = spread.pivot(index="model", columns="score", values="value")[list(dict.fromkeys(spread["score"]))]
unbiased = [metric.estimate(counts.correct, counts.generations).mean() for metric in map(metrics.pass_at, (1, 4, 10))]
table.loc["unbiased estimate"] = [*unbiased, np.nan, np.nan]
table

# %%
ax = stack.plot_spread()

# %% [markdown]
# Within the data, the families that fail are off by up to two percentage points, more than their intervals allow for.
# Beyond the data they part further: how fast pass@k still grows depends on how many prompts have a *small* P(correct)
# and how many have none, and ten generations do not tell the two apart. Beyond ten times the data no interval is given.
#
# The mixture passes every check, and still its pass@40 is an extrapolation. A score says so, and says what the other
# families would have said.

# %%
stack.pass_at(40)

# %% [markdown]
# A warning from multiple choice: guessing has a chance of one in four, and with enough attempts it solves everything.
# pass@40 of a multiple-choice benchmark is an example here, not a recommendation.
#
# ## Subjects
#
# MMLU has 57 subjects, some with a hundred questions. `grouped` gives each subject a Beta of its own, and lets them
# learn from each other how different subjects are: a subject with few questions is drawn towards the others, one with
# many speaks for itself.

# %%
subjects = be.fit(counts, model="grouped", seed=1, progress=False)
subjects.check()

# %% [markdown]
# The chains agree. The check fails as that of one Beta did, though less: within a subject, too, prompts come in more
# kinds than one Beta has. So the score of the benchmark's own prompts is to be trusted, and that of fresh prompts with
# care. `groups()` has both. The draws behind the first are those of the model's benchmark score: weighted by their
# prompts, the subjects give it back.

# %%
groups = subjects.groups().sort_values("mean", ascending=False)
columns = ["group", "prompts", "raw_mean", "mean", "lower", "upper", "population_mean"]
columns += ["population_lower", "population_upper"]
pd.concat([groups.head(3), groups.tail(3)])[columns]

# %%
ax = plots.plot_groups(subjects, estimand="population")

# %% [markdown]
# An interval for *prompts like these of one subject* is some ten percentage points wide where a subject has a hundred
# questions. Most neighbours in the ranking cannot be told apart, and ten generations or a thousand would not change
# that. For the subject's own prompts the intervals are narrower:

# %%
width = (groups["upper"] - groups["lower"]).median(), (groups["population_upper"] - groups["population_lower"]).median()
print(f"median width of the 95% interval of a subject: these prompts {width[0]:.3f}, prompts like these {width[1]:.3f}")

# %% [markdown]
# Groups and clusters are not the same. Subjects are fixed: the next MMLU would have the same 57, and `grouped` keeps
# them in their shares. Had the subjects themselves been drawn from many, and the claim were about *other* subjects,
# then 57 would be the sample size, and `clustered` the model. See "Choosing a model".
#
# ## How much is the prior?
#
# With fourteen thousand prompts next to nothing. So let us ask it of the hundred questions of the hardest subject,
# fitted alone. The model is fitted again under the other priors that its file names.

# %%
hardest = groups["group"].iloc[-1]
small = be.Counts.from_frame(counts.to_frame()[counts.group == hardest], quiet=True)
alone = be.fit(small, engine="quadrature", seed=1, progress=False)
be.prior_sensitivity(alone, [metrics.pass_at(10)], progress=False)

# %% [markdown]
# Here, too, it moves the scores by no more than the noise of the draws: ten generations of a hundred prompts say more
# than the prior. What moves them is the company that a subject is fitted in, which is a prior learnt from the others:

# %%
row = groups.iloc[-1]
score = alone.mean(method="model")
print(f"{hardest}, prompts like these, alone: {score.value:.3f} [{score.lower:.3f}, {score.upper:.3f}]")
print(
    f"{hardest}, prompts like these, with the others: {row['population_mean']:.3f} "
    f"[{row['population_lower']:.3f}, {row['population_upper']:.3f}]"
)

# %% [markdown]
# ## What to report

# %%
here, there = stack.mean("benchmark"), stack.mean()
best, second = stack.comparison.rows[:2]
print(
    f"{here.system} scores {here.value:.1%} on the {here.n_prompts:,} prompts of {here.benchmark} "
    f"({here.prob:.0%} credible interval {here.lower:.1%} to {here.upper:.1%}; 10 generations per prompt), and "
    f"{there.value:.1%} ({there.lower:.1%} to {there.upper:.1%}) on prompts like these. Four families of the "
    f"distribution of P(correct) were compared by leave-one-prompt-out predictive density; {best.model} predicts best, "
    f"ahead of {second.model} by {-second.elpd_diff:.0f} nats (standard error {second.se_diff:.0f}), and "
    f"{'fails' if best.misfit else 'passes'} its predictive check."
)

# %% [markdown]
# In short:
#
# - The mean of *these prompts* hardly depends on the family. Report it, and say that it is about these prompts.
# - For *prompts like these*, look at the check. Where it fails, the robust mean is the headline; a family that passes
#   says more.
# - pass@k beyond the generations that were run belongs to the family. Name it, and give the spread.
# - A subject's score needs its interval more than its rank.
