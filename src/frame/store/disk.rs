//! A frame on disk: its paths, and reading and writing its files.

use super::old_bytes::OldBytes;
use super::trailing;
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, MIN_HEADER_LENGTH, offset};
use crate::chunk::read_i32;
use crate::err;
use crate::error::{Error, ErrorKind, Result};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::Offsets;
use crate::frame::format::plan::FrameLayout;
use crate::io::replacement::{FileProperties, Replacement};
use crate::io::{
    Backend, CachedReader, IoStream, ObservedStamp, OpenMode, WriteUnit, paths, read_file_stamp, replacement,
};
use crate::trace;
use std::ffi::{CStr, CString};
use std::io::Write;
use std::path::PathBuf;

/// The file of a directory that holds header, index and trailer.
pub(crate) const INDEX_FILE: &str = "chunks.b2frame";

/// The length, in bytes, of the name of a chunk file: eight digits and `.chunk`.
const CHUNK_FILE_NAME_LEN: usize = 14;

/// The first bytes of a chunk that readers reject: `nbytes`, `blocksize` and `cbytes` are negative. `tests/durability`
/// checks that both libraries do.
const INVALID_HEADER: [u8; MIN_HEADER_LENGTH] = [0xFF; MIN_HEADER_LENGTH];

/// The files of a frame.
pub(crate) struct Disk {
    /// The I/O back-end of the files.
    pub backend: Backend,
    /// The file with header, index and trailer.
    pub path: CString,
    /// Offset of the frame in that file, in bytes.
    pub base: u64,
    directory: Option<CString>,
    /// The read handle, which is kept for sparse frames, too, where the reference keeps none (`frame.md` 5.4). An index
    /// file that was replaced, as atomic changes do, is detected as for other files.
    reader: CachedReader,
}

