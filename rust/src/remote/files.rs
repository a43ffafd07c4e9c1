//! The files of a store, for reading.

use super::connection::{Connection, Response, is_changed, lock, runtime, wait};
use super::disk_cache::DiskCache;
use super::pages::{Fetch, FetchWriter, PAGE, PageCache};
use super::requests;
use super::settings::Settings;
use blosc2_core::rust_api::schunk::{FilePart, Source, SourceFile};
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{GetRange, ObjectMeta};
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// The bytes that are read with the length of a file: its end, and its start.
const TAIL: u64 = 64 << 10;
const HEAD: u64 = 4 << 10;
/// The number of bytes that are read at least where no plan has fetched them.
const READ_AHEAD: u64 = 16 << 10;

/// The files of a store.
#[derive(Clone)]
pub(super) struct RemoteFiles(Arc<Files>);

struct Files {
    connection: Connection,
    pages: Arc<PageCache>,
    disk: Option<Arc<DiskCache>>,
    opened: Mutex<HashMap<Arc<str>, Arc<FileState>>>,
}

/// A file that was opened.
struct FileState {
    path: Path,
    meta: ObjectMeta,
    /// The number of the file in the cache of pages.
    number: u64,
    /// The key of the file in the cache on disk.
    key: Option<String>,
}

/// A file, with the store that it is in.
pub(super) struct RemoteFile {
    files: Arc<Files>,
    state: Arc<FileState>,
}

impl Files {
    /// Opens a file, of which the part `wanted` is read next; without it, its end and its start.
    async fn open(&self, name: &Arc<str>, wanted: Option<Range<u64>>) -> io::Result<Arc<FileState>> {
        let path =
            Path::parse(&**name).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let parts = match wanted {
            // A store that does not know ends of files states the length with other bytes.
            None => {
                let tail = self.connection.get(&path, Some(GetRange::Suffix(TAIL)), None);
                let head = self.connection.get(&path, Some(GetRange::Bounded(0..HEAD)), None);
                let started = Instant::now();
                match futures_util::join!(tail, head) {
                    (Ok(tail), Ok(head)) => vec![tail, head],
                    (Err(_), Ok(head)) => {
                        let start = head.meta.size.saturating_sub(TAIL) / PAGE * PAGE;
                        let range = Some(GetRange::Bounded(start..head.meta.size));
                        vec![self.connection.get(&path, range, Some(&head.meta)).await?, head]
                    }
                    // Stores refuse ranges of an empty file.
                    (_, Err(error)) if error.kind() == io::ErrorKind::Other => {
                        let left = self.connection.settings.time_limit.saturating_sub(started.elapsed());
                        match tokio::time::timeout(left, self.connection.head(&path)).await {
                            Ok(Ok(response)) if response.meta.size == 0 => vec![response],
                            _ => return Err(error),
                        }
                    }
                    (_, Err(error)) => return Err(error),
                }
            }
            Some(range) if range.end == u64::MAX => vec![self.connection.get(&path, None, None).await?],
            Some(range) => {
                let range = range.start / PAGE * PAGE..range.end.max(HEAD).div_ceil(PAGE) * PAGE;
                vec![self.connection.get(&path, Some(GetRange::Bounded(range)), None).await?]
            }
        };
        let meta = parts[0].meta.clone();
        if let Some(Response { meta: other, .. }) = parts.get(1)
            && is_changed(other, &meta)
        {
            return Err(io::Error::other(format!(
                "{}/{path} has changed while it was opened",
                self.connection.place
            )));
        }
        let key = identity(&self.connection.place, &path, &meta);
        let number = self.pages.number_of(key.as_ref());
        for Response { start, bytes, .. } in parts {
            // The first page may be incomplete.
            let skipped = start.next_multiple_of(PAGE) - start;
            if let Some(bytes) = bytes.get(usize::try_from(skipped).unwrap_or(usize::MAX)..) {
                self.pages.add(number, start + skipped, whole_pages(bytes, start + skipped, meta.size));
            }
        }
        let file = Arc::new(FileState { path, meta, number, key });
        Ok(lock(&self.opened).entry(name.clone()).or_insert(file).clone())
    }

