"""Keyed noise and one coupled step: known answers, other generators, other libraries, exact laws."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from scipy import stats

import bayeseval as be
from bayeseval.coupling import (
    Decoding,
    Sampler,
    coupled_argmax,
    exponential_noise,
    gumbel_agreement,
    gumbel_joint,
    gumbel_noise,
    independent_agreement,
    jax_exponential,
    jax_noise_block,
    noise_block,
    noise_words,
    philox,
    row_keys,
    to_exponential,
    torch_exponential,
    torch_noise_block,
    warp,
)
from tests.oracles import oracle_rows

# Published with Random123 (tests/kat_vectors, philox4x32 10): counter, key, answer.
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]
TOKENS = np.array([0, 1, 2**32 - 1, 2**32, 2**63 + 5, 2**64 - 1], dtype=np.uint64)


def hexadecimal(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


def plain_philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox 4x32-10 with Python's whole numbers, as the paper writes it."""
    c, k = list(counter), list(key)
    for _ in range(10):
        first, second = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [second >> 32 ^ c[1] ^ k[0], second % 2**32, first >> 32 ^ c[3] ^ k[1], first % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


# the generator -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_philox_gives_the_published_answers(counter, key, answer):
    assert philox(hexadecimal(counter), hexadecimal(key)).tolist() == hexadecimal(answer)
    assert plain_philox(hexadecimal(counter), hexadecimal(key)) == hexadecimal(answer)


def test_philox_equals_whole_number_arithmetic_on_random_counters():
    rng = np.random.default_rng(1)
    counters, keys = rng.integers(0, 2**32, (200, 4)), rng.integers(0, 2**32, (200, 2))
    expected = [plain_philox(c.tolist(), k.tolist()) for c, k in zip(counters, keys, strict=True)]
    assert philox(counters, keys).tolist() == expected


def test_noise_is_philox_at_token_position_and_row():
    rows = row_keys(7, ["p", "q"], [0, 3])
    for position in (0, 3, 4, 4_001):
        words = noise_words(rows, position, TOKENS)
        for row, (k0, k1, rest) in enumerate(rows.tolist()):
            for place, token in enumerate(TOKENS.tolist()):
                counter = [token % 2**32, token >> 32, position // 4, rest]
                assert words[row, place] == plain_philox(counter, [k0, k1])[position % 4]


def test_row_keys_are_hashes_of_what_they_name_and_of_nothing_else():
    digest = hashlib.blake2b(b'[7,"p",2,null]', digest_size=12, person=b"bayeseval-1").digest()
    assert row_keys(7, ["p"], [2]).tolist()[0] == [int.from_bytes(digest[i : i + 4], "little") for i in (0, 4, 8)]
    assert (row_keys(7, [12], [2]) == row_keys(7, ["12"], [2])).all()  # ids are texts
    keys = {
        tuple(row_keys(seed, [prompt], [generation], stream=stream)[0])
        for seed in (-1, 0, 2**70)
        for prompt in ("", "1", "01", "ä\ud800")
        for generation in (0, 1, 10)
        for stream in (None, "", "a")
    }
    assert len(keys) == 3 * 4 * 3 * 3


def test_noise_depends_on_neither_batch_nor_order_nor_what_else_is_asked():
    prompts, generations = ["a", "b", "c"], [2, 0, 1]
    rows = row_keys(1, prompts, generations)
    together = noise_words(rows, [5, 9, 2], TOKENS)
    order = [2, 0, 1]
    assert (noise_words(rows[order], [2, 5, 9], TOKENS) == together[order]).all()
    assert (noise_words(rows[1:2], 9, TOKENS[3:4]) == together[1:2, 3:4]).all()
    assert (noise_words(rows, [5, 9, 2], TOKENS[::-1]) == together[:, ::-1]).all()


def test_noise_is_exponential_and_uncorrelated_along_every_key():
    noise = exponential_noise(3, "p", 0, np.arange(400), 300)
    assert stats.kstest(noise.ravel(), "expon").pvalue > 1e-3
    assert stats.kstest(gumbel_noise(4, "p", 0, np.arange(400), 300).ravel(), "gumbel_r").pvalue > 1e-3
    others = [
        exponential_noise(3, "p", 0, np.arange(400) + 400, 300),
        exponential_noise(3, "p", 1, np.arange(400), 300),
        exponential_noise(3, "q", 0, np.arange(400), 300),
        exponential_noise(4, "p", 0, np.arange(400), 300),
        exponential_noise(3, "p", 0, np.arange(400), 300, stream="a"),
        np.roll(noise, 1, axis=0),
        np.roll(noise, 1, axis=1),
    ]
    for other in others:
        assert abs(np.corrcoef(noise.ravel(), other.ravel())[0, 1]) < 4 / math.sqrt(noise.size)


def test_exponential_noise_is_finite_positive_and_falls_with_the_word():
    words = np.array([0, 1, 2**31, 2**32 - 2, 2**32 - 1], dtype=np.uint32)
    noise = to_exponential(words)
    assert (np.diff(noise) < 0).all() and noise[-1] > 0
    assert noise[0] == pytest.approx(33 * math.log(2)) and noise[-1] == pytest.approx(2.0**-33, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("1", ["p"], [0]), "seed must be a whole number, but '1'"),
        ((True, ["p"], [0]), "seed must be a whole number"),
        ((1, ["p"], [0.5]), "a generation must be a whole number"),
        ((1, "p", [0]), "one entry a row"),
        ((1, ["p"], [0, 1]), "as many prompt ids as generation numbers"),
    ],
)
def test_keys_that_cannot_be_are_refused(arguments, sentence):
    with pytest.raises(be.BayesevalError, match=sentence):
        row_keys(*arguments)


