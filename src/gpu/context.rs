//! The GPU as the solver sees it: one adapter chosen, one device opened, and no panics.
//!
//! wgpu reports most failures out of band. Left alone, an uncaptured error panics, a lost device panics the
//! next poll, and an allocation that fails hands back a dead buffer. This module gathers all of that into
//! [`Error::Device`]: calls that create something run under error scopes, and whatever escapes them is
//! recorded as the context's *fault*, which [`Context::check`] reports. The kernels and the strata loop can
//! then use `?` alone.

use std::{
    error::Error as _,
    ops::{Deref, Range},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Duration,
};

use wgpu::{ErrorFilter, Features};

use super::adapter::{AdapterSummary, Choice, ranked};
use crate::error::{Error, Result, bytes};

/// Features that are switched on where the adapter has them; [`wgpu::Device::features`] tells which.
const WELCOME: Features = Features::TIMESTAMP_QUERY
    .union(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS)
    .union(Features::TIMESTAMP_QUERY_INSIDE_PASSES)
    .union(Features::IMMEDIATES)
    .union(Features::SUBGROUP);

/// Words copied from or to the device at a time.
const TRANSFER_WORDS: usize = 16 << 20;
/// How long a mapping that is done may take to be reported.
const MAPPING_TIME: Duration = Duration::from_secs(10);

/// The first failure that no error scope caught, from whichever thread it came.
#[derive(Clone, Debug, Default)]
struct Fault(Arc<Mutex<Option<String>>>);

impl Fault {
    fn record(&self, reason: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }

    fn first(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes `device` report here instead of panicking.
    fn watch(&self, device: &wgpu::Device) {
        let fault = self.clone();
        device.on_uncaptured_error(Arc::new(move |error| fault.record(explain(&error))));
        let fault = self.clone();
        device.set_device_lost_callback(move |reason, message| {
            let message = if message.is_empty() { format!("{reason:?}") } else { message };
            fault.record(format!("device lost: {message}"));
        });
    }
}

/// An open device with its queue.
#[derive(Debug)]
pub struct Context {
    /// Makes buffers, bind groups and encoders.
    pub device: wgpu::Device,
    /// Takes the work.
    pub queue: wgpu::Queue,
    /// The adapter behind them.
    pub summary: AdapterSummary,
    fault: Fault,
}

impl Context {
    /// Opens the first adapter that `choice` allows, with all the limits that it has.
    ///
    /// # Errors
    ///
    /// [`Error::NoAdapter`] when there is none of the kind, [`Error::AdapterNotFound`] when there are some but
    /// none has the name, [`Error::Device`] when the driver refuses.
    pub fn open(choice: Choice<'_>) -> Result<Self> {
        let adapters = ranked();
        let Some(adapter) = adapters.iter().find(|adapter| choice.allows(adapter)) else {
            return Err(match choice {
                Choice::Named(wanted) if !adapters.is_empty() => Error::AdapterNotFound {
                    wanted: wanted.to_owned(),
                    found: adapters.iter().map(|adapter| adapter.get_info().name).collect(),
                },
                _ => Error::NoAdapter,
            });
        };
        let summary = AdapterSummary::new(adapter);
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("nimstrata"),
            required_features: adapter.features() & WELCOME,
            required_limits: adapter.limits(),
            // Few buffers and large ones: pooling them in blocks would only round their sizes up.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        }))
        .map_err(|error| Error::Device { adapter: summary.name.clone(), reason: error.to_string() })?;
        let fault = Fault::default();
        fault.watch(&device);
        Ok(Self { device, queue, summary, fault })
    }

    /// Whether the device still works, as far as is known.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] once something has failed outside any error scope, or the device is lost.
    pub fn check(&self) -> Result<()> {
        self.fault.first().map_or(Ok(()), |reason| Err(self.failure(reason)))
    }

    /// Allocates a zeroed storage buffer of `bytes`, rounded up to whole words.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the size is over the device's limit or its free memory, or the usages clash.
    pub fn storage_buffer(&self, label: &str, bytes: u64, extra: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        self.buffer(label, bytes, wgpu::BufferUsages::STORAGE | extra)
    }

