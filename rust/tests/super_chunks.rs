//! Super-chunks in memory, files and directories, and frames in streams.

mod common;

use blosc2::{
    Durability, Error, ErrorKind, Filter, FrameReader, FrameWriter, OpenOptions, Params, SuperChunk,
};
use proptest::prelude::*;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::thread;

/// Numbers as bytes.
fn numbers(range: std::ops::Range<u32>) -> Vec<u8> {
    range.flat_map(u32::to_le_bytes).collect()
}

/// A super-chunk in each kind of place.
fn everywhere(test: impl Fn(SuperChunk)) {
    let params = Params::new().typesize(4);
    test(SuperChunk::new(&params).unwrap());
    test(SuperChunk::new_frame(&params).unwrap());
    for directory in [false, true] {
        for level in [Durability::Off, Durability::Kill] {
            let folder = tempfile::tempdir().unwrap();
            let options =
                OpenOptions::new().write(true).create_new(true).directory(directory).durability(level);
            test(options.params(params.clone()).open(folder.path().join("it")).unwrap());
        }
    }
}

#[test]
fn chunks_are_changed_in_every_place() {
    everywhere(|mut schunk| {
        for n in 0..4 {
            assert_eq!(schunk.append(&numbers(n * 100..n * 100 + 100)).unwrap(), u64::from(n) + 1);
        }
        let first = schunk.chunk(0).unwrap();
        assert_eq!(schunk.insert_chunk(2, &first).unwrap(), 5);
        schunk.update_chunk(3, &first).unwrap();
        assert_eq!(schunk.delete_chunk(1).unwrap(), 4);
        schunk.reorder(&[3, 0, 1, 2]).unwrap();
        let expected: Vec<u8> =
            [numbers(300..400), numbers(0..100), numbers(0..100), numbers(0..100)].concat();
        assert_eq!(schunk.contents().map(Result::unwrap).collect::<Vec<_>>().concat(), expected);
        schunk.write_items(150, &numbers(7..9)).unwrap();
        assert_eq!(schunk.read_items(149..153).unwrap(), [49u32, 7, 8, 52].map(u32::to_le_bytes).concat());
        assert_eq!(schunk.gather(&[150, 0]).unwrap(), [7u32, 300].map(u32::to_le_bytes).concat());
        assert_eq!((schunk.nitems(), schunk.nbytes()), (400, 1600));
    });
}

#[test]
fn wrong_arguments_are_errors_and_change_nothing() {
    everywhere(|mut schunk| {
        schunk.append(&numbers(0..100)).unwrap();
        let kind = |result: blosc2::Result<u64>| result.unwrap_err().kind();
        assert_eq!(schunk.chunk(1).unwrap_err().kind(), ErrorKind::InvalidParam);
        assert_eq!(kind(schunk.delete_chunk(1)), ErrorKind::InvalidParam);
        assert_eq!(schunk.read_items(0..101).unwrap_err().kind(), ErrorKind::InvalidParam);
        assert_eq!(schunk.read_items(u64::MAX..u64::MAX).unwrap_err().kind(), ErrorKind::InvalidParam);
        assert_eq!(schunk.write_items(99, &numbers(0..2)).unwrap_err().kind(), ErrorKind::InvalidParam);
        assert_eq!(schunk.write_items(99, &[1, 2, 3]).unwrap_err().kind(), ErrorKind::InvalidParam);
        assert!(schunk.gather(&[100]).is_err());
        assert!(schunk.reorder(&[1]).is_err() && schunk.reorder(&[]).is_err());
        assert_eq!(schunk.decompress_chunk(0).unwrap(), numbers(0..100));
    });
}

