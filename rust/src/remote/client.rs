//! The client of a store: files, requests and their bytes.

use super::pages::{PAGE, PageCache};
use super::requests::{Pace, merge};
use blosc2_core::rust_api::schunk::{FilePart, Source, SourceFile};
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore};
use once_cell::race::OnceBox;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::time::{Duration, Instant};

/// The bytes that are read with the length of a file: its end, and its start.
const TAIL: u64 = 64 << 10;
const HEAD: u64 = 4 << 10;
/// The number of bytes that are read at least where no plan has fetched them.
const READ_AHEAD: u64 = 16 << 10;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// How files are read.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Names and values of options of the crate `object_store`.
    pub(super) options: Vec<(String, String)>,
    /// The time of a request with its repetitions.
    pub(super) time_limit: Duration,
    /// The number of requests at a time.
    pub(super) parallel: usize,
}

/// Counts of requests and of the bytes that they returned.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) requests: AtomicU64,
    pub(super) nbytes: AtomicU64,
}

/// The files of a store.
pub(super) struct RemoteFiles(Arc<Client>);

struct Client {
    store: Box<dyn ObjectStore>,
    /// The URL of the store for messages, without a secret, and the secret.
    place: String,
    secret: Option<String>,
    settings: Settings,
    pages: Arc<PageCache>,
    counts: Arc<Counts>,
    pace: Mutex<Pace>,
    files: Mutex<HashMap<Arc<str>, Arc<FileState>>>,
}

/// A file that was opened.
struct FileState {
    path: Path,
    meta: ObjectMeta,
    /// The number of the file in the cache of pages.
    number: u64,
}

/// A file, with the client that reads it.
struct RemoteFile {
    client: Arc<Client>,
    state: Arc<FileState>,
}

/// Runs a future on threads of this module, and waits for its result.
fn wait<T: Send + 'static>(future: impl Future<Output = io::Result<T>> + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime()?.spawn(async move { sender.send(future.await) });
    receiver.recv().map_err(|_| io::Error::other("a request ended by a panic"))?
}

/// Returns the runtime of all requests.
///
/// # Errors
/// Those of starting threads, and `Unsupported` in a child of a fork, which has no threads.
fn runtime() -> io::Result<&'static tokio::runtime::Runtime> {
    static RUNTIME: OnceBox<(u32, tokio::runtime::Runtime)> = OnceBox::new();
    let (process, runtime) = RUNTIME.get_or_try_init(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let started = builder.worker_threads(2).thread_name("blosc2-remote").enable_all().build()?;
        Ok::<_, io::Error>(Box::new((std::process::id(), started)))
    })?;
    if *process != std::process::id() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "remote files cannot be read after a fork: start the process anew",
        ));
    }
    Ok(runtime)
}

