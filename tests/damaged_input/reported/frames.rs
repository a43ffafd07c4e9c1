//! Reports about frames and their chunks.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::build::{BLOSCLZ, CHUNK_HEADER, Frame, IndexEntry, ZLIB, chunk_of_stream, memcpyed_chunk, sevens};
use crate::support;
use crate::support::calls::DEST_FILL_BYTE;
use crate::support::child::{in_new_process, test_name};
use crate::support::guard::GuardedBuffer;
use crate::support::library::Library;
use crate::support::super_chunk::SuperChunk;
use crate::support::super_chunk::scratch::ScratchDir;

/// `BLOSC2_ERROR_FAILURE`
const FAILURE: i32 = -1;
/// `BLOSC2_ERROR_DATA`
const DATA: i32 = -3;
/// `BLOSC2_ERROR_READ_BUFFER`
const READ_BUFFER: i32 = -5;
/// `BLOSC2_ERROR_INVALID_HEADER`
const INVALID_HEADER: i32 = -11;
/// `BLOSC2_ERROR_FILE_READ`
const FILE_READ: i32 = -13;
/// `BLOSC2_ERROR_FILE_OPEN`
const FILE_OPEN: i32 = -15;

/// Uncompressed size of each chunk in bytes.
const CHUNKSIZE: usize = 400;

/// Returns content number `number`: 100 items of 4 bytes.
fn content(number: i32) -> Vec<u8> {
    (0..100i32).flat_map(|i| (i * number).to_le_bytes()).collect()
}

/// Returns a frame of these chunks, each of [`CHUNKSIZE`] bytes.
fn frame(payload: Vec<u8>, index: &[IndexEntry]) -> Frame {
    Frame {
        typesize: 4,
        chunksize: CHUNKSIZE as i32,
        nbytes: (CHUNKSIZE * index.len()) as i64,
        codec: 0,
        codec_meta: 0,
        metalayers: Vec::new(),
        payload,
        index: index.to_vec(),
    }
}

/// How a frame is passed to a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameForm {
    Copy,
    Borrowed,
    File,
}

impl FrameForm {
    const ALL: [FrameForm; 3] = [FrameForm::Copy, FrameForm::Borrowed, FrameForm::File];
    /// The forms in which the reference does not crash on an invalid chunk.
    const LAZY: [FrameForm; 2] = [FrameForm::Borrowed, FrameForm::File];
}

/// Opens the frame, which lies next to an inaccessible page or in a file, and calls `check` with the super-chunk.
fn open_and_check(
    library: &'static Library,
    form: FrameForm,
    frame: &[u8],
    check: impl FnOnce(Option<SuperChunk>),
) {
    let mut guarded = GuardedBuffer::new(frame.len());
    let buffer = guarded.last_bytes(frame.len());
    buffer.copy_from_slice(frame);
    match form {
        FrameForm::Copy => check(SuperChunk::from_frame_copy(library, buffer)),
        FrameForm::Borrowed => {
            // SAFETY: the buffer outlives the super-chunk, which is only read.
            check(unsafe { SuperChunk::from_borrowed_frame(library, buffer.as_mut_ptr(), buffer.len()) });
        }
        FrameForm::File => {
            let scratch = ScratchDir::new();
            let path = scratch.new_path();
            fs::write(&path, frame).expect("a file");
            check(SuperChunk::open(library, &path));
        }
    }
    assert!(buffer == frame, "{}: {form:?}: the frame was written to", library.name);
}

/// Writes these chunks to the directory of a sparse frame, each to a file numbered by its position, and an index of
/// `ids`. Opens it and calls `check` with the super-chunk.
fn open_directory(
    library: &'static Library,
    chunks: &[Vec<u8>],
    ids: &[i64],
    check: impl FnOnce(Option<SuperChunk>),
) {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    fs::create_dir(&path).expect("a directory");
    let index: Vec<IndexEntry> = ids.iter().map(|&id| IndexEntry::Offset(id)).collect();
    fs::write(path.join("chunks.b2frame"), frame(chunks.concat(), &index).index_file()).expect("a file");
    for (number, chunk) in chunks.iter().enumerate() {
        fs::write(path.join(format!("{number:08X}.chunk")), chunk).expect("a file");
    }
    check(SuperChunk::open(library, &path));
}

