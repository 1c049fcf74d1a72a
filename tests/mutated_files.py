"""Model files damaged in every way, by chance or by someone who can compute checksums; run as a program.

`python tests/mutated_files.py COUNT SEED` writes so many, opens and uses each, and prints what came of them as JSON.
Whatever a file does to the process is seen from outside: a crash in its exit code, memory in `peak`.
"""

import copy
import hashlib
import io
import json
import resource
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import scca
from scca.kinds import TextVectorizer
from scca.model import Model
from scca.persistence import ModelFileError
from scca.readers import PairedText
from scca.results import Result
from scca.text import BilingualModel, generate, lexicon

ENGLISH = ["the cat sleeps", "a dog barks loudly", "the cat and the dog play", "rain falls on the roof", "a red roof"]
FRENCH = ["le chat dort", "un chien aboie fort", "le chat et le chien jouent", "la pluie tombe sur le toit", "un toit"]
NUMBERS = [np.nan, np.inf, -np.inf, 1e308, -1e200, 1e75, 1e-300, -1.0, 0.0, 10.0**9, 2.0**31 - 1, -(2.0**31), 2.0**62]
NAMES = ["x", "transform", "_projectors", "$tuple", "kernel", "__class__"]
DEEP = json.loads("[" * 400 + "]" * 400)
VALUES = [
    *(None, True, False, -1, 0, 1, 3, 10**9, 10**30, 1e308, 0.5, "", "x", "precomputed", "\ud800", "a\nb" * 99),
    *([], {}, [[]], [None], ["x"] * 5, DEEP, {"$float": "nan"}, {"$float": "x"}, {"$array": "none.npy"}, {"$array": 0}),
    *({"$strings": [1]}, {"$strings": [["x"]]}, {"$strings": ["x"] * 5}, {"$dict": []}, {"$dict": {"n_jobs": 10**6}}),
    *({"$tuple": [1, 10**9]}, {"$tuple": 5}, {"$sparse": []}, {"$object": "Kernel", "state": {}}),
    *({"$object": "TextVectorizer", "state": {}}, {"$object": "SparseCCA", "state": {}}, {"$object": "eval"}),
    *({"$object": "Preparation", "state": {}}, {"$object": "Preparation", "state": {"scale": "rows"}}),
    *({"$kind": "text", "state": {}}, {"$kind": "vectors", "state": {"n_columns_": 10**9}}, {"$kind": ["table"]}),
]


# --- files ------------------------------------------------------------------------------------------------------------


