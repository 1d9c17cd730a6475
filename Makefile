.PHONY: test test-drivers bench lint gpu-run-bundle

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

# What scripts/gpu-run.sh needs on a machine with a GPU: unpack it there and run scripts/gpu-run.sh in it.
gpu-run-bundle:
	cargo build --release
	mkdir -p target/gpu-run/scripts target/gpu-run/results
	cp target/release/nimstrata target/gpu-run/
	cp scripts/gpu-run.sh target/gpu-run/scripts/
	tar -C target -czf target/gpu-run.tar.gz gpu-run
	@echo "target/gpu-run.tar.gz"
