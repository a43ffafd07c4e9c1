//! Uploads and changes of directories in a store that fails at random: before a request, after it, or much later.

use super::super::Client;
use super::super::connection::runtime;
use crate::{Array, Error, OpenOptions, Params, SuperChunk};
use async_trait::async_trait;
use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A store in memory. One of `rate` requests for writing fails; none with 0.
#[derive(Debug, Default)]
struct Store {
    inner: Arc<InMemory>,
    rate: AtomicU64,
    state: AtomicU64,
    /// Called once, after the first index file was read.
    after_index: Mutex<Option<&'static str>>,
}

impl std::fmt::Display for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("store")
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    runtime().unwrap().block_on(future)
}

fn failure() -> object_store::Error {
    object_store::Error::Generic { store: "store", source: "failed at random".into() }
}

impl Store {
    /// Returns the next number of a sequence.
    fn random(&self) -> u64 {
        let state = self.state.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 33
    }

    fn objects(&self) -> Vec<String> {
        let list = self.inner.list(None).map_ok(|meta| meta.location.to_string());
        run(list.try_collect()).unwrap()
    }
}

#[async_trait]
impl ObjectStore for Store {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let (rate, random) = (self.rate.load(Ordering::Relaxed), self.random());
        // A slow store, so that writers meet.
        tokio::time::sleep(Duration::from_millis(random % 3)).await;
        if rate == 0 || !random.is_multiple_of(rate) {
            return self.inner.put_opts(path, payload, options).await;
        }
        match random / rate % 3 {
            0 => {}
            1 => drop(self.inner.put_opts(path, payload, options).await),
            _ => {
                let (inner, path) = (self.inner.clone(), path.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(random % 200)).await;
                    drop(inner.put_opts(&path, payload, options).await);
                });
            }
        }
        Err(failure())
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let result = self.inner.get_opts(path, options).await;
        let created = self.after_index.lock().unwrap().take();
        if let Some(created) = created {
            self.inner.put(&Path::from(created), PutPayload::from_static(b"of another writer")).await?;
        }
        result
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

/// Returns a store and a client of it.
fn store() -> (Arc<Store>, Client) {
    let store = Arc::new(Store::default());
    let mut client = Client::new();
    client.settings.store = Some(store.clone());
    (store, client)
}

fn kind(error: Error) -> io::ErrorKind {
    io::Error::from(error).kind()
}

/// Returns a chunk that begins with `byte`.
fn chunk(byte: u8) -> Vec<u8> {
    (0..100_u8).map(|i| byte.wrapping_add(i.wrapping_mul(i))).collect()
}

fn is_unconfirmed(error: &Error) -> bool {
    error.to_string().contains("not confirmed") || error.to_string().contains("failed at random")
}

/// Creates a directory in `directory`, and uploads it.
fn new_log(client: &Client, directory: &std::path::Path) {
    let options = OpenOptions::new().write(true).create_new(true).directory(true);
    let mut log = options.params(Params::new().typesize(1)).open(directory.join("log")).unwrap();
    log.append(&chunk(0)).unwrap();
    drop(log);
    client.upload(directory.join("log"), "s3://bucket/log", false).unwrap();
}

/// Returns how often each chunk of the log in the store occurs, by its first byte. Everything that its index names is there.
fn chunks_of_log(client: &Client, directory: &std::path::Path) -> BTreeMap<u8, usize> {
    let copy = directory.join("copy");
    client.download("s3://bucket/log", &copy, false).unwrap();
    assert!(crate::verify(&copy, 1).unwrap().is_empty());
    let (log, mut counts) = (SuperChunk::open(&copy).unwrap(), BTreeMap::new());
    for nchunk in 0..log.nchunks() {
        let content = log.decompress_chunk(nchunk).unwrap();
        assert_eq!(content, chunk(content[0]));
        *counts.entry(content[0]).or_default() += 1;
    }
    counts
}

/// Appends from several threads. Returns the chunks whose append was confirmed, and those for which it is unknown.
fn append_from_threads(client: &Client, threads: u8, appends: u8) -> (Vec<u8>, Vec<u8>) {
    let lists = Mutex::new((Vec::new(), Vec::new()));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (client, lists) = (client.clone(), &lists);
            scope.spawn(move || {
                for n in 0..appends {
                    let byte = 1 + thread * appends + n;
                    match client.append("s3://bucket/log", &chunk(byte)) {
                        Ok(()) => lists.lock().unwrap().0.push(byte),
                        Err(error) => {
                            assert!(is_unconfirmed(&error), "{error}");
                            lists.lock().unwrap().1.push(byte);
                        }
                    }
                }
            });
        }
    });
    lists.into_inner().unwrap()
}

