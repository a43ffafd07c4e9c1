//! User-defined codecs: their arguments, and the handling of their return values (codecs.md 14.1 and 19.11, chunk.md
//! 10.26, codecs.md 18.13).

use std::ffi::{c_int, c_void};
use std::sync::{Mutex, Once};

use blosc2::abi::{blosc2_codec, blosc2_cparams, blosc2_dparams};

use crate::checks::{assert_ours_decodes, compressed, data, large_destsize, ours, pipeline};
use crate::support::calls::{
    Header, OwnedContext, Params, compress, decompress, dparams, getitem, vlcompress, with_destination,
};
use crate::support::data::Data;

/// A codec whose behaviour depends on its meta byte.
const CODEC: u8 = 170;
/// A codec that records its arguments.
const RECORDING_CODEC: u8 = 171;

const RAW: u8 = 0;
const EXACTLY_AS_LONG: u8 = 1;
const TOO_LONG: u8 = 2;
const MINUS_1: u8 = 3;
const MINUS_35: u8 = 4;
const THREE_BYTES: u8 = 5;

unsafe extern "C" fn encode(
    _: *const u8,
    len: i32,
    output: *mut u8,
    room: i32,
    meta: u8,
    _: *mut blosc2_cparams,
    _: *const c_void,
) -> c_int {
    match meta {
        RAW => 0,
        EXACTLY_AS_LONG => len,
        TOO_LONG => room + 1,
        MINUS_1 => -1,
        MINUS_35 => -35,
        _ => {
            assert!(room >= 3);
            // SAFETY: the library passes `room` writable bytes.
            unsafe { output.copy_from_nonoverlapping([0xC0, 5, 0xDE].as_ptr(), 3) };
            3
        }
    }
}

/// The third byte of the stream selects the return value: too large, too small, or an error.
unsafe extern "C" fn decode(
    input: *const u8,
    len: i32,
    output: *mut u8,
    room: i32,
    _: u8,
    _: *mut blosc2_dparams,
    _: *const c_void,
) -> c_int {
    assert_eq!(len, 3);
    // SAFETY: the library passes `len` readable and `room` writable bytes.
    let kind = unsafe {
        output.write_bytes(b'x', room as usize);
        *input.add(2)
    };
    match kind {
        0xDE => room,
        1 => room - 1,
        2 => room + 1,
        3 => 0,
        4 => -1,
        _ => -35,
    }
}

/// The arguments of an encoder or decoder call.
#[derive(Clone, Debug, PartialEq)]
struct CodecArgs {
    input: usize,
    len: i32,
    room: i32,
    meta: u8,
    chunk: usize,
}

static ENCODER_CALLS: Mutex<Vec<(CodecArgs, SendParams)>> = Mutex::new(Vec::new());
static DECODER_CALLS: Mutex<Vec<(CodecArgs, RecordedDparams)>> = Mutex::new(Vec::new());
static TEST_LOCK: Mutex<()> = Mutex::new(());

#[derive(Clone, Copy)]
struct SendParams(blosc2_cparams);
// SAFETY: the pointers inside are only compared.
unsafe impl Send for SendParams {}

#[allow(non_camel_case_types)]
type RecordedDparams = (i16, usize, i32);

unsafe extern "C" fn encode_and_record(
    input: *const u8,
    len: i32,
    output: *mut u8,
    room: i32,
    meta: u8,
    cparams: *mut blosc2_cparams,
    chunk: *const c_void,
) -> c_int {
    let args = CodecArgs { input: input.addr(), len, room, meta, chunk: chunk.addr() };
    // SAFETY: the library passes a valid struct, and `room` writable bytes.
    unsafe {
        ENCODER_CALLS.lock().expect("the list").push((args, SendParams(*cparams)));
        output.copy_from_nonoverlapping([0xC0, 5, 0xDE].as_ptr(), 3);
    }
    3
}

