//! The traits that all types implement.

use blosc2::*;
use std::fmt::Debug;
use std::hash::Hash;
use std::io::Cursor;

fn is_shared_by_threads<T: Send + Sync + Debug>() {}

#[test]
fn types_are_send_sync_and_debug() {
    is_shared_by_threads::<AnyArray>();
    is_shared_by_threads::<Array<f32>>();
    is_shared_by_threads::<ArrayBuilder<AnyArray>>();
    is_shared_by_threads::<ArrayBuilder<Array<f32>>>();
    is_shared_by_threads::<ArrayView<'_, f32>>();
    is_shared_by_threads::<Axes<'_>>();
    is_shared_by_threads::<BlockPosition>();
    is_shared_by_threads::<Chunk<'_>>();
    is_shared_by_threads::<ChunkInfo>();
    is_shared_by_threads::<Codec>();
    is_shared_by_threads::<Damage>();
    is_shared_by_threads::<Decoder>();
    is_shared_by_threads::<Durability>();
    is_shared_by_threads::<Encoder>();
    is_shared_by_threads::<Error>();
    is_shared_by_threads::<ErrorKind>();
    is_shared_by_threads::<Filter>();
    is_shared_by_threads::<FrameReader<Cursor<Vec<u8>>>>();
    is_shared_by_threads::<FrameWriter<Cursor<Vec<u8>>>>();
    is_shared_by_threads::<Metalayers<'_>>();
    is_shared_by_threads::<MetalayersMut<'_>>();
    is_shared_by_threads::<OpenOptions>();
    is_shared_by_threads::<Params>();
    is_shared_by_threads::<Part>();
    is_shared_by_threads::<Reader<SuperChunk>>();
    is_shared_by_threads::<Repaired>();
    is_shared_by_threads::<Special>();
    is_shared_by_threads::<Split>();
    is_shared_by_threads::<Step<u64>>();
    is_shared_by_threads::<SuperChunk>();
    is_shared_by_threads::<SuperChunkInfo>();
    is_shared_by_threads::<Writer<'_>>();
}

#[test]
fn results_read_ahead_move_between_threads() {
    fn moves<T: Send + Debug>() {}
    moves::<Prefetch<'_, Vec<u8>>>();
}

#[test]
fn values_are_compared_and_keys_of_maps() {
    fn is_value<T: Clone + Eq + Hash>() {}
    is_value::<BlockPosition>();
    is_value::<ChunkInfo>();
    is_value::<Codec>();
    is_value::<Damage>();
    is_value::<Durability>();
    is_value::<ErrorKind>();
    is_value::<Filter>();
    is_value::<Params>();
    is_value::<Part>();
    is_value::<Repaired>();
    is_value::<Special>();
    is_value::<Split>();
    is_value::<Step<u64>>();
    is_value::<SuperChunkInfo>();
}

#[test]
fn codecs_and_filters_are_read_back_from_their_text() {
    for id in 0..=255 {
        let codec = Codec::from_id(id);
        assert_eq!(codec.to_string().parse::<Codec>().unwrap(), codec);
        assert_eq!(id.to_string().parse::<Codec>().unwrap(), codec);
    }
    let with_meta = [0, 1, 127, 128, 255].map(|meta| {
        let bits = i8::from_ne_bytes([meta]);
        let other = Filter::Other { id: 200, meta };
        [
            Filter::TruncatePrecision(bits),
            Filter::TruncateInteger(bits),
            Filter::NdCell(meta),
            Filter::NdMean(meta),
            other,
        ]
    });
    let without = [Filter::Shuffle, Filter::Bitshuffle, Filter::Delta, Filter::ByteDelta];
    for filter in with_meta.into_iter().flatten().chain(without) {
        assert_eq!(filter.to_string().parse::<Filter>().unwrap(), filter);
    }
    for text in [
        "",
        "codec",
        "codec 256",
        "filter 1",
        "filter",
        "filter 200:",
        "filter 256:0",
        "filter x:1",
        "shuffle:1",
    ] {
        assert!(text.parse::<Codec>().is_err() && text.parse::<Filter>().is_err(), "{text}");
    }
}

