//! Dispatches `shaders/density.wgsl`: counts positions and P-positions by two coordinates.
//!
//! Segments and verdicts come in portions from whoever lists them. The counts stay on the device in 32 bits and are
//! fetched before the positions of the portions since the last time could exceed those.

use std::sync::Arc;

use super::Context;
use super::params::{DensityGrid, DensityStep};
use super::tables::{bind, bind_group_layout, table};
use crate::error::{Error, Result};
use crate::space::{Grid, Segment};

/// The shader's source.
pub const SHADER: &str = include_str!("../../shaders/density.wgsl");

/// Threads of a workgroup.
const WORKGROUP: usize = 64;

/// Counts by two coordinates on a device.
pub struct Density {
    context: Arc<Context>,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    step: wgpu::Buffer,
    verdicts: wgpu::Buffer,
    segments: wgpu::Buffer,
    on_device: wgpu::Buffer,
    staging: wgpu::Buffer,
    /// The portion before the last, which must be done before another one is sent.
    pending: Option<wgpu::SubmissionIndex>,
    /// Positions in the counts on the device.
    uncollected: u64,
    /// Never more of them.
    most_uncollected: u64,
    counts: Vec<[u64; 2]>,
}

impl Density {
    /// Prepares a map for portions of at most so many segments and positions. `checked` leaves wgpu's guards in.
    ///
    /// # Errors
    /// [`Error::Binding`] when the device cannot bind the counts, [`Error::Device`] when it fails.
    pub fn new(context: Arc<Context>, grid: &Grid, portion: [usize; 2], checked: bool) -> Result<Self> {
        let limit = context.summary.max_binding_bytes;
        let [segments_bytes, verdicts_bytes] = Self::portion_bytes(portion);
        let counts_bytes = 8 * grid.cells();
        let needed = counts_bytes.max(segments_bytes).max(verdicts_bytes);
        if needed > limit {
            return Err(Error::Binding { adapter: context.summary.name.clone(), needed, limit });
        }
        let bindings = bind_group_layout(&context, "density", 2, 1)?;
        let pipeline = context.pipeline("density", SHADER, "main", &bindings, &[], checked)?;
        let shared = bytemuck::bytes_of(&DensityGrid { step: grid.step() }).to_vec();
        let shared = table(&context, "grid", &shared, wgpu::BufferUsages::UNIFORM)?;
        let (sent, fetched) = (wgpu::BufferUsages::COPY_DST, wgpu::BufferUsages::COPY_SRC);
        let step_bytes = size_of::<DensityStep>() as u64;
        let step = context.buffer("step", step_bytes, wgpu::BufferUsages::UNIFORM | sent)?;
        let verdicts = context.storage_buffer("verdicts", verdicts_bytes, sent)?;
        let segments = context.storage_buffer("segments", segments_bytes, sent)?;
        let on_device = context.storage_buffer("counts", counts_bytes, sent | fetched)?;
        let staging = context.staging_buffer("counts", counts_bytes)?;
        let resources =
            [&shared, &step, &verdicts, &segments, &on_device].map(wgpu::Buffer::as_entire_binding);
        let group = bind(&context, "density", &bindings, resources)?;
        let counts = vec![[0; 2]; grid.cells() as usize];
        let (pending, uncollected) = (None, 0);
        let most_uncollected = u32::MAX.into();
        Ok(Self {
            context,
            pipeline,
            group,
            step,
            verdicts,
            segments,
            on_device,
            staging,
            pending,
            uncollected,
            most_uncollected,
            counts,
        })
    }

    /// Bytes of the segments and of the verdicts of a portion.
    fn portion_bytes([segments, positions]: [usize; 2]) -> [u64; 2] {
        [(segments * size_of::<Segment>()) as u64, 4 * (positions as u64 / 32 + 3)]
    }

    /// Fetches the counts after so many positions at the latest, at most 2³² − 1, instead of when it must.
    #[must_use]
    pub fn collecting_after(mut self, positions: u32) -> Self {
        self.most_uncollected = positions.into();
        self
    }

    /// Counts a portion: segments, and the words with their verdicts and one word more.
    ///
    /// # Errors
    /// [`Error::Device`] when the device fails.
    pub fn count(&mut self, verdicts: &[u32], segments: &[Segment]) -> Result<()> {
        let positions = segments.iter().map(|segment| u64::from(segment.length)).sum::<u64>();
        if self.uncollected + positions > self.most_uncollected {
            self.collect()?;
        }
        self.uncollected += positions;
        let context = self.context.clone();
        let step = DensityStep { segments: segments.len() as u32 };
        let submitted = context.guarded(|| {
            context.queue.write_buffer(&self.step, 0, bytemuck::bytes_of(&step));
            context.queue.write_buffer(&self.verdicts, 0, bytemuck::cast_slice(verdicts));
            context.queue.write_buffer(&self.segments, 0, bytemuck::cast_slice(segments));
            let mut encoder =
                context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&self.pipeline);
                pass.set_bind_group(0, &self.group, &[0]);
                pass.dispatch_workgroups(segments.len().div_ceil(WORKGROUP) as u32, 1, 1);
            }
            context.queue.submit([encoder.finish()])
        })?;
        // Two on their way at most.
        self.pending.replace(submitted).map_or(Ok(()), |earlier| context.wait(earlier))
    }

    /// Adds the counts on the device to those here, and clears them there.
    fn collect(&mut self) -> Result<()> {
        let context = self.context.clone();
        let bytes = self.on_device.size();
        let submitted = context.guarded(|| {
            let mut encoder =
                context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&self.on_device, 0, &self.staging, 0, bytes);
            encoder.clear_buffer(&self.on_device, 0, None);
            context.queue.submit([encoder.finish()])
        })?;
        context.wait(submitted)?;
        let read = context.read(&self.staging, 0..bytes)?;
        for (sum, counted) in self.counts.iter_mut().zip(bytemuck::cast_slice::<u8, [u32; 2]>(&read)) {
            sum[0] += u64::from(counted[0]);
            sum[1] += u64::from(counted[1]);
        }
        self.uncollected = 0;
        Ok(())
    }

    /// For each cell its positions, and those of them that are P.
    ///
    /// # Errors
    /// [`Error::Device`] when the device fails.
    pub fn finish(mut self) -> Result<Vec<[u64; 2]>> {
        self.collect()?;
        Ok(self.counts)
    }
}
