#!/usr/bin/env bash
# Checks and measures a built nimstrata on a machine with a GPU, in under five minutes and without a network:
#   1. solves a list of regions on the GPU and on the CPU and compares the digests of all verdicts;
#   2. solves large regions on the GPU and compares their P-positions with known counts;
#   3. runs `nimstrata bench`;
# and writes results/gpu-<adapter>.md (with the date in its name where that is there) with the commands, the machine and the date.
#
#   scripts/gpu-run.sh [--quick] [--software] [--adapter TEXT] [--binary FILE] [--out DIR]
#
# --quick      smaller regions
# --software   a software adapter such as lavapipe will do
# --adapter    part of the adapter's name
# --binary     the program [default: nimstrata beside this script, or target/release/nimstrata]
# --out        where the report goes [default: results beside scripts, or here]
#
# The machine needs a Vulkan loader (libvulkan1) and, for NVIDIA, libegl1 or libglvnd0, which its driver loads even where
# there is no display. `make gpu-run-bundle` packs what is needed into target/gpu-run.tar.gz.
set -uo pipefail

fail() {
    echo "gpu-run: $1" >&2
    exit "${2:-1}"
}

here=$(cd "$(dirname "$0")" && pwd)
quick= software= wanted= binary= out=
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=1 ;;
        --software) software=1 ;;
        --adapter) wanted=${2:?--adapter needs a text} && shift ;;
        --binary) binary=${2:?--binary needs a file} && shift ;;
        --out) out=${2:?--out needs a folder} && shift ;;
        *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    esac
    shift
done
if [ -z "$binary" ]; then
    for binary in "$here/nimstrata" "$here/../nimstrata" "$here/../target/release/nimstrata"; do
        [ -x "$binary" ] && break
    done
fi
[ -x "$binary" ] || fail "there is no program at $binary; build it with cargo build --release, or name it with --binary" 2
if [ -z "$out" ]; then
    if [ -d "$here/../results" ]; then out=$here/../results; else out=$PWD; fi
fi
mkdir -p "$out" || fail "cannot write to $out" 2

# The value of a key in a line of JSON, without anything but a shell.
value() {
    grep -o "\"$1\":[^,}]*" | head -n 1 | sed "s/^\"$1\"://; s/\"//g"
}

# The names of the adapters that may be used.
adapters() {
    "$binary" devices --json 2>/dev/null | sed 's/},{/},\n{/g' | if [ -n "$software" ]; then cat; else grep '"software":false'; fi |
        sed -n 's/.*"name":"\([^"]*\)".*/\1/p' | if [ -n "$wanted" ]; then grep -iF -- "$wanted"; else cat; fi
}

# Drivers are announced by a file that the loader may not look for where it is.
found=$(adapters | head -n 1)
if [ -z "$found" ]; then
    for file in $(find /usr/share /etc /usr/local -name '*nvidia*icd*.json' 2>/dev/null); do
        export VK_DRIVER_FILES=$file VK_ICD_FILENAMES=$file
        found=$(adapters | head -n 1)
        [ -n "$found" ] && echo "Driver: $file" && break
    done
fi
[ -n "$found" ] || fail "no adapter found${wanted:+ named $wanted}. The Vulkan loader must be installed (libvulkan1), and libegl1 or \
libglvnd0, without which NVIDIA's driver shows no device; see 'vulkaninfo --summary'. --software takes lavapipe." 3
driver=$("$binary" devices --json | sed 's/},{/},\n{/g' | grep -F "\"name\":\"$found\"" | value driver)
echo "Adapter: $found, $driver"

slug=$(printf %s "$found" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9][^a-z0-9]*/-/g; s/^-//; s/-$//' | cut -c 1-40)
report=$out/gpu-$slug.md
[ -e "$report" ] && report=$out/gpu-$slug-$(date -u +%Y-%m-%d).md
part=$report.part
started=$(date +%s)
trap 'rm -f "$part"' EXIT
bad=0

