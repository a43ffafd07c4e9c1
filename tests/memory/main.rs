//! Memory that the library allocates in addition to the data: during calls, after a super-chunk is freed, and after
//! `blosc2_free_resources`. `docs/memory.md` states the limits.

#[path = "../support/mod.rs"]
mod support;

mod peak;
mod retained;
mod usage;
