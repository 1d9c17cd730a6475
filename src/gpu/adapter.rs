//! The adapters of the machine: what is known of them before a device is opened, and which to choose.

use serde::Serialize;
use wgpu::{Backend, DeviceType, Features};

/// What is known of an adapter before a device is opened.
#[derive(Clone, Debug, Serialize)]
pub struct AdapterSummary {
    /// The name the driver gives it, such as `NVIDIA GeForce RTX 4090`.
    pub name: String,
    /// The driver and what it says of its version.
    pub driver: String,
    /// The API it is reached through: `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// Whether it is a CPU posing as a GPU.
    pub software: bool,
    /// The largest buffer.
    pub max_buffer_bytes: u64,
    /// The most that one storage binding shows a kernel.
    pub max_binding_bytes: u64,
    /// The most workgroups that a dispatch has along one dimension.
    pub max_workgroups_per_dimension: u32,
    /// The most invocations in a workgroup.
    pub max_workgroup_invocations: u32,
    /// The smallest subgroup.
    pub subgroup_min: u32,
    /// The largest subgroup.
    pub subgroup_max: u32,
    /// How many storage buffers a kernel can bind.
    pub storage_bindings: u32,
    /// Whether the device can time its own passes.
    pub timestamps: bool,
}

impl AdapterSummary {
    pub(super) fn new(adapter: &wgpu::Adapter) -> Self {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        Self {
            driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
            backend: info.backend.to_string(),
            kind: kind(info.device_type).1,
            software: info.device_type == DeviceType::Cpu,
            max_buffer_bytes: limits.max_buffer_size,
            max_binding_bytes: limits.max_storage_buffer_binding_size,
            max_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            max_workgroup_invocations: limits.max_compute_invocations_per_workgroup,
            subgroup_min: info.subgroup_min_size,
            subgroup_max: info.subgroup_max_size,
            storage_bindings: limits.max_storage_buffers_per_shader_stage,
            timestamps: adapter.features().contains(Features::TIMESTAMP_QUERY),
            name: info.name,
        }
    }
}

/// All adapters of the machine, real GPUs first; empty when there are none.
///
/// A card that is reachable through several APIs is listed once for each.
pub fn adapters() -> Vec<AdapterSummary> {
    ranked().iter().map(AdapterSummary::new).collect()
}

/// The adapters in the order in which they are tried.
pub(super) fn ranked() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.sort_by_cached_key(|adapter| {
        let info = adapter.get_info();
        (kind(info.device_type).0, !matches!(info.backend, Backend::Vulkan | Backend::Metal))
    });
    adapters
}

/// The place of a kind of adapter in that order, and its name.
fn kind(device_type: DeviceType) -> (u8, &'static str) {
    match device_type {
        DeviceType::DiscreteGpu => (0, "discrete"),
        DeviceType::IntegratedGpu => (1, "integrated"),
        DeviceType::VirtualGpu => (2, "virtual"),
        DeviceType::Other => (3, "other"),
        DeviceType::Cpu => (4, "software"),
    }
}

/// Which adapters may be chosen.
#[derive(Clone, Copy, Debug)]
pub enum Choice<'a> {
    /// Real GPUs only.
    Hardware,
    /// Real GPUs first, software as a last resort.
    Any,
    /// The first whose name contains this text in upper or lower case, software included.
    Named(&'a str),
}

impl Choice<'_> {
    pub(super) fn allows(self, adapter: &wgpu::Adapter) -> bool {
        let info = adapter.get_info();
        match self {
            Self::Hardware => info.device_type != DeviceType::Cpu,
            Self::Any => true,
            Self::Named(wanted) => info.name.to_lowercase().contains(&wanted.to_lowercase()),
        }
    }
}
