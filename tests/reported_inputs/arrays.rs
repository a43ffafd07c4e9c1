//! Reports about arrays and codecs that need the shape of a block.

use std::fs;

use crate::alone::alone;
use crate::build::{BLOSCLZ, Entry, Frame, REGISTERED, array_metalayer, of_stream};
use crate::support;
use crate::support::array::Array;
use crate::support::calls::Outcome;
use crate::support::guard::GuardedBuffer;
use crate::support::library::{Library, has_feature};
use crate::support::super_chunk::SuperChunk;
use crate::support::super_chunk::scratch::Scratch;

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

/// A frame with one chunk of `nbytes` bytes by this codec, and the metalayer of an array.
fn frame(
    codec: u8,
    codec_meta: u8,
    typesize: i32,
    nbytes: i32,
    stream: &[u8],
    metalayer: Vec<u8>,
) -> Vec<u8> {
    let format = if codec == 0 { BLOSCLZ } else { REGISTERED };
    let mut chunk = of_stream(format, typesize as u8, nbytes, stream);
    (chunk[0x16], chunk[0x17]) = (codec, codec_meta);
    Frame {
        typesize,
        chunksize: nbytes,
        nbytes: nbytes.into(),
        codec,
        codec_meta,
        metalayers: vec![("b2nd", metalayer)],
        payload: chunk,
        index: vec![Entry::At(0)],
    }
    .bytes()
}

/// Returns the code of opening the frame as an array from a file, which has to be that of opening it from a buffer against an
/// inaccessible page.
fn open_array(library: &'static Library, frame: &[u8]) -> i32 {
    let scratch = Scratch::new();
    let path = scratch.fresh();
    fs::write(&path, frame).expect("a file");
    let (code, _) = Array::open(library, &path);
    let mut guarded = GuardedBuffer::new(frame.len());
    let buffer = guarded.ending(frame.len());
    buffer.copy_from_slice(frame);
    assert_eq!(Array::from_copy(library, buffer).0, code, "{}: from a buffer", library.name);
    // SAFETY: the buffer outlives the array, which is only opened.
    let (borrowed, _) = unsafe { Array::from_borrowed(library, buffer.as_mut_ptr(), buffer.len()) };
    assert_eq!(borrowed, code, "{}: over a buffer", library.name);
    code
}

/// The only chunk and ten items of it, by the super-chunk in a file.
fn read_chunk(library: &'static Library, frame: &[u8], nbytes: usize, typesize: usize) -> (Outcome, Outcome) {
    let scratch = Scratch::new();
    let path = scratch.fresh();
    fs::write(&path, frame).expect("a file");
    let schunk = SuperChunk::open(library, &path).expect("a super-chunk");
    (schunk.decompress_into(0, nbytes), schunk.get_slice(0, 10, 10 * typesize))
}

#[test]
fn c_blosc2_795_blocks_of_zero_items_modulo_2_32() {
    alone("arrays::c_blosc2_795_blocks_of_zero_items_modulo_2_32", || {
        let wide = 1 << 16;
        // 1600 sevens, for BloscLZ: a literal, a match of 9 + 6 * 255 + 59 bytes at distance 1, a literal.
        let sevens = [0x20, 7, 0xE0, 255, 255, 255, 255, 255, 255, 59, 0, 0, 7];
        for (shape, chunkshape, blockshape) in [
            ([wide, wide], [wide, wide], [wide, wide]),
            ([40, 40], [wide, wide], [wide, wide]),
            ([40, 40], [40, 40], [wide, wide]),
            ([wide, wide], [wide, wide], [40, 40]),
        ] {
            let metalayer = array_metalayer(&shape.map(i64::from), &chunkshape, &blockshape, "|u1");
            for (codec, meta, feature, typesize) in
                [(0, 0, None, 1), (NDLZ, 4, Some("ndlz"), 1), (ZFP_ACCURACY, 0, Some("zfp"), 4)]
            {
                let frame = frame(codec, meta, typesize, 1600, &sevens, metalayer.clone());
                for library in support::all() {
                    let what = format!("{}: codec {codec}, blocks {blockshape:?}", library.name);
                    assert_eq!(open_array(library, &frame), INVALID_PARAM, "{what}");
                    if feature.is_some_and(|feature| !has_feature(library.name, feature)) {
                        continue;
                    }
                    // The metalayer does not matter to codecs of bytes; the others refuse the stream.
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

/// A block of 16 x 16 floats, and its metalayer cut at every length.
#[test]
fn c_blosc2_781_zfp_without_a_whole_metalayer() {
    alone("arrays::c_blosc2_781_zfp_without_a_whole_metalayer", || {
        let whole = array_metalayer(&[16; 2], &[16; 2], &[16; 2], "<f4");
        // The marker of the shapes, three shapes with a marker each, of which the first has 64 bits for each extent.
        let shapes = 3 + (1 + 2 * 9) + 2 * (1 + 2 * 5);
        for len in 0..=whole.len() {
            for codec in [ZFP_ACCURACY, ZFP_RATE] {
                // 20 % of the bits, 102 for each of the 16 cells, are 204 bytes; whole words are 208.
                let frame = frame(codec, 20, 4, 1024, &[0x55; 208], whole[..len].to_vec());
                for library in support::all() {
                    // The reference reads behind a metalayer that ends in the shapes, and may divide by what is there.
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
                        // Old arrays have no data type behind the shapes.
                        _ if len == shapes || len == whole.len() => 0,
                        _ => FAILURE,
                    };
                    assert_eq!(open_array(library, &frame), expected, "{what}");
                }
            }
        }
    });
}
