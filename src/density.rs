//! Density maps: the share of P-positions by two coordinates.
//!
//! A coordinate is the size of the i-th largest heap, or the total. Host threads list segments of rows
//! (`src/space/segment.rs`), each thread whole strata; they are counted by the thread that listed them, or all by a GPU.
//! Counts are sums, so it does not matter which come first.

use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use half::f16;

use crate::cpu;
use crate::error::{Error, Result};
use crate::gpu;
use crate::npy;
use crate::solver::{BackendChoice, Options, free_memory};
use crate::space::{Coordinate, Grid, Region, Segment};
use crate::store::{Store, Stored};

/// Segments and positions that a CPU thread lists before it counts them.
const CPU_PORTION: [usize; 2] = [1 << 12, 1 << 20];
/// Segments and positions that a GPU gets at once: some megabytes.
const GPU_PORTION: [usize; 2] = [1 << 19, 1 << 25];

/// Where verdicts are read from.
pub trait Verdicts: Sync {
    /// Appends the verdicts of the positions at these places of a stratum, in canonical order, 32 to a word, least
    /// significant bit first, 1 = P. The first place is a multiple of 32; bits after the last may be anything.
    fn append(&self, total: u32, places: Range<u64>, words: &mut Vec<u32>);
}

impl Verdicts for Store {
    fn append(&self, total: u32, places: Range<u64>, words: &mut Vec<u32>) {
        let (first, end) = (places.start as usize, places.end as usize);
        match self.stratum(total) {
            Some(Stored::Verdicts(bytes)) => append_bytes(&bytes[first / 8..end.div_ceil(8)], words),
            Some(Stored::Remoteness8(values)) => append_even(&values[first..end], words),
            Some(Stored::Remoteness16(values)) => append_even(&values[first..end], words),
            None => {}
        }
    }
}

/// Appends bits from bytes.
pub fn append_bytes(bytes: &[u8], words: &mut Vec<u32>) {
    words.extend(bytes.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    }));
}

/// Appends a bit for each remoteness: 1 where it is even.
fn append_even<R: Copy + Into<u32>>(values: &[R], words: &mut Vec<u32>) {
    let even = |chunk: &[R]| chunk.iter().rev().fold(0, |word, &value| word << 1 | (!value.into() & 1));
    words.extend(values.chunks(32).map(even));
}

/// Takes words with verdicts, and one word more, and segments of them.
type Visit<'a> = dyn FnMut(&[u32], &[Segment]) -> ControlFlow<()> + 'a;

/// Called with the number of positions counted; [`ControlFlow::Break`] stops the counting.
pub type Watch<'a> = dyn FnMut(u64) -> ControlFlow<()> + 'a;

/// How many positions, and P-positions, there are for each pair of values of two coordinates.
pub struct Density {
    axes: [Coordinate; 2],
    shape: [u32; 2],
    /// For each value of the first coordinate those of the second: positions, and P-positions among them.
    counts: Vec<[u64; 2]>,
    adapter: Option<(String, bool)>,
}

impl Density {
    /// Counts the positions of a region. The backend is a GPU only where the options ask for one: a thread that lists
    /// segments counts them in less time than it takes to send them.
    ///
    /// # Errors
    /// [`Error::Memory`] when the counts do not fit, [`Error::Stopped`] when `watch` stopped it, and
    /// [`Error::NoAdapter`], [`Error::AdapterNotFound`], [`Error::Binding`] or [`Error::Device`] when a GPU cannot do it.
    pub fn count(
        verdicts: &dyn Verdicts,
        region: &Region,
        axes: [Coordinate; 2],
        options: &Options,
        watch: &mut Watch<'_>,
    ) -> Result<Self> {
        let grid = Grid::new(region, axes);
        let choice = match (options.backend, options.adapter.as_deref()) {
            (BackendChoice::Cpu, _) | (BackendChoice::Auto, None) => None,
            (_, Some(name)) => Some(gpu::Choice::Named(name)),
            (BackendChoice::Gpu, None) => Some(gpu::Choice::Any),
        };
        let on_gpu = choice.is_some();
        let threads = options.threads().min(region.strata().len());
        check_memory(&grid, if on_gpu { 4 } else { threads as u64 + 1 }, options)?;
        let portion = if on_gpu { GPU_PORTION } else { CPU_PORTION };
        let (next, stopped) = (AtomicU32::new(0), AtomicBool::new(false));
        let listing = Listing { verdicts, region, grid, portion, next, stopped };
        let pool = cpu::threads(threads)?;
        let (counts, adapter) = match choice {
            None => (listing.count_on_cpu(&pool, watch), None),
            Some(choice) => {
                let context = Arc::new(gpu::Context::open(choice)?);
                let adapter = (context.summary.name.clone(), context.summary.software);
                let device = gpu::density::Density::new(context, &grid, portion, false)?;
                (listing.count_on_gpu(&pool, device, watch)?, Some(adapter))
            }
        };
        let counted = counts.iter().map(|[positions, _]| positions).sum::<u64>();
        if listing.stopped.into_inner() && counted < region.positions() {
            let percent = counted * 100 / region.positions();
            return Err(Error::Stopped { when: format!("after {percent} % of the positions") });
        }
        Ok(Self { axes, shape: grid.shape(), counts, adapter })
    }

    /// The coordinates.
    #[must_use]
    pub fn axes(&self) -> [Coordinate; 2] {
        self.axes
    }

    /// How many values each coordinate has, from 0 on.
    #[must_use]
    pub fn shape(&self) -> [u32; 2] {
        self.shape
    }

    /// The positions with these values of the coordinates, and how many of them are P-positions.
    #[must_use]
    pub fn at(&self, [first, second]: [u32; 2]) -> [u64; 2] {
        self.counts[first as usize * self.shape[1] as usize + second as usize]
    }

