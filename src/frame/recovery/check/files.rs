//! The files of a frame, opened for reading: plain files, and those that Rust code provides.

use crate::chunk::format::MIN_HEADER_LENGTH;
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::store::disk::Disk;
use crate::frame::store::load::ReadFrame;
use crate::io::source::Source;
use crate::io::{Backend, FrameLock, IoStream, OpenMode, paths, try_resize};
use std::ffi::CStr;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Suffix of the names of chunk files, behind eight hexadecimal digits.
const CHUNK_FILE_SUFFIX: &str = ".chunk";
/// Number of digits in the name of a chunk file.
const CHUNK_FILE_DIGITS: usize = 8;

/// The files of a frame. Offsets count from the start of the frame, in bytes.
pub(crate) struct FrameFiles {
    disk: Disk,
    /// The file with header, index and trailer; an error for a directory without it.
    main: Result<IoStream>,
    /// Length of that file from the start of the frame on; 0 without the file.
    len: u64,
    /// The lock between processes, shared; released with the value.
    _lock: Option<FrameLock>,
}

impl FrameFiles {
    /// Opens the frame at byte `offset` of the file at `path`, or in the directory there. With locking between
    /// processes switched on, waits for changes of other processes and excludes them.
    ///
    /// # Errors
    /// `InvalidParam` for a negative offset; `FileOpen` if there is no file, or a directory without index file and
    /// chunk files; `FileRead`, `Lock`.
    pub(crate) fn open(path: &CStr, offset: i64) -> Result<FrameFiles> {
        FrameFiles::open_with(path, offset, Backend::needs_locking)
    }

    /// As [`open`](Self::open), without the lock: for a frame that no other process can have opened.
    pub(crate) fn open_unlocked(path: &CStr, offset: i64) -> Result<FrameFiles> {
        FrameFiles::open_with(path, offset, |_| false)
    }

    /// Opens the frame at byte `base` of the file `name` of `source`, or in the directory of that name.
    ///
    /// # Errors
    /// `FileOpen` if there is no file; `FileRead`.
    pub(crate) fn of_source(
        source: Arc<dyn Source>,
        kind: FrameKind,
        name: &CStr,
        base: u64,
    ) -> Result<FrameFiles> {
        let backend = Backend::of_source(source);
        let disk = Disk::new(kind, name, base, backend.clone())?;
        let main = backend.open(disk.path(), OpenMode::Read)?;
        let len = main.size()?.saturating_sub(base);
        Ok(FrameFiles { disk, main: Ok(main), len, _lock: None })
    }

    /// Returns the files with at most `len` bytes of the main file: the frame is a part of the file, of which other data follow.
    pub(crate) fn limited(self, len: u64) -> FrameFiles {
        FrameFiles { len: self.len.min(len), ..self }
    }