    /// Allocates a buffer to copy results into and [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// As [`storage_buffer`](Self::storage_buffer).
    pub fn staging_buffer(&self, label: &str, bytes: u64) -> Result<wgpu::Buffer> {
        self.buffer(label, bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)
    }

    /// Allocates a zeroed buffer of `asked` bytes, rounded up to whole words.
    ///
    /// # Errors
    ///
    /// As [`storage_buffer`](Self::storage_buffer).
    pub fn buffer(&self, label: &str, asked: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        let most = self.device.limits().max_buffer_size;
        let rounded = asked.max(1).checked_next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        let Some(size) = rounded.filter(|&size| size <= most) else {
            let (asked, most) = (bytes(asked.into()), bytes(most.into()));
            return Err(self.failure(format!("a {label} buffer of {asked} is over its limit of {most}")));
        };
        self.guarded(|| {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            })
        })
    }

    /// Compiles the `entry` point of `wgsl`, whose group 0 is `layout`, with `overrides` for its constants.
    ///
    /// Without `checked`, wgpu leaves out its own guards against indices out of bounds, endless loops and
    /// divisions by zero. Leave them out only for a kernel whose tests pass with them.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the source does not compile or does not fit the layout.
    pub(crate) fn pipeline(
        &self,
        label: &str,
        wgsl: &str,
        entry: &str,
        layout: &wgpu::BindGroupLayout,
        overrides: &[(&str, f64)],
        checked: bool,
    ) -> Result<wgpu::ComputePipeline> {
        let label = Some(label);
        let source = wgpu::ShaderModuleDescriptor { label, source: wgpu::ShaderSource::Wgsl(wgsl.into()) };
        let module = self.guarded(|| {
            if checked { self.device.create_shader_module(source) } else { self.trusted_module(source) }
        })?;
        self.guarded(|| {
            let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label,
                bind_group_layouts: &[Some(layout)],
                immediate_size: 0,
            });
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label,
                layout: Some(&layout),
                module: &module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: overrides,
                    // The kernels write what they read of a workgroup's memory.
                    zero_initialize_workgroup_memory: false,
                },
                cache: None,
            })
        })
    }

    fn trusted_module(&self, source: wgpu::ShaderModuleDescriptor<'_>) -> wgpu::ShaderModule {
        let checks = wgpu::ShaderRuntimeChecks::unchecked();
        // SAFETY: only this crate's own kernels come here. Every index they form stays in what is bound by the
        // invariants of the layout (a row is followed by a zero, a window never leaves its slab), their loops are
        // bounded and they never divide by zero; the same kernels run checked in the tests.
        unsafe { self.device.create_shader_module_trusted(source, checks) }
    }

    /// Waits until `submission` is done.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when it, or anything before it, failed.
    pub fn wait(&self, submission: wgpu::SubmissionIndex) -> Result<()> {
        self.poll(wgpu::PollType::Wait { submission_index: Some(submission), timeout: None })
    }

    /// Maps `range` of a [`staging_buffer`](Self::staging_buffer) once the work that writes it is done.
    ///
    /// The start is a multiple of 8 and the length of 4. Submit no work on the buffer until the result is
    /// dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the range cannot be mapped or the work failed.
    pub fn read(&self, buffer: &wgpu::Buffer, range: Range<u64>) -> Result<Mapped> {
        let mappable = !range.is_empty()
            && range.end <= buffer.size()
            && range.start.is_multiple_of(wgpu::MAP_ALIGNMENT)
            && (range.end - range.start).is_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        if !mappable {
            return Err(self.failure(format!("bytes {range:?} of {} cannot be mapped", buffer.size())));
        }
        let (done, outcome) = mpsc::channel();
        self.guarded(|| {
            // The receiver is gone only when this call has already failed.
            buffer.map_async(wgpu::MapMode::Read, range.clone(), move |mapped| drop(done.send(mapped)));
        })?;
        // One look is enough when the work is done, and does not wait for what was submitted after it.
        self.poll(wgpu::PollType::Poll)?;
        let mapped = outcome.try_recv().or_else(|_| {
            self.poll(wgpu::PollType::wait_indefinitely())?;
            // Another thread's poll may have found the mapping done, and be about to say so.
            outcome
                .recv_timeout(MAPPING_TIME)
                .map_err(|_| self.failure("mapping a buffer never ended".to_owned()))
        })?;
        mapped.map_err(|error| self.failure(error.to_string()))?;
        let view = buffer.get_mapped_range(range).map_err(|error| self.failure(error.to_string()))?;
        Ok(Mapped { view, _unmap: Unmap(buffer.clone()) })
    }

    /// Copies words from a buffer with the usage `COPY_SRC`, from byte `offset` on, and waits for them.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when they cannot be read.
    pub fn download(&self, buffer: &wgpu::Buffer, offset: u64, words: &mut [u32]) -> Result<()> {
        let mut offset = offset;
        for words in words.chunks_mut(TRANSFER_WORDS) {
            let bytes = 4 * words.len() as u64;
            let staging = self.staging_buffer("download", bytes)?;
            let submission = self.guarded(|| {
                let mut encoder =
                    self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, bytes);
                self.queue.submit([encoder.finish()])
            })?;
            self.wait(submission)?;
            words.copy_from_slice(bytemuck::cast_slice(&self.read(&staging, 0..bytes)?));
            offset += bytes;
        }
        Ok(())
    }

    /// Copies words to a buffer with the usage `COPY_DST`, from byte `offset` on.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when they cannot be written.
    pub fn upload(&self, buffer: &wgpu::Buffer, offset: u64, words: &[u32]) -> Result<()> {
        let mut offset = offset;
        for words in words.chunks(TRANSFER_WORDS) {
            let submission = self.guarded(|| {
                self.queue.write_buffer(buffer, offset, bytemuck::cast_slice(words));
                self.queue.submit([])
            })?;
            self.wait(submission)?;
            offset += 4 * words.len() as u64;
        }
        Ok(())
    }

    fn poll(&self, how: wgpu::PollType) -> Result<()> {
        // wgpu panics when it finds the device lost in here; the fault has been recorded by then.
        let polled = catch_unwind(AssertUnwindSafe(|| self.device.poll(how)));
        self.check()?;
        match polled {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(self.failure(error.to_string())),
            Err(_) => Err(self.failure("device lost".to_owned())),
        }
    }

    /// Runs `make`; the first error that wgpu raises meanwhile takes the place of what it made.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] with that error, or with the fault recorded before.
    pub fn guarded<T>(&self, make: impl FnOnce() -> T) -> Result<T> {
        let scopes = [ErrorFilter::OutOfMemory, ErrorFilter::Internal, ErrorFilter::Validation]
            .map(|filter| self.device.push_error_scope(filter));
        let made = make();
        // Innermost first, and every one of them, as wgpu wants.
        let raised = scopes.into_iter().rev().filter_map(|scope| pollster::block_on(scope.pop()));
        if let Some(error) = raised.reduce(|first, _| first) {
            return Err(self.failure(explain(&error)));
        }
        self.check().map(|()| made)
    }

    fn failure(&self, reason: String) -> Error {
        Error::Device { adapter: self.summary.name.clone(), reason }
    }
}

/// The causes of an error, outermost first: wgpu's own text says only "Validation Error", or has many lines.
fn explain(error: &wgpu::Error) -> String {
    let kind = matches!(error, wgpu::Error::OutOfMemory { .. }).then(|| "out of memory".to_owned());
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let causes = causes.map(|cause| cause.to_string().trim().to_owned());
    kind.into_iter().chain(causes).collect::<Vec<_>>().join(": ")
}

/// Bytes of a buffer, mapped for reading until this is dropped.
#[derive(Debug)]
pub struct Mapped {
    // Fields drop in this order, and the view has to go before the mapping.
    view: wgpu::BufferView,
    _unmap: Unmap,
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.view
    }
}

#[derive(Debug)]
struct Unmap(wgpu::Buffer);

impl Drop for Unmap {
    fn drop(&mut self) {
        self.0.unmap();
    }
}
