//! Windows: see the parent module.

mod errors;
mod files;
mod loader;
mod maps;
mod memory;
mod process;
mod streams;

pub(crate) use super::absent::{
    call_in_forked_children, environment_may_have, exchange_names, make_symbols_global, max_open_files,
    single_threaded_flag, start_write_back, symbol_info, sync_directory, thread_pointer,
};
pub(crate) use files::*;
pub(super) use loader::open_library;
pub(crate) use maps::*;
pub(crate) use memory::*;
pub(crate) use process::*;
pub(crate) use streams::*;
