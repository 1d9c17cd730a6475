//! What the kernels have in common in uploading tables and binding buffers.

use std::num::NonZeroU64;

use wgpu::util::DeviceExt;

use super::Context;
use crate::error::Result;
use crate::space::Layout;

/// A buffer with these contents.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device) when the device's memory runs out.
pub fn table(
    context: &Context,
    label: &str,
    bytes: &[u8],
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer> {
    // A buffer must not be empty.
    let contents = if bytes.is_empty() { &[0; 4] } else { bytes };
    let descriptor = wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage };
    context.guarded(|| context.device.create_buffer_init(&descriptor))
}

/// A part of a buffer, to be bound.
pub fn part(buffer: &wgpu::Buffer, offset: u64, size: u64) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size: NonZeroU64::new(size) })
}

/// Two coordinates to a word, each block starting with a word of its own.
pub fn pack_coordinates(layout: &Layout) -> Vec<u32> {
    let pack = |pair: &[u16]| u32::from(pair[0]) | u32::from(pair.get(1).copied().unwrap_or(0)) << 16;
    match layout.axes() {
        0 => Vec::new(),
        axes => layout.coordinates().chunks(axes).flat_map(|block| block.chunks(2).map(pack)).collect(),
    }
}

/// The layout of a kernel's bindings: a uniform, a uniform with a window for each dispatch, `read` tables that are only
/// read, and `written` ones.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device) when the device has fewer bindings.
pub fn bind_group_layout(
    context: &Context,
    label: &str,
    read: usize,
    written: usize,
) -> Result<wgpu::BindGroupLayout> {
    let uniform = |has_dynamic_offset| (wgpu::BufferBindingType::Uniform, has_dynamic_offset);
    let storage = |read_only| (wgpu::BufferBindingType::Storage { read_only }, false);
    let tables = std::iter::repeat_n(storage(true), read).chain(std::iter::repeat_n(storage(false), written));
    let kinds = [uniform(false), uniform(true)].into_iter().chain(tables);
    let entries = (0..).zip(kinds).map(|(binding, (ty, has_dynamic_offset))| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    });
    let entries = entries.collect::<Vec<_>>();
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries };
    context.guarded(|| context.device.create_bind_group_layout(&descriptor))
}

/// Binds these resources, in the order of a layout.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device) when they do not fit it.
pub fn bind<'a>(
    context: &Context,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    resources: impl IntoIterator<Item = wgpu::BindingResource<'a>>,
) -> Result<wgpu::BindGroup> {
    let entries = (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource });
    let entries = entries.collect::<Vec<_>>();
    let descriptor = wgpu::BindGroupDescriptor { label: Some(label), layout, entries: &entries };
    context.guarded(|| context.device.create_bind_group(&descriptor))
}
