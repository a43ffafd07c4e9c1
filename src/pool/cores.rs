//! The number of cores.

use std::sync::OnceLock;

/// Returns the number of cores that this process may use, at least 1, as it was at the first call.
pub(crate) fn core_count() -> usize {
    static CORE_COUNT: OnceLock<usize> = OnceLock::new();
    *CORE_COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}
