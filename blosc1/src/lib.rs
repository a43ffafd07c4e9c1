//! A drop-in implementation of the C library C-Blosc 1.21 (`libblosc.so.1`): the same functions, and chunks that every
//! release of it reads, on the code of the crate `blosc2`.
//!
//! Terms: "the reference" is C-Blosc 1.21.6; numbers in parentheses are sections of `docs/format/blosc1.md`, which
//! describes the functions, the chunks and the differences from the reference.
//!
//! | module | owns |
//! |---|---|
//! | [`header`] | the 16 bytes at the start of a chunk, and the checks of a reader |
//! | [`streams`] | the lengths of the streams of a chunk, checked before it is decoded |
//! | [`settings`] | the state of the process: threads, codec, block size, split mode |
//! | [`environment`] | the environment variables |
//! | [`chunk`] | compressing, decompressing and reading items, with the codes of Blosc 1 |
//! | [`capi`] | the 25 exported functions |

#![deny(unreachable_pub)]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for developers of the crate")]

pub mod capi;
mod chunk;
mod environment;
mod header;
mod settings;
mod streams;
#[cfg(test)]
mod tests;