def test_positions_before_the_first_are_refused():
    with pytest.raises(be.BayesevalError, match="from 0, but -1"):
        noise_words(row_keys(1, ["p"], [0]), -1, TOKENS)


# other libraries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [False, True])
def test_jax_gives_the_same_words_and_noise(compiled):
    jax = pytest.importorskip("jax")
    rows = row_keys(5, ["p", "q", "r"], [0, 1, 2])
    halves = np.stack([TOKENS & np.uint64(2**32 - 1), TOKENS >> np.uint64(32)]).astype(np.uint32)
    block = np.array([0, 7, 2**31])
    made = (jax.jit(jax_noise_block) if compiled else jax_noise_block)(rows, block, halves)
    expected = noise_block(rows, block, TOKENS)
    assert (np.asarray(made) == expected).all()
    words = np.concatenate([expected.ravel(), np.array([0, 2**32 - 1, 2**31, 2**31 - 1], dtype=np.uint32)])
    np.testing.assert_allclose(np.asarray(jax_exponential(words)), to_exponential(words), rtol=1e-6)


def test_jax_draws_what_numpy_draws():
    jnp = pytest.importorskip("jax.numpy")
    logits = np.random.default_rng(2).normal(size=(50, 200)).astype(np.float32) * 3
    rows = row_keys(1, ["p"] * 50, range(50))
    noise = jax_exponential(jax_noise_block(rows, 0, np.arange(200))[1])
    chosen = coupled_argmax(jnp.asarray(logits), noise, temperature=0.7, top_k=20, top_p=0.9)
    expected = coupled_argmax(logits, to_exponential(noise_words(rows, 1, np.arange(200))), 0.7, 20, 0.9)
    assert (np.asarray(chosen) != expected).sum() <= 1  # a near tie, in the last digit of float32


def test_torch_gives_the_same_words_noise_and_tokens():
    torch = pytest.importorskip("torch")
    rows = row_keys(5, ["p", "q", "r"], [0, 1, 2])
    block = np.array([0, 7, 2**31])
    made = torch_noise_block(rows, block, TOKENS)
    assert (made.numpy() == noise_block(rows, block, TOKENS)).all()
    np.testing.assert_allclose(torch_exponential(made).numpy(), to_exponential(made.numpy()), rtol=1e-14)
    logits = np.random.default_rng(2).normal(size=(3, 200)).astype(np.float32) * 3
    for decoding in (Decoding(0.7), Decoding(0.7, 20), Decoding(0.7, None, 0.9), Decoding(1.3, 40, 0.8)):
        warped = warp(torch.as_tensor(logits), decoding, size=150)
        np.testing.assert_allclose(warped.numpy(), warp(logits, decoding, size=150), rtol=1e-6)
        keys = np.arange(150)
        sampler, on_device = Sampler(rows, keys, decoding), Sampler(rows, keys, decoding)
        for position in (0, 1, 5, 6, 7, 30):
            chosen = sampler.choose(torch.as_tensor(logits), position)
            words = on_device._torch_words(np.full(3, position), torch.device("cpu"))
            assert (words.numpy() == noise_words(rows, position, keys)).all()
            again = coupled_argmax(torch.as_tensor(logits)[:, :150], torch_exponential(words),
                                   decoding.temperature, decoding.top_k, decoding.top_p)  # fmt: skip
            assert (chosen == again).all()


