#!/usr/bin/env python3
"""Reads a store that `nimstrata solve --out DIR` has written, with numpy and nothing of nimstrata's.

    nimstrata solve fts --heaps 3 --forbid 5k --max 40 --out nim5
    python3 examples/read_store.py nim5 --position 3,1,2 --slice 0 --out slice.png

A picture needs matplotlib; without it the slice is written as a PBM bitmap beside that name.
"""

import argparse
import json
from functools import lru_cache
from pathlib import Path

import numpy as np


@lru_cache(maxsize=None)
def counts(parts, cap):
    """How many nondecreasing tuples of so many numbers up to cap have the sums 0, 1, ...: a Gaussian binomial."""
    series = [1] + [0] * (parts * cap)
    for i in range(1, parts + 1):
        for at in reversed(range(cap + i, len(series))):
            series[at] -= series[at - cap - i]
        for at in range(i, len(series)):
            series[at] += series[at - i]
    return series


def count(parts, least, most, total):
    """How many nondecreasing tuples of so many numbers from least to most have this sum."""
    rest, cap = total - parts * least, most - least
    return counts(parts, cap)[rest] if 0 <= rest <= parts * cap else 0


class Store:
    """The verdicts or the remoteness of all positions of a region."""

    def __init__(self, folder):
        folder = Path(folder)
        self.manifest = json.loads((folder / "manifest.json").read_text())
        self.heaps, self.max = self.manifest["heaps"], self.manifest["max"]
        self.offsets = np.load(folder / "offsets.npy")
        self.has_remoteness = self.manifest["quantity"] == "remoteness"
        # Read from the disk as it is wanted.
        self.data = np.load(folder / ("remoteness.npy" if self.has_remoteness else "verdict.npy"), mmap_mode="r")

    def stratum(self, total):
        """All positions with this total, in canonical order: booleans, True for P-positions, or R of each."""
        size = count(self.heaps, 0, self.max, total)
        first, last = self.offsets[total : total + 2] // self.data.itemsize
        values = self.data[first:last]
        if not self.has_remoteness:
            values = np.unpackbits(values, bitorder="little").astype(bool)
        return values[:size]

    def place(self, position):
        """The total of a position and its rank in canonical order; None outside the region."""
        heaps = sorted(position)
        total = rest = sum(heaps)
        if len(heaps) != self.heaps or heaps[0] < 0 or heaps[-1] > self.max or total + 1 >= len(self.offsets):
            return None
        rank = least = 0
        for index, size in enumerate(heaps):
            larger = len(heaps) - index - 1
            # Before this tuple are all that agree with it so far and have less here.
            rank += sum(count(larger, less, self.max, rest - less) for less in range(least, size))
            rest, least = rest - size, size
        return total, rank

    def value(self, position):
        """True or False, or R; None outside the region."""
        place = self.place(position)
        if place is None:
            return None
        total, rank = place
        first = int(self.offsets[total])
        if self.has_remoteness:
            return int(self.data[first // self.data.itemsize + rank])
        return bool(self.data[first + rank // 8] >> (rank % 8) & 1)

    def is_p(self, position):
        value = self.value(position)
        return value % 2 == 0 if self.has_remoteness and value is not None else bool(value)

    def slice(self, fixed):
        """Whether (x, y) and the fixed heaps are a P-position, for all x and y."""
        side = range(self.max + 1)
        return np.array([[self.is_p((x, y, *fixed)) for x in side] for y in side])


def draw(picture, path):
    """Draws a slice, y upwards; returns the name of the file."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        path = path.with_suffix(".pbm")
        height, width = picture.shape
        path.write_bytes(b"P4\n%d %d\n" % (width, height) + np.packbits(picture[::-1], axis=1).tobytes())
        return path
    plt.imshow(picture, origin="lower", cmap="Greys", interpolation="nearest")
    plt.xlabel("x")
    plt.ylabel("y")
    plt.savefig(path)
    return path


def sizes(text):
    return [int(size) for size in text.split(",") if size]


def main():
    parser = argparse.ArgumentParser(description="Reads a store of nimstrata with numpy.")
    parser.add_argument("store")
    parser.add_argument("--position", type=sizes, help="look a position up, such as 3,1,2")
    parser.add_argument("--slice", type=sizes, help="the sizes of all heaps but two, such as 0")
    parser.add_argument("--out", type=Path, default=Path("slice.png"), help="the picture of the slice")
    arguments = parser.parse_args()
    store = Store(arguments.store)
    if arguments.position is not None:
        value = store.value(arguments.position)
        if value is None:
            parser.error("the position is outside the region")
        kind = "P" if store.is_p(arguments.position) else "N"
        print(f"{kind}-position" + (f", R = {value}" if store.has_remoteness else ""))
    if arguments.slice is not None:
        if len(arguments.slice) != store.heaps - 2:
            parser.error(f"--slice takes {store.heaps - 2} sizes")
        print(f"wrote {draw(store.slice(arguments.slice), arguments.out)}")


if __name__ == "__main__":
    main()
