//! A drop-in implementation of the C library C-Blosc2: the same ABI, the same files and buffers, in Rust.
//!
//! The crate is built as `libblosc2.so` / `libblosc2.a` for C programs; its Rust modules are an
//! implementation detail. The layers are the folders, and dependencies point downwards only (`docs/design.md`):
//!
//! | module | owns |
//! |---|---|
//! | [`abi`] | the `#[repr(C)]` structs, callback types and constants of the public headers; plain data |
//! | [`error`] | the one error type, and the one map between it and the ABI's negative codes |
//! | [`environment`], [`trace`] | environment variables; diagnostics on stderr |
//! | [`sync`] | the atomics, locks and threads that the model tests replace |
//! | [`thread`] | which thread this is, and whether there are others |
//! | [`chunk`] | the chunk format: headers, block starts, streams, special chunks; pure bytes |
//! | [`codec`] | the compressors of single streams |
//! | [`filter`] | the block filters and their SIMD kernels |
//! | [`pool`] | the worker threads |
//! | [`io`] | files: plain, mapped, or behind a program's back-end; the lock between processes |
//! | [`registry`] | user and library codecs, filters and tuners by id; plugin loading |
//! | [`pipeline`] | contexts, and how a buffer becomes blocks, streams and a chunk, and back |
//! | [`buffers`] | memory that is used again: idle blocks of threads and of the process |
//! | [`out_buffer`] | destinations of callers, whose memory may be uninitialised |
//! | [`malloc`] | memory that crosses the C ABI |
//! | [`frame`] | frames: their byte formats, and frames as stores of chunks, in memory and on disk |
//! | [`schunk`] | super-chunks: chunks in order, over memory or a frame; metalayers, slices |
//! | [`b2nd`] | arrays of several dimensions over super-chunks |
//! | [`internals`] | what tests, benchmarks and fuzz targets reach besides the C functions |
//! | [`capi`] | every exported `extern "C"` function: checks pointers, calls one core function, maps the result |

// Items that nothing uses show up as dead code.
#![deny(unreachable_pub)]

pub mod abi;
mod b2nd;
mod buffers;
pub mod capi;
mod chunk;
mod codec;
mod environment;
pub mod error;
mod filter;
mod frame;
mod held_locks;
#[doc(hidden)]
pub mod internals;
mod io;
mod malloc;
mod out_buffer;
mod pipeline;
mod pool;
#[cfg(test)]
mod reference_library;
mod registry;
mod schunk;
mod sync;
mod thread;
mod trace;

pub use error::{Error, ErrorKind, Result};
