//! An open file of any back-end: reads and writes at absolute positions.

use super::borrowed_bytes::BorrowedBytes;
use super::mmap::Mapping;
use super::source::{self, SourceFile};
use super::user::UserStream;
use super::{WriteUnit, native};
use crate::err;
use crate::error::{Result, os_err};
use crate::os;
use std::fs::File;
use std::sync::Arc;

/// An open file. Closed when it is dropped.
///
/// Any number of threads may read at the same time. With zero-copy back-ends, a change waits until no thread reads.
pub(crate) struct IoStream(pub(super) StreamKind);

pub(super) enum StreamKind {
    Native(File),
    Mmap(Arc<Mapping>),
    User(UserStream),
    Source(Arc<dyn SourceFile>),
}

impl IoStream {
    /// Fills `dest` with the bytes that begin at `position`.
    ///
    /// # Errors
    /// `FileRead`, also when the file ends earlier.
    #[inline]
    pub(crate) fn read_exact_at(&self, position: u64, dest: &mut [u8]) -> Result<()> {
        let got = self.read_at(position, dest)?;
        if got != dest.len() {
            return Err(short_read_error(position, dest.len(), got));
        }
        Ok(())
    }

    /// Reads the bytes from `position` on into `dest`, as many as the file has. Returns their number.
    ///
    /// A back-end of the program may return 0 when the file has fewer bytes than requested.
    ///
    /// # Errors
    /// `FileRead`.
    #[inline(always)]
    pub(crate) fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        match &self.0 {
            StreamKind::Native(file) => native::read_at(file, position, dest, dest.len()),
            StreamKind::Mmap(mapping) => mapping.read_at(position, dest),
            StreamKind::User(stream) => stream.read_at(position, dest),
            StreamKind::Source(file) => source::read_at(&**file, position, dest),
        }
    }

    /// As [`read_at`](Self::read_at), but may stop after `min` bytes: one system call reads a short file.
    ///
    /// # Errors
    /// `FileRead`.
    pub(crate) fn read_at_least(&self, position: u64, dest: &mut [u8], min: usize) -> Result<usize> {
        match &self.0 {
            StreamKind::Native(file) => native::read_at(file, position, dest, min),
            _ => self.read_at(position, dest),
        }
    }

    /// Reads the bytes from `position` on into new memory, at most `len` or as many as the file has.
    ///
    /// # Errors
    /// `FileRead`, `MemoryAlloc`.
    pub(crate) fn read_vec_at(&self, position: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        try_resize(&mut bytes, len)?;
        let got = self.read_at(position, &mut bytes)?;
        bytes.truncate(got);
        Ok(bytes)
    }

    /// Returns a reference to the bytes for zero-copy back-ends; `None` for the others.
    ///
    /// Writes through this back-end and its clones wait until the bytes are dropped.
    ///
    /// # Errors
    /// `FileRead`, also when the file ends earlier.
    pub(crate) fn borrow_at(&self, position: u64, len: usize) -> Result<Option<BorrowedBytes<'_>>> {
        match &self.0 {
            StreamKind::Native(_) | StreamKind::Source(_) => Ok(None),
            StreamKind::Mmap(mapping) => mapping.borrow_at(position, len).map(Some),
            StreamKind::User(stream) if !stream.is_zero_copy() => Ok(None),
            StreamKind::User(stream) => {
                let bytes = stream.borrow_at(position, len)?;
                if bytes.len() != len {
                    return Err(short_read_error(position, len, bytes.len()));
                }
                Ok(Some(bytes))
            }
        }
    }

    /// Writes all bytes at `position`. A callback of the program is called even for an empty slice.
    ///
    /// The calling thread must not hold bytes borrowed from the back-end: the write would deadlock.
    ///
    /// # Errors
    /// `FileWrite`, also after an incomplete write.
    pub(crate) fn write_at(&self, position: u64, bytes: &[u8], unit: WriteUnit) -> Result<()> {
        match &self.0 {
            StreamKind::Native(file) => native::write_at(file, position, bytes),
            StreamKind::Mmap(mapping) => mapping.write_at(position, bytes),
            StreamKind::User(stream) => stream.write_at(position, bytes, unit),
            StreamKind::Source(_) => Err(source::read_only()),
        }
    }

    /// Writes all parts one behind the other from `position` on: in one call where the system supports it; otherwise,
    /// with one call of the back-end per part, each as [`WriteUnit::Bytes`].
    ///
    /// # Errors
    /// `FileWrite`, also after an incomplete write.
    pub(crate) fn write_vectored_at(&self, mut position: u64, parts: &[&[u8]]) -> Result<()> {
        if let StreamKind::Native(file) = &self.0 {
            return native::write_vectored_at(file, position, parts);
        }
        for part in parts {
            self.write_at(position, part, WriteUnit::Bytes)?;
            position += part.len() as u64;
        }
        Ok(())
    }

    /// Truncates the file, or extends it with zeros, to `len` bytes.
    ///
    /// # Errors
    /// `FileTruncate`.
    pub(crate) fn truncate(&self, len: u64) -> Result<()> {
        match &self.0 {
            StreamKind::Native(file) => file.set_len(len).map_err(|error| {
                os_err!(error, FileTruncate, "cannot set the length to {len} bytes: {error}")
            }),
            StreamKind::Mmap(mapping) => mapping.truncate(len),
            StreamKind::User(stream) => stream.truncate(len),
            StreamKind::Source(_) => Err(source::read_only()),
        }
    }

    /// Truncates the file to `len` bytes if it is longer.
    ///
    /// # Errors
    /// `FileRead`, `FileTruncate`.
    pub(crate) fn cut(&self, len: u64) -> Result<()> {
        if self.size()? > len { self.truncate(len) } else { Ok(()) }
    }

    /// Starts writing a plain file to disk, without waiting for it. Does nothing for other back-ends.
    pub(crate) fn start_write_back(&self) {
        if let StreamKind::Native(file) = &self.0 {
            os::start_write_back(file);
        }
    }

    /// Waits until the content of a plain file, and its length, are on disk. Does nothing for other back-ends.
    ///
    /// # Errors
    /// `FileWrite`.
    pub(crate) fn sync_data(&self) -> Result<()> {
        match &self.0 {
            StreamKind::Native(file) => file
                .sync_data()
                .map_err(|error| os_err!(error, FileWrite, "the file could not be written to disk: {error}")),
            StreamKind::Mmap(_) | StreamKind::User(_) | StreamKind::Source(_) => Ok(()),
        }
    }

    /// Returns the length of the file in bytes.
    ///
    /// # Errors
    /// `FileRead`.
    pub(crate) fn size(&self) -> Result<u64> {
        match &self.0 {
            StreamKind::Native(file) => match file.metadata() {
                Ok(metadata) => Ok(metadata.len()),
                Err(error) => Err(os_err!(error, FileRead, "cannot determine the size of the file: {error}")),
            },
            StreamKind::Mmap(mapping) => mapping.size(),
            StreamKind::User(stream) => stream.size(),
            StreamKind::Source(file) => Ok(file.len()),
        }
    }

    /// Returns the plain file; `None` for other back-ends than id 0.
    pub(crate) fn as_file(&self) -> Option<&File> {
        match &self.0 {
            StreamKind::Native(file) => Some(file),
            _ => None,
        }
    }
}

/// Resizes a buffer to `len` bytes; new bytes are 0.
pub(crate) fn try_resize(buffer: &mut Vec<u8>, len: u64) -> Result<()> {
    let no_memory = || err!(MemoryAlloc, "cannot allocate {len} bytes for the content of a file");
    let len = usize::try_from(len).map_err(|_| no_memory())?;
    buffer.try_reserve_exact(len.saturating_sub(buffer.len())).map_err(|_| no_memory())?;
    buffer.resize(len, 0);
    Ok(())
}

#[track_caller]
fn short_read_error(position: u64, len: usize, got: usize) -> crate::Error {
    err!(FileRead, "read {got} bytes at {position}, expected {len}")
}