unsafe extern "C" fn decode_and_record(
    input: *const u8,
    len: i32,
    output: *mut u8,
    room: i32,
    meta: u8,
    dparams: *mut blosc2_dparams,
    chunk: *const c_void,
) -> c_int {
    let args = CodecArgs { input: input.addr(), len, room, meta, chunk: chunk.addr() };
    // SAFETY: the library passes a valid struct, and `room` writable bytes.
    unsafe {
        let d = &*dparams;
        DECODER_CALLS.lock().expect("the list").push((args, (d.nthreads, d.schunk.addr(), d.typesize)));
        output.write_bytes(b'x', room as usize);
    }
    room
}

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (id, name, encoder, decoder) in [
            (CODEC, c"upstream_defects", Some(encode as _), Some(decode as _)),
            (RECORDING_CODEC, c"telltale", Some(encode_and_record as _), Some(decode_and_record as _)),
        ] {
            let mut codec = blosc2_codec {
                compcode: id,
                compname: name.as_ptr().cast_mut(),
                complib: id,
                version: 9,
                encoder,
                decoder,
            };
            // SAFETY: a valid struct with a static name and functions that follow the contract.
            assert_eq!(unsafe { (ours().blosc2_register_codec)(&mut codec) }, 0);
        }
    });
}

fn params(meta: u8, nthreads: i16) -> Params {
    Params {
        codec: CODEC,
        codec_meta: meta,
        nthreads,
        typesize: 4,
        blocksize: 40_000,
        filters: [0; 6],
        ..Params::default()
    }
}

/// Check 11: each return value of an encoder.
#[test]
fn codecs_19_11_each_encoder_result_gives_a_chunk_or_an_error() {
    register();
    let src = data(Data::Noise, 4, 150_000);
    for nthreads in [1, 4] {
        for splitmode in [1, 2] {
            let params = |meta| Params { splitmode, ..params(meta, nthreads) };
            let nstreams = if splitmode == 1 { 3 * 4 + 1 } else { 4 };
            for meta in [RAW, EXACTLY_AS_LONG] {
                let chunk = compressed(&params(meta), &src);
                assert_eq!(chunk.len(), 32 + 16 + 4 * nstreams + src.len(), "raw streams");
                let header = Header::parse(&chunk);
                assert_eq!((header.versionlz, header.udcompcode, header.compcode_meta), (9, CODEC, meta));
                assert_ours_decodes(&chunk, &src);
                // The stream does not fit: the chunk is stored uncompressed, with the flags of the attempt.
                let chunk = compress(ours(), &params(meta), &src, src.len() + 32).expect("a plain chunk");
                let expected = if splitmode == 1 { 0xC7 } else { 0xD7 };
                assert_eq!((chunk[2], chunk.len()), (expected, src.len() + 32));
                assert_ours_decodes(&chunk, &src);
            }
            for destsize in [src.len() + 32, large_destsize(src.len())] {
                assert_eq!(compress(ours(), &params(TOO_LONG), &src, destsize), Err(-6));
                assert_eq!(compress(ours(), &params(MINUS_1), &src, destsize), Err(-3));
                assert_eq!(compress(ours(), &params(MINUS_35), &src, destsize), Err(-3));
            }
            let chunk = compressed(&params(THREE_BYTES), &src);
            assert_eq!(chunk.len(), 32 + 16 + 7 * nstreams);
            assert_ours_decodes(&chunk, &vec![b'x'; src.len()]);
        }
    }
}

