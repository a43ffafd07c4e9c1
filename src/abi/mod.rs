//! The public ABI as plain data: `#[repr(C)]` structs, callback types and constants, named as in C.
//! They have no behaviour; every layer may use these types.
//!
//! Sizes are asserted at compile time (`size_on_target`); `tests/abi/layout.rs` checks every offset and value. The C
//! headers in `include/` are generated from these items and from `capi` by `tests/abi/headers`, with hand-written text
//! from `include-src/`: each doc comment here becomes a comment of the C headers, except for references to the
//! specification in parentheses, which the generator removes.

#![allow(non_camel_case_types)]

pub mod b2nd;
pub mod blosc2x;
pub mod c_bool;
pub mod callbacks;
pub mod constants;
pub mod context;
pub mod defaults;
pub mod opaque;
pub mod params;
pub mod registry;
pub mod schunk;
pub mod storage;

pub use b2nd::*;
pub use blosc2x::*;
pub use c_bool::*;
pub use callbacks::*;
pub use constants::*;
pub use context::*;
pub use defaults::*;
pub use opaque::*;
pub use params::*;
pub use registry::*;
pub use schunk::*;
pub use storage::*;

/// Returns the size of a struct on this target, of three: `on_64_bits` with pointers of 64 bits; `on_32_bits` with
/// pointers of 32 bits; `on_i686`, where integers of 64 bits are aligned to 4 bytes, too. They are what `sizeof` is in C
/// (`scripts/check-platform.sh` compiles `capi-tests/layout.c` for each target).
const fn size_on_target(on_64_bits: usize, on_32_bits: usize, on_i686: usize) -> usize {
    if cfg!(target_pointer_width = "64") {
        on_64_bits
    } else if align_of::<u64>() == 8 {
        on_32_bits
    } else {
        on_i686
    }
}