#[test]
fn metalayers_are_maps() {
    everywhere(|mut schunk| {
        let mut metalayers = schunk.metalayers_mut().unwrap();
        metalayers.set_fixed("fixed", b"abc").unwrap();
        metalayers.set_fixed("fixed", b"xyz").unwrap();
        assert_eq!(metalayers.set_fixed("fixed", b"longer").unwrap_err().kind(), ErrorKind::InvalidParam);
        metalayers.set_variable("one", b"1").unwrap();
        metalayers.set_variable("one", &[1; 1000]).unwrap();
        metalayers.set_variable("two", b"2").unwrap();
        metalayers.remove_variable("two").unwrap();
        assert_eq!(metalayers.remove_variable("two").unwrap_err().kind(), ErrorKind::NotFound);
        assert!(metalayers.set_variable(&"n".repeat(40), b"").is_err());
        assert!(metalayers.set_variable("with\0nul", b"").is_err());
        schunk.append(&numbers(0..10)).unwrap();
        let metalayers = schunk.metalayers();
        assert_eq!(metalayers.fixed_map().unwrap(), [("fixed".to_owned(), b"xyz".to_vec())].into());
        assert_eq!(metalayers.variable_map().unwrap(), [("one".to_owned(), vec![1; 1000])].into());
        assert_eq!(metalayers.variable("three").unwrap(), None);
        let copy = SuperChunk::from_frame(&schunk.to_frame().unwrap()).unwrap();
        assert_eq!(copy.metalayers().variable_map().unwrap(), schunk.metalayers().variable_map().unwrap());
        assert_eq!(copy.decompress_chunk(0).unwrap(), numbers(0..10));
    });
}

#[test]
fn options_open_and_create_as_those_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.b2frame");
    let kind = |options: OpenOptions| options.open(&path).err().map(|error| error.kind());
    assert_eq!(kind(OpenOptions::new()), Some(ErrorKind::FileOpen));
    assert_eq!(kind(OpenOptions::new().write(true)), Some(ErrorKind::FileOpen));
    assert_eq!(kind(OpenOptions::new().create(true)), Some(ErrorKind::InvalidParam));
    assert_eq!(kind(OpenOptions::new().write(true).truncate(true)), Some(ErrorKind::FileOpen));
    SuperChunk::create(&path, &Params::new()).unwrap().append(&[1; 800]).unwrap();
    assert_eq!(kind(OpenOptions::new().write(true).create_new(true)), Some(ErrorKind::FileOpen));
    assert_eq!(kind(OpenOptions::new().write(true).mapped(true)), Some(ErrorKind::InvalidParam));
    assert_eq!(kind(OpenOptions::new().locking(true).mapped(true)), Some(ErrorKind::InvalidParam));
    // An option that is off does not change another one.
    assert_eq!(kind(OpenOptions::new().locking(true).mapped(false)), None);
    let lock = folder.path().join("it.b2frame.b2lock");
    assert!(lock.exists());
    std::fs::remove_file(lock).unwrap();
    let truncated = OpenOptions::new().write(true).truncate(true);
    let unknown = Filter::Other { id: 9, meta: 0 };
    for options in [
        truncated.clone().params(Params::new().level(10)),
        truncated.clone().params(Params::new().filters([unknown])),
        truncated.threads(0),
    ] {
        assert_eq!(kind(options), Some(ErrorKind::InvalidParam));
    }
    for contradiction in
        [OpenOptions::new().mapped(true).write(true), OpenOptions::new().mapped(true).locking(true)]
    {
        assert_eq!(contradiction.open_any_array(&path).unwrap_err().kind(), ErrorKind::InvalidParam);
    }
    let mapped = OpenOptions::new().mapped(true).threads(2).open(&path).unwrap();
    assert_eq!(mapped.decompress_chunk(0).unwrap(), [1; 800]);
    assert_eq!(mapped.info().params.get_threads(), 2);
    drop(mapped);
    let mut read_only = SuperChunk::open(&path).unwrap();
    assert_eq!(read_only.append(&[1; 800]).unwrap_err().kind(), ErrorKind::FileWrite);
    assert!(read_only.metalayers_mut().is_err() && read_only.writer(800).is_err());
    let options = OpenOptions::new().write(true).create(true).locking(true);
    assert_eq!(options.open(&path).unwrap().append(&[1; 800]).unwrap(), 2);
    read_only.refresh().unwrap();
    assert_eq!(read_only.nchunks(), 2);
    assert_eq!(OpenOptions::new().write(true).truncate(true).open(&path).unwrap().nchunks(), 0);
    // A URL names the same file.
    let url = format!("file:///{}", path.display());
    let by_url = |options: OpenOptions| options.open(&url).map_err(|error| error.kind());
    assert_eq!(by_url(OpenOptions::new().write(true).create_new(true)).err(), Some(ErrorKind::FileOpen));
    assert_eq!(by_url(OpenOptions::new().write(true).create(true)).unwrap().append(&[1; 800]).unwrap(), 1);
    assert_eq!(by_url(OpenOptions::new().write(true).truncate(true)).unwrap().nchunks(), 0);

    let all = folder.path().join("two frames");
    let one = SuperChunk::open(&path).unwrap();
    assert_eq!(one.append_to_file(&all).unwrap(), 0);
    let at = one.append_to_file(&all).unwrap();
    assert_eq!(OpenOptions::new().offset(at).open(&all).unwrap().nchunks(), 0);
    assert!(OpenOptions::new().offset(at + 1).open(&all).is_err());
}

