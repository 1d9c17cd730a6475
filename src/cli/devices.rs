//! `nimstrata devices`: the GPU adapters of this machine.

use std::fmt;

use nimstrata::Result;
use nimstrata::error::bytes;
use nimstrata::gpu::{self, AdapterSummary};
use serde::Serialize;

use super::figures::grouped;
use super::output::{Lines, OutputArgs};

/// List the GPU adapters of this machine with their limits
#[derive(clap::Args)]
#[command(after_help = "Example: the names that --adapter can choose from\n  \
    nimstrata devices --json")]
pub struct Args {
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct DevicesReport {
    adapters: Vec<AdapterSummary>,
}

impl Args {
    /// Looks for adapters and prints them.
    pub fn run(&self) -> Result<()> {
        self.output.print(&DevicesReport { adapters: gpu::adapters() })
    }
}

impl fmt::Display for DevicesReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.adapters.is_empty() {
            return out.write_str(
                "No GPU adapter found: everything is solved on the CPU.\n\
                 A driver for Vulkan, Metal or DirectX 12 would help; on Debian, mesa-vulkan-drivers brings those of\n\
                 AMD and Intel GPUs and one that runs on the CPU.\n",
            );
        }
        for (index, adapter) in self.adapters.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            adapter_lines(adapter).fmt(out)?;
        }
        Ok(())
    }
}

fn adapter_lines(adapter: &AdapterSummary) -> Lines {
    let kind = if adapter.software {
        "software: the CPU posing as a GPU, used only when asked for"
    } else {
        adapter.kind
    };
    let mut lines = Lines::default();
    lines.add("adapter", &*adapter.name);
    lines.add("kind", kind);
    lines.add("driver", format!("{} through {}", adapter.driver, adapter.backend));
    lines.add("buffers", format!("up to {}", bytes(adapter.max_buffer_bytes.into())));
    let binding = bytes(adapter.max_binding_bytes.into());
    lines.add("bindings", format!("up to {binding} each, {} a kernel", adapter.storage_bindings));
    let (invocations, groups) = (adapter.max_workgroup_invocations, adapter.max_workgroups_per_dimension);
    let (invocations, groups) = (grouped(invocations.into()), grouped(groups.into()));
    lines.add("workgroups", format!("up to {invocations} invocations, {groups} along a dimension"));
    lines.add(
        "subgroups",
        match (adapter.subgroup_min, adapter.subgroup_max) {
            (least, most) if least == most => format!("{least} invocations"),
            (least, most) => format!("{least} to {most} invocations"),
        },
    );
    lines.add("timestamps", if adapter.timestamps { "yes" } else { "no" });
    lines
}
