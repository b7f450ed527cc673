"""Cost frontiers: the optimum of theory, targets met, budgets kept, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import bayeseval as be
from bayeseval.planning.costs import optimal_generations
from tests.oracles import oracle_rows
from tests.test_planning import pilot


def known(mu=0.5, rho=0.2, draws=50):
    """A pilot that knows mu and rho almost exactly."""
    return be.pilot_from_prior(
        prior={"mu": (mu * 1e6, (1 - mu) * 1e6), "rho": (rho * 1e6, (1 - rho) * 1e6)}, draws=draws
    )


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("optimal_k_cost"))
def test_optimal_generations_equals_the_oracle(quantity, inputs, value):
    cost = be.Cost(prompt=inputs["cost_prompt"], generation=inputs["cost_generation"])
    assert optimal_generations(cost, inputs["rho"]) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("prompt", "rho"), [(5, 0.2), (20, 0.5), (0, 0.3)])
def test_the_simulated_optimum_costs_what_theory_says(prompt, rho):
    """Against the analytic cost n(c_p + k c_g), n = (omega / k + sigma²) / sd², at its best integer k."""
    target, mu = 0.01, 0.5
    cost = be.Cost(prompt=prompt)
    found = be.frontier(
        known(mu, rho), cost, sd=target, assurance=0.5, generations=[1, 2, 3, 4, 5, 6, 9], futures=60, progress=False
    )
    k = np.arange(1, 20)
    needed = mu * (1 - mu) * (rho + (1 - rho) / k) / target**2
    totals = needed * (prompt + k)
    assert found.cost == pytest.approx(totals.min(), rel=0.05)
    assert totals[found.k - 1] == pytest.approx(totals.min(), rel=0.05)
    table = found.to_frame()
    assert table["n_prompts"].to_numpy() == pytest.approx(needed[table["generations"] - 1], rel=0.05)
    # known p_i say more about the mean of a Beta than their plain average does, most where the Beta has two horns
    of_plain_mean = mu * (1 - mu) * rho / target**2
    assert 0.75 * of_plain_mean < found.least_prompts < 1.02 * of_plain_mean


def test_designs_meet_the_target_with_the_probability_asked():
    post, _ = pilot(n=60, k=6)
    found = be.frontier(post, be.Cost(prompt=3), width=0.1, generations=[1, 4, 16], futures=200, progress=False)
    table = found.to_frame()
    assert table["feasible"].all()
    assert (table["assurance"] >= 0.8).all()
    assert table["assurance"].iloc[-1] < 0.9
    n = int(table["n_prompts"].iloc[-1])
    again = be.plan(post, 0.1, prompts="fresh", n_prompts=n, generations=[16], seed=9, progress=False)
    assert again.curve["assurance"].iloc[0] == pytest.approx(0.8, abs=0.1)
    assert (table["n_prompts"].diff().dropna() < 0).all()
    assert f"{found.n_prompts:,} fresh prompts" in found.sentence()


def test_when_prompts_run_out_money_can_only_go_to_generations():
    post, _ = pilot(n=60, k=6)
    free = be.frontier(post, be.Cost(), width=0.1, generations=[1, 2, 4, 16], futures=60, progress=False)
    assert free.k == 1
    few = be.frontier(
        post, be.Cost(), width=0.1, most_prompts=int(0.9 * free.n_prompts), generations=[1, 2, 4, 16], futures=60,
        progress=False,
    )  # fmt: skip
    assert few.k == 2
    none = be.frontier(post, be.Cost(), width=0.1, most_prompts=50, generations=[1, 16], futures=60, progress=False)
    assert none.k is None and none.cost is None
    assert "no design with up to 50 prompts" in none.sentence()
    assert "endless generations need about" in none.sentence()


def test_a_budget_is_spent_and_not_exceeded():
    post, _ = pilot(n=60, k=6)
    found = be.frontier(post, be.Cost(prompt=4), budget=3000, generations=[1, 2, 4, 8], futures=60, progress=False)
    table = found.to_frame()
    assert (table["cost"] <= 3000).all() and (table["cost"] > 3000 - 12).all()
    assert found.n_prompts == table.set_index("generations").loc[found.k, "n_prompts"]
    assert table["width"].min() == table.set_index("generations").loc[found.k, "width"]
    assert "3,000 go furthest" in found.sentence()


def test_very_many_prompts_are_scaled(monkeypatch):
    monkeypatch.setattr("bayeseval.planning.designs.MOST_SIMULATED", 400)
    found = be.frontier(known(), be.Cost(), sd=0.005, assurance=0.5, generations=[4], futures=60, progress=False)
    assert found.n_prompts == pytest.approx(0.25 * (0.2 + 0.8 / 4) / 0.005**2, rel=0.05)


def test_other_scores_have_frontiers():
    post, _ = pilot(n=60, k=6)
    found = be.frontier(
        post, be.Cost(prompt=2), width=0.15, score=be.metrics.pass_at(4), generations=[4, 8], futures=40, progress=False
    )
    assert found.score == "pass@4"
    assert found.k in (4, 8)


def test_costs_of_time_count_rounds():
    cost = be.Cost.of_time(seconds=3600, parallel=10)
    assert cost.total(5, 1) == 1
    assert cost.total(11, 1) == 2
    assert cost.affordable(2.0, 1) == 20
    assert be.Cost(unit="$").words(1234.5) == "$1,234" and cost.words(2) == "2 hours"
    cached = be.Cost.of_tokens(prompt_tokens=1e6, generation_tokens=1e6, input_price=1, output_price=2, cached=True)
    assert cached.total(1, 3) == pytest.approx(7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda post: be.Cost(generation=0), "must cost something"),
        (lambda post: be.Cost(prompt=-1), "less than nothing"),
        (lambda post: be.Cost(generation=float("nan")), "finite number"),
        (lambda post: be.frontier(post, 5, width=0.1), "be.Cost"),
        (lambda post: be.frontier(post, be.Cost()), "give one of"),
        (lambda post: be.frontier(post, be.Cost(), width=0.1, budget=10), "give one of"),
        (lambda post: be.frontier(post, be.Cost(), budget=1), "does not pay for two prompts"),
        (lambda post: be.frontier(post, be.Cost(), budget=0), "above 0"),
        (lambda post: be.frontier(post, be.Cost(), width=0.1, generations=[]), "generations is empty"),
        (lambda post: be.frontier(post, be.Cost(), width=0.1, most_prompts=0), "most_prompts"),
    ],
)
def test_questions_that_make_no_sense_are_refused(call, message):
    post, _ = pilot(n=5)
    with pytest.raises(be.BayesevalError, match=message):
        call(post)