def unpacked(content: bytes) -> tuple[dict, dict[str, bytes]]:
    """The manifest of a model file, and its arrays."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("manifest.json")), members


def packed(manifest: dict, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A model file with right checksums, whatever is in it."""
    if isinstance(manifest, dict) and isinstance(manifest.get("members"), dict):
        manifest["members"] |= {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    text = json.dumps(manifest).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr("manifest.json", text)
        archive.comment = hashlib.sha256(text).hexdigest().encode()
    return file.getvalue()


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


# --- mutations --------------------------------------------------------------------------------------------------------


def flipped_bytes(content, rng):
    damaged = bytearray(content)
    for _ in range(rng.integers(1, 9)):
        damaged[rng.integers(len(damaged))] ^= int(rng.integers(1, 256))
    return bytes(damaged)


def truncated(content, rng):
    return content[: rng.integers(len(content))]


def cut_in_the_middle(content, rng):
    start, stop = np.sort(rng.integers(len(content), size=2))
    return content[:start] + content[stop:]


def changed_field(content, rng):
    manifest, members = unpacked(content)
    for _ in range(rng.integers(1, 3)):
        holder, key = _field(manifest, rng)
        chosen = rng.integers(5)
        if chosen == 0:
            del holder[key]
        elif chosen == 1:
            other, from_key = _field(manifest, rng)
            holder[key] = copy.deepcopy(other[from_key])
        elif chosen == 2 and isinstance(holder, dict):
            holder[str(rng.choice(["x", "transform", "_projectors", "$tuple", "kernel", "__class__"]))] = holder.pop(
                key
            )
        else:
            holder[key] = copy.deepcopy(VALUES[rng.integers(len(VALUES))])
    return packed(manifest, members)


def _field(tree, rng):
    """Any field at any depth, the deeper ones as likely as the others."""
    fields, waiting = [], [tree]
    while waiting:
        item = waiting.pop()
        keys = list(item) if isinstance(item, dict) else range(len(item))
        fields += [(item, key) for key in keys if item is not tree or key in ("model", "members", "version", "format")]
        waiting += [item[key] for key in keys if isinstance(item[key], dict | list)]
    return fields[rng.integers(len(fields))]


def changed_numbers(content, rng):
    manifest, members = unpacked(content)
    name = str(rng.choice(list(members)))
    array = np.load(io.BytesIO(members[name]))
    if not array.size:
        array = np.zeros(1, dtype=array.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(rng.integers(1, 4)):
            array.flat[rng.integers(array.size)] = np.array(rng.choice(NUMBERS)).astype(array.dtype)
    members[name] = npy(array)
    return packed(manifest, members)


def changed_bits(content, rng):
    manifest, members = unpacked(content)
    name = str(rng.choice(list(members)))
    members[name] = flipped_bytes(members[name], rng)
    return packed(manifest, members)


def changed_array(content, rng):
    """Another shape or another type."""
    manifest, members = unpacked(content)
    name, other = rng.choice(list(members), size=2)
    array = np.load(io.BytesIO(members[name]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        members[str(name)] = npy(
            [
                lambda: array[:-1],
                lambda: array.T,
                lambda: array[None],
                lambda: array.ravel(),
                lambda: np.concatenate([array, array]),
                lambda: np.load(io.BytesIO(members[other])),
                lambda: array.astype(rng.choice(["f4", "f8", "i4", "i8", "u1", "?", "c16", "S3", ">f8", "i1", "f2"])),
                lambda: array[..., :0],
            ][rng.integers(8)]()
        )
    return packed(manifest, members)


def declared_shape(content, rng):
    """A header that promises more than there is."""
    manifest, members = unpacked(content)
    name = str(rng.choice(list(members)))
    shape = [(10**12,), (2**40, 2**40), (-1,), (10**9, 0), (2**62, 4), (), (1,) * 70][rng.integers(7)]
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    members[name] = file.getvalue() + members[name][128:]
    return packed(manifest, members)


MUTATIONS = [
    *(flipped_bytes, truncated, cut_in_the_middle, changed_field, changed_field, changed_field),
    *(changed_numbers, changed_numbers, changed_bits, changed_array, declared_shape),
]


# --- use --------------------------------------------------------------------------------------------------------------


def models() -> list:
    """Fitted models of every kind, small."""
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((20, 2))
    X = shared @ rng.standard_normal((2, 6)) + 0.1 * rng.standard_normal((20, 6))
    Y = shared @ rng.standard_normal((2, 5)) + 0.1 * rng.standard_normal((20, 5))
    X[:, 0] += 1e6  # an offset column
    pairs = PairedText.of(ENGLISH, FRENCH, ("en", "fr"))
    return [
        BilingualModel(2, min_df=1, random_state=0).fit(pairs),
        BilingualModel(2, min_df=1, anchors="cross-energy").fit(pairs),
        scca.SparseCCA(2, held_out=0).fit(X, Y),
        scca.SparseCCA(2, held_out=0, kernel=scca.Kernel("rbf", gamma=0.1)).fit(X, Y),
        scca.AnchoredCCA(2, kernel="rbf").fit(X, Y),
        scca.KernelCCA(2, kernel="rbf").fit(sp.csr_array(X), sp.csr_array(Y)),
        scca.KernelCCA(2, kernel=scca.LowRankKernel("rbf", 8)).fit(X, Y),
        scca.SparseCCA(2, held_out=0, kernel=scca.LowRankKernel("rbf", 8, method="random")).fit(X, Y),
        scca.Model(2, held_out=0).fit({"en": ENGLISH, "fr": FRENCH, "table": X[:5]}),
        scca.Model(2, held_out=0, kinds={"vectors": "vectors"}).fit({"vectors": X, "table": Y}),
    ]


def use(model) -> None:
    """Scores of all views, finite and one row per sample; the result, and whatever else a model is for."""
    result = model.result()
    assert Result.from_json(result.to_json()) == result
    model._repr_html_()
    rng = np.random.default_rng(1)
    if isinstance(model, Model):
        use_model(model, rng)
        return
    for view, n_features in (("X", 6), ("Y", 5)):
        samples = rng.standard_normal((4, n_features))
        for stored in (samples, sp.csr_array(samples)):
            check_scores(model.project(stored, view), 4, model.n_components_)


def use_model(model, rng) -> None:
    names, c = model.view_names_, model.estimator_.n_components_
    n_texts = sum(isinstance(kind, TextVectorizer) for kind in model.kinds_)
    given = [ENGLISH, FRENCH][:n_texts] + [rng.standard_normal((5, n)) for n in model.estimator_.n_features_[n_texts:]]
    for name, samples in zip(names, given, strict=True):
        check_scores(model.project(samples, name), 5, c)
    model.mates(*given[:2], source=names[0], target=names[1], top=1)
    if n_texts == 2:
        model.detect_view(ENGLISH)
        generate(model, ENGLISH[:1], source=names[0], target=names[1])
        lexicon(model, source=names[0], target=names[1])
    if isinstance(model, BilingualModel):
        model.components()


def check_scores(scores, n: int, c: int) -> None:
    assert scores.shape == (n, c), scores.shape
    assert np.isfinite(scores).all(), scores


def main(count: int, seed: int) -> dict:
    rng = np.random.default_rng(seed)
    outcomes: Counter = Counter()
    failures, slowest = [], 0.0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "m.scca"
        whole = []
        for model in models():
            scca.save(model, path)
            whole.append(path.read_bytes())
            use(scca.load(path))
        for number in range(count):
            mutate = MUTATIONS[number % len(MUTATIONS)]
            path.write_bytes(mutate(whole[rng.integers(len(whole))], rng))
            step, start = "load", time.perf_counter()
            try:
                model = scca.load(path)
                step = "use"
                use(model)
                outcome = "used"
            except ValueError as error:
                outcome = f"refused in {step}"
                told = str(error)
                if "\n" in told or not told.endswith(".") or len(told) > 600:
                    failures.append(f"{number} {mutate.__name__}: {told!r}")
                if step == "load" and not (isinstance(error, ModelFileError) and str(path) in told):
                    failures.append(f"{number} {mutate.__name__}: {error!r}")
            except Exception as error:
                outcome = "failed"
                failures.append(f"{number} {mutate.__name__} in {step}: {error!r}")
            outcomes[outcome] += 1
            slowest = max(slowest, time.perf_counter() - start)
    return {"outcomes": dict(outcomes), "failures": failures, "slowest": slowest, "peak": peak_memory()}


def peak_memory() -> int:
    """The largest memory of this process in bytes; on Linux `getrusage` counts that of the process that started it."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2])), indent=1))
