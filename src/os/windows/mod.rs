//! Windows: see the parent module.

mod errors;
mod files;
mod loader;
mod maps;
mod memory;
mod process;
mod streams;

pub(crate) use files::*;
pub(crate) use loader::*;
pub(crate) use maps::*;
pub(crate) use memory::*;
pub(crate) use process::*;
pub(crate) use streams::*;
