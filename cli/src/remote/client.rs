//! The client of the crate `blosc2`.

use super::names::{full_url, url};
use super::transfers::{Request, Transfers};
use blosc2::remote::{self, Client};
use blosc2::{AnyArray, SuperChunk};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The bytes that a [`File`] reads at first, and at most, where it is read from one position to the next.
const MIN_READ_AHEAD: usize = 64 << 10;
const MAX_READ_AHEAD: usize = 16 << 20;

static CLIENT: OnceLock<Client> = OnceLock::new();
/// The requests, if they are listed.
static REQUESTS: Mutex<Vec<Request>> = Mutex::new(Vec::new());

fn client() -> &'static Client {
    CLIENT.get_or_init(|| Client::new().keep_open())
}

/// Sets how URLs are read and written, before the first one is opened.
pub(crate) fn configure(options: &[(String, String)], time_limit: Option<Duration>, lists_requests: bool) {
    let client = Client::new().keep_open();
    let client = options.iter().fold(client, |client, (name, value)| client.option(name, value));
    let client = time_limit.map_or(client.clone(), |time| client.time_limit(time));
    let client = match lists_requests {
        true => client.on_request(|request| requests().push(Request::of(request))),
        false => client,
    };
    // The command calls it once.
    let _ = CLIENT.set(client);
}

fn requests() -> MutexGuard<'static, Vec<Request>> {
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Request {
    fn of(request: &remote::Request) -> Request {
        Request {
            method: request.method,
            url: request.url.clone(),
            start: request.range.start,
            nbytes: request.nbytes,
            seconds: request.time.as_secs_f64(),
        }
    }
}

/// Returns what was transferred.
pub(crate) fn transfers() -> Transfers {
    Transfers {
        requests: client().requests(),
        nbytes: client().nbytes(),
        list: std::mem::take(&mut requests()),
    }
}

/// Returns the number of bytes that were transferred.
pub(crate) fn nbytes() -> u64 {
    client().nbytes()
}

fn text(path: &Path) -> String {
    full_url(url(path).unwrap_or_default())
}

/// Opens the super-chunk at an offset of a file, or in a directory.
pub(crate) fn open_super_chunk(path: &Path, offset: u64, threads: usize) -> blosc2::Result<SuperChunk> {
    let mut schunk = client().clone().offset(offset).open_super_chunk(&text(path))?;
    schunk.set_threads(threads)?;
    Ok(schunk)
}

/// Opens the array at an offset of a file, or in a directory.
pub(crate) fn open_array(path: &Path, offset: u64, threads: usize) -> blosc2::Result<AnyArray> {
    let mut array = client().clone().offset(offset).open_any_array(&text(path))?;
    array.set_threads(threads)?;
    Ok(array)
}

/// Returns the range, in bytes, of data behind the frame in its file.
pub(crate) fn other_data_behind(path: &Path) -> blosc2::Result<Option<Range<u64>>> {
    client().other_data_behind(&text(path))
}

/// Downloads a file, or the files of a directory as far as they are there, to a path where nothing exists.
pub(crate) fn download(path: &Path, file: &Path) -> io::Result<()> {
    Ok(client().download(&text(path), file, true)?)
}

/// Uploads a file, or the files of a directory. Unless it `replaces` a file, one that exists is an error of the kind `AlreadyExists`.
pub(crate) fn upload(file: &Path, path: &Path, replaces: bool) -> io::Result<()> {
    Ok(client().upload(file, &text(path), replaces)?)
}

/// The bytes of a file. Reads from one position to the next fetch more and more bytes at once.
pub(crate) struct File {
    file: remote::File,
    position: u64,
    /// The bytes that were fetched last, and their position.
    ahead: Vec<u8>,
    start: u64,
}

impl File {
    pub(crate) fn open(path: &Path) -> io::Result<File> {
        let file = client().open_file(&text(path))?;
        Ok(File { file, position: 0, ahead: Vec::new(), start: 0 })
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.file.nbytes()
    }

    /// Returns the bytes from the position on that were fetched.
    fn fetched(&self) -> &[u8] {
        let at = self.position.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.ahead.get(at..)).unwrap_or_default()
    }

    /// Fetches bytes from the position on, of which `len` are read next.
    fn fetch(&mut self, len: usize) -> io::Result<()> {
        let is_next = !self.ahead.is_empty() && self.position == self.start + self.ahead.len() as u64;
        let ahead = if is_next { (self.ahead.len() * 2).min(MAX_READ_AHEAD) } else { MIN_READ_AHEAD };
        let rest = self.file.nbytes().saturating_sub(self.position);
        let len = len.clamp(ahead, MAX_READ_AHEAD).min(usize::try_from(rest).unwrap_or(usize::MAX));
        self.ahead.clear();
        self.ahead.resize(len, 0);
        self.start = self.position;
        self.file.read_exact_at(self.position, &mut self.ahead).inspect_err(|_| self.ahead.clear())?;
        Ok(())
    }
}

impl Read for File {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        if self.fetched().is_empty() && !dest.is_empty() {
            self.fetch(dest.len())?;
        }
        let bytes = self.fetched();
        let len = bytes.len().min(dest.len());
        dest[..len].copy_from_slice(&bytes[..len]);
        self.position += len as u64;
        Ok(len)
    }
}

impl Seek for File {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        let position = match place {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(distance) => self.file.nbytes().checked_add_signed(distance),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
