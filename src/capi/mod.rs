//! The exported `extern "C"` functions, one file per section of the headers. A function here borrows its parameters as
//! safe types, calls one core function and maps the result to the ABI's code.
//!
//! The rules for C callers. The types of the parameters ([`pointers`]) carry them, and only C callers can make values of
//! these types. A function is `unsafe` only if it has parameters of other pointer types, or requires more, which its
//! `# Safety` section states:
//! - A pointer to a buffer that comes with a length in bytes or items points at that much memory, readable for a
//!   source and writable for a destination, for the whole call. NULL is an error, except with a length of 0.
//! - A buffer, an array or a variable that is written overlaps no other memory of the call.
//! - A pointer to a struct, a number or a string is NULL or points at an initialised one; a string ends with NUL. The
//!   name in a struct to be registered may be any address.
//! - A context is NULL or came from `blosc2_create_cctx` or `blosc2_create_dctx`, was not freed, and is used by one
//!   thread at a time.
//! - A super-chunk or an array came from this library, and is freed when no call uses it or a view of it.
//! - Function pointers that the caller passes obey the contracts of their typedefs, and the pointers in structs that the
//!   caller passes are NULL or valid as long as the documentation of the struct requires.

pub mod b2nd;
pub mod b2nd_context;
pub mod b2nd_items;
pub mod b2nd_meta;
pub mod b2nd_selection;
pub mod blosc1;
pub mod blosc2x;
pub mod blosc2x_tuner;
pub mod blosc2x_verify;
pub mod chunk_info;
pub mod context;
pub mod defaults;
mod ffi;
pub mod io;
mod last_error;
pub mod metalayers;
mod name;
pub mod paths;
mod pointers;
pub mod process;
pub mod registries;
pub mod schunk;
pub mod schunk_chunks;
pub mod special_chunks;
pub mod utilities;
pub mod varlen;
