//! Files and directories that are written to a store: whole ones, and changes of directories.
//!
//! A change of a directory is made in a copy of it on disk that has the index file and the chunks that the change reads: index file ->
//! copy -> change -> new chunk files -> objects of new names -> index file, if the one in the store is still the same. If it is not, the
//! new objects are removed and the change is made again.

#[cfg(test)]
mod tests;

use super::connection::{Connection, Response, is_changed, wait};
use crate::array::AnyArray;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Durability, OpenOptions};
use crate::super_chunk::SuperChunk;
use blosc2_core::rust_api::schunk::SuperChunkRef;
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, GetRange, MultipartUpload, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    UpdateVersion,
};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The file of a directory that names the others (`frame.md` 9).
pub(super) const INDEX: &str = "chunks.b2frame";
/// The shortest part of an upload in bytes, and the largest number of parts: S3 has at least 5 MiB, and 10,000 parts.
const PART: u64 = 8 << 20;
const MAX_PARTS: u64 = 10_000;
/// The number of parts or chunks that are in memory at a time.
pub(super) const PARTS_IN_MEMORY: usize = 4;
/// The length of a chunk's header in bytes.
const HEADER: u64 = 32;
/// How often a change is made again after another writer has changed the directory.
const MAX_ATTEMPTS: u32 = 32;

fn other(text: String) -> io::Error {
    io::Error::other(text)
}

/// Returns an error of the crate.
fn failed(error: &io::Error) -> Error {
    Error::from_io(ErrorKind::FileWrite, error)
}

/// A file on disk that must not change while it is uploaded.
struct LocalFile {
    file: std::fs::File,
    path: std::path::PathBuf,
    meta: std::fs::Metadata,
}

impl LocalFile {
    fn open(path: &std::path::Path) -> io::Result<LocalFile> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let file = std::fs::File::open(path).map_err(named)?;
        let meta = file.metadata().map_err(named)?;
        Ok(LocalFile { file, path: path.to_owned(), meta })
    }

    /// Returns the next bytes, at most `len` of them.
    fn read(&mut self, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&mut self.file).take(len).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns an error if the file has changed since it was opened, as far as its length and its time tell.
    fn check(&self) -> io::Result<()> {
        let now = self.file.metadata()?;
        if now.len() != self.meta.len() || now.modified()? != self.meta.modified()? {
            return Err(other(format!("{} has changed while it was uploaded", self.path.display())));
        }
        Ok(())
    }

    /// Returns all bytes.
    fn read_whole(mut self) -> io::Result<Vec<u8>> {
        let bytes = self.read(u64::MAX)?;
        self.check()?;
        Ok(bytes)
    }
}

/// Uploads a file, in parts if it is long. Readers find the old file until all bytes are there.
async fn upload_file(
    connection: &Connection,
    source: &std::path::Path,
    dest: &Path,
    replace: bool,
) -> io::Result<()> {
    let mut file = LocalFile::open(source)?;
    let len = file.meta.len();
    if len <= PART {
        let mode = if replace { PutMode::Overwrite } else { PutMode::Create };
        return connection.put(dest, file.read_whole()?, mode).await;
    }
    if !replace {
        refuse_existing(connection, dest).await?;
    }
    let store = &connection.store;
    let begin = async { Ok(Ok((store.put_multipart(dest).await?, 0..0))) };
    let mut upload = connection.request(("POST", " (begin of an upload)"), dest, begin).await?;
    let sent = match send_parts(connection, &mut *upload, &mut file, dest).await {
        Ok(()) => {
            let end = async { upload.complete().await.map(|_| Ok(((), 0..0))) };
            connection.request(("POST", " (end of an upload)"), dest, end).await
        }
        failed => failed,
    };
    if sent.is_err() {
        // An upload that cannot be aborted is invisible; stores remove it by their rules.
        let _ = tokio::time::timeout(connection.settings.time_limit, upload.abort()).await;
    }
    sent
}

async fn send_parts(
    connection: &Connection,
    upload: &mut dyn MultipartUpload,
    file: &mut LocalFile,
    dest: &Path,
) -> io::Result<()> {
    let len = file.meta.len();
    let step = PART.max(len.div_ceil(MAX_PARTS));
    let requests = (0..len.div_ceil(step)).map(|n| {
        let range = n * step..((n + 1) * step).min(len);
        let part = file.read(step).and_then(|bytes| {
            if bytes.len() as u64 != range.end - range.start {
                file.check()?;
            }
            Ok(upload.put_part(PutPayload::from(bytes)))
        });
        async move {
            let part = part?;
            let transfer = async { part.await.map(|()| Ok(((), range))) };
            connection.request(("PUT", " (part)"), dest, transfer).await
        }
    });
    let parallel = connection.settings.parallel.min(PARTS_IN_MEMORY);
    futures_util::stream::iter(requests).buffer_unordered(parallel).try_collect::<()>().await?;
    file.check()
}

