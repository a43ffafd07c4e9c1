//! Unix systems: see the parent module.

mod files;
mod loader;
mod maps;
mod memory;
mod process;

pub(super) use super::posix::open_to_sync;
pub(crate) use super::posix::{
    elapsed_nanoseconds, len_of_stream_file, monotonic_now, open_stream, path_from_c, path_from_vec, read_at,
    read_stream_at, stream_len, truncate_stream, unlock_file, write_stream_at, write_vectored_at,
};
pub(crate) use files::*;
pub(crate) use loader::*;
pub(crate) use maps::*;
pub(crate) use memory::*;
pub(crate) use process::*;
