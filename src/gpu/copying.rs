//! How fast a device copies memory, measured: what its kernels' traffic can be compared with.

use std::time::{Duration, Instant};

use super::Context;
use crate::error::Result;

/// Bytes of each of the two buffers, unless the device allows less. No cache of a device holds as much.
const BYTES: u64 = 256 << 20;
/// How long one measurement should take.
const TIME: Duration = Duration::from_millis(50);
/// Copies in one measurement at most.
const MOST_COPIES: f64 = 64.0;
/// Measurements, of which the best counts.
const RUNS: u32 = 3;

impl Context {
    /// Bytes read and written a second while the device copies one of its buffers to another.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when the device's memory runs out, or it fails.
    pub fn copy_bandwidth(&self) -> Result<f64> {
        let size = BYTES.min(self.device.limits().max_buffer_size) & !3;
        let from = self.buffer("copied", size, wgpu::BufferUsages::COPY_SRC)?;
        let to = self.buffer("copy", size, wgpu::BufferUsages::COPY_DST)?;
        // The first copy also touches the memory for the first time.
        self.time_copies(&from, &to, 1)?;
        let one = self.time_copies(&from, &to, 1)?;
        let copies = (TIME.as_secs_f64() / one.as_secs_f64()).clamp(1.0, MOST_COPIES) as u32;
        let mut best = one;
        for _ in 0..RUNS {
            best = best.min(self.time_copies(&from, &to, copies)? / copies);
        }
        Ok(2.0 * size as f64 / best.as_secs_f64())
    }

    fn time_copies(&self, from: &wgpu::Buffer, to: &wgpu::Buffer, copies: u32) -> Result<Duration> {
        let start = Instant::now();
        let submission = self.guarded(|| {
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            for _ in 0..copies {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
            }
            self.queue.submit([encoder.finish()])
        })?;
        self.wait(submission)?;
        Ok(start.elapsed().max(Duration::from_nanos(1)))
    }
}