impl Disk {
    /// Describes the frame at `path`: a file, or for a sparse frame a directory, without a slash at its end. Opens
    /// nothing.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub(crate) fn new(kind: FrameKind, path: &CStr, base: u64, backend: Backend) -> Result<Disk> {
        let (file, directory) = match kind {
            FrameKind::Contiguous => (fallible::c_string(&[path.to_bytes()])?, None),
            FrameKind::Sparse => {
                let file = fallible::c_string(&[path.to_bytes(), b"/", INDEX_FILE.as_bytes()])?;
                (file, Some(fallible::c_string(&[path.to_bytes()])?))
            }
        };
        Ok(Disk {
            reader: CachedReader::new(backend.clone(), fallible::c_string(&[file.to_bytes()])?),
            backend,
            path: file,
            base,
            directory,
        })
    }

    /// Returns the path of the lock file of the frame.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub(crate) fn lock_file_path(&self) -> Result<PathBuf> {
        match &self.directory {
            Some(directory) => fallible::path(&[directory.to_bytes(), b"/.b2lock"]),
            None => paths::lock_file_path(&self.path),
        }
    }

    /// Returns the stamp of the file with header, index and trailer; `None` when the file does not exist, and for
    /// mappings and back-ends of the program.
    pub(crate) fn stamp(&self) -> Option<ObservedStamp> {
        if self.backend.is_native() { read_file_stamp(&self.path) } else { None }
    }

    /// Returns whether the path names another file than the one that was read last. `current` is the stamp that the
    /// path has now.
    pub(crate) fn was_replaced(&self, current: Option<&ObservedStamp>) -> bool {
        self.reader.revalidate(current.map(|current| current.stamp.version()))
    }

    /// Sets whether a replacement of the index file must also be detected while no read handle is kept: for a directory with
    /// atomic changes. `current` is the stamp that the path has before the file is read.
    pub(crate) fn detect_replacements(&self, current: Option<&ObservedStamp>) {
        self.reader.set_unkept(current.map(|current| current.stamp.version()));
    }

    /// Drops the kept read handle if the program has closed its descriptor; the next read opens the file again.
    pub(crate) fn drop_reader_if_lost(&self) {
        self.reader.drop_if_lost();
    }

    /// Calls `read` with the frame's read handle.
    ///
    /// # Errors
    /// `FileOpen`, or the error that `read` returns.
    pub(crate) fn with_reader<R>(&self, read: impl FnOnce(&IoStream) -> Result<R>) -> Result<R> {
        self.reader.with_stream(read)
    }

    /// Fills `dest` with the bytes that begin at byte `at` of the frame.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`.
    pub(crate) fn read(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        let at = self
            .base
            .checked_add(at)
            .ok_or_else(|| err!(FileRead, "offset {at} of a frame at byte {} overflows", self.base))?;
        self.with_reader(|stream| stream.read_exact_at(at, dest))
    }

    /// Checks that the file has only remains of earlier changes behind the frame, before the frame is changed.
    /// `header_image` is the committed header, `size` the length of the file in bytes.
    ///
    /// # Errors
    /// `FileWrite` if other data follow, `FileRead`, `MemoryAlloc`.
    pub(in crate::frame) fn check_end_of_file(
        &self,
        layout: &FrameLayout,
        header_image: &[u8],
        size: u64,
    ) -> Result<()> {
        let end = self.base + layout.frame_len;
        if size <= end {
            return Ok(());
        }
        let header = FrameHeader::parse(header_image, layout.kind)?;
        let mut read = |at, dest: &mut [u8]| self.with_reader(|stream| stream.read_exact_at(at, dest));
        let has_other_data = trailing::has_other_data_behind(&header, self.base, size, &mut read);
        // The size that a back-end of the program gives may include bytes that cannot be read.
        let is_unreadable = |error: &Error| !self.backend.is_native() && error.kind() == ErrorKind::FileRead;
        if has_other_data.or_else(|error| if is_unreadable(&error) { Ok(false) } else { Err(error) })? {
            let path = paths::as_path(&self.path).display();
            return Err(err!(
                FileWrite,
                "other data follow the frame, which ends at byte {end} of {path}: it cannot be changed"
            ));
        }
        Ok(())
    }

    /// Returns the end of the last chunk of a contiguous frame, in bytes from the start of the frame. If the length of
    /// that chunk cannot be read, the whole data section counts as used.
    pub(in crate::frame) fn end_of_chunks(&self, layout: &FrameLayout, offsets: &Offsets) -> u64 {
        let Ok(last) = u64::try_from(offsets.max_number()) else { return layout.header_len };
        let at = layout.header_len + last;
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        let end = self.read(at, &mut head).ok().and_then(|()| stored_len(&head)).map(|len| at + len);
        end.filter(|&end| end <= layout.index_offset()).unwrap_or(layout.index_offset())
    }

    /// Opens a chunk file.
    ///
    /// # Errors
    /// `FileOpen`; `InvalidHeader` for a number above `u32::MAX`, and for a contiguous frame.
    pub(crate) fn open_chunk_file(&self, number: u64) -> Result<IoStream> {
        self.backend.open(&self.chunk_path(number)?, OpenMode::Read)
    }

    /// Creates a chunk file, or overwrites the existing one.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub(crate) fn write_chunk_file(&self, number: u64, bytes: &[u8]) -> Result<()> {
        let stream = self.backend.open(&self.chunk_path(number)?, OpenMode::Create)?;
        stream.write_at(0, bytes, WriteUnit::Bytes)
    }

    /// Waits until all native files of the frame, and their names, are on disk.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub(in crate::frame) fn sync(&self) -> Result<()> {
        let file = paths::as_path(&self.path);
        if let Some(directory) = &self.directory {
            let directory = paths::as_path(directory);
            let failed = |error| err!(FileOpen, "cannot list {}: {error}", directory.display());
            for entry in std::fs::read_dir(directory).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                if path != *file {
                    replacement::sync_file(&path)?;
                }
            }
        }
        replacement::sync_file(file)?;
        self.sync_names()
    }

    /// Waits until the names of the frame's native files are on disk: those in the directory of the index file, and for
    /// a sparse frame the name of that directory.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub(in crate::frame) fn sync_names(&self) -> Result<()> {
        self.sync_file_names()?;
        self.directory
            .as_ref()
            .map_or(Ok(()), |directory| replacement::sync_directory(paths::as_path(directory)))
    }

    /// Waits until the names in the directory of the index file are on disk.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub(in crate::frame) fn sync_file_names(&self) -> Result<()> {
        replacement::sync_directory(paths::as_path(&self.path))
    }

    /// Writes a native chunk file with a number that no index refers to. Returns the open file. After an error the file
    /// does not exist.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub(in crate::frame) fn create_chunk_file(&self, number: u64, bytes: &[u8]) -> Result<IoStream> {
        let path = self.chunk_path(number)?;
        let stream = self.backend.open(&path, OpenMode::Create)?;
        stream.write_at(0, bytes, WriteUnit::Bytes).inspect_err(|_| {
            if let Err(error) = remove_file(&path) {
                trace::warning(|| format!("an incomplete chunk file stays: {error}"));
            }
        })?;
        Ok(stream)
    }

    /// Writes a new index file of a native directory beside the existing one. `last` are the properties of the file
    /// that [`commit_index_file`](Self::commit_index_file) has put there last.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub(in crate::frame) fn prepare_index_file<'a>(
        &'a self,
        bytes: &'a [u8],
        last: Option<FileProperties>,
    ) -> Result<Replacement<'a>> {
        Replacement::prepare(&self.path, bytes, last)
    }

    /// Replaces the index file of a native directory by a new file, and waits until it is on disk if `is_synced`.
    /// Returns the properties of the file; `None` if the existing one was overwritten.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`; the old file is unchanged then.
    pub(in crate::frame) fn commit_index_file(
        &self,
        new: Replacement<'_>,
        is_synced: bool,
    ) -> Result<Option<FileProperties>> {
        let new = new.commit(is_synced)?;
        let properties = new.as_ref().map(|new| new.properties);
        self.reader.replace_open_file(new.map(|new| new.file));
        Ok(properties)
    }

    /// Cuts off a native chunk file behind its chunk.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`, `FileTruncate`.
    pub(in crate::frame) fn cut_chunk_file(&self, number: u64) -> Result<()> {
        let stream = self.backend.open(&self.chunk_path(number)?, OpenMode::Update)?;
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        let got = stream.read_at(0, &mut head)?;
        stored_len(&head[..got]).map_or(Ok(()), |len| cut(&stream, len))
    }

    /// Cuts off the native file of a contiguous frame, or the index file, behind a frame of `frame_len` bytes.
    ///
    /// # Errors
    /// `FileOpen`, `FileTruncate`.
    pub(in crate::frame) fn cut_file(&self, frame_len: u64) -> Result<()> {
        cut(&self.backend.open(&self.path, OpenMode::Update)?, self.base + frame_len)
    }

    /// Removes a chunk file, if it is there.
    ///
    /// # Errors
    /// Those of [`Backend::remove`].
    pub(crate) fn remove_chunk_file(&self, number: u64) -> Result<()> {
        self.backend.remove(&self.chunk_path(number)?)
    }

    /// Removes a chunk file to which no index refers. A file that cannot be removed stays as an orphan, without an
    /// error.
    pub(in crate::frame) fn remove_superseded(&self, number: u64) {
        if let Err(error) = self.remove_chunk_file(number) {
            trace::warning(|| format!("chunk file {number} could not be removed: {error}"));
        }
    }

    /// Returns the path of a chunk file.
    ///
    /// # Errors
    /// `InvalidHeader` for a number above `u32::MAX`, and for a contiguous frame; `MemoryAlloc`.
    pub(in crate::frame) fn chunk_path(&self, number: u64) -> Result<CString> {
        match (&self.directory, u32::try_from(number)) {
            (Some(directory), Ok(number)) => {
                let mut name = [0; CHUNK_FILE_NAME_LEN];
                // The name has that length.
                let _ = write!(&mut name[..], "{number:08X}.chunk");
                fallible::c_string(&[directory.to_bytes(), b"/", &name])
            }
            _ => Err(err!(
                InvalidHeader,
                "no chunk file {number}: expected a sparse frame and a number up to {}",
                u32::MAX
            )),
        }
    }
}