# one step ------------------------------------------------------------------------------------------------------------


def test_warping_equals_the_warpers_of_transformers():
    torch = pytest.importorskip("torch")
    warpers = pytest.importorskip("transformers.generation.logits_process")
    logits = np.random.default_rng(3).normal(size=(20, 500)).astype(np.float32) * 4
    for temperature, top_k, top_p in [(0.8, None, None), (0.8, 30, None), (0.7, None, 0.9), (1.5, 50, 0.6)]:
        expected = warpers.TemperatureLogitsWarper(temperature)(None, torch.as_tensor(logits))
        if top_k:
            expected = warpers.TopKLogitsWarper(top_k)(None, expected)
        if top_p:
            expected = warpers.TopPLogitsWarper(top_p)(None, expected)
        np.testing.assert_allclose(warp(logits, Decoding(temperature, top_k, top_p)), expected.numpy(), rtol=1e-6)


def test_top_k_and_top_p_keep_what_they_say():
    logits = np.log([[0.4, 0.3, 0.2, 0.1]])
    cuts = [(1, None), (3, None), (9, None), (None, 0.39), (None, 0.41), (None, 0.75), (None, 1.0), (2, 0.5)]
    kept = [np.isfinite(warp(logits, Decoding(1.0, k, p))).sum() for k, p in cuts]
    assert kept == [1, 3, 4, 1, 2, 3, 4, 1]  # 0.4 of 0.7 is above a half
    assert np.isfinite(warp(np.log([[0.25] * 4]), Decoding(1.0, 2))).all()  # ties stay
    assert np.isneginf(warp(np.array([[0.0, -np.inf]]), Decoding()))[0].tolist() == [False, True]


def test_padding_beyond_the_tokenizer_is_never_drawn():
    logits = np.zeros((2000, 6))
    logits[:, 4:] = 50.0
    noise = exponential_noise(1, "p", 0, np.arange(2000), 6)
    assert coupled_argmax(logits, noise, size=4).max() < 4
    rows = row_keys(1, ["p"] * 20, range(20))
    assert Sampler(rows, np.arange(4), Decoding()).choose(logits[:20], 0).max() < 4


@pytest.mark.parametrize("cut", [{}, {"top_k": 3}, {"top_p": 0.8}])
def test_each_system_keeps_its_own_law(cut):
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.full(8, 0.7))
    n = 40_000
    logits = np.tile(np.log(p) * 0.7, (n, 1))
    noise = exponential_noise(9, "p", 0, np.arange(n), 8)
    seen = np.bincount(coupled_argmax(logits, noise, 0.7, **cut), minlength=8)
    law = np.exp(warp(np.log(p)[None] * 0.7, Decoding(0.7, **cut)))[0]
    law /= law.sum()
    assert (seen[law == 0] == 0).all()
    assert stats.chisquare(seen[law > 0], n * law[law > 0]).pvalue > 1e-3


