//! The new frame that a repair writes: under a temporary name beside its destination until it is complete.

use crate::error::{Error, Result, ensure, err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::checksums::{ChecksumMode, MAX_TABLE_CHUNKS, checksum};
use crate::frame::format::chunk_checksums::Checksums;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::{IndexEncoder, IndexEntry, Offsets, encode_entry};
use crate::frame::format::metalayers::Metalayer;
use crate::frame::format::trailer;
use crate::frame::format::units::{checksum_with_record, record_of};
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::report::{ReportFn, Reporter};
use crate::frame::recovery::check::verify::{CheckOptions, verify_files};
use crate::frame::store::disk::Disk;
use crate::frame::store::fetch::stored_part;
use crate::io::new_files::NewFiles;
use crate::io::{Backend, IoStream, OpenMode, WriteUnit, paths, replacement};
use crate::trace;
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};

/// A frame that is being written. Dropping it removes its files.
pub(super) struct NewFrame {
    destination: PathBuf,
    disk: Disk,
    /// The file with header, index and trailer.
    stream: IoStream,
    /// Dropped after the open files: Windows does not remove a directory in which a file is open.
    files: NewFiles,
    /// Length of the header in bytes.
    header_len: u64,
    /// Sum of the lengths of the chunks so far, in bytes.
    data_len: u64,
    /// Number of chunk files so far.
    nfiles: u32,
    /// The locations of the chunks so far, in ascending order, and their checksums; `None` if the frame gets none.
    checksums: Option<Vec<(u64, u32)>>,
}

/// The parts of a frame besides its chunks.
pub(super) struct NewFrameParts<'a> {
    /// The header; its lengths are set when it is written.
    pub header: FrameHeader,
    pub metalayers: &'a [Metalayer<'a>],
    pub vlmetalayers: &'a [Metalayer<'a>],
    /// The entries of the index, as [`NewFrame::append`] returned them, and those of chunks without bytes.
    pub offsets: &'a Offsets,
}

impl NewFrame {
    /// Begins a frame with a header of `header_len` bytes.
    pub(super) fn create(kind: FrameKind, destination: &CStr, header_len: usize) -> Result<NewFrame> {
        check_destination(destination)?;
        let destination = destination_path(destination)?;
        let files = NewFiles::create(
            fallible::path(&[destination.as_os_str().as_encoded_bytes()])?,
            kind == FrameKind::Sparse,
        )?;
        let Some(files) = files else {
            return Err(err!(FileOpen, "the name {} is too long", destination.display()));
        };
        let path = c_path(files.temporary_path())?;
        let backend = Backend::native();
        let disk = Disk::new(kind, &path, 0, backend.clone())?;
        let stream = backend.open(disk.path(), OpenMode::Create)?;
        let header_len = header_len as u64;
        let mode = ChecksumMode::from_environment(ChecksumMode::Write);
        let checksums = (mode == ChecksumMode::Write).then(Vec::new);
        Ok(NewFrame { files, destination, disk, stream, header_len, data_len: 0, nfiles: 0, checksums })
    }

    /// Adds the bytes of a chunk. Returns its entry in the index.
    pub(super) fn append(&mut self, chunk: &[u8]) -> Result<i64> {
        let stored = stored_part(chunk);
        let record = if self.checksums.is_some() { record_of(stored)? } else { Vec::new() };
        // Bytes behind a chunk in its file are kept, unless the record takes their place.
        let parts = [if record.is_empty() { chunk } else { stored }, &record];
        let location = match self.disk.directory() {
            None => {
                let location = self.data_len;
                self.stream.write_vectored_at(self.header_len + location, &parts)?;
                self.data_len += record.len() as u64;
                location
            }
            Some(files) => {
                let number = u64::from(self.nfiles);
                files.create(number, &parts)?;
                let count = self.nfiles.checked_add(1);
                self.nfiles = count.ok_or_else(|| err!(FileWrite, "the frame has too many chunk files"))?;
                number
            }
        };
        self.data_len += chunk.len() as u64;
        if let Some(checksums) = &mut self.checksums {
            fallible::push(checksums, (location, checksum_with_record(stored, &record)))?;
        }
        Ok(encode_entry(IndexEntry::Payload(location)))
    }

