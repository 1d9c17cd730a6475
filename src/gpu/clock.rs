//! The device's own clock: how long it works on the compute passes of a run, beside what the host waits for.

use std::time::Duration;

use super::Context;
use crate::error::Result;

/// Bytes of the two stamps of a pass.
pub const STAMP_BYTES: u64 = 16;

/// Where the device notes when it begins and ends a pass, for some passes that are on their way.
pub struct Clock {
    queries: wgpu::QuerySet,
    /// What was noted, for each pass at a place that queries may be written to.
    stamps: wgpu::Buffer,
    /// How long a tick takes, in nanoseconds.
    tick: f64,
}

impl Clock {
    /// The clock of a device, for so many passes on their way; `None` where the adapter tells no times.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when the device's memory runs out.
    pub fn new(context: &Context, passes: u32) -> Result<Option<Self>> {
        if !context.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Ok(None);
        }
        let queries = context.guarded(|| {
            context.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stamps"),
                ty: wgpu::QueryType::Timestamp,
                count: 2 * passes,
            })
        })?;
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let bytes = u64::from(passes) * wgpu::QUERY_RESOLVE_BUFFER_ALIGNMENT;
        let stamps = context.buffer("stamps", bytes, usage)?;
        Ok(Some(Self { queries, stamps, tick: f64::from(context.queue.get_timestamp_period()) }))
    }

    /// What makes the device note when it begins and ends the pass of this number.
    pub fn watch(&self, pass: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * pass),
            end_of_pass_write_index: Some(2 * pass + 1),
        }
    }

    /// Copies the stamps of a pass that was recorded before to `offset` in `to`.
    pub fn fetch(&self, encoder: &mut wgpu::CommandEncoder, pass: u32, to: &wgpu::Buffer, offset: u64) {
        let place = u64::from(pass) * wgpu::QUERY_RESOLVE_BUFFER_ALIGNMENT;
        encoder.resolve_query_set(&self.queries, 2 * pass..2 * pass + 2, &self.stamps, place);
        encoder.copy_buffer_to_buffer(&self.stamps, place, to, offset, STAMP_BYTES);
    }

    /// How long so many ticks take.
    pub fn duration(&self, ticks: u64) -> Duration {
        Duration::from_nanos((ticks as f64 * self.tick) as u64)
    }
}

/// The ticks in which a device was at work, from the stamps of its passes in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ticks {
    /// How many.
    pub worked: u64,
    /// When the last pass ended.
    until: u64,
}

impl Ticks {
    /// Adds a pass. What it shares with the one before is counted once.
    pub fn add(&mut self, [begin, end]: [u64; 2]) {
        self.worked += end.saturating_sub(begin.max(self.until));
        self.until = self.until.max(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_passes_share_is_counted_once() {
        let mut ticks = Ticks::default();
        for stamps in [[100, 130], [120, 150], [170, 180], [175, 178]] {
            ticks.add(stamps);
        }
        assert_eq!(ticks.worked, 60);
    }
}
