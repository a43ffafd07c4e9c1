//! Requests to a store: their time limit, counts, and errors.

use super::place::Place;
use super::settings::{Request, Settings};
use crate::error::Result;
use bytes::Bytes;
use object_store::path::Path;
use object_store::{
    Attributes, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt, PutOptions,
    PutPayload,
};
use once_cell::race::OnceBox;
use std::collections::HashMap;

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::time::Instant;

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Counts of requests, and of the bytes that they transferred.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) requests: AtomicU64,
    pub(super) nbytes: AtomicU64,
}

/// Stores that were used, with their connections to servers.
#[derive(Default)]
pub(super) struct Stores(Mutex<HashMap<(String, bool), Arc<dyn ObjectStore>>>);

impl Stores {
    fn get(&self, place: &Place, settings: &Settings) -> Result<Arc<dyn ObjectStore>> {
        let key = (place.key().to_owned(), settings.has_retries);
        if let Some(store) = lock(&self.0).get(&key) {
            return Ok(store.clone());
        }
        let store = place.store(settings)?;
        Ok(lock(&self.0).entry(key).or_insert(store).clone())
    }
}

/// Bytes of a file.
pub(super) struct Response {
    pub(super) meta: ObjectMeta,
    pub(super) attributes: Attributes,
    /// The position of the bytes in the file.
    pub(super) start: u64,
    pub(super) bytes: Bytes,
}

/// A store.
pub(super) struct Connection {
    pub(super) store: Arc<dyn ObjectStore>,
    /// The URL of the store for messages, without a secret, and the secret.
    pub(super) place: String,
    secret: Option<String>,
    pub(super) settings: Settings,
    counts: Arc<Counts>,
}

/// Runs a future on threads of this module, and waits for its result.
pub(super) fn wait<T: Send + 'static>(
    future: impl Future<Output = io::Result<T>> + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime()?.spawn(async move { sender.send(future.await) });
    receiver.recv().map_err(|_| io::Error::other("a request ended by a panic"))?
}

/// Returns the runtime of all requests.
///
/// # Errors
/// Those of starting threads, and `Unsupported` in a child of a fork, which has no threads.
pub(super) fn runtime() -> io::Result<&'static tokio::runtime::Runtime> {
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

impl Connection {
    pub(super) fn new(
        place: &Place,
        settings: &Settings,
        stores: &Stores,
        counts: &Arc<Counts>,
    ) -> Result<Connection> {
        Ok(Connection {
            store: stores.get(place, settings)?,
            place: place.shown.clone(),
            secret: place.secret.clone(),
            settings: settings.clone(),
            counts: counts.clone(),
        })
    }

