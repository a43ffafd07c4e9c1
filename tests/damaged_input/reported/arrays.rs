//! Reports about arrays and codecs that need the shape of a block.

use std::fs;

use super::build::{BLOSCLZ, Frame, IndexEntry, REGISTERED, array_metalayer, chunk_of_stream, sevens};
use crate::support;
use crate::support::array::Array;
use crate::support::calls::BytesResult;
use crate::support::child::{in_new_process, test_name};
use crate::support::guard::GuardedBuffer;
use crate::support::library::{Library, has_feature};
use crate::support::super_chunk::SuperChunk;
use crate::support::super_chunk::scratch::ScratchDir;

/// `BLOSC2_ERROR_FAILURE`
const FAILURE: i32 = -1;
/// `BLOSC2_ERROR_DATA`
const DATA: i32 = -3;
/// `BLOSC2_ERROR_INVALID_PARAM`
const INVALID_PARAM: i32 = -12;
/// `BLOSC2_ERROR_NULL_POINTER`
const NULL_POINTER: i32 = -32;

const NDLZ: u8 = 32;
const ZFP_ACCURACY: u8 = 33;
const ZFP_RATE: u8 = 35;
const NDCELL: u8 = 32;
const NDMEAN: u8 = 33;

/// Returns a frame with one chunk of `nbytes` bytes encoded by this codec, and the metalayer of an array.
fn frame_of_stream(
    codec: u8,
    codec_meta: u8,
    typesize: i32,
    nbytes: i32,
    stream: &[u8],
    metalayer: Vec<u8>,
) -> Vec<u8> {
    let format = if codec == 0 { BLOSCLZ } else { REGISTERED };
    let mut chunk = chunk_of_stream(format, typesize as u8, nbytes, stream);
    (chunk[0x16], chunk[0x17]) = (codec, codec_meta);
    frame_of_chunk(chunk, codec, codec_meta, typesize, nbytes, metalayer)
}

/// Returns a frame with this chunk of `nbytes` bytes and the metalayer of an array.
fn frame_of_chunk(
    chunk: Vec<u8>,
    codec: u8,
    codec_meta: u8,
    typesize: i32,
    nbytes: i32,
    metalayer: Vec<u8>,
) -> Vec<u8> {
    Frame {
        typesize,
        chunksize: nbytes,
        nbytes: nbytes.into(),
        codec,
        codec_meta,
        metalayers: vec![("b2nd", metalayer)],
        payload: chunk,
        index: vec![IndexEntry::Offset(0)],
    }
    .bytes()
}

/// Returns the code of opening the frame as an array from a file; fails if opening it from a buffer next to an
/// inaccessible page returns another code.
fn open_array(library: &'static Library, frame: &[u8]) -> i32 {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    fs::write(&path, frame).expect("a file");
    let (code, _) = Array::open(library, &path);
    let mut guarded = GuardedBuffer::new(frame.len());
    let buffer = guarded.last_bytes(frame.len());
    buffer.copy_from_slice(frame);
    assert_eq!(Array::from_frame_copy(library, buffer).0, code, "{}: from a buffer", library.name);
    // SAFETY: the buffer outlives the array, which is only opened.
    let (borrowed, _) = unsafe { Array::from_borrowed_frame(library, buffer.as_mut_ptr(), buffer.len()) };
    assert_eq!(borrowed, code, "{}: over a buffer", library.name);
    code
}

/// Reads the only chunk and ten items of it, through a super-chunk in a file.
fn read_chunk(
    library: &'static Library,
    frame: &[u8],
    nbytes: usize,
    typesize: usize,
) -> (BytesResult, BytesResult) {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    fs::write(&path, frame).expect("a file");
    let schunk = SuperChunk::open(library, &path).expect("a super-chunk");
    (schunk.decompress_into(0, nbytes), schunk.get_slice(0, 10, 10 * typesize))
}