/// Every return value of a decoder except the full length is an error.
#[test]
fn codecs_19_11_decoder_results_other_than_the_length_are_errors() {
    register();
    let src = data(Data::Noise, 4, 150_000);
    for nthreads in [1, 4] {
        let chunk = compressed(&Params { splitmode: 2, ..params(THREE_BYTES, nthreads) }, &src);
        for kind in [1, 2, 3, 4, 5] {
            let mut bad = chunk.clone();
            // The third byte of the second stream.
            bad[32 + 16 + 7 + 6] = kind;
            assert_eq!(decompress(ours(), nthreads, &bad, src.len()), Err(-3), "{kind}");
            assert_eq!(getitem(ours(), nthreads, &bad, 10_001, 5, 20), Err(-3), "{kind}");
            assert_eq!(getitem(ours(), nthreads, &bad, 1, 5, 20), Ok(vec![b'x'; 20]), "another block");
        }
    }
}

fn take_list<T>(list: &Mutex<Vec<T>>) -> Vec<T> {
    std::mem::take(&mut *list.lock().expect("the list"))
}

/// The arguments of an encoder: lengths and number of streams, addresses, and all parameters, none uninitialised.
#[test]
fn chunk_10_26_codecs_18_13_codecs_get_streams_and_all_parameters() {
    register();
    let _one = TEST_LOCK.lock();
    let src = data(Data::Noise, 4, 4000);
    let marker = |n: usize| std::ptr::without_provenance_mut::<c_void>(0x1000 + n);
    // 4000 bytes in blocks of 1500: 3 streams unsplit, 2 * 4 + 1 split.
    for (splitmode, expected) in [(2, vec![1500, 1500, 1000]), (1, [vec![375; 8], vec![1000]].concat())] {
        let params = Params { codec: RECORDING_CODEC, blocksize: 1500, splitmode, ..params(0x42, 1) };
        let mut cparams = params.cparams();
        cparams.codec_params = marker(1);
        cparams.filter_params = [2, 3, 4, 5, 6, 7].map(marker);
        cparams.filters_meta = [9, 8, 7, 6, 5, 4];
        let mut context = OwnedContext::for_compression(ours(), cparams).expect("a context");
        let (rc, dest) = with_destination(100_000, |dest| context.compress(&src, dest));
        assert!(rc > 0, "{rc}");
        let calls = take_list(&ENCODER_CALLS);
        assert_eq!(calls.iter().map(|(args, _)| args.len).collect::<Vec<_>>(), expected);
        let mut at = src.as_ptr().addr();
        for (args, SendParams(c)) in &calls {
            // Without filters the stream points into the source.
            assert_eq!((args.input, args.chunk, args.meta), (at, src.as_ptr().addr(), 0x42));
            assert_eq!(args.room, args.len);
            at += args.len as usize;
            assert_eq!((c.compcode, c.compcode_meta, c.clevel, c.use_dict), (RECORDING_CODEC, 0x42, 5, 0));
            assert_eq!((c.typesize, c.nthreads, c.blocksize, c.splitmode), (4, 1, 1500, splitmode));
            assert_eq!((c.filters, c.filters_meta), ([0; 6], [9, 8, 7, 6, 5, 4]));
            assert!(c.schunk.is_null() && c.prefilter.is_none() && c.preparams.is_null());
            assert!(c.tuner_id == 0 && !c.instr_codec.get() && c.codec_params == marker(1));
            // The reference leaves these uninitialised.
            assert!(c.tuner_params.is_null() && c.filter_params == [2, 3, 4, 5, 6, 7].map(marker));
        }
        // The same for the decoder.
        let mut given = dparams(1);
        given.schunk = std::ptr::null_mut();
        let mut reader = OwnedContext::for_decompression(ours(), given);
        let chunk = &dest[..rc as usize];
        let (rc, _) = with_destination(4000, |dest| reader.decompress(chunk, dest));
        assert_eq!(rc, 4000);
        let calls = take_list(&DECODER_CALLS);
        assert_eq!(calls.iter().map(|(args, _)| args.room).collect::<Vec<_>>(), expected);
        for (args, dparams) in &calls {
            assert_eq!((args.len, args.meta, args.chunk), (3, 0x42, chunk.as_ptr().addr()));
            assert!((args.chunk..args.chunk + chunk.len()).contains(&args.input));
            assert_eq!(*dparams, (1, 0, 4));
        }
    }
}

