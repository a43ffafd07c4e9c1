//! Rejected inputs and their return codes: invalid parameters, truncated chunks, headers that violate one rule.

use crate::CODECS;
use crate::support::calls::{
    OwnedContext, Params, Special, compress, decompress, dparams, getitem, special_chunk, with_destination,
};
use crate::support::data::Data;
use crate::support::random::Random;

/// Inputs that the compressor rejects (chunk.md 3.1, 3.12), with the code and whether the reference returns it too.
#[test]
fn invalid_compression_arguments_return_the_documented_codes() {
    let src = vec![7u8; 5000];
    let noise = Random::new(8).bytes(5000);
    let base = Params::default;
    type Case<'a> = (&'a str, Params, &'a [u8], usize, Result<(), i32>);
    let cases: Vec<Case> = vec![
        ("clevel 10", Params { clevel: 10, ..base() }, &src, 6000, Err(-8)),
        ("clevel 255", Params { clevel: 255, ..base() }, &src, 6000, Err(-8)),
        ("destsize 31", base(), &src, 31, Err(-35)),
        ("destsize 0", base(), &src, 0, Err(-35)),
        ("typesize beyond the limit", Params { typesize: 536_866_817, ..base() }, &src, 6000, Err(-12)),
        ("largest typesize", Params { typesize: 536_866_816, ..base() }, &src, 50_000, Ok(())),
        ("dictionary with blosclz", Params { use_dict: true, ..base() }, &src, 16_000, Err(-8)),
        (
            "dictionary with blosclz, level 0",
            Params { use_dict: true, clevel: 0, ..base() },
            &src,
            16_000,
            Err(-8),
        ),
        ("dictionary with zlib", Params { use_dict: true, codec: 4, ..base() }, &src, 16_000, Err(-8)),
        ("unknown codec 3, noise", Params { codec: 3, ..base() }, &noise, 16_000, Err(-7)),
        ("unknown codec 31, noise", Params { codec: 31, ..base() }, &noise, 16_000, Err(-7)),
        ("unknown codec 200, noise", Params { codec: 200, ..base() }, &noise, 16_000, Err(-7)),
        ("unknown codec 200, constant", Params { codec: 200, ..base() }, &src, 16_000, Ok(())),
        ("unknown codec 99, level 0", Params { codec: 99, clevel: 0, ..base() }, &noise, 16_000, Ok(())),
        ("unknown codec 99, 31 bytes", Params { codec: 99, ..base() }, &noise[..31], 16_000, Ok(())),
        (
            "unregistered filter 200",
            Params { filters: [200, 0, 0, 0, 0, 0], ..base() },
            &noise,
            16_000,
            Err(-18),
        ),
        (
            "trunc_prec of typesize 2",
            Params { typesize: 2, filters: [4, 0, 0, 0, 0, 0], filters_meta: [3; 6], ..base() },
            &noise,
            16_000,
            Err(-18),
        ),
        (
            "trunc_prec of 0 bits",
            Params { typesize: 4, filters: [4, 0, 0, 0, 0, 0], ..base() },
            &noise,
            16_000,
            Err(-18),
        ),
        (
            "trunc_prec of 24 bits",
            Params { typesize: 4, filters: [4, 0, 0, 0, 0, 0], filters_meta: [24; 6], ..base() },
            &noise,
            16_000,
            Err(-18),
        ),
        (
            "trunc_prec of 23 bits",
            Params { typesize: 4, filters: [4, 0, 0, 0, 0, 0], filters_meta: [23; 6], ..base() },
            &noise,
            16_000,
            Ok(()),
        ),
    ];
    for library in crate::support::all_libraries() {
        for (name, params, src, destsize, expected) in &cases {
            if library.is_reference() && *name == "largest typesize" {
                // The scratch size overflows in the reference, and it crashes.
                continue;
            }
            let got = compress(library, params, src, *destsize);
            assert_eq!(got.as_ref().map(|_| ()).map_err(|code| *code), *expected, "{}: {name}", library.name);
        }
        // Context creation: unknown filters and tuners.
        for id in 0..=255u8 {
            let cparams = Params { filters: [0, 0, id, 0, 0, 0], ..base() }.cparams();
            let accepted = OwnedContext::for_compression(library, cparams).is_some();
            let expected = !matches!(id, 5..=31 | 37..=159);
            assert_eq!(accepted, expected, "{}: context with filter {id}", library.name);
        }
        let mut cparams = base().cparams();
        cparams.tuner_id = 200;
        assert!(OwnedContext::for_compression(library, cparams).is_none(), "{}: tuner 200", library.name);

        // The wrong kind of context.
        let mut reader = OwnedContext::for_decompression(library, dparams(1));
        assert_eq!(with_destination(6000, |dest| reader.compress(&src, dest)).0, -12);
        let chunk = compress(library, &base(), &src, 6000).expect("a chunk");
        let mut writer = OwnedContext::for_compression(library, base().cparams()).expect("a context");
        assert_eq!(with_destination(6000, |dest| writer.decompress(&chunk, dest)).0, -12);
        // Thread numbers below one select serial execution.
        for nthreads in [0, -1, -5] {
            let params = Params { nthreads, typesize: 4, blocksize: 512, ..base() };
            let chunk = compress(library, &params, &noise, 16_000).expect("a chunk");
            assert_eq!(decompress(library, nthreads, &chunk, 5000).as_deref(), Ok(&noise[..]));
        }
    }
}

