//! A frame on disk: its paths, and reading and writing its files.

use super::FrameKind;
use crate::err;
use crate::error::Result;
use crate::io::{Backend, CachedReader, IoStream, OpenMode, Stamped, WriteShape, paths, stamp_at};
use crate::trace;
use std::ffi::{CStr, CString};
use std::path::PathBuf;

/// The file of a directory that holds header, index and trailer.
pub(crate) const INDEX_FILE: &str = "chunks.b2frame";

/// The files of a frame.
pub(crate) struct Disk {
    /// What moves the bytes.
    pub backend: Backend,
    /// The file with header, index and trailer.
    pub path: CString,
    /// Where the frame begins in that file, in bytes.
    pub base: u64,
    directory: Option<CString>,
    /// The handle is kept for directories, too, where the reference keeps none (`frame.md` 5.4): every writer that we
    /// know changes the index file in place, and one that replaces it is noticed as for other files.
    reader: CachedReader,
}

impl Disk {
    /// The frame at `path`: a file, or for a sparse frame a directory, without a slash at its end.
    pub(crate) fn new(kind: FrameKind, path: &CStr, base: u64, backend: Backend) -> Self {
        let (file, directory) = match kind {
            FrameKind::Contiguous => (path.to_owned(), None),
            FrameKind::Sparse => (inside(path, INDEX_FILE), Some(path.to_owned())),
        };
        Disk {
            reader: CachedReader::new(backend.clone(), file.clone()),
            backend,
            path: file,
            base,
            directory,
        }
    }

    /// Where the lock of the frame is.
    pub(crate) fn sidecar(&self) -> PathBuf {
        match &self.directory {
            Some(directory) => paths::as_path(directory).join(".b2lock"),
            None => paths::sidecar(&self.path),
        }
    }

    /// The state of the file with header, index and trailer; `None` when nothing is there, or a program's back-end or a
    /// mapping is what is read.
    pub(crate) fn stamp(&self) -> Option<Stamped> {
        if self.backend.is_native() { stamp_at(&self.path) } else { None }
    }

    /// Whether the path, where `there` is now, names another file than the one that was read last.
    pub(crate) fn was_replaced(&self, there: Option<&Stamped>) -> bool {
        self.reader.revalidate(there.map(|there| there.stamp.identity))
    }

    /// Sees that the kept handle is still ours before it is read from; a new one is opened if it is not.
    pub(crate) fn check_reader(&self) {
        self.reader.drop_if_lost();
    }

    /// Reads with the frame's read handle.
    ///
    /// # Errors
    /// `FileOpen`, or what `read` says.
    pub(crate) fn with_reader<R>(&self, read: impl FnOnce(&IoStream) -> Result<R>) -> Result<R> {
        self.reader.with(read)
    }

    /// Fills `dest` from byte `at` of the frame on.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`.
    pub(crate) fn read(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        let at = self.base.checked_add(at).ok_or_else(|| err!(FileRead, "byte {at} of a frame"))?;
        self.with_reader(|stream| stream.read_exact_at(at, dest))
    }

    /// Opens a chunk file.
    ///
    /// # Errors
    /// `FileOpen`; `InvalidHeader` for a number that no file can have.
    pub(crate) fn open_chunk_file(&self, number: u64) -> Result<IoStream> {
        self.backend.open(&self.chunk_path(number)?, OpenMode::Read)
    }

    /// Writes a chunk file anew.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub(crate) fn write_chunk_file(&self, number: u64, bytes: &[u8]) -> Result<()> {
        let stream = self.backend.open(&self.chunk_path(number)?, OpenMode::Create)?;
        stream.write_at(0, bytes, WriteShape::Bytes)
    }

    /// Writes a chunk file, over the chunk that is there if that is `replaced`, and tells how to take that back. Only for
    /// native files.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`, `FileWrite`, `FileTruncate`, `MemoryAlloc`; everything is as before then.
    pub(crate) fn put_chunk_file(&self, number: u64, bytes: &[u8], replaced: bool) -> Result<WrittenFile> {
        let path = self.chunk_path(number)?;
        // Neither a new file nor one that is cut first: file systems take many times longer over both.
        if replaced && let Ok(stream) = self.backend.open(&path, OpenMode::Update) {
            let size = stream.size()?;
            let old = stream.read_vec_at(0, size)?;
            let done = stream.write_at(0, bytes, WriteShape::Bytes);
            let written = WrittenFile(Some(Before::Chunk { stream, bytes: old, len: bytes.len() as u64 }));
            return done.map(|()| written);
        }
        let stream = self.backend.open(&path, OpenMode::Create)?;
        let written = WrittenFile(Some(Before::Nothing { path }));
        stream.write_at(0, bytes, WriteShape::Bytes)?;
        Ok(written)
    }

    /// Removes a chunk file, if it is there.
    ///
    /// # Errors
    /// What the back-end says.
    pub(crate) fn remove_chunk_file(&self, number: u64) -> Result<()> {
        self.backend.remove(&self.chunk_path(number)?)
    }

    fn chunk_path(&self, number: u64) -> Result<CString> {
        match (&self.directory, u32::try_from(number)) {
            (Some(directory), Ok(number)) => Ok(inside(directory, &format!("{number:08X}.chunk"))),
            _ => Err(err!(InvalidHeader, "there is no chunk file {number}")),
        }
    }
}

/// A chunk file that was written. When it is dropped it becomes what it was, unless it was [finished](Self::finish).
pub(crate) struct WrittenFile(Option<Before>);

/// What was there before a chunk file was written.
enum Before {
    /// No file, or none that counted.
    Nothing { path: CString },
    /// A chunk; the new one is `len` bytes long.
    Chunk { stream: IoStream, bytes: Vec<u8>, len: u64 },
}

impl WrittenFile {
    /// Leaves the file as it was written. What it has too many is only cut off now, since on a full disk it might not
    /// come back.
    ///
    /// # Errors
    /// `FileTruncate`; the file is as before then.
    pub(crate) fn finish(mut self) -> Result<()> {
        if let Some(Before::Chunk { stream, bytes, len }) = &self.0
            && *len < bytes.len() as u64
        {
            stream.truncate(*len)?;
        }
        self.0 = None;
        Ok(())
    }
}

impl Drop for WrittenFile {
    fn drop(&mut self) {
        let restored = match self.0.take() {
            None => Ok(()),
            Some(Before::Nothing { path }) => std::fs::remove_file(paths::as_path(&path))
                .map_err(|error| err!(FileRemove, "{path:?}: {error}")),
            Some(Before::Chunk { stream, bytes, .. }) => {
                let written = stream.write_at(0, &bytes, WriteShape::Bytes);
                written.and(stream.truncate(bytes.len() as u64))
            }
        };
        if let Err(error) = restored {
            trace::warning(|| format!("a chunk file could not be restored: {error}"));
        }
    }
}

fn inside(directory: &CStr, name: &str) -> CString {
    joined(directory, &format!("/{name}"))
}

/// `path` with `suffix`, which has no NUL, behind it.
fn joined(path: &CStr, suffix: &str) -> CString {
    let mut bytes = path.to_bytes().to_vec();
    bytes.extend_from_slice(suffix.as_bytes());
    CString::new(bytes).unwrap_or_default()
}
