.PHONY: test test-drivers bench lint

# Everything, on the CPU and on a GPU adapter; fetches a software Vulkan driver where there is none.
test:
	scripts/test.sh

# The shaders on two Vulkan drivers, with and without wgpu's checks.
test-drivers:
	scripts/test-drivers.sh

bench:
	cargo bench

lint:
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --quiet
