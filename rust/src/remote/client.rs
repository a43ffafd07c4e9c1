//! The client: its settings, and the calls that open, upload and change files.

use super::connection::{Connection, Counts, Stores, lock};
use super::disk_cache::DiskCache;
use super::files::RemoteFiles;
use super::pages::PageCache;
use super::place::Place;
use super::settings::{Request, Settings};
use super::write;
use crate::array::{AnyArray, Array};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::ranges::{Axes, Ranges};
use crate::super_chunk::SuperChunk;
use blosc2_core::rust_api::array::ArrayHandle;
use blosc2_core::rust_api::check;
use blosc2_core::rust_api::schunk::{Source, SourcePlace, SuperChunkHandle};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The largest distance in bytes of ranges that are joined, and the longest request. On drawn arrays, of reads that need more than 16
/// requests, with and without latency: `scripts/check-remote.sh --latency 30 --draw SEED`.
const MAX_GAP: u64 = 64 << 10;
const MAX_REQUEST: u64 = 4 << 20;

/// Opens super-chunks and arrays by URL, and changes directories: `s3://bucket/path`, `gs://`, `az://`, `https://`, `file:///`, as the crate
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
    pub(super) settings: Settings,
    pages: Arc<PageCache>,
    disk: Option<Arc<DiskCache>>,
    counts: Arc<Counts>,
    /// The stores with the options of `settings`.
    stores: Arc<Stores>,
    /// The files of each URL that was opened, unless they are closed with the last array that reads them.
    kept: Option<Arc<Mutex<HashMap<String, RemoteFiles>>>>,
    /// The offset of frames in their files in bytes.
    offset: u64,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("settings", &self.settings).finish_non_exhaustive()
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
        let settings = Settings {
            options: Vec::new(),
            time_limit: Duration::from_secs(60),
            parallel: 16,
            max_gap: MAX_GAP,
            max_request: MAX_REQUEST,
            has_retries: true,
            observer: None,
            #[cfg(test)]
            store: None,
        };
        Client {
            settings,
            pages: Arc::new(PageCache::new(64 << 20)),
            disk: None,
            counts: Arc::default(),
            stores: Arc::default(),
            kept: None,
            offset: 0,
        }
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
        self.stores = Arc::default();
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

    /// Keeps up to `nbytes` bytes of files in a directory, too, which has nothing else and is created if it is missing. Clients of any
    /// number of processes may share it. Files whose ETag does not tell their content for certain, as in the first minute after a
    /// change, are not kept.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// let client = blosc2::remote::Client::new().disk_cache(dir.path().join("cache"), 10 << 30)?;
    /// assert!(dir.path().join("cache").is_dir());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileOpen` if the directory cannot be created.
    pub fn disk_cache(mut self, directory: impl Into<std::path::PathBuf>, nbytes: u64) -> Result<Client> {
        let directory = directory.into();
        let opened = DiskCache::new(directory.clone(), nbytes);
        let cache = opened.map_err(|error| {
            let text = format!("{}: {error}", directory.display());
            Error::with_cause(ErrorKind::FileOpen, text, error.kind())
        })?;
        self.disk = Some(Arc::new(cache));
        Ok(self)
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

    /// Sets the largest distance in bytes of two parts of a file that are fetched by one request, with the bytes between them; 64 KiB if
    /// it is not set. The closest parts are joined first, and none if all can be requested at the same time.
    ///
    /// ```
    /// let client = blosc2::remote::Client::new().max_gap(1 << 20);
    /// assert!(format!("{client:?}").contains("max_gap: 1048576"));
    /// ```
    #[must_use]
    pub fn max_gap(mut self, nbytes: u64) -> Client {
        self.settings.max_gap = nbytes;
        self
    }

    /// Sets the length in bytes above which a part of a file is fetched by several requests at a time, at least 4096.
    ///
    /// ```
    /// let client = blosc2::remote::Client::new().max_request(1 << 20);
    /// assert!(format!("{client:?}").contains("max_request: 1048576"));
    /// ```
    #[must_use]
    pub fn max_request(mut self, nbytes: u64) -> Client {
        self.settings.max_request = nbytes.max(super::pages::PAGE);
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
        self.stores = Arc::default();
        self
    }

    /// Sets the offset of the frame in the files that are opened, for example of a member of an archive.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("archive");
    /// use blosc2::{Params, SuperChunk, remote::Client};
    ///
    /// let frame = SuperChunk::new(&Params::new().level(9))?.to_frame()?;
    /// std::fs::write(&path, [&[0; 100][..], &frame].concat())?;
    /// let schunk = Client::new().offset(100).open_super_chunk(&format!("file://{}", path.display()))?;
    /// assert_eq!(schunk.info().params.get_level(), 9);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn offset(mut self, offset: u64) -> Client {
        self.offset = offset;
        self
    }

    /// Keeps the files that are opened: opening a URL again takes no request, and reads the version of the file that was opened first.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::{Array, remote::Client};
    ///
    /// Array::<u8>::builder([10]).create_from(&path, &[7; 10])?;
    /// let (client, url) = (Client::new().keep_open(), format!("file://{}", path.display()));
    /// client.open_super_chunk(&url)?;
    /// let requests = client.requests();
    /// client.open_any_array(&url)?;
    /// assert_eq!(client.requests(), requests);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn keep_open(mut self) -> Client {
        self.kept = Some(Arc::default());
        self
    }

    /// Calls `observe` with each request that the store has answered, from threads of the client.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::{Array, remote::{Client, Request}};
    /// use std::sync::{Arc, Mutex};
    ///
    /// Array::<u8>::builder([10]).create_from(&path, &[7; 10])?;
    /// let requests = Arc::new(Mutex::new(Vec::new()));
    /// let list = requests.clone();
    /// let client = Client::new().on_request(move |request: &Request| list.lock().unwrap().push(request.clone()));
    /// client.open_any_array(&format!("file://{}", path.display()))?;
    /// assert_eq!(requests.lock().unwrap()[0].method, "GET");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn on_request(mut self, observe: impl Fn(&Request) + Send + Sync + 'static) -> Client {
        self.settings.observer = Some(Arc::new(observe));
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

    /// Returns the number of bytes that the requests have received and sent.
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

    /// Returns the files of the store of `url`, each in the version that is opened first, and the name of the file there: for
    /// `libblosc2_remote.so`.
    ///
    /// ```
    /// let (_, name) = blosc2::remote::Client::new().source("http://host/directory/a.b2nd")?;
    /// assert_eq!(name, "directory/a.b2nd");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn source(&self, url: &str) -> Result<(Arc<dyn Source>, String)> {
        let place = Place::parse(url)?;
        Ok((Arc::new(self.files(&place)?), place.path.to_string()))
    }

    /// Returns the name of the file `url` in its store.
    ///
    /// ```
    /// assert_eq!(blosc2::remote::Client::name_in_store("s3://bucket/a%20b")?, "a b");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn name_in_store(url: &str) -> Result<String> {
        Ok(Place::parse(url)?.path.to_string())
    }

    /// Uploads a file, or the files of a directory; with `replace`, a file may exist already. Files of more than 8 MiB are sent in
    /// parts, and readers find the old file until all are there.
    ///
    /// Without `replace`, one that another process creates at the same time is not replaced, either, unless the file has more than
    /// 8 MiB: stores have no condition for those. A directory is never replaced.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let (path, copy) = (dir.path().join("a.b2nd"), dir.path().join("copy.b2nd"));
    /// use blosc2::{Array, remote::Client};
    ///
    /// Array::<u8>::builder([10]).create_from(&path, &[7; 10])?;
    /// let url = format!("file://{}", copy.display());
    /// Client::new().upload(&path, &url, false)?;
    /// assert_eq!(Array::<u8>::open_url(&url)?.read(..)?, [7; 10]);
    /// assert!(Client::new().upload(&path, &url, false).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileWrite` with the cause: `AlreadyExists`; `Unsupported` for stores that do not know the condition; a local file that changes
    /// meanwhile; errors of the server or the network. Nothing is changed then, unless the error says that the store has not confirmed.
    pub fn upload(&self, path: impl AsRef<Path>, url: &str, replace: bool) -> Result<()> {
        let place = Place::parse(url)?;
        let (connection, commits) = self.connections(&place)?;
        let sent = write::upload(connection, commits, path.as_ref().to_owned(), place.path, replace);
        sent.map_err(|error| Error::from_io(ErrorKind::FileWrite, &error))
    }

    /// Appends a chunk to a super-chunk in a directory. Any number of writers may do so at the same time: none of the chunks is lost.
    ///
    /// The chunk becomes an object of its own, and then the index is replaced, if it has not changed meanwhile; else all is done again.
    ///
    /// ```no_run
    /// let (client, url) = (blosc2::remote::Client::new(), "s3://bucket/log.b2frame");
    /// client.append(url, b"a chunk")?;
    /// assert!(client.open_super_chunk(url)?.nchunks() >= 1);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`SuperChunk::append`], and of [`upload`](Self::upload); `Unsupported` for stores without conditions: web servers and
    /// local directories.
    pub fn append(&self, url: &str, content: &[u8]) -> Result<()> {
        self.change(url, |copy| copy.open()?.append(content).map(|_| ()))
    }

    /// Appends items to an array in a directory, as [`Array::append`] does, with the guarantees of [`append`](Self::append).
    ///
    /// ```no_run
    /// // One more row of a matrix with 1000 columns.
    /// let (client, url) = (blosc2::remote::Client::new(), "s3://bucket/matrix.b2nd");
    /// client.append_items(url, 0, &[7.5_f32; 1000])?;
    /// assert_eq!(client.open_any_array(url)?.shape()[1], 1000);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Array::append`] and of [`append`](Self::append).
    pub fn append_items<T: Element>(&self, url: &str, axis: usize, items: &[T]) -> Result<()> {
        self.change(url, |copy| {
            let mut array = Array::<T>::try_from(copy.open_array()?)?;
            if let (Some(&extent), Some(&chunk)) = (array.shape().get(axis), array.chunkshape().get(axis)) {
                // The last chunks along the axis may have place for items.
                let mut ranges: Vec<_> = array.shape().iter().map(|&extent| 0..extent).collect();
                ranges[axis].start = extent - extent % u64::from(chunk).max(1);
                copy.fetch(&array, &ranges)?;
            }
            array.append(axis, items)
        })
    }

    /// Overwrites a part of an array in a directory, with the guarantees of [`append`](Self::append).
    ///
    /// ```no_run
    /// let (client, url) = (blosc2::remote::Client::new(), "s3://bucket/matrix.b2nd");
    /// client.write_items(url, (3, ..), &[7.5_f32; 1000])?;
    /// assert_eq!(client.open_array::<f32>(url)?.get(&[3, 0])?, 7.5);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Array::write`] and of [`append`](Self::append).
    pub fn write_items<T: Element>(&self, url: &str, ranges: impl Ranges, items: &[T]) -> Result<()> {
        self.change(url, |copy| {
            let mut array = Array::<T>::try_from(copy.open_array()?)?;
            let mut axes = Axes::new(array.shape());
            axes.select(&ranges)?;
            copy.fetch(&array, axes.ranges())?;
            array.write(&ranges, items)
        })
    }

    /// Changes a directory.
    fn change(&self, url: &str, change: impl Fn(&write::Copy<'_>) -> Result<()>) -> Result<()> {
        let place = Place::parse(url)?;
        let (connection, commits) = self.connections(&place)?;
        write::change(&connection, &commits, &place.path, change)
    }

    /// Returns the connection for writing, and one that does not repeat requests.
    pub(super) fn connections(&self, place: &Place) -> Result<(Arc<Connection>, Arc<Connection>)> {
        let mut once = self.settings.clone();
        once.has_retries = false;
        let connect = |settings| Connection::new(place, settings, &self.stores, &self.counts).map(Arc::new);
        Ok((connect(&self.settings)?, connect(&once)?))
    }

    /// Returns the files of a store.
    pub(super) fn files(&self, place: &Place) -> Result<RemoteFiles> {
        let mut kept = self.kept.as_ref().map(|kept| lock(kept));
        if let Some(files) = kept.as_ref().and_then(|kept| kept.get(place.key())) {
            return Ok(files.clone());
        }
        let connection = Connection::new(place, &self.settings, &self.stores, &self.counts)?;
        let files = RemoteFiles::new(connection, self.pages.clone(), self.disk.clone());
        if let Some(kept) = &mut kept {
            kept.insert(place.key().to_owned(), files.clone());
        }
        Ok(files)
    }

    /// Returns the range, in bytes, of data that follow the frame in its file, as [`other_data_behind`](crate::other_data_behind).
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// let frame = blosc2::SuperChunk::new(&blosc2::Params::new())?.to_frame()?;
    /// std::fs::write(&path, [&frame[..], b"other data"].concat())?;
    /// let url = format!("file://{}", path.display());
    /// let len = frame.len() as u64;
    /// assert_eq!(blosc2::remote::Client::new().other_data_behind(&url)?, Some(len..len + 10));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`open_array`](Self::open_array).
    pub fn other_data_behind(&self, url: &str) -> Result<Option<Range<u64>>> {
        let found = self.open(url, check::other_data_behind_source)?;
        Ok(found.map(|(offset, len)| offset..offset + len))
    }

    /// Opens a file; a directory if the URL ends with a slash, or names no file.
    fn open<R>(
        &self,
        url: &str,
        open: impl Fn(Arc<dyn Source>, SourcePlace<'_>) -> blosc2_core::Result<R>,
    ) -> Result<R> {
        let place = Place::parse(url)?;
        let files = Arc::new(self.files(&place)?) as Arc<dyn Source>;
        let name = place.path.as_ref();
        if !url.ends_with('/') {
            match open(files.clone(), SourcePlace::File(name, self.offset)).map_err(Error::from) {
                // Of both errors, that of the file is returned.
                Err(error) if error.is_missing() => {
                    return open(files, SourcePlace::Directory(name)).map_err(|_| error);
                }
                opened => return opened,
            }
        }
        Ok(open(files, SourcePlace::Directory(name))?)
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
        let url = url::Url::from_file_path(&path).unwrap();
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
