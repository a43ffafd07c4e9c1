//! Chunks of instrumentation records (chunk.md 1.18, 10.19, codecs.md 18.14).

use blosc2::abi::{CBool, blosc2_cparams, blosc2_instr};

use crate::checks::{
    CODECS, assert_all_decode, assert_items_in_all_contexts, assert_ours_decodes, data, ours,
};
use crate::support::calls::{BYTE_ORDER_FLAG, Header, OwnedContext, Params, with_destination};
use crate::support::data::Data;

fn instrumented_cparams(params: &Params) -> blosc2_cparams {
    let mut cparams = params.cparams();
    cparams.instr_codec = CBool::TRUE;
    cparams
}

/// Returns the chunk, or an error code; 0 if it does not fit.
fn compress(params: &Params, src: &[u8], destsize: usize) -> Result<Vec<u8>, i32> {
    let mut context = OwnedContext::for_compression(ours(), instrumented_cparams(params)).expect("a context");
    let (rc, mut dest) = with_destination(destsize, |dest| context.compress(src, dest));
    if rc <= 0 {
        return Err(rc);
    }
    dest.truncate(rc as usize);
    Ok(dest)
}

fn decode_records(chunk: &[u8]) -> Vec<blosc2_instr> {
    let nbytes = Header::parse(chunk).nbytes as usize;
    let decoded = crate::support::calls::decompress(ours(), 1, chunk, nbytes).expect("records");
    assert_ours_decodes(chunk, &decoded);
    if crate::support::library::Library::reference().is_some() {
        assert_all_decode(chunk, &decoded);
    }
    let word = |bytes: &[u8], at: usize| bytes[at..at + 4].try_into().expect("four bytes");
    let record = |bytes: &[u8]| blosc2_instr {
        cratio: f32::from_ne_bytes(word(bytes, 0)),
        cspeed: f32::from_ne_bytes(word(bytes, 4)),
        filter_speed: f32::from_ne_bytes(word(bytes, 8)),
        flags: word(bytes, 12),
    };
    decoded.chunks_exact(16).map(record).collect()
}

/// Uncompressed chunks have no records: decompression returns the data.
#[test]
fn chunk_10_19_plain_chunks_are_not_instrumented() {
    let noise = data(Data::Noise, 4, 5000);
    for codec in CODECS {
        for nthreads in [1, 4] {
            for (clevel, nbytes) in [(0, 5000), (5, 31), (5, 0), (5, 1), (0, 31)] {
                let params =
                    Params { codec, clevel, nthreads, typesize: 4, blocksize: 1000, ..Params::default() };
                let src = &noise[..nbytes];
                for destsize in [nbytes + 32, nbytes + 5000] {
                    let chunk = compress(&params, src, destsize).expect("it fits");
                    let header = Header::parse(&chunk);
                    assert_eq!(
                        (header.blosc2_flags, header.nbytes),
                        (BYTE_ORDER_FLAG, nbytes as i32),
                        "{params:?}"
                    );
                    assert_all_decode(&chunk, src);
                    assert_items_in_all_contexts(&chunk, src);
                }
            }
        }
    }
}

/// The header and the number of records (codecs.md 16).
#[test]
fn chunk_10_19_header_and_number_of_records_are_as_documented() {
    let src = data(Data::SmoothFloats, 4, 5000);
    let params = Params { codec: 1, typesize: 4, blocksize: 1000, ..Params::default() };
    let chunk = compress(&params, &src, 100_000).expect("a chunk");
    let mut expected =
        crate::support::hex("050125044001000040000000c401000000000000000101000000000000000080");
    expected[31] |= BYTE_ORDER_FLAG;
    assert_eq!(chunk[..32], expected);
    assert_eq!((chunk.len(), decode_records(&chunk).len()), (452, 20));
    let params = Params { splitmode: 2, ..params };
    let chunk = compress(&params, &src[..4600], 100_000).expect("a chunk");
    let header = Header::parse(&chunk);
    assert_eq!((chunk.len(), header.nbytes, header.blocksize), (152, 80, 16));
    assert_eq!(decode_records(&chunk).len(), 5);
}

#[test]
fn chunk_10_19_records_contain_the_cratio_of_each_stream() {
    let mut src = data(Data::Noise, 4, 4000);
    // Of the second block, every first byte of an item is zero, every second one 9.
    for item in src[1000..2000].chunks_exact_mut(4) {
        item[..2].copy_from_slice(&[0, 9]);
    }
    for codec in CODECS {
        for nthreads in [1, 4] {
            let params =
                Params { codec, nthreads, splitmode: 1, typesize: 4, blocksize: 1000, ..Params::default() };
            let records = decode_records(&compress(&params, &src, 100_000).expect("a chunk"));
            assert_eq!(records.len(), 16);
            for (at, record) in records.iter().enumerate() {
                let expected = match at {
                    4 => (250.0 / 4.0, 1),
                    5 => (250.0 / 5.0, 1),
                    // Noise: stored uncompressed, preceded by its length.
                    _ => (250.0 / 254.0, 0),
                };
                assert_eq!((record.cratio, record.flags), (expected.0, [expected.1, 0, 0, 0]), "{at}");
                assert!(at == 4 || at == 5 || record.cspeed > 0.0, "{at}: {record:?}");
            }
        }
    }
}

/// Every destination size is safe: `with_destination` checks the bytes behind it.
#[test]
fn codecs_18_14_any_destination_size_is_safe() {
    for kind in [Data::Noise, Data::Text, Data::Zeros, Data::Constant] {
        let src = data(kind, 4, 6000);
        for codec in CODECS {
            for nthreads in [1, 4] {
                let params = Params { codec, nthreads, typesize: 4, blocksize: 1000, ..Params::default() };
                let full = compress(&params, &src, 100_000).expect("a chunk");
                let count = decode_records(&full).len();
                assert_eq!(full.len(), 32 + 4 * 6 + 20 * count);
                for destsize in
                    (32..full.len() + 10).step_by(3).chain([full.len() - 1, full.len(), 6031, 6032])
                {
                    match compress(&params, &src, destsize) {
                        Ok(chunk) if destsize >= full.len() => {
                            assert_eq!(decode_records(&chunk).len(), count)
                        }
                        // Too small for the records, large enough for the data.
                        Ok(chunk) => assert_all_decode(&chunk, &src),
                        Err(code) => assert!(code == 0 && destsize < full.len(), "{destsize}: {code}"),
                    }
                }
            }
        }
    }
}

/// The flag affects neither the next compression of another context (chunk.md 10.8) nor that of this context.
#[test]
fn chunk_10_19_instrumented_flag_does_not_affect_the_next_chunk() {
    let src = data(Data::Noise, 4, 5000);
    let params = Params { typesize: 4, blocksize: 1000, ..Params::default() };
    let mut context =
        OwnedContext::for_compression(ours(), instrumented_cparams(&params)).expect("a context");
    for (nbytes, flag) in [(5000, 0x80), (20, 0), (5000, 0x80), (0, 0), (5000, 0x80)] {
        let (rc, dest) = with_destination(100_000, |dest| context.compress(&src[..nbytes], dest));
        assert!(rc > 0);
        assert_eq!(dest[0x1F], flag | BYTE_ORDER_FLAG, "{nbytes} bytes");
        assert!(context.cparams().instr_codec.get());
    }
}
