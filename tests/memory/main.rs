//! Memory that the library allocates in addition to the data: during calls, after a super-chunk is freed, and after
//! `blosc2_free_resources`. `docs/memory.md` states the limits.

mod peak;
// Reads the counters of the allocator of glibc.
#[cfg(target_env = "gnu")]
mod retained;
mod usage;

use libblosc2_test_support::support;