/// Returns the length of a stored chunk in bytes, by its header.
pub(in crate::frame) fn stored_len(chunk: &[u8]) -> Option<u64> {
    let cbytes = read_i32(chunk, offset::CBYTES).and_then(|cbytes| u64::try_from(cbytes).ok())?;
    Some(cbytes).filter(|&cbytes| cbytes >= EXTENDED_HEADER_LENGTH as u64)
}

/// Restores the chunk in a file. A write that fails concerns bytes that could not be overwritten either: the others are
/// restored.
pub(super) fn restore_chunk(stream: &IoStream, old: &OldBytes) -> Result<()> {
    let header_len = old.len().min(INVALID_HEADER.len());
    let written = old.restore_part(stream, header_len..old.len());
    let written = old.restore_part(stream, 0..header_len).and(written);
    written.and(stream.truncate(old.len() as u64))
}

/// Cuts off a file that is longer than `len` bytes.
fn cut(stream: &IoStream, len: u64) -> Result<()> {
    if stream.size()? > len { stream.truncate(len) } else { Ok(()) }
}

/// Removes a native file.
///
/// # Errors
/// `FileRemove`.
pub(super) fn remove_file(path: &CStr) -> Result<()> {
    std::fs::remove_file(paths::as_path(path)).map_err(|error| err!(FileRemove, "{path:?}: {error}"))
}

/// Overwrites the chunk in a file. Its header is [`INVALID_HEADER`] until the other bytes are written: if the process
/// is killed, readers of the file find an invalid chunk, and never the header of one chunk before the content of
/// another.
pub(super) fn overwrite_chunk(stream: &IoStream, bytes: &[u8]) -> Result<()> {
    let (header, content) = bytes.split_at(bytes.len().min(INVALID_HEADER.len()));
    stream.write_at(0, &INVALID_HEADER, WriteUnit::Bytes)?;
    stream.write_at(INVALID_HEADER.len() as u64, content, WriteUnit::Bytes)?;
    stream.write_at(0, header, WriteUnit::Bytes)
}
