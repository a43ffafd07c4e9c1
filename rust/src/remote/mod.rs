//! Super-chunks and arrays in object stores and on web servers, which are read by ranges of bytes.
//!
//! URL -> store of the crate [`object_store`] -> requests for pages -> pages in memory -> the reader for files on disk, which says
//! before each read which bytes it needs. `client` owns the requests, `requests` which ranges are requested, `pages` the memory.

mod client;
mod pages;
mod requests;

use crate::array::{AnyArray, Array};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::super_chunk::SuperChunk;
use blosc2_core::rust_api::array::ArrayHandle;
use blosc2_core::rust_api::schunk::{Source, SuperChunkHandle};
use client::{Counts, RemoteFiles, Settings};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreScheme, RetryConfig};
use pages::PageCache;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use url::Url;

/// Opens super-chunks and arrays by URL, for reading: `s3://bucket/path`, `gs://`, `az://`, `https://`, `file:///`, as the crate
/// [`object_store`] names them. Options and credentials are those of that crate, also from its environment variables
/// (`AWS_…`, `GOOGLE_…`, `AZURE_…`). Clones share a cache and the counts.
///
/// Opening a file takes two requests at the same time, for its end and its start, unless its index is longer than 64 KiB. A slice is
/// read by two rounds of requests: the block tables of its chunks, then the blocks. Each request is bound to the file that was opened: a
/// file that changes meanwhile gives an error.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("a.b2nd");
/// use blosc2::{Array, remote::Client};
///
/// Array::<i32>::builder([1000, 1000]).create_from(&path, &vec![7; 1_000_000])?;
///
/// let client = Client::new();
/// let array: Array<i32> = client.open_array(&format!("file://{}", path.display()))?;
/// assert_eq!(array.read((10, ..3))?, [7, 7, 7]);
/// assert!(client.requests() <= 4);
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone)]
pub struct Client {
    settings: Settings,
    pages: Arc<PageCache>,
    counts: Arc<Counts>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Settings { time_limit, parallel, .. } = &self.settings;
        f.debug_struct("Client")
            .field("time_limit", time_limit)
            .field("parallel", parallel)
            .finish_non_exhaustive()
    }
}

impl Default for Client {
    fn default() -> Self {
        Client::new()
    }
}

impl Client {
    /// Returns a client with a cache of 64 MiB, at most 16 requests at a time, and 60 seconds for each request.
    ///
    /// ```
    /// assert_eq!(blosc2::remote::Client::new().requests(), 0);
    /// ```
    pub fn new() -> Client {
        let settings = Settings { options: Vec::new(), time_limit: Duration::from_secs(60), parallel: 16 };
        Client { settings, pages: Arc::new(PageCache::new(64 << 20)), counts: Arc::default() }
    }

    /// Sets an option of the crate [`object_store`], for example `aws_endpoint`, `region`, `proxy_url` or `allow_http`.
    ///
    /// ```
    /// let client = blosc2::remote::Client::new().option("aws_skip_signature", "true");
    /// assert!(client.open_any_array("s3://bucket").is_err());
    /// ```
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Client {
        self.settings.options.push((name.into(), value.into()));
        self
    }

    /// Sets how many bytes of files are kept in memory, in place of the cache of this client.
    ///
    /// ```
    /// let client = blosc2::remote::Client::new().cache(1 << 30);
    /// assert_eq!(client.nbytes(), 0);
    /// ```
    #[must_use]
    pub fn cache(mut self, nbytes: u64) -> Client {
        self.pages = Arc::new(PageCache::new(nbytes));
        self
    }

    /// Sets how many requests are made at a time, at least 1.
    ///
    /// ```
    /// let client = blosc2::remote::Client::new().parallel(4);
    /// assert!(format!("{client:?}").contains("parallel: 4"));
    /// ```
    #[must_use]
    pub fn parallel(mut self, requests: usize) -> Client {
        self.settings.parallel = requests.max(1);
        self
    }

    /// Sets how long a request may take, with its repetitions after errors of the server or the network.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// // No server answers there.
    /// let client = blosc2::remote::Client::new().time_limit(Duration::from_millis(200));
    /// assert!(client.open_any_array("http://127.0.0.1:9/a.b2nd").is_err());
    /// ```
    #[must_use]
    pub fn time_limit(mut self, time: Duration) -> Client {
        self.settings.time_limit = time;
        self
    }