    fn state(&self, name: &str) -> Option<Arc<FileState>> {
        lock(&self.opened).get(name).cloned()
    }

    /// Opens the files of parts, and begins to fetch their missing pages.
    async fn fetch(self: Arc<Self>, parts: Vec<FilePart>) -> io::Result<Fetch> {
        let parallel = self.connection.settings.parallel;
        let mut by_file: HashMap<Arc<str>, Vec<Range<u64>>> = HashMap::new();
        for FilePart { file, range } in parts {
            by_file.entry(file).or_default().push(range);
        }
        let opened = by_file.into_iter().map(|(name, ranges)| {
            let files = self.clone();
            async move {
                let file = match files.state(&name) {
                    Some(file) => file,
                    None => files.open(&name, ranges.first().cloned()).await?,
                };
                Ok::<_, io::Error>((file, ranges))
            }
        });
        let opened: Vec<_> = futures_util::stream::iter(opened).buffer_unordered(parallel).collect().await;
        let Settings { max_gap, max_request, .. } = self.connection.settings;
        let (mut fetch, mut missing_parts) = (self.pages.begin(), Vec::new());
        let writer = fetch.writer();
        for file in opened {
            let (file, ranges) = file?;
            let (mut held, mut missing) = (Vec::new(), Vec::new());
            for range in ranges {
                let range = range.start..range.end.min(file.meta.size);
                self.pages.visit(file.number, &range, |page, bytes| match bytes {
                    Some(bytes) => held.push(((file.number, page), bytes)),
                    None => missing.push(page * PAGE..(page + 1) * PAGE),
                });
            }
            writer.hold(held);
            if let (Some(disk), Some(key)) = (&self.disk, &file.key) {
                for (start, bytes) in disk.read(key, &missing) {
                    writer.add(file.number, start, &bytes);
                    let end = start + bytes.len() as u64;
                    missing.retain(|page| !(start..end).contains(&page.start));
                }
            }
            let size = file.meta.size;
            missing_parts.push((file, requests::pages(missing, size)));
        }
        let requests = requests::requests(missing_parts, parallel, (max_gap, max_request));
        if !requests.is_empty() {
            writer.set_requested(requests.iter().map(|(file, range)| (file.number, range.clone())).collect());
            fetch.task = Some(runtime()?.spawn(self.request(requests, writer)).abort_handle());
        }
        Ok(fetch)
    }

    /// Makes requests for pages, and adds them as they arrive, until one fails.
    async fn request(self: Arc<Self>, requests: Vec<(Arc<FileState>, Range<u64>)>, writer: FetchWriter) {
        let connection = &self.connection;
        let responses = requests.into_iter().map(|(file, range)| async move {
            let bounds = Some(GetRange::Bounded(range.clone()));
            let response = connection.get(&file.path, bounds, Some(&file.meta)).await?;
            Ok::<_, io::Error>((file, range.start, response.bytes))
        });
        let parallel = connection.settings.parallel;
        let mut responses = futures_util::stream::iter(responses).buffer_unordered(parallel);
        while let Some(response) = responses.next().await {
            match response {
                Ok((file, start, bytes)) => {
                    writer.add(file.number, start, &bytes);
                    if let (Some(disk), Some(key)) = (&self.disk, &file.key) {
                        disk.add(key, start, &bytes);
                    }
                }
                Err(error) => return writer.set_error(error),
            }
        }
    }
}

/// The age from which a file with the same ETag has the same content: servers make ETags from times in seconds, and clocks differ
/// (RFC 9110, 8.8.2.2).
const MIN_AGE: Duration = Duration::from_secs(60);

/// Returns a name of the content of a file: its URL, ETag and length. `None` if the same name could be that of another content.
fn identity(place: &str, path: &Path, meta: &ObjectMeta) -> Option<String> {
    let age = SystemTime::now().duration_since(SystemTime::from(meta.last_modified));
    let tag = meta.e_tag.as_ref().filter(|tag| !tag.starts_with("W/"))?;
    let is_certain = age.is_ok_and(|age| age >= MIN_AGE);
    is_certain.then(|| format!("{place}/{path} {tag} {}", meta.size))
}

