//! A frame on disk: its paths, and reading and writing its files.

use super::FrameKind;
use crate::err;
use crate::error::Result;
use crate::io::{Backend, CachedReader, OpenMode, Stream, WriteShape, paths};
use std::ffi::{CStr, CString};
use std::path::PathBuf;

/// The file of a directory that holds header, index and trailer.
pub const INDEX_FILE: &str = "chunks.b2frame";

/// The files of a frame.
pub struct Disk {
    /// What moves the bytes.
    pub backend: Backend,
    /// The file with header, index and trailer.
    pub path: CString,
    /// Where the frame begins in that file, in bytes.
    pub base: u64,
    directory: Option<CString>,
    reader: CachedReader,
}

impl Disk {
    /// The frame at `path`: a file, or for a sparse frame a directory, without a slash at its end.
    pub fn new(kind: FrameKind, path: &CStr, base: u64, backend: Backend) -> Self {
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
    pub fn sidecar(&self) -> PathBuf {
        match &self.directory {
            Some(directory) => paths::as_path(directory).join(".b2lock"),
            None => paths::sidecar(&self.path),
        }
    }

    /// Whether the path names another file than the one that was read last.
    pub fn was_replaced(&self) -> bool {
        self.reader.revalidate()
    }

    /// Reads with the frame's read handle.
    ///
    /// # Errors
    /// `FileOpen`, or what `read` says.
    pub fn with_reader<R>(&self, read: impl FnOnce(&Stream) -> Result<R>) -> Result<R> {
        self.reader.with(read)
    }

    /// Fills `dest` from byte `at` of the frame on.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`.
    pub fn read(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        let at = self.base.checked_add(at).ok_or_else(|| err!(FileRead, "byte {at} of a frame"))?;
        self.with_reader(|stream| stream.read_exact_at(at, dest))
    }

    /// Opens a chunk file.
    ///
    /// # Errors
    /// `FileOpen`; `InvalidHeader` for a number that no file can have.
    pub fn open_chunk_file(&self, number: u64) -> Result<Stream> {
        self.backend.open(&self.chunk_path(number)?, OpenMode::Read)
    }

    /// Writes a chunk file anew.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub fn write_chunk_file(&self, number: u64, bytes: &[u8]) -> Result<()> {
        let stream = self.backend.open(&self.chunk_path(number)?, OpenMode::Create)?;
        stream.write_at(0, bytes, WriteShape::Bytes)
    }

    /// Writes a chunk file, which counts once it is published; beside its place if the chunk of a file that is there is
    /// `replaced`. Only for native files.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`; no file is left behind then.
    pub fn stage_chunk_file(&self, number: u64, bytes: &[u8], replaced: bool) -> Result<StagedFile> {
        let place = self.chunk_path(number)?;
        let path = if replaced { joined(&place, ".new") } else { place.clone() };
        let stream = self.backend.open(&path, OpenMode::Create)?;
        let staged = StagedFile { path, place: replaced.then_some(place), is_published: false };
        if let Some(place) = &staged.place
            && let (Some(file), Ok(old)) = (stream.as_file(), paths::as_path(place).metadata())
        {
            // Whoever may read the chunk that is there may read the one that comes in its place, and nobody else.
            file.set_permissions(old.permissions())
                .map_err(|error| err!(FileOpen, "the permissions of a chunk file: {error}"))?;
        }
        stream.write_at(0, bytes, WriteShape::Bytes)?;
        Ok(staged)
    }

    /// Removes a chunk file, if it is there.
    ///
    /// # Errors
    /// What the back-end says.
    pub fn remove_chunk_file(&self, number: u64) -> Result<()> {
        self.backend.remove(&self.chunk_path(number)?)
    }

    fn chunk_path(&self, number: u64) -> Result<CString> {
        match (&self.directory, u32::try_from(number)) {
            (Some(directory), Ok(number)) => Ok(inside(directory, &format!("{number:08X}.chunk"))),
            _ => Err(err!(InvalidHeader, "there is no chunk file {number}")),
        }
    }
}

/// A chunk file that is written, but does not count yet: it goes when it is dropped.
pub struct StagedFile {
    path: CString,
    /// Where it shall be, if it is not there already.
    place: Option<CString>,
    is_published: bool,
}

impl StagedFile {
    /// Puts the file in its place; one that was there is gone, in one step.
    ///
    /// # Errors
    /// `FileWrite`.
    pub fn publish(mut self) -> Result<()> {
        if let Some(place) = &self.place {
            std::fs::rename(paths::as_path(&self.path), paths::as_path(place))
                .map_err(|error| err!(FileWrite, "{:?} cannot get its place: {error}", self.path))?;
        }
        self.is_published = true;
        Ok(())
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.is_published {
            let _ = std::fs::remove_file(paths::as_path(&self.path));
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
