//! The I/O back-end of the files of a super-chunk, with its parameters.

use super::mmap::Mapping;
use super::source::{self, FilePart, Source};
use super::stream::StreamKind;
use super::user::UserBackend;
use super::{IoStream, OpenMode, WriteUnit, backend_registry, native, paths, replacement};
use crate::abi::{
    BLOSC2_IO_FILESYSTEM, BLOSC2_IO_FILESYSTEM_MMAP, blosc2_io, blosc2_stdio_mmap, blosc2_stdio_params,
};
use crate::environment;
use crate::err;
use crate::error::{Result, os_err};
use std::ffi::CStr;
use std::sync::Arc;

/// A back-end with its parameters. Clones share one state: destroying one destroys all.
#[derive(Clone)]
pub(crate) struct Backend(BackendKind);

#[derive(Clone)]
enum BackendKind {
    /// Plain files; `locking` is true if the parameters request locking.
    Native { locking: bool },
    /// One mapped file.
    Mmap(Arc<Mapping>),
    /// A back-end that the program registered.
    User(Arc<UserBackend>),
    /// Files of Rust code, for reading.
    Source(Arc<dyn Source>),
}

impl Backend {
    /// Returns the default back-end: plain files without parameters.
    pub(crate) fn native() -> Backend {
        Backend(BackendKind::Native { locking: false })
    }

    /// Returns the back-end of files that Rust code provides, for reading.
    pub(crate) fn of_source(source: Arc<dyn Source>) -> Backend {
        Backend(BackendKind::Source(source))
    }

    /// Returns the back-end with the id of `io`. Its callbacks are copied by this call.
    ///
    /// # Errors
    /// `PluginIo` when no back-end is registered under the id.
    ///
    /// # Safety
    /// `io.params` is valid for the back-end of that id: NULL or a [`blosc2_stdio_params`] for 0, NULL or a
    /// [`blosc2_stdio_mmap`] for 1, any value that the registered callbacks accept for the others. It stays valid until
    /// [`Backend::destroy`], or for the lifetime of the back-end, its clones and its streams.
    ///
    /// While the back-end or bytes borrowed from it are in use, no other code changes a [`blosc2_stdio_mmap`] or its
    /// mapping, or a file of a registered zero-copy back-end: a program that opens one file twice does not write
    /// through one of the super-chunks while it uses the other. The program does not change the registered struct of
    /// that id during this call.
    pub(crate) unsafe fn resolve(io: &blosc2_io) -> Result<Backend> {
        Ok(Backend(match i32::from(io.id) {
            BLOSC2_IO_FILESYSTEM => {
                // SAFETY: by the contract NULL or valid parameters of that type.
                let params = unsafe { io.params.cast::<blosc2_stdio_params>().as_ref() };
                BackendKind::Native { locking: params.is_some_and(|params| params.locking.get()) }
            }
            BLOSC2_IO_FILESYSTEM_MMAP => {
                // SAFETY: by the contract NULL or a valid struct, whose mapping no other code changes.
                BackendKind::Mmap(Arc::new(unsafe { Mapping::new(io.params.cast::<blosc2_stdio_mmap>()) }))
            }
            _ => {
                // SAFETY: by the contract the program does not change the registered struct during this call.
                let (callbacks, fetch) = unsafe { backend_registry::copy_callbacks(io.id) }
                    .ok_or_else(|| err!(PluginIo, "I/O back-end {} is not registered", io.id))?;
                // SAFETY: the callbacks are those that `register` was given, whose contract they meet; by the
                // contract of this function they accept `io.params`.
                BackendKind::User(Arc::new(unsafe { UserBackend::new(callbacks, fetch, io.params) }))
            }
        }))
    }

    /// Returns whether files are read faster after [`fetch`](Self::fetch).
    pub(crate) fn can_fetch(&self) -> bool {
        match &self.0 {
            BackendKind::Native { .. } | BackendKind::Mmap(_) => false,
            BackendKind::User(user) => user.can_fetch(),
            BackendKind::Source(_) => true,
        }
    }