    /// Returns the number of requests so far; repetitions after errors are not counted.
    ///
    /// ```
    /// assert_eq!(blosc2::remote::Client::new().requests(), 0);
    /// ```
    pub fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes that the requests have returned.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::{Array, remote::Client};
    ///
    /// Array::<u8>::builder([10]).create_from(&path, &[7; 10])?;
    /// let client = Client::new();
    /// client.open_any_array(&format!("file://{}", path.display()))?;
    /// assert!(client.nbytes() > 0);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn nbytes(&self) -> u64 {
        self.counts.nbytes.load(Ordering::Relaxed)
    }

    /// Opens an array for reading: a file, or a directory.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::{Array, remote::Client};
    ///
    /// Array::<u8>::builder([3]).create_from(&path, &[1, 2, 3])?;
    /// let array: Array<u8> = Client::new().open_array(&format!("file://{}", path.display()))?;
    /// assert_eq!(array.read(..)?, [1, 2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a URL that is not valid, and for items of another type; `FileOpen` for a missing file and for an error of the
    /// server or the network, with the URL and the request; those of a damaged header.
    pub fn open_array<T: Element>(&self, url: &str) -> Result<Array<T>> {
        Array::try_from(self.open_any_array(url)?)
    }

    /// Opens an array whose items have any type.
    ///
    /// ```
    /// let error = blosc2::remote::Client::new().open_any_array("file:///no/such/file").unwrap_err();
    /// assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::NotFound);
    /// ```
    ///
    /// # Errors
    /// As [`open_array`](Self::open_array).
    pub fn open_any_array(&self, url: &str) -> Result<AnyArray> {
        Ok(AnyArray::from_core(self.open(url, ArrayHandle::open_source)?, false))
    }

    /// Opens a super-chunk for reading: a file, or a directory.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{Params, SuperChunk, remote::Client};
    ///
    /// SuperChunk::create(&path, &Params::new())?.append(&[7; 8000])?;
    /// let schunk = Client::new().open_super_chunk(&format!("file://{}", path.display()))?;
    /// assert_eq!(schunk.decompress_chunk(0)?, [7; 8000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`open_array`](Self::open_array).
    pub fn open_super_chunk(&self, url: &str) -> Result<SuperChunk> {
        Ok(SuperChunk::from_core(self.open(url, SuperChunkHandle::open_source)?, false))
    }

    /// Opens a file; a directory if the URL ends with a slash, or names no file.
    fn open<R>(
        &self,
        url: &str,
        open: impl Fn(Arc<dyn Source>, &str, bool) -> blosc2_core::Result<R>,
    ) -> Result<R> {
        let place = Place::parse(url)?;
        let store = place.store(&self.settings)?;
        let names = (place.shown, place.secret);
        let files =
            RemoteFiles::new(store, names, self.settings.clone(), self.pages.clone(), self.counts.clone());
        let (files, name) = (Arc::new(files) as Arc<dyn Source>, place.path.as_ref());
        if !url.ends_with('/') {
            match open(files.clone(), name, false) {
                Err(error) if is_not_found(&error) => {
                    // Of both errors, that of the file is returned.
                    return open(files, name, true).map_err(|_| error.into());
                }
                opened => return Ok(opened?),
            }
        }
        Ok(open(files, name, true)?)
    }
}

fn is_not_found(error: &blosc2_core::Error) -> bool {
    error.cause().is_some_and(|cause| cause.kind() == io::ErrorKind::NotFound)
}

/// A parsed URL.
struct Place {
    url: Url,
    scheme: ObjectStoreScheme,
    path: Path,
    /// The URL of the store without a secret, for messages.
    shown: String,
    /// The user and the password of the URL.
    secret: Option<String>,
}

impl Place {
    fn parse(text: &str) -> Result<Place> {
        let url = Url::parse(text).map_err(|error| Error::param(format!("the URL is not valid: {error}")))?;
        let mut shown = url.clone();
        // A URL without a host has no user.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        let shown = shown[..url::Position::BeforePath].to_owned();
        if url.query().is_some() || url.fragment().is_some() {
            return Err(Error::param(format!(
                "{shown}{}: a URL with `?` or `#` is not supported",
                url.path()
            )));
        }
        let parsed = ObjectStoreScheme::parse(&url);
        let (scheme, path) =
            parsed.map_err(|error| Error::param(format!("{shown}{}: {error}", url.path())))?;
        let has_secret = url.password().is_some() || !url.username().is_empty();
        let secret =
            has_secret.then(|| url[url::Position::BeforeUsername..url::Position::AfterPassword].to_owned());
        Ok(Place { url, scheme, path, shown, secret })
    }

