//! Single chunks.

mod common;

use blosc2::{Chunk, ChunkInfo, Codec, Decoder, Encoder, ErrorKind, Filter, Params, Special};
use proptest::prelude::*;
use std::thread;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn round_trips_give_the_content(content in common::contents(20_000), params in common::params()) {
        let chunk = blosc2::compress(&content, &params).unwrap();
        prop_assert_eq!((chunk.info().nbytes, chunk.info().cbytes), (content.len(), chunk.as_bytes().len()));
        prop_assert!(chunk.as_bytes().len() <= content.len() + 32);
        prop_assert_eq!(&chunk.decompress().unwrap(), &content);
        let again = Chunk::from_bytes(chunk.as_bytes()).unwrap();
        prop_assert_eq!(&again, &chunk);
        let head = &chunk.as_bytes()[..chunk.as_bytes().len().min(32)];
        prop_assert_eq!(&ChunkInfo::from_header(head).unwrap(), chunk.info());
        let typesize = chunk.info().typesize;
        let count = content.len() / typesize;
        let (start, stop) = (count / 3, count - count / 4);
        prop_assert_eq!(again.read_items(start..stop).unwrap(), &content[start * typesize..stop * typesize]);
    }

    #[test]
    fn damaged_chunks_are_errors_or_contents(
        content in common::contents(3000),
        params in common::params(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = blosc2::compress(&content, &params).unwrap().into_bytes();
        let len = bytes.len();
        for (at, value) in flips {
            bytes[at.index(len)] = value;
        }
        // Neither a panic nor more bytes than the header states.
        if let Ok(chunk) = Chunk::from_bytes(&bytes)
            && chunk.info().nbytes < 1 << 24
            && let Ok(read) = chunk.decompress()
        {
            prop_assert_eq!(read.len(), chunk.info().nbytes);
        }
        bytes.truncate(cut.index(len));
        prop_assert!(Chunk::from_bytes(&bytes).is_err() || bytes.len() >= 16);
    }
}

#[test]
fn properties_of_chunks_are_those_of_their_parameters() {
    let content: Vec<u8> = (0..50_000u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
    let params = Params::new()
        .codec(Codec::Zstd)
        .level(3)
        .typesize(4)
        .filters([Filter::Delta, Filter::Shuffle])
        .blocksize(16 << 10)
        .dictionary(true);
    let info = blosc2::compress(&content, &params).unwrap().info().clone();
    assert_eq!((info.codec, info.typesize, info.blocksize), (Codec::Zstd, 4, 16 << 10));
    assert_eq!(info.filters, [Filter::Delta, Filter::Shuffle]);
    assert!(info.has_dictionary && !info.is_stored && info.special.is_none());

    let params = params.dictionary(false);
    let zeros = blosc2::compress(&[0; 10_000], &params).unwrap();
    assert_eq!((zeros.info().special, zeros.as_bytes().len()), (Some(Special::Zeros), 32));
    let noise: Vec<u8> = (0..10_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert!(blosc2::compress(&noise, &params.level(0)).unwrap().info().is_stored);
}

#[test]
fn invalid_parameters_are_errors() {
    for params in [
        Params::new().level(10),
        Params::new().typesize(0),
        Params::new().threads(0),
        Params::new().threads(1 << 20),
        Params::new().filters([Filter::Shuffle; 7]),
        Params::new().blocksize(usize::MAX),
    ] {
        assert_eq!(Encoder::new(&params).err().map(|error| error.kind()), Some(ErrorKind::InvalidParam));
    }
    let unknown = Encoder::new(&Params::new().codec(Codec::Other(250)))
        .and_then(|mut encoder| encoder.compress(&(0..=255).collect::<Vec<u8>>()));
    assert_eq!(unknown.unwrap_err().kind(), ErrorKind::CodecSupport);
    assert!("lz5".parse::<Codec>().is_err() && "shuffle:1".parse::<Filter>().is_err());
    for filter in ["shuffle", "bitshuffle", "delta", "bytedelta", "trunc_prec:-3", "int_trunc:5", "ndcell:4"]
    {
        assert_eq!(filter.parse::<Filter>().unwrap().to_string(), filter);
    }
}

#[test]
fn buffers_that_are_too_short_are_reported() {
    let content: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let mut encoder = Encoder::new(&Params::new().typesize(1).level(0)).unwrap();
    assert_eq!(encoder.compress_into(&content, &mut [0; 10]).unwrap(), None);
    assert_eq!(encoder.compress_into(&content, &mut [0; 5000]).unwrap(), None);
    let mut dest = vec![0; 5032];
    assert_eq!(encoder.compress_into(&content, &mut dest).unwrap(), Some(5032));
    let chunk = Chunk::from_bytes(&dest).unwrap();
    let mut decoder = Decoder::new().unwrap();
    assert_eq!(decoder.decompress_into(&chunk, &mut [0; 4999]).unwrap_err().kind(), ErrorKind::WriteBuffer);
    assert_eq!(decoder.read_items(&chunk, 10..5001).unwrap_err().kind(), ErrorKind::InvalidParam);
}

#[test]
fn encoders_and_decoders_move_between_threads() {
    let mut encoder = Encoder::new(&Params::new().threads(2)).unwrap();
    let chunk = thread::spawn(move || encoder.compress(&[3; 100_000]).unwrap()).join().unwrap();
    let shared = &chunk;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || assert_eq!(shared.decompress().unwrap(), [3; 100_000]));
        }
    });
}