#[test]
fn a_transaction_is_one_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it");
    let options = OpenOptions::new().write(true).create_new(true).durability(Durability::Kill);
    let mut schunk = options.open(&path).unwrap();
    schunk
        .transaction(|schunk| {
            schunk.append(&[1; 800])?;
            assert_eq!(SuperChunk::open(&path)?.nchunks(), 0);
            schunk.append(&[2; 800])
        })
        .unwrap();
    assert_eq!(SuperChunk::open(&path).unwrap().nchunks(), 2);
    assert!(schunk.transaction(|schunk| schunk.delete_chunk(9)).is_err());
    schunk.append(&[4; 800]).unwrap();
    assert_eq!(SuperChunk::open(&path).unwrap().nchunks(), 3);
}

#[test]
fn many_threads_read_one_super_chunk() {
    let mut schunk = SuperChunk::new(&Params::new().typesize(4)).unwrap();
    for n in 0..50 {
        schunk.append(&numbers(n * 1000..n * 1000 + 1000)).unwrap();
    }
    let shared = &schunk;
    thread::scope(|scope| {
        for start in 0..8u32 {
            scope.spawn(move || {
                for n in (start * 1000..50_000).step_by(777) {
                    let item = shared.read_items(u64::from(n)..u64::from(n) + 1).unwrap();
                    assert_eq!(item, n.to_le_bytes());
                }
            });
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn streams_give_the_content(
        content in common::contents(60_000),
        params in common::params(),
        nitems in 1usize..3000,
        seeks in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let typesize = params.get_typesize();
        let content = &content[..content.len() / typesize * typesize];
        let chunksize = nitems * typesize;
        let mut schunk = SuperChunk::new_frame(&params).unwrap();
        let mut writer = schunk.writer(chunksize).unwrap();
        writer.write_all(content).unwrap();
        writer.finish().unwrap();

        let mut stream = Cursor::new(vec![7; 13]);
        stream.set_position(13);
        let mut writer = FrameWriter::with_metalayers(
            stream, &params, chunksize, &[("name".to_owned(), b"content".to_vec())]).unwrap();
        writer.add_metalayer("variable", &[1; 300]);
        for part in content.chunks(977) {
            writer.write_all(part).unwrap();
        }
        let frame = writer.finish().unwrap().into_inner();
        let opened = SuperChunk::from_frame(&frame[13..]).unwrap();
        prop_assert_eq!(opened.nchunks(), schunk.nchunks());
        prop_assert_eq!(opened.metalayers().fixed("name").unwrap(), Some(b"content".to_vec()));
        prop_assert_eq!(opened.metalayers().variable("variable").unwrap(), Some(vec![1; 300]));

        let mut stream = Cursor::new(frame);
        stream.set_position(13);
        let mut of_frame = FrameReader::new(stream).unwrap();
        prop_assert_eq!(of_frame.variable_metalayers().unwrap()["variable"].len(), 300);
        let mut of_schunk = schunk.reader();
        for at in seeks {
            let at = at.index(content.len() + 1);
            for reader in [&mut of_frame as &mut dyn ReadSeek, &mut of_schunk] {
                prop_assert_eq!(reader.seek(SeekFrom::Start(at as u64)).unwrap(), at as u64);
                let mut part = Vec::new();
                reader.take(5000).read_to_end(&mut part).unwrap();
                prop_assert_eq!(&part, &content[at..content.len().min(at + 5000)]);
            }
        }
        prop_assert_eq!(of_frame.seek(SeekFrom::End(0)).unwrap(), content.len() as u64);
        prop_assert!(of_frame.seek(SeekFrom::Current(-1_000_000)).is_err());
    }

    #[test]
    fn damaged_frames_in_streams_are_errors_or_contents(
        content in common::contents(20_000),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut writer =
            FrameWriter::new(Cursor::new(Vec::new()), &Params::new().typesize(1), 1000).unwrap();
        writer.write_all(&content).unwrap();
        let mut frame = writer.finish().unwrap().into_inner();
        let len = frame.len();
        let truncated = frame[..cut.index(len)].to_vec();
        prop_assert!(FrameReader::new(Cursor::new(truncated)).is_err());
        for (at, value) in flips {
            frame[at.index(len)] = value;
        }
        if let Ok(reader) = FrameReader::new(Cursor::new(frame)) {
            let nbytes = reader.nbytes();
            let mut read = Vec::new();
            if reader.take(1 << 24).read_to_end(&mut read).is_ok() {
                prop_assert!(read.len() as u64 == nbytes || read.len() == 1 << 24);
            }
        }
    }
}

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

#[test]
fn chunks_of_different_sizes_are_read_as_a_stream() {
    let mut schunk = SuperChunk::new(&Params::new().typesize(1)).unwrap();
    for len in [10, 3, 20, 1] {
        schunk.append(&vec![len as u8; len]).unwrap();
    }
    let mut reader = schunk.into_reader();
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    assert_eq!(all, [vec![10; 10], vec![3; 3], vec![20; 20], vec![1; 1]].concat());
    reader.seek(SeekFrom::Start(12)).unwrap();
    let mut two = [0; 2];
    reader.read_exact(&mut two).unwrap();
    assert_eq!(two, [3, 20]);
}

#[test]
fn a_length_that_the_chunks_do_not_have_is_an_error() {
    let params = Params::new().typesize(1);
    let mut of_one_size = FrameWriter::new(Cursor::new(Vec::new()), &params, 1000).unwrap();
    of_one_size.write_all(&[5; 2500]).unwrap();
    let of_one_size = of_one_size.finish().unwrap().into_inner();
    let mut of_different_sizes = SuperChunk::new_frame(&params).unwrap();
    for len in [500, 1200, 800] {
        of_different_sizes.append(&vec![5; len]).unwrap();
    }
    // The length of the content in the header of a frame.
    let field = 30..38;
    for frame in [of_one_size, of_different_sizes.to_frame().unwrap()] {
        assert_eq!(frame[field.clone()], 2500u64.to_be_bytes());
        for nbytes in [2400u64, 2600] {
            let mut frame = frame.clone();
            frame[field.clone()].copy_from_slice(&nbytes.to_be_bytes());
            let Ok(mut reader) = FrameReader::new(Cursor::new(frame)) else { continue };
            let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(Error::from(error).kind(), ErrorKind::Data, "{nbytes}");
        }
    }
}

/// A stream that fails after a number of bytes.
struct Failing(Cursor<Vec<u8>>, usize);

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let len = bytes.len().min(self.1);
        if len == 0 {
            return Err(std::io::Error::other("full"));
        }
        self.1 -= len;
        self.0.write(&bytes[..len])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Failing {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn a_frame_whose_stream_fails_is_never_finished() {
    let mut state = 1u32;
    let noise: Vec<u8> = (0..5000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    for room in [0, 50, 97, 2000, 4000] {
        let stream = Failing(Cursor::new(Vec::new()), room);
        let Ok(mut writer) = FrameWriter::new(stream, &Params::new().typesize(1), 1000) else { continue };
        assert!(writer.write_all(&noise).is_err(), "{room}");
        assert_eq!(writer.finish().err().map(|error| error.kind()), Some(ErrorKind::FileWrite), "{room}");
    }
}
