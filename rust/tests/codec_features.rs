//! Codecs that a feature leaves out. `scripts/check-features.sh` runs these tests without some of them.

use blosc2::{Array, Chunk, Codec, ErrorKind, Params, SuperChunk};

/// The codecs, their features, and whether those are on.
const CODECS: [(Codec, &str, bool); 5] = [
    (Codec::BloscLz, "", true),
    (Codec::Lz4, "lz4", cfg!(feature = "lz4")),
    (Codec::Lz4Hc, "lz4", cfg!(feature = "lz4")),
    (Codec::Zlib, "zlib", cfg!(feature = "zlib")),
    (Codec::Zstd, "zstd", cfg!(feature = "zstd")),
];

/// Chunks that C-Blosc2 3.3.5 has written, of [`content`], as hexadecimal digits.
const CHUNKS: [(Codec, &str); 3] = [
    (
        Codec::Lz4,
        "050135010001000000010000ad00000000000000000001000000000000000000240000008500000013000100130101001302010013030100130401001305010013060100130701001308010013090100130a0100130b0100130c0100130d0100130e0100130f0100037f0013007f0013017f0013027f0013037f0013047f0013057f0013067f0013077f0013087f0013097f00130a7f00130b7f00130c7f00130d7f00900e0f0f0f0f0f0f0f0f",
    ),
    (
        Codec::Zlib,
        "0501750100010000000100005500000000000000000004000000000000000000240000002d000000785ec5cd490180200000305040e5ecdf9607ebe00a2c8423727193c8141e5e3e2a8dce60b2d0fff66f1aed0781",
    ),
    (
        Codec::Zstd,
        "0501950100010000000100005800000000000000000005000000000000000000240000003000000028b52ffd6000003501008800000102030405060708090a0b0c0d0e0f11a830faf0b503101cbdffff7f067d60eb013c05",
    ),
];

fn content() -> Vec<u8> {
    (0..256usize).map(|n| (n / 8 % 16) as u8).collect()
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let pairs = (0..hexadecimal.len()).step_by(2).map(|at| &hexadecimal[at..at + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

fn feature_of(codec: Codec) -> (&'static str, bool) {
    CODECS.iter().find(|row| row.0 == codec).map(|&(_, feature, is_on)| (feature, is_on)).unwrap()
}

/// Checks the result of a function that needs `codec`.
#[track_caller]
fn check<T>(codec: Codec, result: blosc2::Result<T>) -> Option<T> {
    let (feature, is_on) = feature_of(codec);
    match result {
        Ok(value) if is_on => Some(value),
        Err(error) if !is_on => {
            assert_eq!((error.kind(), error.code()), (ErrorKind::CodecSupport, -7), "{codec}");
            assert!(error.to_string().contains(&format!("needs the feature `{feature}`")), "{error}");
            None
        }
        result => panic!("{codec}, the feature is {is_on}: {:?}", result.map(|_| ()).err()),
    }
}

#[test]
fn a_codec_compresses_if_its_feature_is_on() {
    let content = content().repeat(50);
    for (codec, ..) in CODECS {
        let params = Params::new().codec(codec).typesize(1);
        // Level 0 and zeros need no codec: the error depends on the parameters alone.
        for params in
            [params.clone(), params.clone().level(0), params.clone().dictionary(codec != Codec::Zlib)]
        {
            if codec == Codec::BloscLz && params.get_dictionary() {
                continue;
            }
            if let Some(chunk) = check(codec, blosc2::compress(&content, &params)) {
                assert!(chunk.decompress().unwrap() == content, "{codec}");
                assert_eq!(chunk.read_items(100..102).unwrap(), content[100..102], "{codec}");
            }
        }
        check(codec, blosc2::compress_for_blosc1(&content, &params));
        check(codec, Array::<u8>::builder([4]).params(params.clone()).in_memory());
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new");
        check(codec, SuperChunk::create(&path, &params));
        assert_eq!(path.exists(), feature_of(codec).1, "{codec}: no file is left by an error");
    }
}

#[test]
fn a_chunk_of_c_blosc2_is_read_if_the_feature_of_its_codec_is_on() {
    for (codec, hexadecimal) in CHUNKS {
        let bytes = bytes(hexadecimal);
        // The header does not need the codec.
        let chunk = Chunk::from_bytes(&bytes).unwrap();
        assert_eq!((chunk.info().codec, chunk.info().nbytes), (codec, 256));
        for result in [chunk.decompress(), chunk.read_items(0..256)] {
            if let Some(read) = check(codec, result) {
                assert_eq!(read, content(), "{codec}");
            }
        }
        if let Some(items) = check(codec, chunk.read_items(20..22)) {
            assert_eq!(items, content()[20..22], "{codec}");
        }
        // The same in a super-chunk, whose own parameters are those of another codec.
        let mut schunk = SuperChunk::new(&Params::new().typesize(1)).unwrap();
        schunk.append_chunk(&chunk).unwrap();
        check(codec, schunk.decompress_chunk(0));
        check(codec, schunk.read_items(20..22));
    }
}
