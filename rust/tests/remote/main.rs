//! Files behind URLs: the same content as on disk, few requests, and an error for each fault of a server.

#![cfg(feature = "remote")]

mod server;

use blosc2::remote::Client;
use blosc2::{AnyArray, Array, Codec, Filter, Params, SuperChunk, step, with_checksums};
use proptest::prelude::*;
use server::{Fault, Server};
use std::path::Path;
use std::time::{Duration, Instant};

/// Numbers that compress to about half, with zeros in some chunks.
fn items(count: usize) -> Vec<i32> {
    let mut state = 1_u32;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 17) as i32
    });
    noise.take(count).enumerate().map(|(i, n)| if i / 5000 % 7 == 3 { 0 } else { n }).collect()
}

/// Puts a file, or the files of a directory, on the server.
fn upload(server: &Server, path: &Path, name: &str) {
    if !path.is_dir() {
        return server.add(name, std::fs::read(path).unwrap());
    }
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap().path();
        let file = entry.file_name().unwrap().to_str().unwrap();
        server.add(&format!("{name}/{file}"), std::fs::read(&entry).unwrap());
    }
}

/// Returns an array of 100 x 300 x 200 items in a file, with chunks of 10 x 100 x 100 and blocks of 5 x 20 x 100.
fn cube(directory: &Path) -> Vec<i32> {
    let items = items(6_000_000);
    let params = Params::new().codec(Codec::Zstd).level(1).filters([Filter::Shuffle]);
    Array::<i32>::builder([100, 300, 200])
        .chunks([10, 100, 100])
        .blocks([5, 20, 100])
        .params(params)
        .create_from(directory.join("cube.b2nd"), &items)
        .unwrap();
    items
}

#[test]
fn opening_takes_two_requests_and_an_item_three_more() {
    let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
    let items = cube(directory.path());
    upload(&server, &directory.path().join("cube.b2nd"), "cube.b2nd");
    let client = Client::new();
    let array: Array<i32> = client.open_array(&server.url("cube.b2nd")).unwrap();
    assert_eq!(server.take_requests().len(), 2);
    let at = |i: usize, j: usize, k: usize| items[(i * 300 + j) * 200 + k];
    assert_eq!(array.get(&[37, 150, 110]).unwrap(), at(37, 150, 110));
    let requests = server.take_requests();
    // The block table, the block, and the checksums of the chunk.
    assert!(requests.len() <= 3, "{requests:?}");
    // In the same block, everything is in memory.
    assert_eq!(array.get(&[38, 155, 120]).unwrap(), at(38, 155, 120));
    assert_eq!(server.take_requests(), []);
    assert_eq!(client.requests(), 2 + requests.len() as u64);
}

/// The array of [`cube`] on a server that answers when it has 10 requests at a time, opened.
struct GatheredCube {
    server: Server,
    client: Client,
    array: Array<i32>,
    items: Vec<i32>,
    /// Length of the file in bytes.
    frame_len: u64,
}

impl GatheredCube {
    fn new() -> GatheredCube {
        let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
        let items = cube(directory.path());
        let path = directory.path().join("cube.b2nd");
        upload(&server, &path, "cube.b2nd");
        let client = Client::new();
        let array = client.open_array(&server.url("cube.b2nd")).unwrap();
        server.take_requests();
        server.take_max_active();
        server.gather(10);
        GatheredCube { server, client, array, items, frame_len: std::fs::metadata(&path).unwrap().len() }
    }
}

#[test]
fn a_plane_is_fetched_in_two_rounds_without_other_blocks() {
    let GatheredCube { server, client, array, items, frame_len } = GatheredCube::new();
    let before = client.nbytes();
    let plane = array.read((.., 40, ..)).unwrap();
    let expected: Vec<i32> = (0..100).flat_map(|i| &items[(i * 300 + 40) * 200..][..200]).copied().collect();
    assert_eq!(plane, expected);
    let requests = server.take_requests().len();
    // 20 chunks with 2 blocks of 40 kB each: 20 block tables, 40 blocks and 20 lists of checksums.
    assert!(requests <= 80, "{requests} requests");
    assert!(server.take_max_active() >= 10);
    let needed = 40 * frame_len / 600;
    let fetched = client.nbytes() - before;
    // A part may have a page at each end that is not needed, and a block a unit of checksums; 1 MiB may be between parts.
    let edges = (2 * requests as u64 + 40) * 4096;
    assert!(fetched <= needed * 11 / 10 + edges + (1 << 20), "{fetched} bytes, about {needed} needed");
}