def test_the_sampler_draws_the_same_whichever_way_it_gets_its_noise():
    rng = np.random.default_rng(5)
    rows = row_keys(2, ["a", "b", "c"], [0, 1, 2])
    logits = rng.normal(size=(3, 400)).astype(np.float32) * 3
    keys = rng.integers(0, 2**63, 400).astype(np.uint64)
    for decoding in (Decoding(0.9), Decoding(0.9, 5), Decoding(0.9, None, 0.5)):
        sampler = Sampler(rows, keys, decoding)
        for positions in ([0, 0, 0], [1, 1, 1], [4, 4, 4], [5, 2, 9], [6, 2, 9], [0, 0, 0]):
            noise = to_exponential(noise_words(rows, positions, keys))
            expected = coupled_argmax(logits, noise, decoding.temperature, decoding.top_k, decoding.top_p)
            assert (sampler.choose(logits, positions) == expected).all()
            alone = [Sampler(rows[[r]], keys, decoding).choose(logits[[r]], positions[r])[0] for r in range(3)]
            assert alone == expected.tolist()


def test_rows_with_settings_of_their_own_are_drawn_as_if_alone():
    rows = row_keys(2, ["a", "b"], [0, 1])
    logits = np.random.default_rng(5).normal(size=(2, 40))
    each = [Decoding(0.5, 3), Decoding(1.5)]
    together = Sampler(rows, np.arange(40), each).choose(logits, 2)
    alone = [Sampler(rows[[r]], np.arange(40), each[r]).choose(logits[[r]], 2)[0] for r in range(2)]
    assert together.tolist() == alone


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"temperature": 0}, "greedy decoding: no noise is used"),
        ({"temperature": -1.0}, "positive number"),
        ({"temperature": float("nan")}, "positive number"),
        ({"temperature": "1"}, "positive number"),
        ({"top_k": 0}, "top_k must be a whole number"),
        ({"top_k": 2.5}, "top_k must be a whole number"),
        ({"top_p": 0.0}, "top_p must lie above 0"),
        ({"top_p": 95}, "top_p must lie above 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, sentence):
    with pytest.raises(be.BayesevalError, match=sentence):
        Decoding(**settings)


def test_rows_without_a_token_to_choose_are_refused():
    noise = np.ones((2, 3))
    for bad in (np.full(3, -np.inf), np.array([0.0, np.nan, 1.0])):
        with pytest.raises(be.BayesevalError, match="row 1 of the logits has no token"):
            coupled_argmax(np.stack([np.zeros(3), bad]), noise)
    with pytest.raises(be.BayesevalError, match="beams"):
        Sampler(row_keys(1, ["p"], [0]), np.arange(3), Decoding()).choose(np.zeros((4, 3)), 0)
    with pytest.raises(be.BayesevalError, match="tokenizer that belongs to the system"):
        Sampler(row_keys(1, ["p"], [0]), np.arange(3), Decoding()).choose(np.zeros((1, 2)), 0)


# exact laws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("gumbel_agreement"))
def test_agreement_equals_the_oracle(quantity, inputs, value):
    assert gumbel_agreement(inputs["p"], inputs["q"]) == pytest.approx(value, abs=1e-14)
    assert gumbel_joint(inputs["p"], inputs["q"]).trace() == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("gumbel_joint_and_cov_single_correct"))
def test_joint_and_covariance_of_one_correct_token_equal_the_oracle(quantity, inputs, value):
    p, q, correct = inputs["p"], inputs["q"], inputs["correct"]
    both = gumbel_joint(p, q)[correct, correct]
    assert [both, both - p[correct] * q[correct]] == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize(("quantity", "inputs", "value"), oracle_rows("gumbel_joint_binary"))
def test_two_tokens_are_coupled_maximally(quantity, inputs, value):
    p, q = inputs["p"], inputs["q"]
    assert gumbel_joint([p, 1 - p], [q, 1 - q])[0, 0] == pytest.approx(value, abs=1e-14)