    /// The share of P-positions among the positions with these values; `None` where there are none.
    #[must_use]
    pub fn share(&self, values: [u32; 2]) -> Option<f64> {
        share(self.at(values))
    }

    /// The greatest share that occurs.
    #[must_use]
    pub fn greatest(&self) -> f64 {
        self.counts.iter().copied().filter_map(share).fold(0.0, f64::max)
    }

    /// All positions, and the P-positions among them.
    #[must_use]
    pub fn sums(&self) -> [u64; 2] {
        self.counts.iter().fold([0, 0], |sum, count| [sum[0] + count[0], sum[1] + count[1]])
    }

    /// The GPU adapter that counted, if one did, and whether it is a CPU posing as one.
    #[must_use]
    pub fn adapter(&self) -> Option<(&str, bool)> {
        self.adapter.as_ref().map(|(name, software)| (name.as_str(), *software))
    }

    /// Writes numpy's format: 16-bit floats, an axis for each coordinate in their order, NaN where there are no
    /// positions.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write_npy(&self, out: &mut dyn Write) -> io::Result<()> {
        npy::write_header(&mut *out, "<f2", &self.shape.map(u64::from))?;
        self.counts.iter().try_for_each(|&count| {
            let value = share(count).map_or(f16::NAN, f16::from_f64);
            out.write_all(&value.to_le_bytes())
        })
    }
}

fn share([positions, p_positions]: [u64; 2]) -> Option<f64> {
    (positions > 0).then(|| p_positions as f64 / positions as f64)
}

/// Refuses maps of which so many copies do not fit.
fn check_memory(grid: &Grid, copies: u64, options: &Options) -> Result<()> {
    let available = options.memory.unwrap_or_else(free_memory);
    let needed = 16 * u128::from(grid.cells()) * u128::from(copies);
    if needed <= u128::from(available) && u32::try_from(grid.cells()).is_ok() {
        return Ok(());
    }
    let [width, height] = grid.shape();
    Err(Error::Memory {
        what: format!("a density map of {width} x {height} cells"),
        needed: Some(needed),
        available,
        source_of_limit: if options.memory.is_some() { "allowed by --memory" } else { "free" },
        remedy: "fewer --threads or a store of smaller heaps need less".to_owned(),
    })
}

/// What is to be listed, and how far that is.
struct Listing<'a> {
    verdicts: &'a dyn Verdicts,
    region: &'a Region,
    grid: Grid,
    portion: [usize; 2],
    /// The next stratum that no thread has begun.
    next: AtomicU32,
    stopped: AtomicBool,
}

impl Listing<'_> {
    /// Lists strata as long as there are any, and hands every portion to `visit`.
    fn list(&self, visit: &mut Visit<'_>) -> ControlFlow<()> {
        let mut words = Vec::new();
        loop {
            let total = self.next.fetch_add(1, Ordering::Relaxed);
            if !self.region.strata().contains(&total) {
                return ControlFlow::Continue(());
            }
            self.grid.segments(self.region, total, self.portion, &mut |origin, segments| {
                if self.stopped.load(Ordering::Relaxed) {
                    return ControlFlow::Break(());
                }
                let last = segments.last().map_or(0, |last| u64::from(last.start + last.length));
                words.clear();
                self.verdicts.append(total, origin..origin + last, &mut words);
                words.push(0);
                visit(&words, segments)
            })?;
        }
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Counts on all threads of a pool.
    fn count_on_cpu(&self, pool: &rayon::ThreadPool, watch: &mut Watch<'_>) -> Vec<[u64; 2]> {
        let empty = || vec![[0; 2]; self.grid.cells() as usize];
        let sum = Mutex::new(empty());
        pool.in_place_scope(|scope| {
            // Bounded, so that no thread is far ahead when it is told to stop.
            let (report, reports) = mpsc::sync_channel(pool.current_num_threads());
            for _ in 0..pool.current_num_threads() {
                let (report, sum) = (report.clone(), &sum);
                scope.spawn(move |_| {
                    let mut counts = empty();
                    let _ = self.list(&mut |words, segments| {
                        cpu::density::count(self.grid.step(), words, segments, &mut counts);
                        // The receiver outlives all threads.
                        let _ = report.send(positions(segments));
                        ControlFlow::Continue(())
                    });
                    let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                    for (sum, count) in sum.iter_mut().zip(counts) {
                        *sum = [sum[0] + count[0], sum[1] + count[1]];
                    }
                });
            }
            drop(report);
            let mut done = 0;
            for positions in reports {
                done += positions;
                if watch(done).is_break() {
                    self.stop();
                }
            }
        });
        sum.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts on a device what all threads of a pool list.
    fn count_on_gpu(
        &self,
        pool: &rayon::ThreadPool,
        mut device: gpu::density::Density,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<[u64; 2]>> {
        pool.in_place_scope(|scope| {
            // No more than a few portions wait for the device.
            let (send, portions) = mpsc::sync_channel::<(Vec<u32>, Vec<Segment>)>(1);
            for _ in 0..pool.current_num_threads() {
                let send = send.clone();
                scope.spawn(move |_| {
                    let _ = self.list(&mut |words, segments| {
                        let sent = send.send((words.to_vec(), segments.to_vec()));
                        if sent.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                    });
                });
            }
            drop(send);
            let mut done = 0;
            // An error leaves the loop and drops the receiver, upon which the threads end.
            for (words, segments) in portions {
                device.count(&words, &segments)?;
                done += positions(&segments);
                if watch(done).is_break() {
                    self.stop();
                }
            }
            device.finish()
        })
    }
}

fn positions(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| u64::from(segment.length)).sum()
}
