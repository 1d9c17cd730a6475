# Sourced by the scripts that run tests, in the folder above: where a driver keeps its files, and which adapter is there.

# Drivers ask for this folder, and complain where there is none.
if [ -z "${XDG_RUNTIME_DIR:-}" ]; then
    XDG_RUNTIME_DIR=$(mktemp -d)
    export XDG_RUNTIME_DIR
    trap 'rm -rf "$XDG_RUNTIME_DIR"' EXIT
fi

# The name of the first adapter; nothing where there is none.
first_adapter() {
    cargo run --quiet -- devices --json | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' | head -n 1
}