/// The encoding of the blocks of a zlib stream: the number in their headers.
#[derive(Clone, Copy, Debug)]
enum ZlibBlock {
    Stored = 0,
    FixedCodes = 1,
    DynamicCodes = 2,
}

impl ZlibBlock {
    const ALL: [ZlibBlock; 3] = [ZlibBlock::Stored, ZlibBlock::FixedCodes, ZlibBlock::DynamicCodes];

    /// Returns content that zlib encodes as a block of this kind.
    fn content(self) -> Vec<u8> {
        match self {
            ZlibBlock::FixedCodes => vec![7; CHUNKSIZE],
            _ => content(2),
        }
    }

    /// Returns the content in one block of this kind.
    fn stream(self) -> Vec<u8> {
        let stream = match self {
            ZlibBlock::Stored => zlib_stored(&self.content()),
            _ => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
                encoder.write_all(&self.content()).expect("a vector takes all");
                encoder.finish().expect("a vector takes all")
            }
        };
        assert_eq!(stream[2] & 7, (self as u8) << 1 | 1, "the last block is of kind {self:?}");
        stream
    }
}

/// Returns the zlib stream of one uncompressed block.
fn zlib_stored(content: &[u8]) -> Vec<u8> {
    let len = content.len() as u16;
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(len.to_le_bytes());
    stream.extend((!len).to_le_bytes());
    stream.extend(content);
    let (mut a, mut b) = (1u32, 0u32);
    for &byte in content {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

#[test]
fn c_blosc2_639_truncated_zlib_streams_are_rejected() {
    in_new_process(test_name!(), || {
        let good = chunk_of_stream(ZLIB, 4, CHUNKSIZE as i32, &zlib_stored(&content(1)));
        for block in ZlibBlock::ALL {
            let stream = block.stream();
            for cut in 0..stream.len() {
                let (kept, cut_off) = stream.split_at(stream.len() - cut);
                if kept.len() == CHUNKSIZE {
                    // A stream as long as its block counts as uncompressed and is not decoded.
                    continue;
                }
                let bad = chunk_of_stream(ZLIB, 4, CHUNKSIZE as i32, kept);
                let second = IndexEntry::Offset(good.len() as i64);
                // The rest of the stream follows the chunk: a decoder that reads past the end of the chunk would
                // succeed.
                let payload = [&good[..], &bad, cut_off].concat();
                let frame = frame(payload, &[IndexEntry::Offset(0), second]).bytes();
                for library in support::all_libraries() {
                    for form in FrameForm::ALL {
                        open_and_check(library, form, &frame, |schunk| {
                            let what = format!("{}: {form:?}, {block:?}, {cut} bytes less", library.name);
                            let schunk = schunk.unwrap_or_else(|| panic!("{what}: NULL"));
                            assert_eq!(schunk.decompress_into(0, CHUNKSIZE), Ok(content(1)), "{what}");
                            let expected = if cut == 0 { Ok(block.content()) } else { Err(DATA) };
                            assert_eq!(schunk.decompress_into(1, CHUNKSIZE), expected, "{what}");
                            let slice = schunk.get_slice(99, 101, 8);
                            assert_eq!(slice.is_ok(), cut == 0, "{what}");
                            assert!(cut == 0 || slice == Err(FAILURE), "{what}: {slice:?}");
                        });
                    }
                }
            }
        }
    });
}

#[test]
fn python_blosc2_611_special_chunk_before_a_normal_one_is_read() {
    let chunks =
        [memcpyed_chunk(4, CHUNKSIZE as i32, &content(1)), memcpyed_chunk(4, CHUNKSIZE as i32, &content(2))];
    let second = IndexEntry::Offset(chunks[0].len() as i64);
    let zeros = content(0);
    for (index, expected) in [
        (&[IndexEntry::Zeros, IndexEntry::Offset(0)][..], vec![&zeros, &content(1)]),
        (
            &[IndexEntry::Zeros, IndexEntry::Zeros, second, IndexEntry::Zeros, IndexEntry::Offset(0)],
            vec![&zeros, &zeros, &content(2), &zeros, &content(1)],
        ),
    ] {
        let frame = frame(chunks.concat(), index).bytes();
        for library in support::all_libraries() {
            for form in FrameForm::ALL {
                open_and_check(library, form, &frame, |schunk| {
                    let what = format!("{}: {form:?}, {} chunks", library.name, index.len());
                    let schunk = schunk.unwrap_or_else(|| panic!("{what}: NULL"));
                    for (nchunk, expected) in expected.iter().enumerate() {
                        let found = schunk.decompress_into(nchunk as i64, CHUNKSIZE);
                        assert!(found.as_ref() == Ok(*expected), "{what}: chunk {nchunk}");
                    }
                    let all: Vec<u8> = expected.iter().flat_map(|content| content.to_vec()).collect();
                    let items = 100 * index.len() as i64;
                    assert!(schunk.get_slice(0, items, all.len()).as_ref() == Ok(&all), "{what}: all items");
                });
            }
        }
    }
}

/// Returns chunks with the contents 1, 2 and 3, of 432 bytes each.
fn chunks() -> [Vec<u8>; 3] {
    [1, 2, 3].map(|number| memcpyed_chunk(4, CHUNKSIZE as i32, &content(number)))
}

/// Returns a frame of [`chunks`] one after the other, with these offsets in its index.
fn frame_of_three_chunks(offsets: [i64; 3]) -> Vec<u8> {
    frame(chunks().concat(), &offsets.map(IndexEntry::Offset)).bytes()
}

/// Checks that the chunks of the super-chunk have the contents with these numbers.
#[track_caller]
fn check_order(schunk: Option<SuperChunk>, numbers: [i32; 3], what: &str) {
    let schunk = schunk.unwrap_or_else(|| panic!("{what}: NULL"));
    for (nchunk, number) in numbers.into_iter().enumerate() {
        let found = schunk.decompress_into(nchunk as i64, CHUNKSIZE);
        assert_eq!(found, Ok(content(number)), "{what}: chunk {nchunk}");
    }
    let all: Vec<u8> = numbers.into_iter().flat_map(content).collect();
    assert_eq!(schunk.get_slice(0, 300, all.len()), Ok(all), "{what}: all items");
}

#[test]
fn c_blosc2_736_offsets_out_of_order_are_read() {
    for (offsets, numbers) in [([864, 0, 432], [3, 1, 2]), ([864, 432, 0], [3, 2, 1]), ([432; 3], [2; 3])] {
        let frame = frame_of_three_chunks(offsets);
        for library in support::all_libraries() {
            for form in FrameForm::ALL {
                let what = format!("{}: {form:?}, {offsets:?}", library.name);
                open_and_check(library, form, &frame, |schunk| check_order(schunk, numbers, &what));
            }
            let (ids, what) = (offsets.map(|offset| offset / 432), format!("{}: {offsets:?}", library.name));
            open_directory(library, &chunks(), &ids, |schunk| check_order(schunk, numbers, &what));
        }
    }
}

/// Opening a copy returns NULL. Other forms open if a 32-byte header fits after every offset. The reference crashes
/// when it copies such a frame or reads the chunk.
#[test]
fn c_blosc2_750_offsets_beyond_the_end_return_errors() {
    in_new_process(test_name!(), || {
        let end = 3 * 432;
        for (offset, opens) in [
            (865, true),
            (440, true),
            (end - 32, true),
            (end - 31, false),
            (end, false),
            (1 << 40, false),
            (i64::MAX, false),
        ] {
            for place in 0..3 {
                let mut offsets = [0, 432, 864];
                offsets[place] = offset;
                let frame = frame_of_three_chunks(offsets);
                let ours = Library::ours();
                open_and_check(ours, FrameForm::Copy, &frame, |schunk| {
                    assert!(schunk.is_none(), "{offsets:?}")
                });
                for form in FrameForm::LAZY {
                    let what = format!("{form:?}, {offsets:?}");
                    open_and_check(ours, form, &frame, |schunk| {
                        assert_eq!(schunk.is_some(), opens, "{what}");
                        let Some(schunk) = schunk else { return };
                        for nchunk in 0..3 {
                            let found = schunk.decompress_into(nchunk, CHUNKSIZE);
                            let good = nchunk != place as i64;
                            let expected =
                                if good { Ok(content(nchunk as i32 + 1)) } else { Err(INVALID_HEADER) };
                            assert_eq!(found, expected, "{what}: chunk {nchunk}");
                            assert_eq!(schunk.get_chunk(nchunk).is_ok(), good, "{what}: chunk {nchunk}");
                            // The chunk of a buffer is returned unchecked, that of a file is checked.
                            let code = if form == FrameForm::File { INVALID_HEADER } else { READ_BUFFER };
                            let lazy = schunk.get_lazychunk(nchunk);
                            assert!(good && lazy.is_ok() || lazy == Err(code), "{what}: chunk {nchunk}");
                        }
                        assert_eq!(schunk.get_slice(0, 300, 3 * CHUNKSIZE), Err(FAILURE), "{what}");
                    });
                    if let Some(reference) = Library::reference().filter(|_| !opens && place > 0) {
                        open_and_check(reference, form, &frame, |schunk| assert!(schunk.is_none(), "{what}"));
                    }
                }
            }
        }
    });
}

/// The index of a sparse frame names files that are missing, or cannot exist.
#[test]
fn c_blosc2_750_numbers_of_missing_files_return_errors() {
    for id in [3, 1000, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, i64::MAX] {
        for place in 0..3 {
            let mut ids = [0, 1, 2];
            ids[place] = id;
            open_directory(Library::ours(), &chunks(), &ids, |schunk| {
                let what = format!("{ids:?}");
                // C-Blosc2 does not open a directory without the file of the first chunk.
                let schunk = schunk.unwrap_or_else(|| panic!("{what} does not open"));
                // The name of a file has eight digits.
                let code = if id < 1 << 32 { FILE_OPEN } else { INVALID_HEADER };
                for nchunk in 0..3 {
                    let good = nchunk != place as i64;
                    let found = schunk.decompress_into(nchunk, CHUNKSIZE);
                    let expected = if good { Ok(content(nchunk as i32 + 1)) } else { Err(code) };
                    assert_eq!(found, expected, "{what}: chunk {nchunk}");
                    assert_eq!(
                        schunk.get_chunk(nchunk).err(),
                        (!good).then_some(code),
                        "{what}: chunk {nchunk}"
                    );
                    assert_eq!(
                        schunk.get_lazychunk(nchunk).err(),
                        (!good).then_some(code),
                        "{what}: chunk {nchunk}"
                    );
                }
                assert_eq!(schunk.get_slice(0, 300, 3 * CHUNKSIZE), Err(FAILURE), "{what}");
            });
        }
    }
}

fn add_to_field(bytes: &mut [u8], at: usize, more: i32) {
    let field: &mut [u8; 4] = (&mut bytes[at..at + 4]).try_into().expect("four bytes");
    *field = i32::from_le_bytes(*field).saturating_add(more).to_le_bytes();
}

/// A lazy chunk of a valid file is changed between two calls: the length of the chunk, and that of its block.
#[test]
fn c_blosc2_771_changed_lengths_of_a_lazy_chunk_are_checked() {
    in_new_process(test_name!(), || {
        let coded = chunk_of_stream(BLOSCLZ, 4, CHUNKSIZE as i32, &sevens(CHUNKSIZE));
        let plain = memcpyed_chunk(4, CHUNKSIZE as i32, &[7; CHUNKSIZE]);
        const FINE: i32 = CHUNKSIZE as i32;
        for (chunk, cases) in [
            (
                &coded,
                // The block is read up to the length in the trailer; the length in the header is not used for it.
                &[
                    (0, 0, FINE),
                    (1, 0, FINE),
                    (1000, 0, FINE),
                    (i32::MAX, 0, FINE),
                    (0, 1, FINE),
                    // The file ends there.
                    (100, 100, READ_BUFFER),
                    // More bytes than a block can have.
                    (0, 1000, INVALID_HEADER),
                    (1000, 1000, INVALID_HEADER),
                    (0, i32::MAX, INVALID_HEADER),
                    (0, -17, INVALID_HEADER),
                ][..],
            ),
            (&plain, &[(0, 0, FINE), (1, 0, DATA), (1000, 0, DATA), (i32::MAX, 0, DATA)]),
        ] {
            let index = [IndexEntry::Offset(0), IndexEntry::Offset(chunk.len() as i64)];
            let frame = frame(chunk.repeat(2), &index).bytes();
            for library in support::all_libraries() {
                open_and_check(library, FrameForm::File, &frame, |schunk| {
                    let schunk = schunk.expect("a super-chunk");
                    let lazy = schunk.get_lazychunk(1).expect("a lazy chunk");
                    assert_eq!(lazy.len(), CHUNK_HEADER + 4 + 12 + 4);
                    for &(cbytes, block, expected) in cases {
                        let mut changed = lazy.clone();
                        add_to_field(&mut changed, 12, cbytes);
                        add_to_field(&mut changed, CHUNK_HEADER + 4 + 12, block);
                        let what = format!("{}: {cbytes} and {block} bytes more", library.name);
                        let (whole, items) = read_lazy(&schunk, &changed);
                        assert_eq!(whole, expected, "{what}");
                        let items_expected = match expected {
                            FINE => 40,
                            // The reference returns the code for a destination that is too small.
                            DATA if library.is_reference() => -6,
                            code => code,
                        };
                        assert_eq!(items, items_expected, "{what}: items");
                    }
                });
            }
        }
    });
}

/// Decompresses the lazy chunk and reads ten items of it with the super-chunk's context, between inaccessible pages.
/// The output must be sevens.
fn read_lazy(schunk: &SuperChunk, lazy: &[u8]) -> (i32, i32) {
    let (mut source, mut dest) = (GuardedBuffer::new(lazy.len()), GuardedBuffer::new(CHUNKSIZE));
    let source = source.last_bytes(lazy.len());
    source.copy_from_slice(lazy);
    let (library, context) = (schunk.library, schunk.dctx());
    let (from, len) = (source.as_ptr().cast(), source.len() as i32);
    let place = dest.last_bytes(CHUNKSIZE);
    place.fill(DEST_FILL_BYTE);
    let to = place.as_mut_ptr().cast();
    // SAFETY: a live context, and two buffers with their true lengths.
    let whole = unsafe { (library.blosc2_decompress_ctx)(context, from, len, to, CHUNKSIZE as i32) };
    assert!(whole < 0 || place.iter().all(|&byte| byte == 7), "{}: other bytes", library.name);
    let place = dest.last_bytes(40);
    place.fill(DEST_FILL_BYTE);
    let to = place.as_mut_ptr().cast();
    // SAFETY: as above.
    let items = unsafe { (library.blosc2_getitem_ctx)(context, from, len, 5, 10, to, 40) };
    assert!(items < 0 || place.iter().all(|&byte| byte == 7), "{}: other items", library.name);
    (whole, items)
}

/// The chunk in the frame claims more bytes than exist. The reference crashes when it copies such a frame.
#[test]
fn c_blosc2_771_wrong_cbytes_of_a_chunk_in_a_frame_is_an_error() {
    in_new_process(test_name!(), || {
        for more in [432, 433, 1000, 1 << 20, i32::MAX] {
            let mut frame = frame_of_three_chunks([0, 432, 864]);
            let header = frame.len() - 3 * 432 - (CHUNK_HEADER + 24) - 35;
            add_to_field(&mut frame, header + 432 + 12, more);
            // With 432 more bytes, the chunk spans the next one (`DATA`); with more, it ends beyond the data
            // (`INVALID_HEADER`).
            let code = if more == 432 { DATA } else { INVALID_HEADER };
            let ours = Library::ours();
            open_and_check(ours, FrameForm::Copy, &frame, |schunk| {
                assert_eq!(schunk.is_some(), more == 432);
                let Some(schunk) = schunk else { return };
                assert_eq!(schunk.decompress_into(0, CHUNKSIZE), Ok(content(1)));
                assert_eq!(schunk.decompress_into(1, CHUNKSIZE), Err(DATA));
                assert_eq!(schunk.decompress_into(2, CHUNKSIZE), Ok(content(3)));
                assert_eq!(schunk.get_slice(0, 300, 3 * CHUNKSIZE), Err(FAILURE));
            });
            for form in FrameForm::LAZY {
                open_and_check(ours, form, &frame, |schunk| {
                    let what = format!("{form:?}, {more} bytes more");
                    let schunk = schunk.unwrap_or_else(|| panic!("{what}: NULL"));
                    assert_eq!(schunk.decompress_into(1, CHUNKSIZE), Err(code), "{what}");
                    assert_eq!(schunk.decompress_into(2, CHUNKSIZE), Ok(content(3)), "{what}");
                    assert_eq!(schunk.get_chunk(1).is_ok(), more == 432, "{what}");
                    assert_eq!(schunk.get_slice(0, 300, 3 * CHUNKSIZE), Err(FAILURE), "{what}");
                });
            }
        }
    });
}

/// The chunk in its file claims more bytes than the file has, or fewer.
#[test]
fn c_blosc2_771_wrong_cbytes_of_a_chunk_in_a_directory_is_an_error() {
    for more in [-400, -1, 1, 432, 1 << 20, i32::MAX] {
        let mut chunks = chunks();
        add_to_field(&mut chunks[1], 12, more);
        open_directory(Library::ours(), &chunks, &[0, 1, 2], |schunk| {
            let what = format!("{more} bytes more");
            let schunk = schunk.unwrap_or_else(|| panic!("{what}: NULL"));
            assert_eq!(schunk.decompress_into(0, CHUNKSIZE), Ok(content(1)), "{what}");
            let code = if more < 0 { DATA } else { FILE_READ };
            assert_eq!(schunk.decompress_into(1, CHUNKSIZE), Err(code), "{what}");
            assert_eq!(schunk.decompress_into(2, CHUNKSIZE), Ok(content(3)), "{what}");
            // The contents of the file, if it is long enough.
            let expected = if more < 0 { Ok(chunks[1].clone()) } else { Err(FILE_READ) };
            assert_eq!(schunk.get_chunk(1), expected, "{what}");
            assert_eq!(schunk.get_slice(0, 300, 3 * CHUNKSIZE), Err(FAILURE), "{what}");
        });
    }
}

/// A lazy chunk of a valid directory is changed between two calls, as in the test with a file.
#[test]
fn c_blosc2_771_changed_lengths_of_a_lazy_chunk_in_a_directory_are_checked() {
    in_new_process(test_name!(), || {
        let coded = chunk_of_stream(BLOSCLZ, 4, CHUNKSIZE as i32, &sevens(CHUNKSIZE));
        open_directory(Library::ours(), &[coded.clone(), coded], &[0, 1], |schunk| {
            let schunk = schunk.expect("a super-chunk");
            let lazy = schunk.get_lazychunk(1).expect("a lazy chunk");
            for (cbytes, block, expected) in [
                (0, 0, CHUNKSIZE as i32),
                (1000, 0, CHUNKSIZE as i32),
                (i32::MAX, 0, CHUNKSIZE as i32),
                // The file ends there.
                (0, 1, READ_BUFFER),
                (100, 100, READ_BUFFER),
                // More bytes than a block can have.
                (0, 1000, INVALID_HEADER),
                (0, i32::MAX, INVALID_HEADER),
            ] {
                let mut changed = lazy.clone();
                add_to_field(&mut changed, 12, cbytes);
                add_to_field(&mut changed, CHUNK_HEADER + 4 + 12, block);
                let (whole, items) = read_lazy(&schunk, &changed);
                let items_expected = if expected > 0 { 40 } else { expected };
                let what = format!("{cbytes} and {block} bytes more");
                assert_eq!((whole, items), (expected, items_expected), "{what}");
            }
        });
    });
}