/// Returns an error if the file exists.
async fn refuse_existing(connection: &Connection, path: &Path) -> io::Result<()> {
    let head = async {
        match connection.store.head(path).await {
            Ok(_) => Ok(Ok((true, 0..0))),
            Err(object_store::Error::NotFound { .. }) => Ok(Ok((false, 0..0))),
            Err(error) => Err(error),
        }
    };
    if connection.request(("HEAD", ""), path, head).await? {
        let text = format!("{}/{path} exists already", connection.place);
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    Ok(())
}

/// Returns the names of the files of a directory, without the index file.
fn chunk_files(directory: &std::path::Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file()
            && let Ok(name) = entry.file_name().into_string()
            && name != INDEX
        {
            names.insert(name);
        }
    }
    Ok(names)
}

/// Creates the files `names` of a local directory, each under a name that the store does not have. Returns those that were created,
/// and the error that has ended it.
async fn create_files(
    connection: &Connection,
    source: &std::path::Path,
    dest: &Path,
    names: BTreeSet<String>,
) -> (Vec<String>, Option<(String, io::Error)>) {
    let has_failed = AtomicBool::new(false);
    let has_failed = &has_failed;
    // Requests that have begun when another one fails are waited for: their files would stay.
    let requests = names.into_iter().map(|name| async move {
        if has_failed.load(Ordering::Relaxed) {
            return (name, Ok(false));
        }
        let done = match LocalFile::open(&source.join(&name)).and_then(LocalFile::read_whole) {
            Ok(bytes) => connection.put(&dest.clone().join(name.as_str()), bytes, PutMode::Create).await,
            Err(error) => Err(error),
        };
        has_failed.fetch_or(done.is_err(), Ordering::Relaxed);
        (name, done.map(|()| true))
    });
    let parallel = connection.settings.parallel.min(PARTS_IN_MEMORY);
    let mut requests = futures_util::stream::iter(requests).buffer_unordered(parallel);
    let (mut created, mut failed) = (Vec::new(), None);
    while let Some((name, done)) = requests.next().await {
        match done {
            Ok(true) => created.push(name),
            Ok(false) => {}
            Err(error) => {
                failed.get_or_insert((name, error));
            }
        }
    }
    (created, failed)
}

/// Removes files that no index names; one that cannot be removed stays.
async fn remove_files(connection: &Connection, dest: &Path, names: impl IntoIterator<Item = String>) {
    let requests = names.into_iter().map(|name| {
        let path = dest.clone().join(name);
        async move { connection.delete(&path).await }
    });
    let parallel = connection.settings.parallel;
    futures_util::stream::iter(requests).buffer_unordered(parallel).for_each(|_| async {}).await;
}

/// The end of an attempt to write an index file.
enum Commit {
    Done,
    /// The file in the store is another one: nothing was written.
    Conflict(io::Error),
    /// Nothing was written.
    Failed(io::Error),
    /// The store may or may not have the file now, or later.
    Unknown(io::Error),
}

/// The names of the last changes of a directory, which are an attribute of its index file: a writer whose request was not answered
/// finds there whether it was carried out.
const CHANGES: Attribute = Attribute::Metadata(Cow::Borrowed("blosc2changes"));
/// The number of names that are kept.
const MAX_CHANGES: usize = 32;

/// Returns a name that no other change has.
fn new_name() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("{:016x}", RandomState::new().hash_one((std::process::id(), std::time::SystemTime::now())))
}

/// Returns the names of changes in the attributes of an index file.
fn names_of_changes(file: &Response) -> Vec<String> {
    let names = file.attributes.get(&CHANGES).map(|names| names.split('-').map(str::to_owned).collect());
    names.unwrap_or_default()
}

