//! An open file of any back-end: reads and writes at absolute positions.

use super::lent::LentBytes;
use super::mmap::Mapping;
use super::user::UserStream;
use super::{WriteShape, native};
use crate::err;
use crate::error::Result;
use std::fs::File;
use std::sync::Arc;

/// An open file. Closed when it is dropped.
///
/// Any number of threads may read at the same time. With back-ends that hand out pointers, a change waits until no
/// thread reads.
pub(crate) struct IoStream(pub(super) Kind);

pub(super) enum Kind {
    Native(File),
    Mmap(Arc<Mapping>),
    User(UserStream),
}

impl IoStream {
    /// Fills `dest` with the bytes that begin at `position`.
    ///
    /// # Errors
    /// `FileRead`, also when the file ends earlier.
    pub(crate) fn read_exact_at(&self, position: u64, dest: &mut [u8]) -> Result<()> {
        let got = self.read_at(position, dest)?;
        if got != dest.len() {
            return Err(short(position, dest.len(), got));
        }
        Ok(())
    }

    /// Reads the bytes from `position` on into `dest`, as many as the file has. Returns their number.
    ///
    /// A back-end of the program may return 0 when the file has fewer bytes than requested.
    ///
    /// # Errors
    /// `FileRead`.
    pub(crate) fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        match &self.0 {
            Kind::Native(file) => native::read_at(file, position, dest),
            Kind::Mmap(mapping) => mapping.read_at(position, dest),
            Kind::User(stream) => stream.read_at(position, dest),
        }
    }

    /// Reads the bytes from `position` on into new memory, at most `len` or as many as the file has.
    ///
    /// # Errors
    /// `FileRead`, `MemoryAlloc`.
    pub(crate) fn read_vec_at(&self, position: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        resize(&mut bytes, len)?;
        let got = self.read_at(position, &mut bytes)?;
        bytes.truncate(got);
        Ok(bytes)
    }

    /// Returns a reference to the bytes for back-ends that hand out pointers; `None` for the others.
    ///
    /// Writes through this back-end and its clones wait until the bytes are dropped.
    ///
    /// # Errors
    /// `FileRead`, also when the file ends earlier.
    pub(crate) fn borrow_at(&self, position: u64, len: usize) -> Result<Option<LentBytes<'_>>> {
        match &self.0 {
            Kind::Native(_) => Ok(None),
            Kind::Mmap(mapping) => mapping.borrow(position, len).map(Some),
            Kind::User(stream) if !stream.hands_out_pointers() => Ok(None),
            Kind::User(stream) => {
                let bytes = stream.borrow(position, len)?;
                if bytes.len() != len {
                    return Err(short(position, len, bytes.len()));
                }
                Ok(Some(bytes))
            }
        }
    }

    /// Writes all bytes at `position`. A callback of the program is called even for an empty slice.
    ///
    /// The calling thread must not hold bytes that the back-end lent: the write would deadlock.
    ///
    /// # Errors
    /// `FileWrite`, also after an incomplete write.
    pub(crate) fn write_at(&self, position: u64, bytes: &[u8], shape: WriteShape) -> Result<()> {
        match &self.0 {
            Kind::Native(file) => native::write_at(file, position, bytes),
            Kind::Mmap(mapping) => mapping.write_at(position, bytes),
            Kind::User(stream) => stream.write_at(position, bytes, shape),
        }
    }

    /// Writes all parts one behind the other from `position` on: in one call where the system supports it; otherwise,
    /// with one call of the back-end per part, each as [`WriteShape::Bytes`].
    ///
    /// # Errors
    /// `FileWrite`, also after an incomplete write.
    pub(crate) fn write_vectored_at(&self, mut position: u64, parts: &[&[u8]]) -> Result<()> {
        if let Kind::Native(file) = &self.0 {
            return native::write_vectored_at(file, position, parts);
        }
        for part in parts {
            self.write_at(position, part, WriteShape::Bytes)?;
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
            Kind::Native(file) => file
                .set_len(len)
                .map_err(|error| err!(FileTruncate, "cannot set the length to {len} bytes: {error}")),
            Kind::Mmap(mapping) => mapping.truncate(len),
            Kind::User(stream) => stream.truncate(len),
        }
    }

    /// Returns the length of the file in bytes.
    ///
    /// # Errors
    /// `FileRead`.
    pub(crate) fn size(&self) -> Result<u64> {
        match &self.0 {
            Kind::Native(file) => match file.metadata() {
                Ok(metadata) => Ok(metadata.len()),
                Err(error) => Err(err!(FileRead, "cannot determine the size of the file: {error}")),
            },
            Kind::Mmap(mapping) => mapping.size(),
            Kind::User(stream) => stream.size(),
        }
    }

    /// Returns the plain file; `None` for other back-ends than id 0.
    pub(crate) fn as_file(&self) -> Option<&File> {
        match &self.0 {
            Kind::Native(file) => Some(file),
            _ => None,
        }
    }
}

/// Resizes a buffer to `len` bytes; new bytes are 0.
///
/// # Errors
/// `MemoryAlloc`.
pub(crate) fn resize(buffer: &mut Vec<u8>, len: u64) -> Result<()> {
    let no_memory = || err!(MemoryAlloc, "cannot allocate {len} bytes for the content of a file");
    let len = usize::try_from(len).map_err(|_| no_memory())?;
    buffer.try_reserve_exact(len.saturating_sub(buffer.len())).map_err(|_| no_memory())?;
    buffer.resize(len, 0);
    Ok(())
}

#[track_caller]
fn short(position: u64, len: usize, got: usize) -> crate::Error {
    err!(FileRead, "read {got} bytes at {position}, expected {len}")
}
