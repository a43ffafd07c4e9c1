//! Codecs and filters of the program.

use blosc2::{
    Array, Codec, Decoder, Encoder, ErrorKind, Filter, Params, SuperChunk, UserCodec, UserFilter,
    register_codec, register_filter,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of zeros at the end of each stream of the tests.
const ZEROS: usize = 64;

/// Stores streams with each byte inverted and without the zeros at the end, and fails as its byte of parameters states.
struct Inverting(&'static AtomicUsize);

const PANIC_IN_ENCODER: u8 = 1;
const PANIC_IN_DECODER: u8 = 2;
const TOO_LONG: u8 = 3;
const UNREADABLE: u8 = 4;

impl UserCodec for Inverting {
    fn encode(&self, meta: u8, stream: &[u8], dest: &mut [u8]) -> Option<usize> {
        self.0.fetch_add(1, Ordering::Relaxed);
        match meta {
            PANIC_IN_ENCODER => panic!("the encoder of a test"),
            TOO_LONG => return Some(dest.len() + 1),
            _ => {}
        }
        let body = &stream[..stream.len().checked_sub(ZEROS)?];
        let dest = dest.get_mut(..body.len())?;
        dest.iter_mut().zip(body).for_each(|(to, from)| *to = !from);
        Some(body.len())
    }

    fn decode(&self, meta: u8, stream: &[u8], dest: &mut [u8]) -> bool {
        match meta {
            PANIC_IN_DECODER => panic!("the decoder of a test"),
            UNREADABLE => return false,
            _ => {}
        }
        let Some(len) = dest.len().checked_sub(ZEROS).filter(|&len| len == stream.len()) else {
            return false;
        };
        let (body, zeros) = dest.split_at_mut(len);
        body.iter_mut().zip(stream).for_each(|(to, from)| *to = !from);
        zeros.fill(0);
        true
    }
}

/// Noise with zeros at the end of each 256 bytes.
fn content() -> Vec<u8> {
    let byte =
        |n: u32| if n % 256 >= 256 - ZEROS as u32 { 0 } else { (n.wrapping_mul(2_654_435_761) >> 13) as u8 };
    (0..1 << 18).map(byte).collect()
}

#[test]
fn a_codec_of_the_program_is_used_everywhere() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let codec = register_codec(210, "inverting", Inverting(&CALLS)).unwrap();
    assert_eq!(codec, Codec::Other(210));
    let params =
        |meta| Params::new().codec(codec).codec_meta(meta).filters([]).typesize(1).blocksize(1 << 14);
    let content = content();
    for threads in [1, 2] {
        let chunk = Encoder::new(&params(0).threads(threads)).unwrap().compress(&content).unwrap();
        assert_eq!(chunk.info().codec, codec);
        assert!(chunk.as_bytes().len() < content.len());
        assert!(Decoder::with_threads(threads).unwrap().decompress(&chunk).unwrap() == content);
        assert_eq!(chunk.read_items(70_000..70_010).unwrap(), content[70_000..70_010]);
    }
    assert!(CALLS.load(Ordering::Relaxed) >= 32);

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let array = Array::<u8>::builder([1 << 18])
        .chunks([1 << 16])
        .blocks([1 << 14])
        .params(params(0))
        .create(&path)
        .unwrap();
    std::thread::scope(|scope| {
        for first in 0..2 {
            let (array, content) = (&array, &content);
            scope.spawn(move || {
                for chunk in array.chunks().skip(first).step_by(2) {
                    let range = &chunk.ranges()[0];
                    chunk.write(&content[range.start as usize..range.end as usize]).unwrap();
                }
            });
        }
    });
    array.write_shared(100..101, &[content[100]]).unwrap();
    drop(array);
    let array = Array::<u8>::open(&path).unwrap();
    assert!(array.read(..).unwrap() == content);
    assert_eq!(array.get(&[200_000]).unwrap(), content[200_000]);

    for meta in [PANIC_IN_ENCODER, TOO_LONG] {
        assert!(blosc2::compress(&content, &params(meta)).is_err(), "{meta}");
    }
    for meta in [PANIC_IN_DECODER, UNREADABLE] {
        let chunk = blosc2::compress(&content, &params(meta)).unwrap();
        assert!(chunk.decompress().is_err(), "{meta}");
        let mut schunk = SuperChunk::new(&Params::new().typesize(1)).unwrap();
        schunk.append_chunk(&chunk).unwrap();
        assert!(schunk.read_items(5..6).is_err(), "{meta}");
    }
    for (id, name, kind) in [
        (210, "inverting", ErrorKind::InvalidParam),
        (210, "another name", ErrorKind::CodecParam),
        (159, "reserved", ErrorKind::InvalidParam),
        (211, "a\0b", ErrorKind::InvalidParam),
    ] {
        assert_eq!(register_codec(id, name, Inverting(&CALLS)).unwrap_err().kind(), kind, "{id} {name:?}");
    }
    // A codec that this process does not have.
    assert!(blosc2::compress(&content, &Params::new().codec(Codec::Other(212))).is_err());
}

/// Rotates the bytes of a block by its byte of parameters; 255 fails.
struct Rotating;

impl UserFilter for Rotating {
    fn forward(&self, meta: u8, block: &[u8], dest: &mut [u8]) -> bool {
        dest.copy_from_slice(block);
        dest.rotate_left(usize::from(meta).min(dest.len()));
        meta != 255
    }

    fn backward(&self, meta: u8, block: &[u8], dest: &mut [u8]) -> bool {
        dest.copy_from_slice(block);
        dest.rotate_right(usize::from(meta).min(dest.len()));
        meta != 254
    }
}

#[test]
fn a_filter_of_the_program_is_used() {
    assert_eq!(register_filter(220, "rotating", Rotating).unwrap(), Filter::Other { id: 220, meta: 0 });
    // Not stored without filters.
    let content: Vec<u8> = (0..1u32 << 16).flat_map(|n| (n / 5).to_le_bytes()).collect();
    let params = |meta| {
        Params::new()
            .codec(Codec::Zstd)
            .filters([Filter::Other { id: 220, meta }, Filter::Shuffle])
            .typesize(4)
    };
    for meta in [0, 1, 77] {
        let chunk = blosc2::compress(&content, &params(meta)).unwrap();
        assert_eq!(chunk.info().filters, [Filter::Other { id: 220, meta }, Filter::Shuffle]);
        assert!(!chunk.info().is_stored && chunk.decompress().unwrap() == content, "{meta}");
    }
    assert_eq!(blosc2::compress(&content, &params(255)).unwrap_err().kind(), ErrorKind::FilterPipeline);
    assert!(blosc2::compress(&content, &params(254)).unwrap().decompress().is_err());
    assert!(register_filter(220, "rotating", Rotating).is_err());

    // A filter that makes zeros of the whole content.
    let minus_one = |_: u8, block: &[u8], dest: &mut [u8]| {
        dest.iter_mut().zip(block).for_each(|(to, from)| *to = from.wrapping_sub(1))
    };
    let plus_one = |_: u8, block: &[u8], dest: &mut [u8]| {
        dest.iter_mut().zip(block).for_each(|(to, from)| *to = from.wrapping_add(1))
    };
    let filter = register_filter(221, "one", (minus_one, plus_one)).unwrap();
    for byte in [0, 1, 2] {
        let content = vec![byte; 100_000];
        let chunk = blosc2::compress(&content, &Params::new().filters([filter])).unwrap();
        assert!(chunk.decompress().unwrap() == content && chunk.as_bytes().len() < 200, "{byte}");
    }
}