/// Chunks truncated to every length: the same code from both, and no byte read past the end.
#[test]
fn truncated_chunks_return_the_codes_of_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(10);
    let src = Data::Text.generate(random, 4, 1000);
    for codec in CODECS {
        for (clevel, blocksize) in [(0, 0), (5, 0), (5, 128)] {
            let params = Params { codec, clevel, blocksize, typesize: 4, ..Params::default() };
            let chunk = compress(reference, &params, &src, 5000).expect("a chunk");
            let mut guarded = crate::support::guard::GuardedBuffer::new(chunk.len());
            for len in 0..chunk.len() {
                let cut = guarded.last_bytes(len);
                cut.copy_from_slice(&chunk[..len]);
                let what = format!("{len} bytes of {}: {params:?}", chunk.len());
                let mine = decompress(ours, 1, cut, src.len());
                assert_eq!(mine, decompress(reference, 1, cut, src.len()), "{what}");
                assert!(mine.is_err(), "{what}");
                let mine = getitem(ours, 1, cut, 3, 40, 160);
                assert_eq!(mine, getitem(reference, 1, cut, 3, 40, 160), "getitem: {what}");
            }
        }
    }
}

/// The header rules of chunk.md 2.1 and 2.2 one by one: our library returns the code stated there, and so does the
/// reference wherever it has the rule.
#[test]
fn header_rule_violations_return_the_documented_codes() {
    let libraries = crate::support::all_libraries();
    let src: Vec<u8> = (0..40u32).flat_map(u32::to_le_bytes).collect();
    let params = Params { codec: 1, typesize: 4, blocksize: 128, ..Params::default() };
    let zeros = special_chunk(libraries[0], &params, Special::Zeros, 160, 32).expect("zeros");
    let value = special_chunk(libraries[0], &params, Special::Value(&[1, 2, 3, 4]), 160, 36).expect("value");
    let plain = compress(libraries[0], &Params { clevel: 0, ..params.clone() }, &src, 500).expect("plain");
    let regular = compress(libraries[0], &params, &src, 500).expect("regular");
    let word = |value: i32| value.to_le_bytes().to_vec();
    enum RuleOwner {
        /// Rules that the reference lacks (chunk.md 2.4).
        Ours,
        /// The reference's `getitem` lacks the rule and returns the item (chunk.md 2.4).
        OursInItems,
        Both,
    }
    use RuleOwner::{Both, Ours, OursInItems};
    /// Name, chunk, changed bytes, code of decompress, code of getitem(0, 1), and the library that has the rule.
    type Case<'a> = (&'a str, &'a [u8], Vec<(usize, Vec<u8>)>, i32, i32, RuleOwner);
    #[rustfmt::skip]
    let cases: Vec<Case> = vec![
        ("unchanged", &regular, vec![], 160, 4, Both),
        ("cbytes 15", &regular, vec![(12, word(15))], -11, -11, Both),
        ("cbytes 31", &regular, vec![(12, word(31))], -11, -11, Both),
        ("cbytes negative", &regular, vec![(12, word(-1))], -11, -11, Both),
        ("cbytes beyond the source", &regular, vec![(12, word(10_000))], -11, -11, Both),
        ("blocksize 0", &regular, vec![(8, word(0))], -11, -11, Both),
        ("blocksize negative", &regular, vec![(8, word(-128))], -11, -11, Both),
        ("blocksize beyond the limit", &regular, vec![(8, word(536_866_817))], -11, -11, Both),
        ("typesize 0", &regular, vec![(3, vec![0])], -11, -11, Both),
        ("nbytes beyond the destination", &regular, vec![(4, word(161))], -6, 4, Both),
        ("nbytes negative", &regular, vec![(4, word(-160))], -11, -11, Ours),
        ("variable-length and special", &zeros, vec![(0x1E, vec![1])], -11, -11, Both),
        ("variable-length and memcpyed", &plain, vec![(0x1E, vec![1])], -11, -11, Both),
        ("version 7 with unknown flags", &regular, vec![(0, vec![7]), (0x1E, vec![2])], -10, -10, Both),
        ("version 7 without", &regular, vec![(0, vec![7])], 160, 4, Both),
        ("version 255", &regular, vec![(0, vec![255])], 160, 4, Both),
        ("version 0", &regular, vec![(0, vec![0])], 160, 4, Both),
        ("version 5 with unknown flags", &regular, vec![(0x1E, vec![0xFE])], 160, 4, Both),
        ("versionlz 99", &regular, vec![(1, vec![99])], 160, 4, Both),
        ("special 5", &zeros, vec![(0x1F, vec![0x50])], -3, -29, Both),
        ("special 7", &zeros, vec![(0x1F, vec![0x70])], -3, -29, Both),
        ("NaN of typesize 2", &zeros, vec![(0x1F, vec![0x20]), (3, vec![2])], -3, -3, Both),
        ("NaN not a multiple", &zeros, vec![(0x1F, vec![0x20]), (4, word(158))], -11, -11, Both),
        ("value without a value", &value, vec![(12, word(32))], -11, -11, Both),
        ("value not a multiple", &value, vec![(4, word(158))], -11, -11, Both),
        ("value wider than the data", &value, vec![(4, word(2))], -11, -11, Both),
        ("memcpyed, cbytes too small", &plain, vec![(12, word(191))], -3, -3, OursInItems),
        ("memcpyed, nbytes too small", &plain, vec![(4, word(156))], -3, -3, OursInItems),
        ("memcpyed zeros", &zeros, vec![(2, vec![7])], -3, -3, OursInItems),
        ("dictionary of 0 bytes", &regular, vec![(0x1F, vec![1]), (40, word(0))], -9, -9, Ours),
        ("dictionary of -1 bytes", &regular, vec![(0x1F, vec![1]), (40, word(-1))], -9, -9, Ours),
        ("dictionary of 32769 bytes", &regular, vec![(0x1F, vec![1]), (40, word(32_769))], -9, -9, Ours),
        ("dictionary beyond the source", &regular, vec![(0x1F, vec![1]), (40, word(32_768))], -5, -5, Ours),
        ("dictionary flag on memcpyed", &plain, vec![(0x1F, vec![1])], 160, 4, Ours),
        ("dictionary flag on zeros", &zeros, vec![(0x1F, vec![0x11])], 160, 4, Ours),
        ("first block at 0", &regular, vec![(32, word(0))], -3, -3, Both),
        ("first block negative", &regular, vec![(32, word(-5))], -3, -3, Both),
        ("first block at the end", &regular, vec![(32, word(124))], -3, -3, Both),
        ("first block near the end", &regular, vec![(32, word(122))], -5, -5, Both),
        ("csize smallest", &regular, vec![(40, word(i32::MIN))], -17, -17, Both),
        ("csize -256", &regular, vec![(40, word(-256)), (44, vec![1])], -17, -17, Both),
        ("csize -1, token 0", &regular, vec![(40, word(-1)), (44, vec![0])], -17, -17, Both),
        ("csize largest", &regular, vec![(40, word(i32::MAX))], -5, -5, Both),
        ("format 2", &regular, vec![(2, vec![0x45]), (40, word(31))], -7, -7, Both),
        ("format 5", &regular, vec![(2, vec![0xA5]), (40, word(31))], -7, -7, Both),
        ("format 7", &regular, vec![(2, vec![0xE5]), (40, word(31))], -7, -7, Both),
        ("unregistered codec", &regular, vec![(2, vec![0xC5]), (0x16, vec![222]), (40, word(31))], -7, -7, Both),
        ("reserved format, raw streams", &regular, vec![(2, vec![0x45])], 160, 4, Both),
        ("filter 5", &regular, vec![(0x15, vec![5])], -1, -1, Both),
        ("filter 31", &regular, vec![(0x15, vec![31])], -1, -1, Both),
        ("filter 37", &regular, vec![(0x15, vec![37])], -18, -18, Both),
        ("filter 200", &regular, vec![(0x15, vec![200])], -18, -18, Both),
        ("empty, cbytes 32", &regular, vec![(4, word(0)), (12, word(32))], 0, -12, Both),
        ("empty, streams left over", &regular, vec![(4, word(0))], 0, -12, Both),
        ("empty, delta", &regular, vec![(4, word(0)), (0x14, vec![3])], 0, -12, Both),
        ("lazy without a super-chunk", &regular, vec![(0x1F, vec![8])], -12, -12, Both),
    ];
    for (name, base, changes, decoded, item, only) in &cases {
        let mut chunk = base.to_vec();
        for (at, bytes) in changes {
            chunk[*at..*at + bytes.len()].copy_from_slice(bytes);
        }
        for library in &libraries {
            if library.is_reference() && matches!(only, Ours) {
                continue;
            }
            for nthreads in [1, 4] {
                let got = decompress(library, nthreads, &chunk, 160);
                let code = got.as_ref().map_or_else(|code| *code, |bytes| bytes.len() as i32);
                assert_eq!(code, *decoded, "{}: {name}, nthreads {nthreads}", library.name);
            }
            let got = getitem(library, 1, &chunk, 0, 1, 4);
            let code = got.as_ref().map_or_else(|code| *code, |bytes| bytes.len() as i32);
            let expected = if library.is_reference() && matches!(only, OursInItems) { 4 } else { *item };
            assert_eq!(code, expected, "{}: {name}, getitem", library.name);
        }
    }
}
