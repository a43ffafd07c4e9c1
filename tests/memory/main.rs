//! Memory that the library takes besides the data: while it works, after a super-chunk is freed, and after
//! `blosc2_free_resources`. `docs/memory.md` states the limits.

#[path = "../support/mod.rs"]
mod support;

mod kept;
mod peak;
mod usage;