/// A filtered stream is in another buffer; wide items count as single bytes; the level is passed on.
#[test]
fn codecs_14_1_encoder_gets_filtered_streams_and_effective_parameters() {
    register();
    let _one = TEST_LOCK.lock();
    let src = data(Data::Noise, 4, 4000);
    let params = Params {
        codec: RECORDING_CODEC,
        typesize: 300,
        blocksize: 1200,
        clevel: 9,
        filters: pipeline(&[1]),
        ..params(1, 4)
    };
    compressed(&params, &src);
    let calls = take_list(&ENCODER_CALLS);
    assert_eq!(calls.len(), 4);
    for (args, SendParams(c)) in &calls {
        assert!(!(src.as_ptr().addr()..src.as_ptr().addr() + 4000).contains(&args.input));
        assert_eq!((c.typesize, c.blocksize, c.nthreads, c.clevel), (1, 1200, 4, 9));
    }
    // Not called for runs, for level 0 and for streams shorter than 32 bytes.
    for (params, src) in [
        (params.clone(), vec![5u8; 4000]),
        (Params { clevel: 0, ..params.clone() }, src.clone()),
        (params.clone(), src[..31].to_vec()),
    ] {
        compressed(&params, &src);
        assert!(take_list(&ENCODER_CALLS).is_empty());
    }
    // Always called for variable-length blocks, which have no single source.
    let blocks = [vec![5u8; 100], src[..31].to_vec(), vec![0; 4], src];
    for clevel in [0, 5] {
        let params = Params { clevel, filters: [0; 6], nthreads: 1, ..params.clone() };
        let chunk = vlcompress(ours(), &params, &blocks, 10_000).expect("a chunk");
        let calls = take_list(&ENCODER_CALLS);
        let lens: Vec<_> = calls.iter().map(|(args, _)| (args.len, args.chunk)).collect();
        assert_eq!(lens, [(100, 0), (31, 0), (4, 0), (4000, 0)]);
        let mut reader = OwnedContext::for_decompression(ours(), dparams(1));
        let decoded = reader.vldecompress(&chunk, 4).expect("blocks");
        assert!(decoded.iter().zip(&blocks).all(|(got, block)| *got == vec![b'x'; block.len()]));
        assert!(take_list(&DECODER_CALLS).iter().all(|(args, _)| args.chunk == chunk.as_ptr().addr()));
    }
    // The block size passed to a codec is the effective one of the current chunk.
    compressed(
        &Params { codec: RECORDING_CODEC, blocksize: 2000, ..self::params(0, 1) },
        &data(Data::Noise, 4, 1003),
    );
    let calls = take_list(&ENCODER_CALLS);
    assert!(calls.iter().all(|(_, SendParams(c))| c.blocksize == 1000), "{:?}", calls.len());
}

/// A chunk of a user-defined codec that has no functions: its meta, version and runs.
#[test]
fn codecs_14_1_codec_without_functions_fails_only_when_needed() {
    let mut codec = blosc2_codec {
        compcode: 172,
        compname: c"no such plugin".as_ptr().cast_mut(),
        complib: 172,
        version: 3,
        encoder: None,
        decoder: None,
    };
    // SAFETY: a valid struct with a static name.
    assert_eq!(unsafe { (ours().blosc2_register_codec)(&mut codec) }, 0);
    let src = data(Data::Noise, 4, 4000);
    let params = Params { codec: 172, ..params(0, 1) };
    assert_eq!(compress(ours(), &params, &src, 10_000), Err(-7));
    assert_ours_decodes(&compressed(&params, &[7; 4000]), &[7; 4000]);
    register();
    let mut chunk = compressed(&self::params(THREE_BYTES, 1), &src);
    chunk[0x16] = 172;
    assert_eq!(decompress(ours(), 1, &chunk, 4000), Err(-7));
}