impl Client {
    /// Returns an error of a request.
    fn error(&self, path: &Path, request: &str, error: &object_store::Error) -> io::Error {
        use object_store::Error;
        let (kind, what) = match error {
            Error::NotFound { .. } => (io::ErrorKind::NotFound, "not found: "),
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                (io::ErrorKind::PermissionDenied, "")
            }
            Error::Precondition { .. } => {
                (io::ErrorKind::Other, "the file has changed since it was opened: ")
            }
            _ => (io::ErrorKind::Other, ""),
        };
        let mut text = error.to_string();
        if let Some(secret) = &self.secret {
            text = text.replace(secret.as_str(), "***");
        }
        io::Error::new(kind, format!("{request} {}/{path}: {what}{text}", self.place))
    }

    /// Requests a part of a file, or all of it. Returns the properties of the file, the start of the bytes, and the bytes.
    async fn get(
        &self,
        path: &Path,
        range: Option<GetRange>,
        known: Option<&ObjectMeta>,
    ) -> io::Result<(ObjectMeta, u64, Vec<u8>)> {
        let request = match &range {
            Some(range) => format!("GET ({range})"),
            None => "GET".to_owned(),
        };
        let mut options = GetOptions { range, ..GetOptions::default() };
        // `If-Match` needs a strong validator.
        options.if_match = known.and_then(|meta| meta.e_tag.clone()).filter(|tag| !tag.starts_with("W/"));
        self.counts.requests.fetch_add(1, Ordering::Relaxed);
        let started = Instant::now();
        let failed = |error: &object_store::Error| self.error(path, &request, error);
        let transfer = async {
            let response = self.store.get_opts(path, options).await.map_err(|error| failed(&error))?;
            let (meta, range) = (response.meta.clone(), response.range.clone());
            if let Some(known) = known
                && (known.size != meta.size
                    || known.e_tag != meta.e_tag
                    || known.last_modified != meta.last_modified)
            {
                let text =
                    format!("{request} {}/{path}: the file has changed since it was opened", self.place);
                return Err(io::Error::other(text));
            }
            let bytes = response.bytes().await.map_err(|error| failed(&error))?;
            if bytes.len() as u64 != range.end - range.start {
                let (got, expected) = (bytes.len(), range.end - range.start);
                let text = format!("{request} {}/{path}: {got} bytes, expected {expected}", self.place);
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
            }
            Ok((meta, range.start, bytes.to_vec()))
        };
        let limit = self.settings.time_limit;
        let (meta, start, bytes) = tokio::time::timeout(limit, transfer).await.unwrap_or_else(|_| {
            let text = format!("{request} {}/{path}: no answer in {} s", self.place, limit.as_secs_f64());
            Err(io::Error::new(io::ErrorKind::TimedOut, text))
        })?;
        lock(&self.pace).note(bytes.len() as u64, started.elapsed().as_secs_f64());
        self.counts.nbytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok((meta, start, bytes))
    }

    /// Opens a file, of which the part `wanted` is read next; without it, its end and its start.
    async fn open(&self, name: &Arc<str>, wanted: Option<Range<u64>>) -> io::Result<Arc<FileState>> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let path =
            Path::parse(&**name).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let parts = match wanted {
            // A store that does not know ends of files states the length with other bytes.
            None => {
                let tail = self.get(&path, Some(GetRange::Suffix(TAIL)), None);
                let head = self.get(&path, Some(GetRange::Bounded(0..HEAD)), None);
                let (tail, head) = futures_util::join!(tail, head);
                let head = head?;
                match tail {
                    Ok(tail) => vec![tail, head],
                    Err(_) => {
                        let start = head.0.size.saturating_sub(TAIL) / PAGE * PAGE;
                        let range = Some(GetRange::Bounded(start..head.0.size));
                        vec![self.get(&path, range, Some(&head.0)).await?, head]
                    }
                }
            }
            Some(range) if range.end == u64::MAX => vec![self.get(&path, None, None).await?],
            Some(range) => {
                let range = range.start / PAGE * PAGE..range.end.max(HEAD).div_ceil(PAGE) * PAGE;
                vec![self.get(&path, Some(GetRange::Bounded(range)), None).await?]
            }
        };
        let meta = parts[0].0.clone();
        if let Some((other, ..)) = parts.get(1)
            && (other.size != meta.size || other.e_tag != meta.e_tag)
        {
            return Err(io::Error::other(format!("{}/{path} has changed while it was opened", self.place)));
        }
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        for (_, start, bytes) in parts {
            // The first page may be incomplete.
            let skipped = start.next_multiple_of(PAGE) - start;
            if let Some(bytes) = bytes.get(usize::try_from(skipped).unwrap_or(usize::MAX)..) {
                self.pages.add(
                    number,
                    start + skipped,
                    whole_pages(bytes, start + skipped, meta.size),
                    &mut HashMap::new(),
                );
            }
        }
        let file = Arc::new(FileState { path, meta, number });
        Ok(lock(&self.files).entry(name.clone()).or_insert(file).clone())
    }

    fn opened(&self, name: &str) -> Option<Arc<FileState>> {
        lock(&self.files).get(name).cloned()
    }

    /// Fetches the missing pages of parts of files. Returns all of their pages.
    async fn fetch(self: Arc<Self>, parts: Vec<FilePart>) -> io::Result<Box<dyn Send>> {
        let mut by_file: HashMap<Arc<str>, Vec<Range<u64>>> = HashMap::new();
        for FilePart { file, range } in parts {
            by_file.entry(file).or_default().push(range);
        }
        let opened = by_file.into_iter().map(|(name, ranges)| {
            let client = self.clone();
            async move {
                let file = match client.opened(&name) {
                    Some(file) => file,
                    None => client.open(&name, ranges.first().cloned()).await?,
                };
                Ok::<_, io::Error>((file, ranges))
            }
        });
        let opened: Vec<_> =
            futures_util::stream::iter(opened).buffer_unordered(self.settings.parallel).collect().await;
        let (gap, mut held, mut requests) = (lock(&self.pace).gap(), HashMap::new(), Vec::new());
        for file in opened {
            let (file, ranges) = file?;
            let mut missing = Vec::new();
            for range in ranges {
                let range = range.start..range.end.min(file.meta.size);
                self.pages.visit(file.number, &range, |page, bytes| match bytes {
                    Some(bytes) => drop(held.insert((file.number, page), bytes.into())),
                    None => missing.push(page * PAGE..(page + 1) * PAGE),
                });
            }
            let merged = merge(missing, gap, file.meta.size);
            requests.extend(merged.into_iter().map(|range| (file.clone(), range)));
        }
        let client = &self;
        let responses = requests.into_iter().map(|(file, range)| async move {
            let bounds = Some(GetRange::Bounded(range.clone()));
            let (_, _, bytes) = client.get(&file.path, bounds, Some(&file.meta)).await?;
            Ok::<_, io::Error>((file, range.start, bytes))
        });
        let mut responses = futures_util::stream::iter(responses).buffer_unordered(self.settings.parallel);
        while let Some(response) = responses.next().await {
            let (file, start, bytes) = response?;
            self.pages.add(file.number, start, &bytes, &mut held);
        }
        Ok(Box::new(self.pages.hold(held)))
    }
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
        self.client.pages.visit(self.state.number, &(position..end), |page, bytes| {
            let at = page * PAGE;
            let part = at.max(position)..(at + PAGE).min(end);
            let within = |start: u64| (part.start - start) as usize..(part.end - start) as usize;
            match bytes.and_then(|bytes| bytes.get(within(at))) {
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
        let missing = self.copy(position, dest);
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return Ok(()) };
        // The pages that are there already are held, too.
        let range = position..last.end.max(first.start + READ_AHEAD);
        let part = FilePart { file: self.state.path.as_ref().into(), range };
        let client = self.client.clone();
        let held = wait(client.fetch(vec![part]))?;
        let missing = self.copy(position, dest);
        drop(held);
        match missing.first() {
            None => Ok(()),
            Some(page) => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("{}/{} has no bytes at {}", self.client.place, self.state.path, page.start),
            )),
        }
    }
}

impl RemoteFiles {
    pub(super) fn new(
        store: Box<dyn ObjectStore>,
        (place, secret): (String, Option<String>),
        settings: Settings,
        pages: Arc<PageCache>,
        counts: Arc<Counts>,
    ) -> RemoteFiles {
        let (pace, files) = (Mutex::default(), Mutex::default());
        RemoteFiles(Arc::new(Client { store, place, secret, settings, pages, counts, pace, files }))
    }
}

impl Source for RemoteFiles {
    fn open(&self, name: &str) -> io::Result<Arc<dyn SourceFile>> {
        runtime()?;
        let client = self.0.clone();
        let state = match client.opened(name) {
            Some(state) => state,
            None => {
                let (client, name): (_, Arc<str>) = (client.clone(), name.into());
                wait(async move { client.open(&name, None).await })?
            }
        };
        Ok(Arc::new(RemoteFile { client, state }))
    }

    fn fetch(&self, parts: Vec<FilePart>) -> io::Result<Box<dyn Send>> {
        if parts.is_empty() {
            return Ok(Box::new(()));
        }
        wait(self.0.clone().fetch(parts))
    }
}