    fn open_with(path: &CStr, offset: i64, needs_lock: impl Fn(&Backend) -> bool) -> Result<FrameFiles> {
        let path = paths::strip_scheme(path);
        let Ok(base) = u64::try_from(offset) else {
            return Err(err!(InvalidParam, "`offset` is {offset}, expected 0 or more"));
        };
        let Ok(found) = fs::metadata(paths::as_path(path)) else {
            return Err(err!(FileOpen, "{path:?} does not exist or is not accessible"));
        };
        let (kind, path) = if found.is_dir() {
            (FrameKind::Sparse, paths::strip_trailing_slash(path)?)
        } else if found.is_file() {
            (FrameKind::Contiguous, fallible::c_string(&[path.to_bytes()])?)
        } else {
            return Err(err!(FileOpen, "{path:?} is neither a file nor a directory"));
        };
        let backend = Backend::native();
        let disk = Disk::new(kind, &path, base, backend.clone())?;
        let lock = if needs_lock(&backend) {
            Some(FrameLock::new(disk.lock_file_path()?, std::sync::Arc::default()))
        } else {
            None
        };
        if let Some(lock) = &lock {
            lock.lock(false)?;
        }
        let main = backend.open(disk.path(), OpenMode::Read);
        let len = match &main {
            Ok(stream) => stream.size()?.saturating_sub(base),
            Err(_) => 0,
        };
        let files = FrameFiles { disk, main, len, _lock: lock };
        if kind == FrameKind::Sparse && files.main.is_err() && !files.chunk_file_numbers()?.is_empty() {
            return Ok(files);
        }
        match files.main {
            Ok(_) => Ok(files),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the frame is a file or a directory.
    pub(crate) fn kind(&self) -> FrameKind {
        self.disk.kind()
    }

    /// Returns the number of bytes of the file with the header from the start of the frame on.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn file_offset(&self, at: u64) -> u64 {
        self.disk.base.saturating_add(at)
    }

    /// Returns whether the file with header, index and trailer exists.
    pub(crate) fn has_main_file(&self) -> bool {
        self.main.is_ok()
    }

    fn main(&self) -> Result<&IoStream> {
        self.main.as_ref().map_err(|error| err!(FileOpen, "{error}"))
    }

    /// Fills `dest` with the bytes that begin at `at`.
    ///
    /// # Errors
    /// `FileRead`, also when the file ends earlier; `FileOpen` without the file.
    pub(crate) fn read_exact(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        let stream = self.main()?;
        self.check_range(at, dest.len() as u64)?;
        stream.read_exact_at(self.file_offset(at), dest)
    }

    /// Replaces the content of `buffer` by the `len` bytes at `at`.
    pub(crate) fn read_into(&self, at: u64, len: u64, buffer: &mut Vec<u8>) -> Result<()> {
        // Checked before the allocation: damaged bytes can claim any length.
        self.check_range(at, len)?;
        buffer.clear();
        try_resize(buffer, len)?;
        self.read_exact(at, buffer)
    }

    /// Returns the `len` bytes at `at`.
    pub(crate) fn read_vec(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(at, len, &mut bytes)?;
        Ok(bytes)
    }

    fn check_range(&self, at: u64, len: u64) -> Result<()> {
        match at.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(err!(
                FileRead,
                "{len} bytes at offset {at} are not inside the {} bytes of the file",
                self.len
            )),
        }
    }

    /// Returns the length of a chunk file in bytes.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`; `InvalidHeader` for a number that no file has.
    pub(crate) fn chunk_file_len(&self, number: u64) -> Result<u64> {
        self.disk.chunk_files()?.open(number)?.size()
    }

    /// Replaces the content of `buffer` by a chunk file.
    ///
    /// # Errors
    /// As [`chunk_file_len`](Self::chunk_file_len), `MemoryAlloc`; `FileRead` for a file that is too short for a chunk.
    pub(crate) fn read_chunk_file(&self, number: u64, buffer: &mut Vec<u8>) -> Result<()> {
        let stream = self.disk.chunk_files()?.open(number)?;
        let len = stream.size()?;
        ensure!(
            len >= MIN_HEADER_LENGTH as u64,
            FileRead,
            "the chunk file has {len} bytes, expected {MIN_HEADER_LENGTH} or more",
        );
        buffer.clear();
        try_resize(buffer, len)?;
        stream.read_exact_at(0, buffer)
    }

    /// Returns the numbers of all chunk files of a directory in ascending order; none for a contiguous frame.
    pub(crate) fn chunk_file_numbers(&self) -> Result<Vec<u32>> {
        let Some(files) = self.disk.directory() else { return Ok(Vec::new()) };
        let directory = &*paths::as_path(&files.directory);
        let failed = |error| err!(FileRead, "cannot list the directory {}: {error}", directory.display());
        let mut numbers = Vec::new();
        for entry in fs::read_dir(directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            fallible::extend(&mut numbers, chunk_file_number(Path::new(&name)).as_slice())?;
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

impl ReadFrame for FrameFiles {
    fn read_at(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        self.read_exact(at, dest)
    }

    fn read_vec_at(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        self.read_vec(at, len)
    }
}

/// Returns the number of the chunk file with that name; `None` for other files.
fn chunk_file_number(name: &Path) -> Option<u32> {
    let digits = name.to_str()?.strip_suffix(CHUNK_FILE_SUFFIX)?;
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte);
    if digits.len() != CHUNK_FILE_DIGITS || !digits.as_bytes().iter().all(is_digit) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_eight_digits_are_chunk_files() {
        let number = |name: &str| chunk_file_number(Path::new(name));
        assert_eq!(number("00000000.chunk"), Some(0));
        assert_eq!(number("FFFFFFFF.chunk"), Some(u32::MAX));
        for name in ["0000000a.chunk", "0.chunk", "000000000.chunk", "+0000000.chunk", "00000000.chunkx", "x"]
        {
            assert_eq!(number(name), None, "{name}");
        }
    }
}
