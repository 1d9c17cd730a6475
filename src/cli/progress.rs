//! Progress bars on standard error.
//!
//! A bar appears only when a run takes longer than a blink, and only on a terminal. Whoever works reports now and then;
//! a tick in between keeps the clock going where the steps are slow.

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
    /// When the bar was last moved: steps can be so small that moving it for each would cost more than they do.
    moved: Instant,
    /// Dropped to call the drawing off; `None` where nothing is ever drawn.
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Bar {
    /// A bar that runs up to `all` of something, such as pairs, and tells how many of them are done a second and how
    /// long it will take. It is not shown yet, and never with `quiet`.
    pub fn counting(all: u64, noun: &'static str, quiet: bool) -> Self {
        let rate = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = out.write_str(&figures::rate_of(state.per_sec(), noun));
        };
        Self::new(all, quiet, style("{percent:>3} % {bar:24} {msg}, {rate}, {left}").with_key("rate", rate))
    }

    /// A bar for a number of steps that take more or less time each, so that nothing is known about the end.
    pub fn stepping(all: u64, quiet: bool) -> Self {
        Self::new(all, quiet, style("{bar:12} {stopping}{wide_msg}"))
    }

    fn new(all: u64, quiet: bool, style: ProgressStyle) -> Self {
        let line = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::hidden());
        line.set_style(style);
        let shown = !quiet && io::stderr().is_terminal();
        Self { moved: Instant::now(), drawing: shown.then(|| draw_later(line.clone())), line }
    }

    /// Moves the bar to where the run is.
    pub fn update(&mut self, done: u64, message: impl FnOnce() -> String) {
        if self.drawing.is_some() && self.moved.elapsed() >= TICK / 2 {
            self.moved = Instant::now();
            self.line.set_message(message());
            self.line.set_position(done);
        }
    }

    /// Runs up to another number from now on.
    pub fn set_length(&mut self, all: u64) {
        self.line.set_length(all);
    }

    /// Takes so much as done before, so that it does not count for the rate.
    pub fn start_at(&mut self, done: u64) {
        self.line.set_position(done);
        self.line.reset_eta();
    }

    /// Lets something else write to the terminal.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.line.suspend(write)
    }
}

/// What a bar says of a region that is being solved.
pub fn strata_of(region: &Region, progress: &Progress) -> String {
    let all = figures::grouped(region.strata().end.into());
    format!("{} of {all} strata", figures::grouped(progress.strata))
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

fn style(template: &str) -> ProgressStyle {
    const STOPPING: &str = "stopping, Ctrl-C again kills";
    let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = if interrupt::asked() {
            out.write_str(STOPPING)
        } else {
            write!(out, "{} left", figures::whole_seconds(state.eta()))
        };
    };
    let stopping = |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = if interrupt::asked() { write!(out, "{STOPPING}, ") } else { Ok(()) };
    };
    ProgressStyle::with_template(template)
        .expect("the template is well formed")
        .with_key("left", left)
        .with_key("stopping", stopping)
        .progress_chars("━╸─")
}