/// Writes an index file, if the one in the store is still `old`, or if there is none yet. `connection` does not repeat requests.
async fn commit(connection: &Connection, path: &Path, bytes: &[u8], old: Option<&Response>) -> Commit {
    let mode = match old.map(|old| &old.meta) {
        Some(meta) => {
            PutMode::Update(UpdateVersion { e_tag: meta.e_tag.clone(), version: meta.version.clone() })
        }
        None => PutMode::Create,
    };
    let (name, mut names) = (new_name(), old.map(names_of_changes).unwrap_or_default());
    names.push(name.clone());
    let names = names[names.len().saturating_sub(MAX_CHANGES)..].join("-");
    let attributes = Attributes::from_iter([(CHANGES, names)]);
    let mut is_first = true;
    let mut delay = Duration::from_millis(50);
    for _ in 0..6 {
        let options =
            PutOptions { mode: mode.clone(), attributes: attributes.clone(), ..PutOptions::default() };
        let Err(error) = connection.put(path, bytes.to_vec(), options).await else { return Commit::Done };
        match error.kind() {
            io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied if is_first => {
                return Commit::Failed(error);
            }
            io::ErrorKind::AlreadyExists | io::ErrorKind::ResourceBusy if is_first => {
                return Commit::Conflict(error);
            }
            // The answer did not arrive, or is that of a busy store: the request may have been carried out, or still be.
            _ => is_first = false,
        }
        match connection.get(path, None, None).await {
            Ok(now) if names_of_changes(&now).contains(&name) => return Commit::Done,
            Ok(now) if old.is_some_and(|old| old.meta.e_tag == now.meta.e_tag) => {}
            Err(missing) if missing.kind() == io::ErrorKind::NotFound && old.is_none() => {}
            // The condition is not true any more, for a request that is still under way, either.
            Ok(now) if !names_of_changes(&now).is_empty() => return Commit::Conflict(error),
            _ => break,
        }
        tokio::time::sleep(delay).await;
        delay *= 2;
    }
    Commit::Unknown(other(format!("{}/{path}: the store has not confirmed the change", connection.place)))
}

/// Uploads a file, or the files of a directory.
pub(super) fn upload(
    connection: Arc<Connection>,
    commits: Arc<Connection>,
    source: std::path::PathBuf,
    dest: Path,
    replace: bool,
) -> io::Result<()> {
    wait(async move {
        if !source.is_dir() {
            return upload_file(&connection, &source, &dest, replace).await;
        }
        let index_path = dest.clone().join(INDEX);
        let index = LocalFile::open(&source.join(INDEX))?;
        // Objects that an index names are never replaced: a reader would mix two states.
        refuse_existing(&connection, &index_path).await?;
        let names = chunk_files(&source)?;
        let (created, failed) = create_files(&connection, &source, &dest, names).await;
        let end = match (failed, index.read_whole()) {
            (Some((_, error)), _) | (None, Err(error)) => Commit::Failed(error),
            (None, Ok(index)) => commit(&commits, &index_path, &index, None).await,
        };
        match end {
            Commit::Done => Ok(()),
            Commit::Unknown(error) => Err(error),
            Commit::Conflict(error) | Commit::Failed(error) => {
                remove_files(&connection, &dest, created).await;
                Err(error)
            }
        }
    })
}

/// A copy of a directory on disk, which has its index file and the chunk files that were fetched.
pub(super) struct Copy<'a> {
    connection: &'a Arc<Connection>,
    dest: &'a Path,
    directory: tempfile::TempDir,
    /// The lowest number of a new chunk file.
    first_new: u64,
    fetched: RefCell<BTreeSet<String>>,
}

impl Copy<'_> {
    fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("copy")
    }

    /// Opens the super-chunk.
    pub(super) fn open(&self) -> Result<SuperChunk> {
        let schunk = self.options().open(self.path())?;
        self.prepare(schunk.core())?;
        Ok(schunk)
    }

    /// Opens the array.
    pub(super) fn open_array(&self) -> Result<AnyArray> {
        let array = self.options().open_any_array(self.path())?;
        self.prepare(array.core().schunk()?)?;
        Ok(array)
    }

    /// Prepares the changes of a super-chunk. Appending reads the header of the last chunk.
    fn prepare(&self, schunk: SuperChunkRef<'_>) -> Result<()> {
        schunk.set_first_new_chunk_file(self.first_new);
        match schunk.nchunks().checked_sub(1) {
            Some(last) => self.fetch_files(schunk.file_of_chunk(last)?, Some(GetRange::Bounded(0..HEADER))),
            None => Ok(()),
        }
    }

    /// The changes of this level are new chunk files.
    fn options(&self) -> OpenOptions {
        OpenOptions::new().write(true).durability(Durability::Kill)
    }

    /// Fetches the chunks of a box.
    pub(super) fn fetch(&self, array: &AnyArray, ranges: &[Range<u64>]) -> Result<()> {
        self.fetch_files(array.core().files_of_box(ranges)?, None)
    }

    /// Fetches files, or a part of each.
    fn fetch_files(&self, files: impl IntoIterator<Item = Arc<str>>, range: Option<GetRange>) -> Result<()> {
        let names = names_of(files);
        let (connection, dest, path) = (self.connection.clone(), self.dest.clone(), self.path());
        self.fetched.borrow_mut().extend(names.iter().cloned());
        let fetched = wait(async move {
            let requests = names.into_iter().map(|name| {
                let (connection, target, range) = (&connection, path.join(&name), range.clone());
                let source = dest.clone().join(name);
                async move { std::fs::write(target, connection.get(&source, range, None).await?.bytes) }
            });
            let parallel = connection.settings.parallel;
            futures_util::stream::iter(requests).buffer_unordered(parallel).try_collect::<()>().await
        });
        fetched.map_err(|error| failed(&error))
    }
}

