//! Asking for memory ahead.

/// Asks for the memory of a cell before it is read.
#[allow(clippy::inline_always, reason = "one instruction")]
#[allow(unsafe_code, reason = "the instruction has no safe name")]
#[inline(always)]
pub fn prefetch<C>(cells: &[C], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: fetching a line ahead reads nothing and cannot fault, wherever the address points to; every x86-64
    // processor has the instruction.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(cells.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (cells, at);
}