#[test]
fn blocks_of_different_lengths_are_read_one_by_one() {
    let content: Vec<u8> = (0..100_000u32).map(|n| (n / 7) as u8).collect();
    let lengths = [1, 2, 3, 100, 50_000, 1, 4096];
    let blocks: Vec<&[u8]> = lengths.iter().map(|&len| &content[len..2 * len]).collect();
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zlib, Codec::Zstd] {
        for dictionary in [false, true] {
            let params = Params::new().codec(codec).typesize(1).dictionary(dictionary);
            let chunk = Encoder::new(&params).unwrap().compress_blocks(&blocks).unwrap();
            let info = chunk.info();
            assert_eq!((info.has_variable_blocks, info.blocksize), (true, lengths.len()));
            let mut decoder = Decoder::new().unwrap();
            assert_eq!(decoder.decompress_blocks(&chunk).unwrap(), blocks);
            for (n, block) in blocks.iter().enumerate() {
                assert_eq!(decoder.decompress_block(&chunk, n).unwrap(), *block);
            }
            let error = decoder.decompress_block(&chunk, blocks.len()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParam);
            // Damage of any byte behind the header is an error or another content.
            for at in (32..chunk.as_bytes().len()).step_by(37) {
                let mut bytes = chunk.as_bytes().to_vec();
                bytes[at] ^= 0x41;
                if let Ok(chunk) = Chunk::from_bytes(&bytes) {
                    let _ = decoder.decompress_blocks(&chunk);
                }
            }
        }
    }
    let mut encoder = Encoder::new(&Params::new()).unwrap();
    for blocks in [&[][..], &[&b"a"[..], b""]] {
        assert_eq!(encoder.compress_blocks(blocks).unwrap_err().kind(), ErrorKind::InvalidParam);
    }
    let regular = blosc2::compress(&content, &Params::new()).unwrap();
    assert_eq!(
        Decoder::new().unwrap().decompress_blocks(&regular).unwrap_err().kind(),
        ErrorKind::InvalidParam
    );
}

#[test]
fn special_chunks_have_no_streams() {
    let params = Params::new().typesize(4);
    let zeros = Chunk::zeros(4000, &params).unwrap();
    let nans = Chunk::nans(4000, &params).unwrap();
    let values = Chunk::repeated(&[1, 2, 3, 4], 4000, &params).unwrap();
    assert_eq!(
        [&zeros, &nans, &values].map(|chunk| chunk.info().special),
        [Some(Special::Zeros), Some(Special::Nans), Some(Special::Value)]
    );
    assert_eq!(zeros.decompress().unwrap(), [0; 4000]);
    assert!(
        nans.decompress()
            .unwrap()
            .chunks(4)
            .all(|item| f32::from_ne_bytes(item.try_into().unwrap()).is_nan())
    );
    assert_eq!(values.decompress().unwrap(), [1, 2, 3, 4].repeat(1000));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let mut schunk = blosc2::SuperChunk::create(&path, &params).unwrap();
    for chunk in [&zeros, &nans, &values] {
        schunk.append_chunk(chunk).unwrap();
    }
    drop(schunk);
    assert_eq!(blosc2::SuperChunk::open(&path).unwrap().read_items(1999..2001).unwrap()[4..], [1, 2, 3, 4]);
    for error in [
        Chunk::zeros(4001, &params).unwrap_err(),
        Chunk::nans(4000, &Params::new().typesize(2)).unwrap_err(),
        Chunk::repeated(&[1], 4000, &params).unwrap_err(),
        Chunk::repeated(&[], 0, &Params::new().typesize(0)).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidParam, "{error}");
    }
    assert_eq!(Chunk::zeros(1 << 31, &params).unwrap_err().kind(), ErrorKind::MaxBufsizeExceeded);
}

#[test]
fn chunks_for_blosc1_have_its_format() {
    let noise: Vec<u8> = (0..70_001u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 20) as u8).collect();
    let numbers: Vec<u8> = (0..20_000u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::Bitshuffle]] {
            for content in [&noise[..], &numbers, &numbers[..7], &[]] {
                for (typesize, level) in [(1, 1), (4, 5), (4, 0), (300, 9)] {
                    let params =
                        Params::new().codec(codec).filters(filters.clone()).typesize(typesize).level(level);
                    let chunk = blosc2::compress_for_blosc1(content, &params).unwrap();
                    assert_eq!(chunk.as_bytes()[0], 2);
                    assert!(chunk.decompress().unwrap() == content, "{params:?}, {} bytes", content.len());
                    assert!(chunk.as_bytes().len() <= content.len() + 16);
                }
            }
        }
    }
    let error = |params: Params| blosc2::compress_for_blosc1(&numbers, &params).unwrap_err().kind();
    assert_eq!(error(Params::new().filters([Filter::Delta])), ErrorKind::FilterPipeline);
    assert_eq!(error(Params::new().filters([Filter::Shuffle, Filter::Shuffle])), ErrorKind::FilterPipeline);
    assert_eq!(error(Params::new().codec(Codec::Ndlz)), ErrorKind::CodecSupport);
    assert_eq!(error(Params::new().level(10)), ErrorKind::InvalidParam);
}