#[test]
fn steps_are_fetched_in_two_rounds_too() {
    let GatheredCube { server, array, items, .. } = GatheredCube::new();
    let column = array.read((step(.., 5), 40, 7)).unwrap();
    let expected: Vec<i32> = (0..20).map(|i| items[(i * 5 * 300 + 40) * 200 + 7]).collect();
    assert_eq!(column, expected);
    // The tables of 10 chunks are requested at the same time, and then 20 blocks and the checksums.
    assert!(server.take_max_active() >= 10);
    assert!(server.take_requests().len() <= 40);
}

#[test]
fn another_client_finds_the_blocks_on_disk() {
    let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
    cube(directory.path());
    let path = directory.path().join("cube.b2nd");
    upload(&server, &path, "cube.b2nd");
    let local = Array::<i32>::open(&path).unwrap();
    let planes = || {
        let client = Client::new().disk_cache(directory.path().join("cache"), 1 << 30).unwrap();
        let array: Array<i32> = client.open_array(&server.url("cube.b2nd")).unwrap();
        assert_eq!(array.read((.., 40, ..)).unwrap(), local.read((.., 40, ..)).unwrap());
        assert_eq!(array.get(&[99, 299, 199]).unwrap(), local.get(&[99, 299, 199]).unwrap());
        server.take_requests().len()
    };
    assert!(planes() > 20);
    // The end and the start of the file, which say whether it is the same. A client may end before the last pages are on disk.
    assert!((0..20).any(|_| planes() == 2));
    // A file that has changed has another ETag.
    let changed: Vec<i32> = local.read(..).unwrap().into_iter().rev().collect();
    Array::<i32>::builder([100, 300, 200]).truncate(true).create_from(&path, &changed).unwrap();
    upload(&server, &path, "cube.b2nd");
    let local = Array::<i32>::open(&path).unwrap();
    let client = Client::new().disk_cache(directory.path().join("cache"), 1 << 30).unwrap();
    let array: Array<i32> = client.open_array(&server.url("cube.b2nd")).unwrap();
    assert_eq!(array.read((.., 40, ..)).unwrap(), local.read((.., 40, ..)).unwrap());
}

#[test]
fn asynchronous_calls_give_the_same_items() {
    let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
    let items = cube(directory.path());
    upload(&server, &directory.path().join("cube.b2nd"), "cube.b2nd");
    let client = Client::new();
    let read = async {
        let array: Array<i32> = client.open_array_async(&server.url("cube.b2nd")).await?;
        let mut rows = Vec::new();
        for i in 0..20 {
            rows.push(array.read_async((i * 5, 40, ..)).await?);
        }
        let schunk = client.open_super_chunk_async(&server.url("cube.b2nd")).await?;
        assert_eq!(schunk.nchunks(), 10 * 3 * 2);
        Ok::<_, blosc2::Error>(rows)
    };
    for (i, row) in pollster::block_on(read).unwrap().into_iter().enumerate() {
        assert_eq!(row, items[(i * 5 * 300 + 40) * 200..][..200]);
    }
    let missing = pollster::block_on(client.open_array_async::<i32>(&server.url("none.b2nd"))).unwrap_err();
    assert_eq!(std::io::Error::from(missing).kind(), std::io::ErrorKind::NotFound);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn slices_are_those_of_the_file(
        shape in prop::array::uniform3(1..40_u64),
        chunk in prop::array::uniform3(1..20_u32),
        (codec, level) in (prop::sample::select(vec![Codec::BloscLz, Codec::Lz4, Codec::Zstd]), 0..6_i32),
        (is_directory, has_checksums, has_dictionary) in any::<(bool, bool, bool)>(),
        seed in any::<u64>(),
        cache in prop::sample::select(vec![0, 1 << 20]),
    ) {
        let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
        let path = directory.path().join("array");
        let chunks: Vec<u32> = chunk.iter().zip(shape).map(|(&chunk, extent)| chunk.min(extent as u32)).collect();
        let blocks: Vec<u32> = chunks.iter().map(|&chunk| chunk.div_ceil(2)).collect();
        let count: u64 = shape.iter().product();
        let params = Params::new().codec(codec).level(level as u8);
        let params = if has_dictionary && codec != Codec::BloscLz && level > 0 { params.dictionary(true) } else { params };
        let builder = Array::<i32>::builder(shape).chunks(chunks).blocks(blocks).params(params).directory(is_directory);
        let create = || builder.create_from(&path, &items(count as usize));
        with_checksums(has_checksums, create).unwrap();
        upload(&server, &path, "array");
        let client = Client::new().cache(cache);
        let remote = client.open_any_array(&server.url("array")).unwrap();
        let local = AnyArray::open(&path).unwrap();
        let mut state = seed;
        let mut random = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % limit
        };
        for _ in 0..4 {
            let ranges: Vec<_> = shape.iter().map(|&extent| {
                let start = random(extent);
                start..start + 1 + random(extent - start)
            }).collect();
            let [first, second, third] = [0, 1, 2].map(|dim| ranges[dim].clone());
            let axes = (first, second, third);
            prop_assert_eq!(remote.read_bytes(axes.clone()).unwrap(), local.read_bytes(axes).unwrap());
            let lists: Vec<Vec<u64>> =
                shape.iter().map(|&extent| (0..random(6)).map(|_| random(extent)).collect()).collect();
            prop_assert_eq!(remote.select_bytes(&lists).unwrap(), local.select_bytes(&lists).unwrap());
        }
    }
}

