#!/usr/bin/env bash
# Installs lavapipe, a Vulkan driver that computes on the CPU, from Debian's packages.
set -euo pipefail

explain() {
    echo "No Vulkan driver found, and $1." >&2
    echo "Install one by hand (Debian and Ubuntu: mesa-vulkan-drivers; Fedora: mesa-vulkan-drivers; Arch:" >&2
    echo "vulkan-swrast), or set NIMSTRATA_NO_GPU=1 to leave the tests out that need an adapter." >&2
    exit 1
}

command -v apt-get >/dev/null || explain "there is no apt-get here to install one with"
if [ "$(id -u)" = 0 ]; then
    as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
else
    explain "only root can install one"
fi
echo "No Vulkan driver found: installing Debian's mesa-vulkan-drivers." >&2
"${as_root[@]}" apt-get update -qq || explain "apt-get update failed"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mesa-vulkan-drivers >/dev/null ||
    explain "apt-get could not install it"