# Solves on both and compares the digests.
compare() {
    local cpu gpu verdict same
    cpu=$("$binary" solve $1 --digest --backend cpu --json) || bad=1
    gpu=$("$binary" solve $1 --digest --backend gpu --adapter "$found" --json) || bad=1
    verdict=$(printf %s "$gpu" | value digest)
    if [ -n "$verdict" ] && [ "$verdict" = "$(printf %s "$cpu" | value digest)" ]; then same=equal; else same=DIFFERENT bad=1; fi
    echo "$same: $1"
    echo "| \`$1\` | $(printf %s "$gpu" | value positions) | $(printf %s "$cpu" | value digest) | $verdict | $same |" >>"$part"
}

# Solves on the GPU and compares the P-positions with a known count.
count() {
    local gpu found_count same
    gpu=$("$binary" solve $1 --backend gpu --adapter "$found" --json) || bad=1
    found_count=$(printf %s "$gpu" | value p_positions)
    if [ "$found_count" = "$2" ]; then same=yes; else same=NO bad=1; fi
    echo "P-positions $found_count, as known: $same: $1"
    echo "| \`$1\` | $(printf %s "$gpu" | value positions) | $found_count | $2 | $same | $(printf %s "$gpu" | value solve_seconds) |" >>"$part"
}

# Caps of the lists below: full, or quick.
cap() {
    if [ -n "$quick" ]; then echo "$2"; else echo "$1"; fi
}

cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
{
    echo "# $found"
    echo
    echo "Written by \`scripts/gpu-run.sh${quick:+ --quick}${software:+ --software}\` on $(date -u +%Y-%m-%d): $("$binary" --version), adapter"
    echo "$found, driver $driver; $(nproc) logical CPUs of ${cpu:-an unknown model}, $(uname -sr)."
    echo
    echo "## The GPU against the CPU"
    echo
    echo "Each line: \`nimstrata solve … --digest --json\` with \`--backend cpu\` and with \`--backend gpu\`; the digest is of every"
    echo "position's verdict or remoteness."
    echo
    echo "| solve | positions | digest, CPU | digest, GPU | |"
    echo "|---|--:|---|---|---|"
} >"$part"
compare "bounded-moore --heaps 5 --width 2 --max $(cap 150 30)"
compare "bounded-moore --heaps 6 --width 3 --max $(cap 60 14)"
compare "bounded-moore --heaps 7 --width 3 --max $(cap 35 9) --forbid 5k"
compare "exact-slow --heaps 4 --width 2 --misere --max $(cap 300 40)"
compare "exact-slow --heaps 4 --width 3 --max $(cap 200 30) --quantity remoteness"
compare "bounded-moore --heaps 5 --width 2 --max $(cap 70 20) --misere --quantity remoteness"
compare "fts --heaps 3 --forbid 5k --max $(cap 1500 150)"
compare "fts --heaps 4 --forbid 6k --misere --max $(cap 200 30)"
{
    echo
    echo "## Known counts of P-positions"
    echo
    echo "| solve, on the GPU | positions | P-positions | known | same | seconds |"
    echo "|---|--:|--:|--:|---|--:|"
} >>"$part"
count "bounded-moore --heaps 5 --width 2 --max 100" 12673466
[ -n "$quick" ] || count "bounded-moore --heaps 5 --width 2 --max 200" 368026931
[ -n "$quick" ] || count "bounded-moore --heaps 5 --width 2 --max 400" 11210773861
[ -n "$quick" ] || count "bounded-moore --heaps 7 --width 3 --max 60" 97359526
[ -n "$quick" ] || count "fts --heaps 3 --forbid 5k --max 4000" 2813987
count "fts --heaps 3 --forbid 5k --max 1000" 176248
{
    echo
    echo "## nimstrata bench${quick:+ --quick} --adapter '$found' --markdown"
    echo
} >>"$part"
"$binary" bench ${quick:+--quick} --adapter "$found" --markdown >>"$part" || bad=1
{
    echo
    if [ "$bad" = 0 ]; then echo "All as it should be"; else echo "SOMETHING IS WRONG above"; fi
    echo "after $(($(date +%s) - started)) s in all."
} >>"$part"
mv "$part" "$report" || fail "cannot write $report"
echo "Report: $report ($(($(date +%s) - started)) s)"
exit "$bad"