#[test]
fn chunks_and_items_of_super_chunks_are_read() {
    let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
    let path = directory.path().join("s.b2frame");
    let mut schunk = SuperChunk::create(&path, &Params::new().typesize(4).blocksize(4000)).unwrap();
    let content: Vec<u8> = items(100_000).iter().flat_map(|item| item.to_le_bytes()).collect();
    for chunk in content.chunks(40_000) {
        schunk.append(chunk).unwrap();
    }
    schunk.metalayers_mut().unwrap().set_variable("name", b"value").unwrap();
    upload(&server, &path, "s.b2frame");
    let client = Client::new();
    let schunk = client.open_super_chunk(&server.url("s.b2frame")).unwrap();
    assert_eq!(schunk.metalayers().variable("name").unwrap().as_deref(), Some(&b"value"[..]));
    server.take_requests();
    assert_eq!(schunk.decompress_chunk(3).unwrap(), content[120_000..160_000]);
    assert_eq!(server.take_requests().len(), 1);
    assert_eq!(schunk.read_items(9_500..20_500).unwrap(), content[38_000..82_000]);
    assert!(server.take_requests().len() <= 6);
    let error = client.open_super_chunk(&server.url("other")).unwrap_err();
    assert!(error.to_string().contains("/other"), "{error}");
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn an_array_in_an_archive_is_read() {
    let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
    let path = directory.path().join("a.b2nd");
    let items = items(300_000);
    with_checksums(true, || Array::<i32>::builder([300_000]).chunks([50_000]).create_from(&path, &items))
        .unwrap();
    let (before, array) = (vec![1; 1_234_567], std::fs::read(&path).unwrap());
    server.add("archive", [before, array, vec![2; 100_000]].concat());
    let client = Client::new().offset(1_234_567);
    let array: Array<i32> = client.open_array(&server.url("archive")).unwrap();
    assert_eq!(array.read(123_456..234_567).unwrap(), items[123_456..234_567]);
}

#[test]
fn an_empty_file_is_opened_and_has_no_frame() {
    let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
    server.add("empty", Vec::new());
    let path = directory.path().join("empty");
    std::fs::write(&path, "").unwrap();
    for url in [server.url("empty"), format!("file://{}", path.display())] {
        let client = Client::new().time_limit(Duration::from_secs(20));
        let file = client.open_file(&url).unwrap();
        assert_eq!(file.nbytes(), 0);
        file.read_exact_at(0, &mut []).unwrap();
        assert!(file.read_exact_at(0, &mut [0]).is_err());
        assert!(client.open_any_array(&url).is_err());
    }
}

/// Opens an array and reads it.
fn read_all(client: &Client, url: &str) -> blosc2::Result<Vec<i32>> {
    client.open_array::<i32>(url)?.read(..)
}

#[test]
fn each_fault_of_a_server_is_an_error_within_the_time_limit() {
    let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
    let path = directory.path().join("a.b2nd");
    let items = items(200_000);
    with_checksums(true, || Array::<i32>::builder([200_000]).chunks([50_000]).create_from(&path, &items))
        .unwrap();
    upload(&server, &path, "a.b2nd");
    let client = Client::new().time_limit(Duration::from_secs(2));
    assert_eq!(read_all(&client, &server.url("a.b2nd")).unwrap(), items);
    let faults = [
        Fault::Status(403),
        Fault::Status(404),
        Fault::Status(500),
        Fault::Drop,
        Fault::Stall,
        Fault::Truncate,
        Fault::LieAboutLength,
        Fault::LieAboutSize,
        Fault::IgnoreRange,
        Fault::ShiftRange,
    ];
    for fault in faults {
        // While the array is opened, and later.
        for is_open in [false, true] {
            let client = Client::new().cache(0).time_limit(Duration::from_secs(2));
            let start = Instant::now();
            let url = server.url("a.b2nd");
            let read = if is_open {
                let array = client.open_array::<i32>(&url).unwrap();
                server.fail(Some(fault));
                array.read(..)
            } else {
                server.fail(Some(fault));
                read_all(&client, &url)
            };
            server.fail(None);
            // Without the limit, a stalled request takes an hour. A busy machine needs longer than the limit.
            assert!(start.elapsed() < Duration::from_secs(600), "{fault:?}: {:?}", start.elapsed());
            match read {
                // The end of the file is the same with both.
                Ok(read) => assert_eq!(read, items, "{fault:?}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}

#[test]
fn errors_name_the_url_and_the_request_but_no_secret() {
    let server = Server::new();
    server.add("a.b2nd", vec![0; 100_000]);
    let url = server.url("a.b2nd").replace("http://", "http://user:geheim@");
    server.fail(Some(Fault::Status(403)));
    let error = Client::new().open_any_array(&url).unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains("/a.b2nd") && text.contains("GET") && text.contains("403"), "{text}");
    assert!(!text.contains("geheim"), "{text}");
    for (url, part) in [("a.b2nd", "URL"), ("http://h/a?token=geheim", "?"), ("ftp://h/a", "ftp")] {
        let error = Client::new().open_any_array(url).unwrap_err();
        assert!(error.to_string().contains(part) && !error.to_string().contains("geheim"), "{error}");
    }
}

#[test]
fn a_file_that_changes_is_an_error_and_not_a_mixture() {
    let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
    let path = directory.path().join("a.b2nd");
    for change in [1, 2] {
        let items: Vec<i32> = items(100_000).iter().map(|item| item + change).collect();
        Array::<i32>::builder([100_000]).chunks([10_000]).truncate(true).create_from(&path, &items).unwrap();
        if change == 1 {
            upload(&server, &path, "a.b2nd");
        }
    }
    let array: Array<i32> = Client::new().cache(0).open_array(&server.url("a.b2nd")).unwrap();
    assert_eq!(array.read(5).unwrap(), [items(6)[5] + 1]);
    upload(&server, &path, "a.b2nd");
    let error = array.read(50_000).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
}

fn read_bytes(client: &Client, url: &str) -> blosc2::Result<Vec<u8>> {
    client.open_array::<u8>(url)?.read(..)
}

#[test]
fn a_client_that_keeps_files_reads_one_version_of_them() {
    let (server, directory) = (Server::new(), tempfile::tempdir().unwrap());
    let path = directory.path().join("a.b2nd");
    let create = |value: u8| {
        let array = Array::<u8>::builder([1000]).truncate(true);
        array.create_from(&path, &[value; 1000]).unwrap();
        upload(&server, &path, "a.b2nd");
    };
    create(1);
    let client = Client::new().keep_open();
    let url = server.url("a.b2nd");
    assert!(client.open_super_chunk(&url).unwrap().is_array());
    assert_eq!(client.requests(), 2);
    assert_eq!(read_bytes(&client, &url).unwrap(), [1; 1000]);
    create(2);
    let before = client.requests();
    assert_eq!(read_bytes(&client, &url).unwrap(), [1; 1000]);
    assert_eq!(client.requests(), before);
    assert_eq!(read_bytes(&Client::new(), &url).unwrap(), [2; 1000]);
}
