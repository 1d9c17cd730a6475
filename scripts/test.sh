#!/usr/bin/env bash
# Runs all tests. Those in tests/gpu.rs need an adapter: where the machine has none, a software Vulkan driver is
# installed first. NIMSTRATA_NO_GPU=1 leaves them out, and says so.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/adapter.sh

cargo build --quiet
without_gpu=${NIMSTRATA_NO_GPU:-0}
if [ "$without_gpu" = 0 ] && [ -z "$(first_adapter)" ]; then
    scripts/vulkan-driver.sh
fi

# tests/python.rs reads stores with numpy, and says so where there is none.
if ! python3 -c "import numpy" 2>/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "No Python with numpy found: installing Debian's python3-numpy." >&2
    { apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-numpy >/dev/null; } ||
        echo "apt-get could not install it: tests/python.rs will test nothing." >&2
fi

log=$(mktemp)
cargo test --no-fail-fast 2>&1 | tee "$log"

passed() { # The tests that passed in the sections of the log whose header matches.
    awk -v section="$1" '/^ +(Running|Doc-tests)/ { on = $0 ~ section } on && /^test result: ok/ { n += $4 } END { print n + 0 }' "$log"
}
echo
if [ "$without_gpu" = 0 ]; then
    adapter=$(first_adapter)
    echo "$(passed .) tests passed, $(passed tests/gpu) of them on the adapter $adapter"
else
    echo "$(passed .) tests passed; NIMSTRATA_NO_GPU is set, so the $(passed tests/gpu) in tests/gpu.rs ran on no adapter"
fi
rm -f "$log"
