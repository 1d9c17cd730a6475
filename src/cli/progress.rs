//! The progress bar of a solve, on standard error.
//!
//! It appears only when a run takes longer than a blink, and only on a terminal. The driver reports after each
//! stratum; a tick in between keeps the clock going where strata are slow.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use nimstrata::solver::Progress;
use nimstrata::space::Region;

use super::{figures, interrupt};

/// Runs that end before this show no bar.
const DELAY: Duration = Duration::from_millis(300);
const TICK: Duration = Duration::from_millis(100);

/// A bar that disappears when dropped.
pub struct Bar {
    line: ProgressBar,
    strata: u64,
    /// When the bar was last moved: strata can be so small that moving it for each would cost more than they do.
    moved: Instant,
    /// Dropped to call the drawing off; `None` where nothing is ever drawn.
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Bar {
    /// A bar for a region, not shown yet, and never with `quiet`.
    pub fn new(region: &Region, quiet: bool) -> Self {
        let line = ProgressBar::with_draw_target(Some(region.positions()), ProgressDrawTarget::hidden());
        line.set_style(style());
        let shown = !quiet && io::stderr().is_terminal();
        Self {
            strata: u64::from(region.strata().end),
            moved: Instant::now(),
            drawing: shown.then(|| draw_later(line.clone())),
            line,
        }
    }

    /// Moves the bar to where the run is.
    pub fn update(&mut self, progress: &Progress) {
        if self.drawing.is_some() && self.moved.elapsed() >= TICK / 2 {
            self.moved = Instant::now();
            let (done, all) = (figures::grouped(progress.strata), figures::grouped(self.strata));
            self.line.set_message(format!("{done} of {all} strata"));
            self.line.set_position(progress.positions);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some((wanted, thread)) = self.drawing.take() {
            drop(wanted);
            // It neither panics nor outlives the wait.
            let _ = thread.join();
            self.line.finish_and_clear();
        }
    }
}

fn draw_later(line: ProgressBar) -> (Sender<()>, JoinHandle<()>) {
    let (wanted, called_off) = mpsc::channel();
    let thread = thread::spawn(move || {
        if called_off.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
            line.set_draw_target(ProgressDrawTarget::stderr());
            line.enable_steady_tick(TICK);
        }
    });
    (wanted, thread)
}

fn style() -> ProgressStyle {
    let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = out.write_str(&figures::rate(state.per_sec()));
    };
    let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = if interrupt::asked() {
            out.write_str("stopping, Ctrl-C again kills")
        } else {
            write!(out, "{} left", figures::whole_seconds(state.eta()))
        };
    };
    ProgressStyle::with_template("{percent:>3} % {bar:24} {msg}, {rate}, {left}")
        .expect("the template is well formed")
        .with_key("rate", rate)
        .with_key("left", left)
        .progress_chars("━╸─")
}