#[test]
fn no_append_of_several_writers_is_lost() {
    let (directory, (store, client)) = (tempfile::tempdir().unwrap(), store());
    new_log(&client, directory.path());
    let (confirmed, unknown) = append_from_threads(&client, 4, 10);
    assert_eq!((confirmed.len(), unknown.len()), (40, 0));
    let counts = chunks_of_log(&client, directory.path());
    assert!(counts.values().all(|&count| count == 1) && counts.len() == 41, "{counts:?}");
    // The index, and an object for each chunk: writers that had to try again have removed theirs.
    assert_eq!(store.objects().len(), 1 + 41);
}

#[test]
fn a_store_that_fails_at_random_neither_loses_nor_repeats_a_confirmed_append() {
    for seed in 0..6 {
        let (directory, (store, client)) = (tempfile::tempdir().unwrap(), store());
        new_log(&client, directory.path());
        store.state.store(seed, Ordering::Relaxed);
        store.rate.store(4, Ordering::Relaxed);
        let (confirmed, unknown) = append_from_threads(&client, 3, 8);
        store.rate.store(0, Ordering::Relaxed);
        // Requests that the store carries out later.
        std::thread::sleep(Duration::from_millis(300));
        let counts = chunks_of_log(&client, directory.path());
        for (byte, count) in &counts {
            assert!(
                *count == 1 && (*byte == 0 || confirmed.contains(byte) || unknown.contains(byte)),
                "{byte}: {count}"
            );
        }
        for byte in &confirmed {
            assert!(counts.contains_key(byte), "chunk {byte} is lost, seed {seed}");
        }
        assert!(!confirmed.is_empty() && confirmed.len() + unknown.len() == 24);
    }
}

#[test]
fn rows_of_several_writers_share_chunks() {
    let (directory, (store, client)) = (tempfile::tempdir().unwrap(), store());
    let (path, url) = (directory.path().join("a"), "s3://bucket/a");
    drop(
        Array::<u32>::builder([1, 50]).chunks([3, 50]).directory(true).create_from(&path, &[0; 50]).unwrap(),
    );
    client.upload(&path, url, false).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let client = &client;
            scope.spawn(move || {
                for n in 0..8 {
                    let row: Vec<u32> = (0..50).map(|i| (1 + thread * 8 + n) * 1000 + i).collect();
                    client.append_items(url, 0, &row).unwrap();
                }
            });
        }
    });
    let mut firsts = client.open_array::<u32>(url).unwrap().read((.., 7)).unwrap();
    firsts.sort_unstable();
    let expected: Vec<u32> = std::iter::once(0).chain((1..33).map(|row| row * 1000 + 7)).collect();
    assert_eq!(firsts, expected);
    // The index and the objects of 11 chunks; of superseded ones nothing stays.
    assert_eq!(store.objects().len(), 1 + 11);
}

#[test]
fn an_object_of_another_writer_is_not_overwritten() {
    let (directory, (store, client)) = (tempfile::tempdir().unwrap(), store());
    new_log(&client, directory.path());
    *store.after_index.lock().unwrap() = Some("log/00000001.chunk");
    client.append("s3://bucket/log", &chunk(1)).unwrap();
    client.append("s3://bucket/log", &chunk(2)).unwrap();
    let names = store.objects();
    assert!(names.iter().any(|name| name == "log/00000002.chunk") && names.len() == 5, "{names:?}");
    let get = async { store.inner.get(&Path::from("log/00000001.chunk")).await?.bytes().await };
    assert_eq!(&run(get).unwrap()[..], b"of another writer");
}

