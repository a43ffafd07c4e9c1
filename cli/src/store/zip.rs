//! Frames in a zip file.

use super::embedded;
use super::member::{Member, Place, key_of};
use crate::error::{Failure, WithPath};
use crate::source::Bytes;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipLocator};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A file that is read at positions.
struct ZipFile(Mutex<Bytes>);

impl ReaderAt for ZipFile {
    fn read_at(&self, dest: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.seek(SeekFrom::Start(offset))?;
        bytes.read(dest)
    }
}

/// Returns the members of a zip file.
pub(super) fn members(store: &Path) -> Result<Vec<Member>, Failure> {
    let mut members = Vec::new();
    for (name, range) in entries(store)? {
        match key_of(&name, store)? {
            Some(key) => members.push(Member { key, place: Place::Inside(store.to_owned(), range) }),
            None => members.extend(embedded::members(store, range.start)?),
        }
    }
    Ok(members)
}

/// Returns the names of the files in a zip file, and their places in bytes.
fn entries(store: &Path) -> Result<Vec<(String, Range<u64>)>, Failure> {
    let invalid = |error: rawzip::Error| Failure::file(store, format_args!("no zip file: {error}"));
    let bytes = Bytes::open(store).with_path(store)?;
    let len = bytes.len().with_path(store)?;
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let located = ZipLocator::new().locate_in_reader(ZipFile(Mutex::new(bytes)), &mut buffer, len);
    let archive = located.map_err(|(_, error)| invalid(error))?;
    let mut found = Vec::new();
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().map_err(invalid)? {
        if entry.is_dir() {
            continue;
        }
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        if entry.compression_method() != CompressionMethod::STORE {
            return Err(Failure::file(
                store,
                format!("entry {name:?} is compressed by the zip file, expected one that is stored"),
            ));
        }
        found.push((name, entry.wayfinder()));
    }
    found
        .into_iter()
        .map(|(name, wayfinder)| {
            let (start, end) = archive.get_entry(wayfinder).map_err(invalid)?.compressed_data_range();
            Ok((name, start..end))
        })
        .collect()
}
