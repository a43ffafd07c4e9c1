//! Windows: see the parent module.

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

/// Returns the error of this thread's last call if `succeeded` is false.
fn check(succeeded: bool) -> std::io::Result<()> {
    if succeeded { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
