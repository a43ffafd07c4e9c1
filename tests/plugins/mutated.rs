//! Damaged chunks of the plugin codecs and filters, read through contexts of their array: an error or a whole result,
//! and no access outside the buffers, which lie next to inaccessible pages.
//!
//! `PLUGIN_MUTANTS` is their number for each codec, `PLUGIN_SEED` the seed of the sample.

use crate::support::array::ArraySpec;
use crate::support::calls::{OwnedContext, Params, dparams};
use crate::support::data::Data;
use crate::support::guard::GuardedBuffer;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::{
    BYTEDELTA, BYTEDELTA_BUGGY, INT_TRUNC, NDCELL, NDLZ, NDMEAN, SHUFFLE, ZFP_ACC, ZFP_PREC, ZFP_RATE,
    pipeline,
};

/// Reads `PLUGIN_MUTANTS` damaged chunks of an array with these parameters.
fn read_damaged_chunks(codec: u8, codec_meta: u8, filters: &[(u8, u8)], typesize: i32) {
    let ours = Library::ours();
    let random = &mut Random::new(from_environment("PLUGIN_SEED", 1) + u64::from(codec_meta));
    let (ids, filters_meta) = pipeline(filters);
    let params = Params { codec, codec_meta, typesize, filters: ids, filters_meta, ..Params::default() };
    let kinds =
        if typesize == 1 { [Data::LowEntropy, Data::Records] } else { [Data::SmoothFloats, Data::Ramp] };
    let originals: Vec<_> = kinds
        .into_iter()
        .map(|kind| {
            let mut spec = ArraySpec::new(&[21, 30], &[21, 30], &[13, 16], typesize);
            spec.params = params.clone();
            let items = kind.generate(random, typesize as usize, spec.nbytes());
            let array = spec.create_from_buffer(ours, &items);
            let chunk = array.schunk().get_chunk(0).expect("a chunk");
            (array, chunk)
        })
        .collect();
    let nbytes = 26 * 32 * typesize as usize;
    let (mut input, mut output) = (GuardedBuffer::new(64 << 10), GuardedBuffer::new(64 << 10));
    let mut decoded = 0;
    for mutant in 0..from_environment("PLUGIN_MUTANTS", 20_000) {
        let (array, original) = random.pick(&originals);
        let mut bad = original.clone();
        for _ in 0..1 + random.below(4) {
            // The header is damaged less often than the streams.
            let from = if random.one_in(6) { 0 } else { 32 };
            let at = from + random.below(bad.len() - from);
            match random.below(4) {
                0 => bad[at] ^= 1 << random.below(8),
                1 => bad[at] = *random.pick(&[0, 1, 0x28, 0x40, 0x7f, 0x80, 0xc0, 0xe0, 0xff]),
                _ => bad[at] = random.byte(),
            }
        }
        if random.one_in(5) {
            let len = random.below(bad.len());
            bad.truncate(len);
        }
        let len = bad.len();
        let chunk = input.last_bytes(len);
        chunk.copy_from_slice(&bad);
        let mut params = dparams(if mutant % 64 == 0 { 3 } else { 1 });
        params.schunk = array.fields().sc.cast();
        let mut context = OwnedContext::for_decompression(ours, params);
        let dest = output.last_bytes(nbytes);
        let rc = context.decompress(chunk, dest);
        assert!(rc <= nbytes as i32, "mutant {mutant}: {rc}");
        decoded += u64::from(rc > 0);
        let count = 1 + random.below(40);
        let dest = output.last_bytes(count * typesize as usize);
        let rc = context.getitem(chunk, random.below(800) as i32, count as i32, dest);
        assert!(rc <= (64 << 10), "mutant {mutant}: {rc}");
    }
    assert!(decoded > 0, "nothing was decoded");
}

#[test]
fn damaged_ndlz_4_chunks_give_an_error_or_a_whole_result() {
    read_damaged_chunks(NDLZ, 4, &[], 1);
}

#[test]
fn damaged_ndlz_8_chunks_give_an_error_or_a_whole_result() {
    read_damaged_chunks(NDLZ, 8, &[], 1);
}

#[test]
fn damaged_zfp_accuracy_chunks_give_an_error_or_a_whole_result() {
    read_damaged_chunks(ZFP_ACC, 0xfd, &[], 4);
}

#[test]
fn damaged_zfp_precision_chunks_give_an_error_or_a_whole_result() {
    read_damaged_chunks(ZFP_PREC, 12, &[], 8);
}

#[test]
fn damaged_zfp_rate_chunks_give_an_error_or_a_whole_result() {
    read_damaged_chunks(ZFP_RATE, 40, &[], 4);
}

#[test]
fn damaged_chunks_of_filters_give_an_error_or_a_whole_result() {
    read_damaged_chunks(1, 0, &[(NDCELL, 3), (BYTEDELTA, 0)], 4);
    read_damaged_chunks(0, 0, &[(NDMEAN, 3), (SHUFFLE, 0)], 8);
    read_damaged_chunks(5, 0, &[(SHUFFLE, 0), (BYTEDELTA_BUGGY, 0)], 2);
    read_damaged_chunks(4, 0, &[(INT_TRUNC, 5), (NDCELL, 2)], 2);
}