#[test]
fn c_blosc2_795_blocks_of_zero_items_modulo_2_32_are_rejected() {
    in_new_process(test_name!(), || {
        let wide: i32 = 1 << 16;
        let sevens = sevens(1600);
        // The header of an NDLZ stream states the extents too. Cells of one byte value each follow.
        let mut cells = vec![2];
        cells.extend(wide.to_le_bytes());
        cells.extend(wide.to_le_bytes());
        cells.extend([0x40, 7].repeat(100));
        for (shape, chunkshape, blockshape) in [
            ([wide, wide], [wide, wide], [wide, wide]),
            ([40, 40], [wide, wide], [wide, wide]),
            ([40, 40], [40, 40], [wide, wide]),
            ([wide, wide], [wide, wide], [40, 40]),
        ] {
            let metalayer = array_metalayer(&shape.map(i64::from), &chunkshape, &blockshape, "|u1");
            for (codec, meta, feature, typesize, stream) in [
                (0, 0, None, 1, &sevens),
                (NDLZ, 4, Some("ndlz"), 1, &sevens),
                (NDLZ, 4, Some("ndlz"), 1, &cells),
                (NDLZ, 8, Some("ndlz"), 1, &cells),
                (ZFP_ACCURACY, 0, Some("zfp"), 4, &sevens),
            ] {
                let frame = frame_of_stream(codec, meta, typesize, 1600, stream, metalayer.clone());
                for library in support::all_libraries() {
                    let what = format!("{}: codec {codec}, blocks {blockshape:?}", library.name);
                    assert_eq!(open_array(library, &frame), INVALID_PARAM, "{what}");
                    if feature.is_some_and(|feature| !has_feature(library.name, feature)) {
                        continue;
                    }
                    // BloscLZ ignores the metalayer; NDLZ and ZFP return `DATA`.
                    let (chunk, items) = read_chunk(library, &frame, 1600, typesize as usize);
                    if codec == 0 {
                        assert_eq!((chunk, items), (Ok(vec![7; 1600]), Ok(vec![7; 10])), "{what}");
                    } else {
                        assert_eq!((chunk, items), (Err(DATA), Err(FAILURE)), "{what}");
                    }
                }
            }
        }
    });
}

/// Filters that need the shape of a block. The reference divides by the product of the extents.
#[test]
fn c_blosc2_795_filters_reject_blocks_of_zero_items_modulo_2_32() {
    in_new_process(test_name!(), || {
        let ours = Library::ours();
        if !has_feature(ours.name, "plugin-filters") {
            return;
        }
        let wide = 1 << 16;
        let metalayer = array_metalayer(&[40, 40], &[wide, wide], &[wide, wide], "|u1");
        for filter in [NDCELL, NDMEAN] {
            for meta in [4, 8] {
                let mut chunk = chunk_of_stream(BLOSCLZ, 1, 1600, &sevens(1600));
                (chunk[16 + 5], chunk[24 + 5]) = (filter, meta);
                let frame = frame_of_chunk(chunk, 0, 0, 1, 1600, metalayer.clone());
                let what = format!("filter {filter}, cells of {meta}");
                assert_eq!(open_array(ours, &frame), INVALID_PARAM, "{what}");
                let outcome = read_chunk(ours, &frame, 1600, 1);
                assert_eq!(outcome, (Err(FAILURE), Err(FAILURE)), "{what}");
            }
        }
        // The filter accepts the chunk with the shape of the block.
        let metalayer = array_metalayer(&[40, 40], &[40, 40], &[40, 40], "|u1");
        let mut chunk = chunk_of_stream(BLOSCLZ, 1, 1600, &sevens(1600));
        (chunk[16 + 5], chunk[24 + 5]) = (NDCELL, 4);
        let outcome = read_chunk(ours, &frame_of_chunk(chunk, 0, 0, 1, 1600, metalayer), 1600, 1);
        assert_eq!(outcome, (Ok(vec![7; 1600]), Ok(vec![7; 10])));
    });
}

/// A block of 16 x 16 floats, and its metalayer cut at every length.
#[test]
fn c_blosc2_781_zfp_with_a_truncated_metalayer_is_rejected() {
    in_new_process(test_name!(), || {
        let whole = array_metalayer(&[16; 2], &[16; 2], &[16; 2], "<f4");
        // The marker of the shapes, and three shapes with a marker each; the first has 64 bits for each extent.
        let shapes = 3 + (1 + 2 * 9) + 2 * (1 + 2 * 5);
        for len in 0..=whole.len() {
            for codec in [ZFP_ACCURACY, ZFP_RATE] {
                // 20 % of the bits, 102 for each of the 16 cells, are 204 bytes; whole words are 208.
                let frame = frame_of_stream(codec, 20, 4, 1024, &[0x55; 208], whole[..len].to_vec());
                for library in support::all_libraries() {
                    // The reference reads past a metalayer that ends inside the shapes, so it is skipped.
                    if library.is_reference() && len < shapes || !has_feature(library.name, "zfp") {
                        continue;
                    }
                    let what = format!("{}: codec {codec}, {len} of {} bytes", library.name, whole.len());
                    let (chunk, items) = read_chunk(library, &frame, 1024, 4);
                    let expected = if len < shapes { Err(DATA) } else { Ok(1024) };
                    assert_eq!(chunk.map(|chunk| chunk.len()), expected, "{what}");
                    // The reference does not read single items by rate here.
                    if !library.is_reference() || codec == ZFP_ACCURACY {
                        let expected = if len < shapes { Err(FAILURE) } else { Ok(40) };
                        assert_eq!(items.map(|items| items.len()), expected, "{what}");
                    }
                    let expected = match len {
                        0 => NULL_POINTER,
                        // Old arrays have no data type after the shapes.
                        _ if len == shapes || len == whole.len() => 0,
                        _ => FAILURE,
                    };
                    assert_eq!(open_array(library, &frame), expected, "{what}");
                }
            }
        }
    });
}
