//! Which back-end a super-chunk's files go through, and its parameters.

use super::mmap::Mapping;
use super::stream::Kind as StreamKind;
use super::user::UserBackend;
use super::{IoStream, OpenMode, native, paths, registry};
use crate::abi::{
    BLOSC2_IO_FILESYSTEM, BLOSC2_IO_FILESYSTEM_MMAP, blosc2_io, blosc2_stdio_mmap, blosc2_stdio_params,
};
use crate::environment;
use crate::err;
use crate::error::Result;
use std::ffi::CStr;
use std::sync::Arc;

/// A back-end with its parameters. Clones share one state: what is destroyed is destroyed for all of them.
#[derive(Clone)]
pub(crate) struct Backend(Kind);

#[derive(Clone)]
enum Kind {
    /// Plain files; whether the parameters ask for locking.
    Native { locking: bool },
    /// One mapped file.
    Mmap(Arc<Mapping>),
    /// A program's own.
    User(Arc<UserBackend>),
}

impl Backend {
    /// Plain files without parameters: the default.
    pub(crate) fn native() -> Backend {
        Backend(Kind::Native { locking: false })
    }

    /// The back-end that `io` names. Its callbacks are copied now.
    ///
    /// # Errors
    /// `PluginIo` when nobody registered the id.
    ///
    /// # Safety
    /// `io.params` is what the back-end of that id expects: NULL or a [`blosc2_stdio_params`] for 0, NULL or a
    /// [`blosc2_stdio_mmap`] for 1, whatever the registered callbacks take for the rest. It stays valid until
    /// [`Backend::destroy`], or as long as the back-end, its clones and its streams live.
    ///
    /// While the back-end or bytes that it lent are in use, no other code changes a [`blosc2_stdio_mmap`] or its mapping, nor a
    /// file whose bytes a registered back-end hands out: a program that opens one file twice does not write through one
    /// of the super-chunks while it uses the other. The program does not change the registered struct of that id meanwhile.
    pub(crate) unsafe fn resolve(io: &blosc2_io) -> Result<Backend> {
        Ok(Backend(match i32::from(io.id) {
            BLOSC2_IO_FILESYSTEM => {
                // SAFETY: by the caller's word.
                let params = unsafe { io.params.cast::<blosc2_stdio_params>().as_ref() };
                Kind::Native { locking: params.is_some_and(|params| params.locking.get()) }
            }
            BLOSC2_IO_FILESYSTEM_MMAP => {
                // SAFETY: by the caller's word.
                Kind::Mmap(Arc::new(unsafe { Mapping::new(io.params.cast::<blosc2_stdio_mmap>()) }))
            }
            _ => {
                // SAFETY: by the caller's word.
                let callbacks = unsafe { registry::callbacks(io.id) }
                    .ok_or_else(|| err!(PluginIo, "no I/O back-end has the id {}", io.id))?;
                // SAFETY: by the caller's word, and that of the caller of `register`.
                Kind::User(Arc::new(unsafe { UserBackend::new(callbacks, io.params) }))
            }
        }))
    }

    /// The id, as in `blosc2_io`.
    pub(crate) fn id(&self) -> u8 {
        match &self.0 {
            Kind::Native { .. } => BLOSC2_IO_FILESYSTEM as u8,
            Kind::Mmap(_) => BLOSC2_IO_FILESYSTEM_MMAP as u8,
            Kind::User(user) => user.id(),
        }
    }

    /// Whether these are the library's plain files.
    pub(crate) fn is_native(&self) -> bool {
        matches!(self.0, Kind::Native { .. })
    }

    /// Whether a frame that is created or opened now has to be locked between processes (`frame.md` 6.1).
    pub(crate) fn wants_locking(&self) -> bool {
        let Kind::Native { locking } = self.0 else { return false };
        locking
            || environment::var(c"BLOSC_LOCKING").is_some_and(|value| !value.is_empty() && *value != *c"0")
    }

    /// Whether reads give memory of the back-end rather than filling the reader's.
    #[cfg(test)]
    pub(crate) fn hands_out_pointers(&self) -> bool {
        match &self.0 {
            Kind::Native { .. } => false,
            Kind::Mmap(_) => true,
            Kind::User(user) => user.hands_out_pointers(),
        }
    }

    /// Opens a file. The mapping back-end ignores the mode: its parameters have their own.
    ///
    /// # Errors
    /// `FileOpen`.
    pub(crate) fn open(&self, path: &CStr, mode: OpenMode) -> Result<IoStream> {
        Ok(IoStream(match &self.0 {
            Kind::Native { .. } => StreamKind::Native(native::open(path, mode)?),
            Kind::Mmap(mapping) => {
                mapping.open(path)?;
                StreamKind::Mmap(mapping.clone())
            }
            Kind::User(user) => StreamKind::User(user.open(path, mode)?),
        }))
    }

    /// Removes the file of a chunk; one that is not there is no error. A program's back-end, which has no callback
    /// for that, empties it (`frame.md` 3.2).
    ///
    /// # Errors
    /// `FileRemove`; from a program's back-end also `FileOpen` and `FileTruncate`.
    pub(crate) fn remove(&self, path: &CStr) -> Result<()> {
        match &self.0 {
            Kind::Native { .. } | Kind::Mmap(_) => paths::remove_file(path),
            Kind::User(user) => user.remove(path),
        }
    }

    /// Has the back-end release its parameters; the second call, also of a clone, does nothing. Nothing can be
    /// opened, and no mapping be read, after it.
    ///
    /// # Errors
    /// `PluginIo` where the back-end reports an error, or the file was never mapped.
    pub(crate) fn destroy(&self) -> Result<()> {
        match &self.0 {
            Kind::Native { .. } => Ok(()),
            Kind::Mmap(mapping) => mapping.destroy(),
            Kind::User(user) => user.destroy(),
        }
    }
}