/// Returns the names of files without their directory.
pub(super) fn names_of(files: impl IntoIterator<Item = Arc<str>>) -> BTreeSet<String> {
    files.into_iter().filter_map(|file| Some(file.rsplit_once('/')?.1.to_owned())).collect()
}

/// Returns the number of a chunk file.
fn number_of(name: &str) -> u64 {
    name.split('.').next().and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

/// Changes a directory in the store.
pub(super) fn change(
    connection: &Arc<Connection>,
    commits: &Arc<Connection>,
    dest: &Path,
    change: impl Fn(&Copy<'_>) -> Result<()>,
) -> Result<()> {
    let mut first_new = 0;
    for attempt in 0..MAX_ATTEMPTS {
        match try_to_change((connection, commits), dest, first_new, &change)? {
            Sent::Done => return Ok(()),
            Sent::NumberInUse(number) => first_new = number + 1,
            Sent::Conflict => {}
        }
        // Writers that began at the same time try again at different times.
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), attempt) % 64;
        std::thread::sleep(Duration::from_millis(random << (attempt / 4)));
    }
    let text = format!(
        "{}/{dest}: other writers have changed it in each of {MAX_ATTEMPTS} attempts",
        connection.place
    );
    Err(failed(&io::Error::new(io::ErrorKind::ResourceBusy, text)))
}

fn try_to_change(
    (connection, commits): (&Arc<Connection>, &Arc<Connection>),
    dest: &Path,
    first_new: u64,
    change: &impl Fn(&Copy<'_>) -> Result<()>,
) -> Result<Sent> {
    let index_path = dest.clone().join(INDEX);
    let read_index = || {
        let (connection, path) = (connection.clone(), index_path.clone());
        wait(async move { connection.get(&path, None, None).await })
    };
    let old = read_index().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let text = format!("{}/{dest} is no directory with a super-chunk: {error}", connection.place);
            failed(&io::Error::new(error.kind(), text))
        }
        _ => failed(&error),
    })?;
    let directory = tempfile::tempdir().map_err(|error| failed(&error))?;
    let copy = Copy { connection, dest, directory, first_new, fetched: RefCell::default() };
    let write =
        std::fs::create_dir(copy.path()).and_then(|()| std::fs::write(copy.path().join(INDEX), &old.bytes));
    write.map_err(|error| failed(&error))?;
    match change(&copy) {
        Ok(()) => send(&copy, commits.clone(), index_path, old).map_err(|error| failed(&error)),
        // Another writer has superseded a chunk, and removed its file, before it was fetched.
        Err(error)
            if error.is_not_found() && read_index().is_ok_and(|now| is_changed(&old.meta, &now.meta)) =>
        {
            Ok(Sent::Conflict)
        }
        Err(error) => Err(error),
    }
}

/// The end of an attempt to send a change.
enum Sent {
    Done,
    /// The store has a file with the number of a new one.
    NumberInUse(u64),
    Conflict,
}

/// Sends the new chunk files of a copy, and then its index file.
fn send(copy: &Copy<'_>, commits: Arc<Connection>, index_path: Path, old: Response) -> io::Result<Sent> {
    let (connection, dest, source) = (copy.connection.clone(), copy.dest.clone(), copy.path());
    let index = std::fs::read(source.join(INDEX))?;
    let (names, fetched) = (chunk_files(&source)?, copy.fetched.take());
    let new = names.difference(&fetched).cloned().collect();
    let superseded: Vec<String> = fetched.difference(&names).cloned().collect();
    wait(async move {
        let (created, failed) = create_files(&connection, &source, &dest, new).await;
        let end = match failed {
            Some((name, error)) if error.kind() == io::ErrorKind::AlreadyExists => {
                remove_files(&connection, &dest, created).await;
                return Ok(Sent::NumberInUse(number_of(&name)));
            }
            Some((_, error)) => Commit::Failed(error),
            None => commit(&commits, &index_path, &index, Some(&old)).await,
        };
        let (unused, sent) = match end {
            Commit::Done => (superseded, Ok(Sent::Done)),
            Commit::Conflict(_) => (created, Ok(Sent::Conflict)),
            Commit::Failed(error) => (created, Err(error)),
            Commit::Unknown(error) => return Err(error),
        };
        remove_files(&connection, &dest, unused).await;
        sent
    })
}