#[test]
fn a_directory_that_changes_during_a_download_leaves_no_copy() {
    let (directory, (store, client)) = (tempfile::tempdir().unwrap(), store());
    new_log(&client, directory.path());
    *store.after_index.lock().unwrap() = Some("log/chunks.b2frame");
    let copy = directory.path().join("copy");
    let error = client.download("s3://bucket/log/", &copy, true).unwrap_err();
    assert!(error.to_string().contains("has changed while it was downloaded"), "{error}");
    assert_eq!(kind(error), io::ErrorKind::ResourceBusy);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn arrays_grow_and_change_in_a_directory() {
    let (directory, (_store, client)) = (tempfile::tempdir().unwrap(), store());
    let (path, url) = (directory.path().join("a"), "s3://bucket/a");
    let rows = |range: std::ops::Range<u32>| -> Vec<u32> {
        range.flat_map(|row| (0..7).map(move |j| row * 7 + j)).collect()
    };
    let mut model = rows(0..5);
    let builder = Array::<u32>::builder([5, 7]).chunks([4, 3]).blocks([2, 2]).directory(true);
    drop(builder.create_from(&path, &model).unwrap());
    client.upload(&path, url, false).unwrap();
    let old: Array<u32> = client.open_array(url).unwrap();
    for n in [3, 1, 8] {
        let next = u32::try_from(model.len()).unwrap() / 7;
        let items = rows(next..next + n);
        client.append_items(url, 0, &items).unwrap();
        model.extend(items);
        assert_eq!(client.open_array::<u32>(url).unwrap().read(..).unwrap(), model);
    }
    client.write_items(url, (2..9, 1..3), &[9_u32; 14]).unwrap();
    (2..9).for_each(|row| model[row * 7 + 1..row * 7 + 3].fill(9));
    assert_eq!(client.open_array::<u32>(url).unwrap().read(..).unwrap(), model);
    // Objects of superseded chunks are removed: the state before cannot be read any more, but is never mixed with the new one.
    let error = old.read(..).unwrap_err();
    assert_eq!(kind(error), io::ErrorKind::NotFound);
    let copy = directory.path().join("copy");
    client.download(url, &copy, false).unwrap();
    assert!(crate::verify(&copy, 1).unwrap().is_empty());
    assert_eq!(Array::<u32>::open(&copy).unwrap().read(..).unwrap(), model);
    assert_eq!(kind(client.append_items(url, 0, &[1_u32; 6]).unwrap_err()), io::ErrorKind::InvalidInput);
}

#[test]
fn long_files_are_sent_in_parts_and_replaced_if_asked() {
    let (directory, (_store, client)) = (tempfile::tempdir().unwrap(), store());
    let path = directory.path().join("a.b2nd");
    let noise: Vec<u64> = (0..3_000_000_u64).map(|i| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    Array::<u64>::builder([3_000_000]).params(Params::new().level(0)).create_from(&path, &noise).unwrap();
    let url = "s3://bucket/a.b2nd";
    client.upload(&path, url, false).unwrap();
    // The question whether it exists, the begin and the end of the upload, and three parts.
    assert_eq!(client.requests(), 6);
    assert!(client.open_array::<u64>(url).unwrap().read(..).unwrap() == noise);
    assert_eq!(kind(client.upload(&path, url, false).unwrap_err()), io::ErrorKind::AlreadyExists);
    let short = directory.path().join("short.b2nd");
    Array::<u64>::builder([3]).create_from(&short, &noise[..3]).unwrap();
    assert_eq!(kind(client.upload(&short, url, false).unwrap_err()), io::ErrorKind::AlreadyExists);
    client.upload(&short, url, true).unwrap();
    assert_eq!(client.open_array::<u64>(url).unwrap().read(..).unwrap(), noise[..3]);
    // Only directories grow.
    let error = client.append_items(url, 0, &[1_u64]).unwrap_err();
    assert!(error.to_string().contains("s3://bucket/a.b2nd is no directory with a super-chunk"), "{error}");
}

#[test]
fn a_directory_that_fails_to_arrive_leaves_nothing() {
    let (directory, (store, client)) = (tempfile::tempdir().unwrap(), store());
    let path = directory.path().join("a");
    let builder = Array::<u32>::builder([100]).chunks([10]).directory(true);
    drop(builder.create_from(&path, &(0..100).collect::<Vec<u32>>()).unwrap());
    run(store.inner.put(&"a/00000005.chunk".into(), PutPayload::from_static(b"other"))).unwrap();
    let error = client.upload(&path, "s3://bucket/a", false).unwrap_err();
    assert_eq!(kind(error), io::ErrorKind::AlreadyExists);
    assert_eq!(store.objects(), ["a/00000005.chunk"]);
    // Existing directories are not replaced.
    client.upload(&path, "s3://bucket/b", false).unwrap();
    assert_eq!(kind(client.upload(&path, "s3://bucket/b", true).unwrap_err()), io::ErrorKind::AlreadyExists);
    assert_eq!(client.open_array::<u32>("s3://bucket/b").unwrap().read(7..9).unwrap(), [7, 8]);
}

#[test]
fn stores_without_conditions_refuse_changes() {
    let directory = tempfile::tempdir().unwrap();
    new_log(&store().1, directory.path());
    let url = url::Url::from_file_path(directory.path().join("log")).unwrap();
    let error = Client::new().append(url.as_str(), &chunk(1)).unwrap_err();
    assert!(error.to_string().contains("not supported by this kind of store"), "{error}");
    assert_eq!(kind(error), io::ErrorKind::Unsupported);
    assert_eq!(SuperChunk::open(directory.path().join("log")).unwrap().nchunks(), 1);
    assert_eq!(std::fs::read_dir(directory.path().join("log")).unwrap().count(), 2);
}