    /// Returns the checksums of the chunks with these entries; `None` if the frame gets no table.
    fn checksums_of(&self, offsets: &Offsets) -> Result<Option<Checksums>> {
        let len = offsets.len();
        let Some(known) = self.checksums.as_ref().filter(|_| len <= MAX_TABLE_CHUNKS) else {
            return Ok(None);
        };
        let checksum_of = |code| {
            let Ok(location) = u64::try_from(code) else { return Ok(0) };
            let found = known.binary_search_by_key(&location, |&(location, _)| location);
            let at = found.map_err(|_| err!(Failure, "no chunk was written at location {location}"))?;
            Ok(known[at].1)
        };
        Checksums::of_read_chunks(offsets.iter().map(checksum_of)).map(Some)
    }

    /// Writes index, table of checksums, trailer and header.
    pub(super) fn finish(&mut self, parts: NewFrameParts<'_>) -> Result<()> {
        let NewFrameParts { mut header, metalayers, vlmetalayers, offsets } = parts;
        let mut trailer = trailer::build(vlmetalayers)?;
        let (mut index, mut index_at) = (Vec::new(), self.header_len);
        // Readers do not read chunks and index of a frame without bytes, and find the trailer behind the header.
        if header.nbytes > 0 {
            index = IndexEncoder::default().encode(offsets, 0, offsets.len())?;
            if self.disk.directory().is_none() {
                index_at += self.data_len;
            }
            header.cbytes = i64::try_from(self.data_len).unwrap_or(i64::MAX);
        } else {
            (header.nbytes, header.cbytes) = (0, 0);
        }
        let checksums = self.checksums_of(offsets)?.filter(|_| header.nbytes > 0);
        let table_len = checksums.as_ref().and_then(Checksums::writable_table_len);
        header.frame_len = index_at + (index.len() + trailer.len()) as u64 + table_len.unwrap_or(0);
        header.has_vlmetalayers = !vlmetalayers.is_empty();
        (header.gap, header.has_checksums) = (None, table_len.is_some());
        let image = header.build(metalayers)?;
        if image.len() as u64 != self.header_len {
            let (found, expected) = (image.len(), self.header_len);
            return Err(err!(Failure, "the new header has {found} bytes, expected {expected}"));
        }
        let table = match checksums.filter(|_| table_len.is_some()) {
            Some(checksums) => checksums.seal(&image, checksum(&index), &mut trailer, header.frame_len)?,
            None => Vec::new(),
        };
        self.stream.write_vectored_at(index_at, &[&index, &table, &trailer])?;
        self.stream.write_at(0, &image, WriteUnit::Item)?;
        self.stream.truncate(header.frame_len)
    }

    /// Checks the finished frame. Returns the error of its first damaged part.
    pub(super) fn find_damage(&self, options: &CheckOptions<'_>) -> Result<Option<Error>> {
        let files = FrameFiles::open_unlocked(&c_path(self.files.temporary_path())?, 0)?;
        let mut first = None;
        let report: &mut ReportFn<'_> = &mut |damage| {
            let copy = || Error::new(damage.error.kind(), format_args!("{}", damage.error));
            first.get_or_insert_with(copy);
            Ok(())
        };
        let count = verify_files(options, &mut Reporter::new(&files, report))?;
        Ok(first.filter(|_| count > 0))
    }

    /// Waits until the frame is on the storage device, and gives it its name.
    ///
    /// # Errors
    /// `FileWrite`, `FileOpen` if something exists at the destination by now.
    pub(super) fn publish(self) -> Result<()> {
        let NewFrame { mut files, destination, disk, stream, .. } = self;
        // Windows does not rename a directory in which a file is open.
        drop(stream);
        // After a power failure, a file must not have its name without its content.
        disk.sync()?;
        files.publish(false)?;
        // The frame is complete if its name is not on disk yet, so an error is no error of the repair.
        if let Err(error) = replacement::sync_directory(&destination) {
            trace::warning(|| format!("the directory of {}: {error}", destination.display()));
        }
        Ok(())
    }
}

fn c_path(path: &Path) -> Result<CString> {
    fallible::c_string(&[path.as_os_str().as_encoded_bytes()])
}

/// Checks that nothing exists at `destination`.
pub(super) fn check_destination(destination: &CStr) -> Result<()> {
    let path = destination_path(destination)?;
    ensure!(path.symlink_metadata().is_err(), FileOpen, "{} exists already", path.display());
    Ok(())
}

/// Returns the path without the scheme and without a slash at its end.
fn destination_path(destination: &CStr) -> Result<PathBuf> {
    let path = paths::strip_trailing_slash(paths::strip_scheme(destination))?;
    fallible::path(&[path.to_bytes()])
}
