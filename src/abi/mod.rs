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
mod size;
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