    /// Returns an error of a request.
    fn error(&self, path: &Path, request: &str, error: &object_store::Error) -> io::Error {
        use object_store::Error;
        let (kind, what) = match error {
            Error::NotFound { .. } => (io::ErrorKind::NotFound, "not found: "),
            Error::AlreadyExists { .. } => (io::ErrorKind::AlreadyExists, "exists already: "),
            Error::NotImplemented { .. } | Error::NotSupported { .. } => {
                (io::ErrorKind::Unsupported, "not supported by this kind of store: ")
            }
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                (io::ErrorKind::PermissionDenied, "")
            }
            Error::Precondition { .. } => {
                (io::ErrorKind::ResourceBusy, "the file has changed since it was opened: ")
            }
            _ => (io::ErrorKind::Other, ""),
        };
        let mut text = error.to_string();
        if let Some(secret) = &self.secret {
            text = text.replace(secret.as_str(), "***");
        }
        io::Error::new(kind, format!("{request} {}/{path}: {what}{text}", self.place))
    }

    /// Makes a request within the time limit: `transfer` returns its result, and the bytes of the file that were transferred.
    ///
    /// # Errors
    /// Those of the store; `TimedOut`.
    pub(super) async fn request<T>(
        &self,
        (method, detail): (&'static str, &str),
        path: &Path,
        transfer: impl Future<Output = object_store::Result<io::Result<(T, Range<u64>)>>>,
    ) -> io::Result<T> {
        let (started, limit) = (Instant::now(), self.settings.time_limit);
        let name = format!("{method}{detail}");
        let result = tokio::time::timeout(limit, transfer).await;
        // An operation that the store does not have makes no request.
        if !matches!(
            result,
            Ok(Err(object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. }))
        ) {
            self.counts.requests.fetch_add(1, Ordering::Relaxed);
        }
        let (result, range) = match result {
            Ok(Ok(result)) => result?,
            Ok(Err(error)) => return Err(self.error(path, &name, &error)),
            Err(_) => {
                let text = format!("{name} {}/{path}: no answer in {} s", self.place, limit.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        };
        let (nbytes, time) = (range.end - range.start, started.elapsed());
        self.counts.nbytes.fetch_add(nbytes, Ordering::Relaxed);
        if let Some(observer) = &self.settings.observer {
            observer(&Request { method, url: format!("{}/{path}", self.place), range, nbytes, time });
        }
        Ok(result)
    }

    /// Requests a part of a file, or all of it.
    pub(super) async fn get(
        &self,
        path: &Path,
        range: Option<GetRange>,
        known: Option<&ObjectMeta>,
    ) -> io::Result<Response> {
        let detail = range.as_ref().map(|range| format!(" ({range})")).unwrap_or_default();
        let mut options = GetOptions { range, ..GetOptions::default() };
        // `If-Match` needs a strong validator.
        options.if_match = known.and_then(|meta| meta.e_tag.clone()).filter(|tag| !tag.starts_with("W/"));
        let transfer = async {
            let response = self.store.get_opts(path, options).await?;
            let (meta, range) = (response.meta.clone(), response.range.clone());
            let attributes = response.attributes.clone();
            if known.is_some_and(|known| is_changed(known, &meta)) {
                let text =
                    format!("GET{detail} {}/{path}: the file has changed since it was opened", self.place);
                return Ok(Err(io::Error::new(io::ErrorKind::ResourceBusy, text)));
            }
            let bytes = response.bytes().await?;
            if bytes.len() as u64 != range.end - range.start {
                let (got, expected) = (bytes.len(), range.end - range.start);
                let text = format!("GET{detail} {}/{path}: {got} bytes, expected {expected}", self.place);
                return Ok(Err(io::Error::new(io::ErrorKind::UnexpectedEof, text)));
            }
            Ok(Ok((Response { meta, attributes, start: range.start, bytes }, range)))
        };
        self.request(("GET", &detail), path, transfer).await
    }

    /// Requests the properties of a file, without its bytes.
    pub(super) async fn head(&self, path: &Path) -> io::Result<Response> {
        let transfer = async {
            let options = GetOptions { head: true, ..GetOptions::default() };
            let GetResult { meta, attributes, .. } = self.store.get_opts(path, options).await?;
            Ok(Ok((Response { meta, attributes, start: 0, bytes: Bytes::new() }, 0..0)))
        };
        self.request(("HEAD", ""), path, transfer).await
    }

    /// Writes a file, under the condition of `options`.
    pub(super) async fn put(
        &self,
        path: &Path,
        bytes: Vec<u8>,
        options: impl Into<PutOptions>,
    ) -> io::Result<()> {
        let (len, options) = (bytes.len() as u64, options.into());
        let transfer = async {
            self.store.put_opts(path, PutPayload::from(bytes), options).await?;
            Ok(Ok(((), 0..len)))
        };
        self.request(("PUT", ""), path, transfer).await
    }

    /// Requests the names of the files in a directory.
    ///
    /// # Errors
    /// Those of [`request`](Self::request); a store may have no such request.
    pub(super) async fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let transfer = async {
            let list = self.store.list_with_delimiter(Some(directory)).await?;
            let names = list.objects.iter().filter_map(|file| Some(file.location.filename()?.to_owned()));
            Ok(Ok((names.collect(), 0..0)))
        };
        self.request(("LIST", ""), directory, transfer).await
    }

    /// Removes a file.
    pub(super) async fn delete(&self, path: &Path) -> io::Result<()> {
        let transfer = async {
            self.store.delete(path).await?;
            Ok(Ok(((), 0..0)))
        };
        self.request(("DELETE", ""), path, transfer).await
    }
}

/// Returns whether a file is not the one with the properties `known`.
pub(super) fn is_changed(known: &ObjectMeta, meta: &ObjectMeta) -> bool {
    known.size != meta.size || known.e_tag != meta.e_tag || known.last_modified != meta.last_modified
}