/// Returns the bytes without an incomplete page at the end, unless the file ends there.
fn whole_pages(bytes: &[u8], start: u64, size: u64) -> &[u8] {
    let end = start + bytes.len() as u64;
    let excess = if end == size { 0 } else { end % PAGE };
    &bytes[..bytes.len() - usize::try_from(excess).unwrap_or(0).min(bytes.len())]
}

impl RemoteFile {
    /// Copies the bytes from `position` on from pages in memory. Returns the pages that are missing.
    fn copy(&self, position: u64, dest: &mut [u8]) -> Vec<Range<u64>> {
        let end = position + dest.len() as u64;
        let mut missing = Vec::new();
        self.files.pages.visit(self.state.number, &(position..end), |page, bytes| {
            let at = page * PAGE;
            let part = at.max(position)..(at + PAGE).min(end);
            let within = |start: u64| (part.start - start) as usize..(part.end - start) as usize;
            match bytes.as_ref().and_then(|bytes| bytes.get(within(at))) {
                Some(bytes) => dest[within(position)].copy_from_slice(bytes),
                None => missing.push(at..at + PAGE),
            }
        });
        missing
    }
}

impl SourceFile for RemoteFile {
    fn len(&self) -> u64 {
        self.state.meta.size
    }

    fn read_exact_at(&self, position: u64, dest: &mut [u8]) -> io::Result<()> {
        // In a child of a fork, the lock of the pages may be held for ever.
        runtime()?;
        let mut fetch: Option<Fetch> = None;
        loop {
            // Before the pages are looked for: those of requests that have ended are there.
            let has_ended = fetch.as_ref().is_none_or(Fetch::has_ended);
            let missing = self.copy(position, dest);
            let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return Ok(()) };
            // Another thread, or the plan of this call, may have requested the page.
            if self.files.pages.wait(self.state.number, first.start / PAGE) || !has_ended {
                continue;
            }
            if let Some(fetch) = &fetch {
                let name = || format!("{}/{}", self.files.connection.place, self.state.path);
                let text = || format!("{} has no bytes at {}", name(), first.start);
                let no_bytes = || io::Error::new(io::ErrorKind::UnexpectedEof, text());
                return Err(fetch.take_error().unwrap_or_else(no_bytes));
            }
            // The pages that are there already are held, too.
            let range = position..last.end.max(first.start + READ_AHEAD);
            let part = FilePart { file: self.state.path.as_ref().into(), range };
            fetch = Some(wait(self.files.clone().fetch(vec![part]))?);
        }
    }
}

impl RemoteFiles {
    pub(super) fn new(
        connection: Connection,
        pages: Arc<PageCache>,
        disk: Option<Arc<DiskCache>>,
    ) -> RemoteFiles {
        RemoteFiles(Arc::new(Files { connection, pages, disk, opened: Mutex::default() }))
    }

    /// Opens a file.
    ///
    /// # Errors
    /// Those of [`Source::open`].
    pub(super) fn open_file(&self, name: &str) -> io::Result<RemoteFile> {
        runtime()?;
        let files = self.0.clone();
        let state = match files.state(name) {
            Some(state) => state,
            None => {
                let (files, name): (_, Arc<str>) = (files.clone(), name.into());
                wait(async move { files.open(&name, None).await })?
            }
        };
        Ok(RemoteFile { files, state })
    }
}

impl Source for RemoteFiles {
    fn open(&self, name: &str) -> io::Result<Arc<dyn SourceFile>> {
        Ok(Arc::new(self.open_file(name)?))
    }

    fn fetch(&self, parts: Vec<FilePart>) -> io::Result<Box<dyn Send>> {
        if parts.is_empty() {
            return Ok(Box::new(()));
        }
        Ok(Box::new(wait(self.0.clone().fetch(parts))?))
    }
}
