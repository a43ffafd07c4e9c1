//! The automatic tuner.

mod common;

use blosc2::{Array, Chunk, Codec, Encoder, ErrorKind, Filter, Params, SuperChunk, Tradeoff};
use proptest::prelude::*;

fn tradeoffs() -> impl Strategy<Value = Tradeoff> {
    (0u32..=100, 0usize..3).prop_map(|(percent, mode)| {
        let tradeoff = Tradeoff::new(f64::from(percent) / 100.0).unwrap();
        [tradeoff, tradeoff.for_compression(), tradeoff.for_decompression()][mode]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn round_trips_give_the_content(
        content in common::contents(50_000),
        params in common::params(),
        tradeoff in tradeoffs(),
    ) {
        // Another filter than these and delta switches the tuner off.
        let can_choose = !params.get_filters().contains(&Filter::ByteDelta);
        let chunk = blosc2::compress(&content, &params.auto(tradeoff)).unwrap();
        prop_assert_eq!(chunk.decompress().unwrap(), content);
        let is_other = |filter: &Filter| ![Filter::Shuffle, Filter::Bitshuffle, Filter::Delta].contains(filter);
        prop_assert!(!can_choose || !chunk.info().filters.iter().any(is_other));
    }

    #[test]
    fn texts_of_tradeoffs_are_parsed(tradeoff in tradeoffs()) {
        prop_assert_eq!(tradeoff.to_string().parse::<Tradeoff>().unwrap(), tradeoff);
        prop_assert!((0.0..=1.0).contains(&tradeoff.value()));
    }
}

#[test]
fn invalid_tradeoffs_are_errors() {
    for value in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = Tradeoff::new(value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParam);
        assert!(error.to_string().contains("expected 0 (speed) to 1 (ratio)"), "{error}");
    }
    for text in ["", "x", "2", "0.5:", "0.5:fast", ":comp"] {
        assert_eq!(text.parse::<Tradeoff>().unwrap_err().kind(), ErrorKind::InvalidParam, "{text}");
    }
    assert_eq!(Tradeoff::new(-0.0).unwrap().to_string(), "0");
    assert_eq!(Tradeoff::default().explain(&[1, 2, 3], 0).unwrap_err().kind(), ErrorKind::InvalidParam);
}

/// Numbers that are half as large after a shuffle.
fn ramp() -> Vec<u8> {
    (0..100_000u32).flat_map(|n| (n * 7).to_ne_bytes()).collect()
}

#[test]
fn super_chunks_and_arrays_are_tuned() {
    let auto = Params::new().typesize(4).auto(Tradeoff::new(1.0).unwrap());
    let fixed = Params::new().typesize(4);
    let sizes = [&auto, &fixed].map(|params| {
        let mut schunk = SuperChunk::new(params).unwrap();
        schunk.append(&ramp()).unwrap();
        schunk.append(&ramp()).unwrap();
        assert_eq!(schunk.contents().map(Result::unwrap).collect::<Vec<_>>(), [ramp(), ramp()]);
        schunk.cbytes()
    });
    assert!(sizes[0] < sizes[1], "{sizes:?}");
    let items: Vec<u32> = (0..100_000).map(|n| n * 7).collect();
    let arrays = [&auto, &fixed].map(|params| {
        let builder = Array::<u32>::builder([1000, 100]).chunks([500, 100]).blocks([100, 100]);
        let array = builder.params(params.clone()).in_memory_from(&items).unwrap();
        assert_eq!((array.read(..).unwrap().as_slice(), array.blockshape()), (&items[..], &[100, 100][..]));
        array.ratio()
    });
    assert!(arrays[0] > arrays[1], "{arrays:?}");
}

#[test]
fn copies_are_tuned() {
    let dir = tempfile::tempdir().unwrap();
    let fixed = Params::new().typesize(4);
    let mut schunk = SuperChunk::new(&fixed).unwrap();
    schunk.append(&ramp()).unwrap();
    let auto = fixed.auto(Tradeoff::new(1.0).unwrap());
    let copy = schunk.copy_to(dir.path().join("copy.b2frame"), Some(&auto)).unwrap();
    assert!(copy.cbytes() < schunk.cbytes());
    assert_eq!(copy.decompress_chunk(0).unwrap(), ramp());
}

#[test]
fn parameters_that_cannot_be_chosen_switch_it_off() {
    let auto = |params: Params| params.auto(Tradeoff::new(1.0).unwrap());
    let compress = |params: &Params| blosc2::compress(&ramp(), params).unwrap().into_owned();
    for params in [
        Params::new().typesize(4).filters([Filter::TruncateInteger(20), Filter::Shuffle]),
        Params::new().typesize(4).codec(Codec::Zstd).blocksize(4096).dictionary(true),
    ] {
        assert_eq!(compress(&auto(params.clone())), compress(&params), "{params:?}");
    }
    let number = |_, _: &[u8], block: &mut [u8]| {
        block.fill(7);
        true
    };
    let params = Params::new().typesize(4);
    let [tuned, fixed] = [auto(params.clone()), params].map(|params| -> Chunk<'static> {
        Encoder::with_prefilter(&params, number).unwrap().compress(&ramp()).unwrap()
    });
    assert_eq!(tuned, fixed);
}

#[test]
fn explanations_name_the_choice() {
    for (content, typesize) in [(ramp(), 4), (ramp(), 1), (Vec::new(), 8), (vec![7; 1000], 300)] {
        for tradeoff in [0.0, 0.5, 1.0].map(|value| Tradeoff::new(value).unwrap()) {
            let why = tradeoff.explain(&content, typesize).unwrap();
            let choice = why.choice.expect("a build with codecs");
            assert!((1..=9).contains(&choice.level) && choice.ratio >= 1.0);
            assert!(choice.compression_speed > 0.0 && choice.decompression_speed > 0.0);
            assert!(why.candidates.contains(&choice));
            let chunk = blosc2::compress(&content, &Params::new().typesize(typesize).auto(tradeoff)).unwrap();
            let info = chunk.info();
            if !info.is_stored && info.special.is_none() {
                assert_eq!(info.filters, choice.filters);
            }
        }
    }
}
