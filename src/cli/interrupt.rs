//! Ctrl-C and SIGTERM: the first ends the run after the stratum being solved, the second ends the process.
//!
//! A hang-up is left to the system, so that `nohup` keeps its meaning.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Exit codes of a process that a signal ended, as shells expect: 128 and the signal's number.
const SIGNALS: [(i32, i32); 2] = [(SIGINT, 130), (SIGTERM, 143)];

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// How many guards live.
static GUARDS: AtomicUsize = AtomicUsize::new(0);

/// While this lives, the first signal is a request that [`asked`] reports; any other ends the process at once. One that
/// is made while another lives changes nothing.
pub struct Guard {
    /// Whether a signal ends the process at once. `None` where that is for another guard to say.
    armed: Option<Arc<AtomicBool>>,
}

impl Guard {
    /// From now on the first Ctrl-C or SIGTERM is a request.
    pub fn new() -> Self {
        if GUARDS.fetch_add(1, Ordering::SeqCst) > 0 {
            return Self { armed: None };
        }
        let armed = Arc::new(AtomicBool::new(false));
        for (signal, exit_code) in SIGNALS {
            // In this order: a request, then the exit if one was made before, then arming the exit for the next signal.
            // Without a handler the system ends the process at once, which is what is left to do.
            let _ = flag::register(signal, ASKED.clone());
            let _ = flag::register_conditional_shutdown(signal, exit_code, armed.clone());
            let _ = flag::register(signal, armed.clone());
        }
        Self { armed: Some(armed) }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        GUARDS.fetch_sub(1, Ordering::SeqCst);
        if let Some(armed) = &self.armed {
            armed.store(true, Ordering::SeqCst);
        }
    }
}

/// Whether the user has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
