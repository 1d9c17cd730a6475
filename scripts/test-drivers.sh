#!/usr/bin/env bash
# Runs the tests of the shaders on two Vulkan drivers that compute on the CPU, each with wgpu's checks in the shaders on and
# off: what one driver hides another shows. Lavapipe comes from Debian's mesa-vulkan-drivers, SwiftShader from its
# chromium-common, of which only the driver is unpacked, into target/.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/adapter.sh

fail() {
    echo "test-drivers: $1" >&2
    exit 1
}

find_lavapipe() {
    local file
    for file in /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json; do
        [ -e "$file" ] && echo "$file" && return
    done
    return 1
}

lavapipe=$(find_lavapipe) || {
    scripts/vulkan-driver.sh
    lavapipe=$(find_lavapipe) || fail "mesa-vulkan-drivers brought no lavapipe (no lvp_icd*.json in /usr/share/vulkan/icd.d)"
}

# Where the driver is, fetched once.
cache=$PWD/target/swiftshader
swiftshader=$cache/vk_swiftshader_icd.json
if [ ! -e "$swiftshader" ] || [ ! -e "$cache/libvk_swiftshader.so" ]; then
    for tool in apt-get dpkg-deb; do
        command -v "$tool" >/dev/null || fail "SwiftShader comes from a Debian package, and there is no $tool here. Put \
libvk_swiftshader.so and vk_swiftshader_icd.json into $cache by hand"
    done
    mkdir -p "$cache/package"
    echo "Fetching SwiftShader from Debian's chromium-common."
    (cd "$cache/package" && apt-get download -qq -o APT::Sandbox::User="$(id -un)" chromium-common) ||
        fail "apt-get cannot download chromium-common: is there a network, and has apt-get update been run?"
    dpkg-deb --fsys-tarfile "$cache"/package/chromium-common_*.deb |
        tar -x -C "$cache" --strip-components=4 --wildcards '*/libvk_swiftshader.so' '*/vk_swiftshader_icd.json' ||
        fail "chromium-common does not have SwiftShader where it was (/usr/lib/chromium)"
    rm -r "$cache/package"
fi

cargo build --quiet
cargo test --quiet --no-run --test gpu --test shaders
for driver in "$lavapipe" "$swiftshader"; do
    export VK_DRIVER_FILES=$driver VK_ICD_FILENAMES=$driver
    adapter=$(first_adapter)
    [ -n "$adapter" ] || fail "the driver $driver shows no adapter"
    for checks in 0 1; do
        echo "== $adapter, shader checks $([ "$checks" = 1 ] && echo on || echo off)"
        NIMSTRATA_SHADER_CHECKS=$checks NIMSTRATA_NO_GPU=0 cargo test --quiet --test gpu --test shaders
    done
done