    /// Makes parts of files available, which are then read while the result lives.
    ///
    /// # Errors
    /// `FileRead`.
    pub(crate) fn fetch(&self, parts: Vec<FilePart>) -> Result<Box<dyn Send>> {
        match &self.0 {
            BackendKind::Native { .. } | BackendKind::Mmap(_) => Ok(Box::new(())),
            BackendKind::User(user) => user.fetch(&parts),
            BackendKind::Source(source) => {
                source.fetch(parts).map_err(|error| os_err!(error, FileRead, "{error}"))
            }
        }
    }

    /// Returns the id, as in `blosc2_io`.
    pub(crate) fn id(&self) -> u8 {
        match &self.0 {
            BackendKind::Native { .. } | BackendKind::Source(_) => BLOSC2_IO_FILESYSTEM as u8,
            BackendKind::Mmap(_) => BLOSC2_IO_FILESYSTEM_MMAP as u8,
            BackendKind::User(user) => user.id(),
        }
    }

    /// Returns whether a program registered the back-end: its files need not be in the file system.
    pub(crate) fn is_registered(&self) -> bool {
        matches!(self.0, BackendKind::User(_))
    }

    /// Returns whether the back-end is the library's own for plain files.
    pub(crate) fn is_native(&self) -> bool {
        matches!(self.0, BackendKind::Native { .. })
    }

    /// Returns whether a frame that is created or opened now must be locked between processes (`frame.md` 6.1).
    pub(crate) fn needs_locking(&self) -> bool {
        let BackendKind::Native { locking } = self.0 else { return false };
        locking
            || environment::var(c"BLOSC_LOCKING").is_some_and(|value| !value.is_empty() && *value != *c"0")
    }

    /// Returns whether reads return memory of the back-end instead of filling the caller's buffer.
    #[cfg(test)]
    pub(crate) fn is_zero_copy(&self) -> bool {
        match &self.0 {
            BackendKind::Native { .. } | BackendKind::Source(_) => false,
            BackendKind::Mmap(_) => true,
            BackendKind::User(user) => user.is_zero_copy(),
        }
    }

    /// Opens a file. The mapping back-end ignores `mode`: the mode is in its parameters.
    ///
    /// # Errors
    /// `FileOpen`.
    pub(crate) fn open(&self, path: &CStr, mode: OpenMode) -> Result<IoStream> {
        Ok(IoStream(match &self.0 {
            BackendKind::Native { .. } => StreamKind::Native(native::open(path, mode)?),
            BackendKind::Mmap(mapping) => {
                mapping.open(path)?;
                StreamKind::Mmap(mapping.clone())
            }
            BackendKind::User(user) => StreamKind::User(user.open(path, mode)?),
            BackendKind::Source(source) => StreamKind::Source(source::open(&**source, path, mode)?),
        }))
    }

    /// Writes a file that holds exactly `bytes`; an existing file is replaced. After an error, a plain file has its old
    /// contents, or does not exist if it did not before. With `is_synced`, waits until a plain file is on disk.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub(crate) fn write_whole_file(&self, path: &CStr, bytes: &[u8], is_synced: bool) -> Result<()> {
        if self.is_native() {
            return replacement::write_whole_file(path, bytes, is_synced);
        }
        self.open(path, OpenMode::Create)?.write_at(0, bytes, WriteUnit::Item)
    }

    /// Removes the file of a chunk; a missing file is no error. A back-end of the program has no callback for removal
    /// and empties the file instead (`frame.md` 3.2).
    ///
    /// # Errors
    /// `FileRemove`; from a back-end of the program also `FileOpen` and `FileTruncate`.
    pub(crate) fn remove(&self, path: &CStr) -> Result<()> {
        match &self.0 {
            BackendKind::Native { .. } | BackendKind::Mmap(_) => paths::remove_file(path),
            BackendKind::User(user) => user.remove(path),
            BackendKind::Source(_) => Err(source::read_only()),
        }
    }

    /// Calls the back-end to release its parameters. A second call, also of a clone, does nothing. Afterwards no file
    /// can be opened, and no mapping can be read.
    ///
    /// # Errors
    /// `PluginIo` where the back-end reports an error, or the file was never mapped.
    pub(crate) fn destroy(&self) -> Result<()> {
        match &self.0 {
            BackendKind::Native { .. } | BackendKind::Source(_) => Ok(()),
            BackendKind::Mmap(mapping) => mapping.destroy(),
            BackendKind::User(user) => user.destroy(),
        }
    }
}
