//! Unix systems: see the parent module.

mod files;
mod loader;
mod maps;
mod memory;
mod process;

#[cfg(any(miri, target_os = "emscripten"))]
pub(crate) use super::absent::call_in_forked_children;
#[cfg(target_os = "emscripten")]
pub(crate) use super::absent::single_threaded_flag;
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
pub(crate) use super::absent::symbol_info;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
pub(crate) use super::absent::thread_pointer;
#[cfg(not(target_os = "linux"))]
pub(crate) use super::absent::{
    environment_may_have, exchange_names, rename_without_replacing, start_write_back,
};
pub(super) use super::posix::open_to_sync;
pub(crate) use super::posix::{
    RENAMES_DIRECTORIES_IN_USE, elapsed_nanoseconds, has_identity, len_of_stream_file, monotonic_now,
    open_stream, path_from_c, path_from_vec, read_at, read_stream_at, stream_len, truncate_stream,
    unlock_file, write_stream_at, write_vectored_at,
};
pub(crate) use files::*;
pub(crate) use loader::*;
pub(crate) use maps::*;
pub(crate) use memory::*;
pub(crate) use process::*;
