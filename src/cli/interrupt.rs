//! Ctrl-C: the first ends the run after the stratum being solved, the second ends the process.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

static SOLVING: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// The exit code of an interrupted run: 128 + SIGINT, as shells expect.
const EXIT_CODE: i32 = 130;

/// While this lives, an interruption is a request; afterwards it ends the process at once.
pub struct Guard;

impl Guard {
    /// From now on Ctrl-C and SIGTERM are requests that [`asked`] reports.
    pub fn new() -> Self {
        SOLVING.store(true, Ordering::SeqCst);
        // Without a handler the system ends the process at once, which is what is left to do.
        let _ = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::SeqCst) || !SOLVING.load(Ordering::SeqCst) {
                process::exit(EXIT_CODE);
            }
        });
        Self
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        SOLVING.store(false, Ordering::SeqCst);
    }
}

/// Whether the user has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
