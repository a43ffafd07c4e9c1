//! A drop-in implementation of the C library C-Blosc2: the same ABI, the same files and buffers, in Rust.
//!
//! Terms: "the reference" is C-Blosc2 3.3.5. "Native" files are plain files of the operating system, without mapping
//! and callbacks.
//!
//! The crate is built as `libblosc2.so` / `libblosc2.a` for C programs; its Rust modules are an
//! implementation detail. The layers are the folders, and dependencies point downwards only (`docs/design.md`):
//!
//! | module | owns |
//! |---|---|
//! | [`abi`] | the `#[repr(C)]` structs, callback types and constants of the public headers; plain data |
//! | [`error`] | the error type, and its mapping to the ABI's negative codes and back |
//! | [`fallible`] | allocations that return an error when memory runs out |
//! | [`environment`], [`trace`] | environment variables; diagnostics on stderr |
//! | [`sync`] | atomics, locks and threads, which the model tests replace |
//! | [`held_locks`] | the list of locks that a thread holds while functions of the program may run |
//! | [`crc32c`] | CRC-32C, the checksum of frames |
//! | [`fork_count`] | the number of forks: which process state belongs to |
//! | [`tuning`] | thresholds and mechanisms that `scripts/tune` measures |
//! | [`thread`] | the id of the current thread, and whether the process has other threads |
//! | [`chunk`] | the chunk format: headers, block starts, streams, special chunks; operates on bytes only |
//! | [`codec`] | the compressors of single streams |
//! | [`filter`] | the block filters and their SIMD kernels |
//! | [`pool`] | the worker threads |
//! | [`io`] | files: plain, memory-mapped, or accessed by a program's back-end; the inter-process lock |
//! | [`registry`] | user and library codecs, filters and tuners by id; plugin loading |
//! | [`pipeline`] | contexts; compression of a buffer to blocks, streams and a chunk, and decompression |
//! | [`buffers`] | caches of free memory blocks, per thread and per process |
//! | [`panics`] | catching panics where C code calls the library |
//! | [`out_buffer`] | output buffers of callers, whose memory may be uninitialised |
//! | [`malloc`] | memory that is allocated on one side of the C ABI and freed on the other |
//! | [`frame`] | frames: their byte formats, and frames as containers of chunks, in memory and on disk |
//! | [`schunk`] | super-chunks: sequences of chunks, in memory or in a frame; metalayers, slices |
//! | [`b2nd`] | N-dimensional arrays in super-chunks |
//! | [`blosc1`] | chunks of Blosc 1, for the crate `blosc1` |
//! | [`rust_api`] | safe functions for the crate `blosc2`, the Rust API |
//! | [`internals`] | the items that tests, benchmarks and fuzz targets use besides the C functions |
//! | [`capi`] | every exported `extern "C"` function: checks pointers, calls one core function, maps the result |

// `pub` marks exactly the items that can be reached from outside the crate; other items are at most `pub(crate)`.
#![deny(unreachable_pub)]
// Without the C functions, most of the library has no callers, and codecs can be left out.
#![cfg_attr(not(feature = "c-api"), allow(dead_code, unused_imports, unused_variables))]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for developers of the crate")]

pub mod abi;
mod b2nd;
#[doc(hidden)]
pub mod blosc1;
mod buffers;
#[cfg(feature = "c-api")]
pub mod capi;
mod chunk;
mod codec;
mod crc32c;
mod environment;
pub mod error;
mod fallible;
mod filter;
mod fork_count;
mod frame;
mod held_locks;
#[doc(hidden)]
pub mod internals;
mod io;
mod malloc;
mod os;
mod out_buffer;
mod panics;
mod pipeline;
mod pool;
#[cfg(test)]
mod random;
mod registry;
#[doc(hidden)]
pub mod rust_api;
mod schunk;
mod sync;
mod thread;
mod trace;
mod tuning;

pub use error::{Error, ErrorKind, Result};
