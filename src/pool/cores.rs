//! The number of cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the number of cores that this process may use, at least 1, as it was at one of the first calls.
pub(crate) fn core_count() -> usize {
    // No `OnceLock`: a child that is forked while another thread determines the number would wait for that thread for ever.
    static CORE_COUNT: AtomicUsize = AtomicUsize::new(0);
    match CORE_COUNT.load(Ordering::Relaxed) {
        0 => {
            let count = std::thread::available_parallelism().map_or(1, usize::from);
            CORE_COUNT.store(count, Ordering::Relaxed);
            count
        }
        count => count,
    }
}