#[test]
fn chunks_are_read_from_the_end() {
    let mut schunk = SuperChunk::new(&Params::new().typesize(1)).unwrap();
    for content in [b"a", b"b", b"c"] {
        schunk.append(content).unwrap();
    }
    assert_eq!(schunk.contents().rev().map(Result::unwrap).collect::<Vec<_>>().concat(), b"cba");
    assert_eq!(schunk.chunks().next_back().unwrap().unwrap().decompress().unwrap(), b"c");
    let array = Array::<u8>::builder([5]).chunks([2]).in_memory().unwrap();
    assert_eq!(array.chunks().next_back().unwrap().ranges()[0], 4..5);
    assert_eq!(AnyArray::from(array).shape(), [5]);
}

#[cfg(feature = "serde")]
#[test]
fn parameters_are_values_of_serde() {
    use std::collections::BTreeMap;
    let params = Params::new()
        .codec(Codec::Other(200))
        .codec_meta(7)
        .level(9)
        .filters([Filter::TruncatePrecision(-3), Filter::Other { id: 201, meta: 1 }])
        .typesize(3)
        .threads(2)
        .blocksize(4096)
        .split(Split::Auto)
        .dictionary(true);
    let mut schunk = SuperChunk::new(&Params::new()).unwrap();
    let mut metalayers = schunk.metalayers_mut().unwrap();
    metalayers.set_variable_value("params", &params).unwrap();
    assert_eq!(metalayers.get().variable_value("params").unwrap(), Some(params));

    // A program that reads one field, and one that writes only some.
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Part {
        codec: String,
        split: String,
        filters: Vec<String>,
    }
    let filters = ["trunc_prec:-3", "filter 201:1"].map(String::from).to_vec();
    let expected = Part { codec: "codec 200".into(), split: "auto".into(), filters };
    assert_eq!(metalayers.get().variable_value("params").unwrap(), Some(expected));
    metalayers.set_variable_value("params", &BTreeMap::from([("codec", "zstd")])).unwrap();
    let read = metalayers.get().variable_value("params").unwrap();
    assert_eq!(read, Some(Params::new().codec(Codec::Zstd)));
    let auto = BTreeMap::from([("auto", "0.25:decomp")]);
    metalayers.set_variable_value("params", &auto).unwrap();
    let tuned = Params::new().auto(Tradeoff::new(0.25).unwrap().for_decompression());
    assert_eq!(metalayers.get().variable_value("params").unwrap(), Some(tuned.clone()));
    metalayers.set_variable_value("params", &tuned).unwrap();
    assert_eq!(metalayers.get().variable_value("params").unwrap(), Some(tuned));
    metalayers.set_variable_value("params", &BTreeMap::from([("codec", "none")])).unwrap();
    let error = metalayers.get().variable_value::<Params>("params").unwrap_err();
    assert!(error.to_string().contains("expected blosclz"), "{error}");
}

#[test]
fn a_value_is_printed_with_its_properties() {
    let schunk = SuperChunk::new(&Params::new()).unwrap();
    assert!(format!("{:?}", schunk.reader()).contains("nchunks: 0"));
    assert!(format!("{:?}", schunk.metalayers()).contains("fixed_names: []"));
    let array = Array::<u8>::builder([2, 3]).in_memory().unwrap();
    assert!(format!("{:?}", array.view((1, ..)).unwrap().clone()).contains("ranges: [1..2, 0..3]"));
    let frame = FrameReader::new(Cursor::new(array.to_frame().unwrap())).unwrap();
    assert!(format!("{frame:?}").contains("nchunks: 1"));
    let error = SuperChunk::new(&Params::new().level(10)).unwrap_err();
    let expected = r#"Error { kind: InvalidParam, message: "Invalid parameter supplied to function: level 10, expected 0 to 9" }"#;
    assert_eq!(format!("{error:?}"), expected);
    let error = SuperChunk::open("no/such/file").unwrap_err();
    assert!(
        format!("{error:?}").contains("kind: FileOpen") && format!("{error:?}").contains("source: "),
        "{error:?}"
    );
}
