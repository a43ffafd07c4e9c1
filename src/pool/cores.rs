//! The number of cores.

use once_cell::race::OnceNonZeroUsize;
use std::num::NonZero;

/// Returns the number of cores that this process may use, at least 1, as it was at one of the first calls.
pub(crate) fn core_count() -> usize {
    static CORE_COUNT: OnceNonZeroUsize = OnceNonZeroUsize::new();
    CORE_COUNT.get_or_init(|| std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)).get()
}