def distributions(seed: int, size: int, zeros: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(size, 0.5), 2)
    if zeros:
        p[0] = q[1] = p[2] = q[2] = 0
    return p / p.sum(), q / q.sum()


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("size", [4, 7, 300])
def test_the_joint_law_has_its_marginals_bounds_and_formula(size, zeros):
    p, q = distributions(size, size, zeros)
    joint = gumbel_joint(p, q)
    np.testing.assert_allclose(joint.sum(axis=1), p, atol=1e-12)
    np.testing.assert_allclose(joint.sum(axis=0), q, atol=1e-12)
    np.testing.assert_allclose(joint, gumbel_joint(q, p).T, atol=1e-12)
    for v in np.flatnonzero((p > 0) & (q > 0))[:5]:  # theory: P(both v) = 1 / sum_u max(p_u/p_v, q_u/q_v)
        assert joint[v, v] == pytest.approx(1 / np.maximum(p / p[v], q / q[v]).sum(), rel=1e-10)
    agreement, tv = gumbel_agreement(p, q), 0.5 * np.abs(p - q).sum()
    assert agreement == pytest.approx(joint.trace(), rel=1e-10)
    assert (1 - tv) / (1 + tv) - 1e-12 <= agreement <= 1 - tv + 1e-12
    for correct in (range(2), range(size // 2), [3]):  # Harris: correctness of any common set is never negative
        chosen = list(correct)
        assert joint[np.ix_(chosen, chosen)].sum() >= p[chosen].sum() * q[chosen].sum() - 1e-12


def test_the_joint_law_is_right_at_its_ends():
    p = np.array([0.2, 0.5, 0.3])
    np.testing.assert_allclose(gumbel_joint(p, p), np.diag(p), atol=1e-15)
    np.testing.assert_allclose(gumbel_joint([1, 0], [0, 1]), [[0, 1], [0, 0]])
    disjoint = gumbel_joint([0.5, 0.5, 0, 0], [0, 0, 0.3, 0.7])  # nothing in common: independent
    np.testing.assert_allclose(disjoint[:2, 2:], [[0.15, 0.35], [0.15, 0.35]])
    assert gumbel_agreement([1, 0], [0, 1]) == 0 and gumbel_agreement(p, p) == pytest.approx(1)


@pytest.mark.parametrize("zeros", [False, True])
def test_simulated_pairs_follow_the_joint_law(zeros):
    p, q = distributions(11, 5, zeros)
    n = 60_000
    noise = exponential_noise(12, "p", 0, np.arange(n), 5)
    with np.errstate(divide="ignore"):
        a, b = (coupled_argmax(np.tile(np.log(one), (n, 1)), noise) for one in (p, q))
    joint = gumbel_joint(p, q)
    seen = np.bincount(a * 5 + b, minlength=25).reshape(5, 5) / n
    error = np.sqrt(joint * (1 - joint) / n)
    assert (np.abs(seen - joint) <= 4.5 * error + 1e-12).all()
    agreement = gumbel_agreement(p, q)
    assert abs((a == b).mean() - agreement) < 4 * math.sqrt(agreement * (1 - agreement) / n)


def test_streams_of_their_own_make_systems_independent():
    p, q = distributions(13, 5, False)
    n = 40_000
    noise = [exponential_noise(12, "p", 0, np.arange(n), 5, stream=stream) for stream in "ab"]
    a, b = (coupled_argmax(np.tile(np.log(one), (n, 1)), own) for one, own in zip((p, q), noise, strict=True))
    agreement = independent_agreement(p, q)
    assert abs((a == b).mean() - agreement) < 4 * math.sqrt(agreement * (1 - agreement) / n)


def test_equal_seeds_of_torch_couple_by_accident():
    # What the documentation warns of: torch.multinomial draws one value as argmax p / E, so equal seeds couple.
    torch = pytest.importorskip("torch")
    p, q = distributions(14, 6, False)
    n = 20_000
    drawn = []
    for one in (p, q):
        torch.manual_seed(1)
        drawn.append(torch.multinomial(torch.tensor(np.tile(one, (n, 1))), 1)[:, 0].numpy())
    agreement = gumbel_agreement(p, q)
    assert abs((drawn[0] == drawn[1]).mean() - agreement) < 5 * math.sqrt(agreement * (1 - agreement) / n)


@pytest.mark.parametrize(
    ("p", "q", "sentence"),
    [
        ([0.5, 0.5], [1.0], "same tokens"),
        ([0.5, 0.6], [0.5, 0.5], "sum to 1"),
        ([1.5, -0.5], [0.5, 0.5], "not negative"),
    ],
)
def test_what_is_no_distribution_is_refused(p, q, sentence):
    for law in (gumbel_joint, gumbel_agreement, independent_agreement):
        with pytest.raises(be.BayesevalError, match=sentence):
            law(p, q)
