//! An open file: reads and writes by absolute position, whatever the back-end.

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
/// Any number of threads may read at the same time. Back-ends that hand out pointers wait with a change until no thread reads.
pub(crate) struct IoStream(pub(super) Kind);

pub(super) enum Kind {
    Native(File),
    Mmap(Arc<Mapping>),
    User(UserStream),
}

impl IoStream {
    /// Fills `dest` from `position` on.
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

    /// Reads as many bytes as there are from `position` on, up to the length of `dest`; their number.
    ///
    /// A program's back-end may give none where there are fewer than asked for.
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

    /// Reads as many bytes as there are from `position` on, up to `len`, into new memory.
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

    /// Returns the bytes themselves, from back-ends that hand out pointers; `None` from the others.
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

    /// Writes all bytes at `position`. A program's back-end is called even when there are none.
    ///
    /// The thread must not have bytes that the back-end lent: the write would wait forever.
    ///
    /// # Errors
    /// `FileWrite`, also when less was written.
    pub(crate) fn write_at(&self, position: u64, bytes: &[u8], shape: WriteShape) -> Result<()> {
        match &self.0 {
            Kind::Native(file) => native::write_at(file, position, bytes),
            Kind::Mmap(mapping) => mapping.write_at(position, bytes),
            Kind::User(stream) => stream.write_at(position, bytes, shape),
        }
    }

    /// Writes all bytes of all parts, one behind the other, from `position` on: in one call where the system can,
    /// as one [`WriteShape::Bytes`] each where the back-end is called for every write.
    ///
    /// # Errors
    /// `FileWrite`, also when less was written.
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

    /// Cuts the file, or extends it with zeros, to `len` bytes.
    ///
    /// # Errors
    /// `FileTruncate`.
    pub(crate) fn truncate(&self, len: u64) -> Result<()> {
        match &self.0 {
            Kind::Native(file) => {
                file.set_len(len).map_err(|error| err!(FileTruncate, "to {len} bytes: {error}"))
            }
            Kind::Mmap(mapping) => mapping.truncate(len),
            Kind::User(stream) => stream.truncate(len),
        }
    }

    /// The length of the file in bytes.
    ///
    /// # Errors
    /// `FileRead`.
    pub(crate) fn size(&self) -> Result<u64> {
        match &self.0 {
            Kind::Native(file) => match file.metadata() {
                Ok(metadata) => Ok(metadata.len()),
                Err(error) => Err(err!(FileRead, "the size of a file: {error}")),
            },
            Kind::Mmap(mapping) => mapping.size(),
            Kind::User(stream) => stream.size(),
        }
    }

    /// The plain file, of the library's own back-end.
    pub(crate) fn as_file(&self) -> Option<&File> {
        match &self.0 {
            Kind::Native(file) => Some(file),
            _ => None,
        }
    }
}

/// Makes a buffer `len` bytes long; bytes that it gains are 0.
///
/// # Errors
/// `MemoryAlloc`.
pub(crate) fn resize(buffer: &mut Vec<u8>, len: u64) -> Result<()> {
    let no_memory = || err!(MemoryAlloc, "{len} bytes of a file");
    let len = usize::try_from(len).map_err(|_| no_memory())?;
    buffer.try_reserve_exact(len.saturating_sub(buffer.len())).map_err(|_| no_memory())?;
    buffer.resize(len, 0);
    Ok(())
}

#[track_caller]
fn short(position: u64, len: usize, got: usize) -> crate::Error {
    err!(FileRead, "{got} of {len} bytes at {position}")
}
