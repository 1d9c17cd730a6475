"""Checks a store, and a box exported from it, against the definition of the game; numpy reads both.

    python3 tests/check_store.py STORE BOX.npy

Nothing is shared with the program: order, packing and solver are written down here once more.
"""

import json
import sys
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, permutations, product
from pathlib import Path

import numpy as np

folder, box = Path(sys.argv[1]), np.load(sys.argv[2])
manifest = json.loads((folder / "manifest.json").read_text())
n, cap, (least, most) = manifest["heaps"], manifest["max"], manifest["touch"]
last = manifest["up_to_total"] if manifest["up_to_total"] is not None else n * cap


def is_forbidden(total):
    """Reads such as 0,7,10..20 and 5k+2."""
    for part in (manifest["forbid"] or "").split(","):
        if "k" in part:
            step, _, first = part.partition("k")
            step, first = int(step or 1), int(first or 0)
            if total >= first and (total - first) % step == 0:
                return True
        elif part:
            first, _, end = part.partition("..")
            if int(first) <= total <= int(end or first):
                return True
    return False


def options(x):
    """All positions that a move leads to."""
    for touched in range(least, most + 1):
        for heaps in combinations(range(n), touched):
            takes = [range(1, x[i] + 1) if manifest["take"] == "any" else range(1, min(x[i], 1) + 1) for i in heaps]
            for take in product(*takes):
                y = list(x)
                for i, stones in zip(heaps, take):
                    y[i] -= stones
                if not is_forbidden(sum(y)):
                    yield tuple(sorted(y))


@lru_cache(maxsize=None)
def remoteness(x):
    values = [remoteness(y) for y in options(x)]
    even = [value for value in values if value % 2 == 0]
    if not values:
        return int(manifest["misere"])
    return 1 + (min(even) if even else max(values))


o = np.load(folder / "offsets.npy")
digests = np.load(folder / "digests.npy")
assert len(o) == last + 2 and len(digests) == last + 1 and digests.dtype == np.uint64
positions = p_positions = 0
for s in range(last + 1):
    tuples = [c for c in combinations_with_replacement(range(cap + 1), n) if sum(c) == s]
    expected = np.array([remoteness(c) for c in tuples])
    if manifest["quantity"] == "verdict":
        v = np.load(folder / "verdict.npy")
        found = np.unpackbits(v[o[s] : o[s + 1]], bitorder="little")
        expected = expected % 2 == 0
        is_p = expected
    else:
        r = np.load(folder / "remoteness.npy")
        found = r.view(np.uint8)[o[s] : o[s + 1]].view(r.dtype)
        is_p = expected % 2 == 0
    count = len(tuples)
    assert np.array_equal(found[:count], expected), f"stratum {s}"
    assert not found[count:].any() and o[s] % 8 == 0, f"the end of stratum {s}"
    positions += count
    p_positions += int(is_p.sum())
    for c, value in zip(tuples, expected):
        assert all(box[x] == value for x in permutations(c)), f"the box at {c}"
assert (positions, p_positions) == (manifest["positions"], manifest["p_positions"])
assert box.shape == (cap + 1,) * n and box.dtype == (np.bool_ if manifest["quantity"] == "verdict" else r.dtype)
beyond = np.indices(box.shape).sum(axis=0) > last
assert (box[beyond] == (0 if box.dtype == np.bool_ else np.iinfo(box.dtype).max)).all()
packed = sys.argv[3:] and np.load(sys.argv[3])
if sys.argv[3:]:
    p = box if box.dtype == np.bool_ else (box % 2 == 0) & ~beyond
    assert np.array_equal(packed, np.packbits(p, axis=-1, bitorder="little")), "the packed box"
print(f"{positions} positions in {last + 1} strata agree")
