//! A back-end for C programs on libblosc2 that reads files of object stores and web servers: `libblosc2_remote.so`, with the
//! header `blosc2/blosc2x_remote.h`. It has the client of the crate `blosc2`, and calls the functions of the libblosc2 that the
//! program has loaded, this one or C-Blosc2 (`docs/remote.md`).
//!
//! | module | owns |
//! |---|---|
//! | [`capi`] | the exported functions: pointers to safe types, one call, the code of the result |
//! | [`callbacks`] | the functions of the I/O back-end, which libblosc2 calls |
//! | [`client`] | clients of the program, and the parameters of the back-end |
//! | [`opening`] | opening a super-chunk by URL, also with a library that opens only names of local files |
//! | [`library`] | the functions of the libblosc2 that the program has loaded |
//! | [`failure`] | error codes, and the text of the last error |

#![deny(unreachable_pub)]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for developers of the crate")]

mod callbacks;
pub mod capi;
mod client;
mod failure;
mod library;
mod opening;
