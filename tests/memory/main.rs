//! Memory that the library allocates in addition to the data: during calls, after a super-chunk is freed, and after
//! `blosc2_free_resources`. `docs/memory.md` states the limits.

mod peak;
mod retained;
mod usage;

use libblosc2_test_support::support;