    /// Returns the store, with the options of the environment and of the caller.
    fn store(&self, settings: &Settings) -> Result<Box<dyn ObjectStore>> {
        let retry = RetryConfig { retry_timeout: settings.time_limit, ..RetryConfig::default() };
        let has_prefix =
            |name: &str| ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|prefix| name.starts_with(prefix));
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| has_prefix(name));
        let mut options: Vec<(String, String)> = variables.collect();
        if self.url.scheme() == "http" {
            options.push(("allow_http".to_owned(), "true".to_owned()));
        }
        options.push(("timeout".to_owned(), format!("{}ms", settings.time_limit.as_millis().max(1))));
        options.extend(settings.options.iter().cloned());
        let named = |name: &str| name.to_ascii_lowercase();
        macro_rules! build {
            ($builder:expr) => {{
                let mut builder = $builder;
                for (name, value) in &options {
                    // Options of other stores are ignored.
                    if let Ok(key) = named(name).parse() {
                        builder = builder.with_config(key, value);
                    }
                }
                builder.with_retry(retry).build().map(|store| Box::new(store) as Box<dyn ObjectStore>)
            }};
        }
        let url = self.url.as_str();
        let store = match self.scheme {
            ObjectStoreScheme::Local => Ok(Box::new(object_store::local::LocalFileSystem::new()) as _),
            ObjectStoreScheme::AmazonS3 => build!(object_store::aws::AmazonS3Builder::new().with_url(url)),
            ObjectStoreScheme::GoogleCloudStorage => {
                build!(object_store::gcp::GoogleCloudStorageBuilder::new().with_url(url))
            }
            ObjectStoreScheme::MicrosoftAzure => {
                build!(object_store::azure::MicrosoftAzureBuilder::new().with_url(url))
            }
            ObjectStoreScheme::Http => {
                build!(
                    object_store::http::HttpBuilder::new().with_url(&self.url[..url::Position::BeforePath])
                )
            }
            _ => return Err(Error::param(format!("{}: URLs of this kind are not supported", self.shown))),
        };
        store.map_err(|error| Error::new(ErrorKind::FileOpen, format!("{}: {error}", self.shown)))
    }
}

impl<T: Element> Array<T> {
    /// Opens an array by URL for reading, with a new [`Client`].
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::Array;
    ///
    /// Array::<u8>::builder([3]).create_from(&path, &[1, 2, 3])?;
    /// let array = Array::<u8>::open_url(&format!("file://{}", path.display()))?;
    /// assert_eq!(array.get(&[1])?, 2);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Client::open_array`].
    pub fn open_url(url: &str) -> Result<Array<T>> {
        Client::new().open_array(url)
    }
}

impl SuperChunk {
    /// Opens a super-chunk by URL for reading, with a new [`Client`].
    ///
    /// ```
    /// let error = blosc2::SuperChunk::open_url("file:///no/such/file").unwrap_err();
    /// assert_eq!(error.kind(), blosc2::ErrorKind::FileOpen);
    /// ```
    ///
    /// # Errors
    /// As [`Client::open_array`].
    pub fn open_url(url: &str) -> Result<SuperChunk> {
        Client::new().open_super_chunk(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_file_leaves_nothing_in_the_client() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.b2nd");
        Array::<u8>::builder([3]).create_from(&path, &[1, 2, 3]).unwrap();
        let client = Client::new();
        let url = Url::from_file_path(&path).unwrap();
        let array = client.open_array::<u8>(url.as_str()).unwrap();
        assert_eq!(array.read(..).unwrap(), [1, 2, 3]);
        assert!(Arc::strong_count(&client.counts) > 1);
        drop(array);
        // A task of the runtime ends a little later than its result arrives.
        let start = std::time::Instant::now();
        while Arc::strong_count(&client.counts) > 1 && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(Arc::strong_count(&client.counts), 1);
    }
}
