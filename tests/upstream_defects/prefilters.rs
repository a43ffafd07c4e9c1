//! Prefilters and postfilters: their arguments (chunk.md 3.10, 4.3), the number of calls, and the result if they
//! write only a part of their output (chunk.md 10.24, filters.md D8).

use std::ffi::{c_int, c_void};
use std::sync::Mutex;

use blosc2::abi::{CBool, blosc2_postfilter_params, blosc2_prefilter_params};

use crate::checks::{
    CODECS, assert_all_decode, assert_ours_decodes, compressed, data, large_destsize, ours, pipeline,
    postparams, preparams,
};
use crate::support::calls::{
    DEST_FILL_BYTE, Header, OwnedContext, Params, Special, dparams, special_chunk, vlcompress,
    with_destination,
};
use crate::support::data::Data;
use crate::support::library::Library;

/// The arguments of a prefilter call, with addresses as numbers.
#[derive(Clone, Debug, PartialEq)]
struct FilterCall {
    input: usize,
    output: usize,
    size: i32,
    typesize: i32,
    offset: i32,
    nchunk: i64,
    nblock: i32,
    tid: i32,
    ttmp: usize,
    ttmp_nbytes: usize,
    ctx: usize,
    zeroed: bool,
}

/// The behaviour of a callback of a test, and a record of its calls.
struct CallbackScript {
    calls: Mutex<Vec<FilterCall>>,
    /// Number of bytes of the output that are written, from its start.
    writes: fn(usize) -> usize,
    result: c_int,
}

impl CallbackScript {
    fn new() -> CallbackScript {
        CallbackScript { calls: Mutex::default(), writes: |size| size, result: 0 }
    }

    fn user_data(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    fn take_calls(&self) -> Vec<FilterCall> {
        std::mem::take(&mut *self.calls.lock().expect("the list"))
    }
}

/// Prefilter: inverts its input; without input, counts.
unsafe extern "C" fn inverting_prefilter(params: *mut blosc2_prefilter_params) -> c_int {
    // SAFETY: the library passes a valid struct with buffers of the stated size; `user_data` belongs to the test.
    unsafe {
        let p = &*params;
        let script = &*p.user_data.cast::<CallbackScript>();
        let output = std::slice::from_raw_parts_mut(p.output, p.output_size as usize);
        let zeroed = output.iter().all(|&byte| byte == 0);
        let source_is_null = p.input.addr() == p.output_offset as usize;
        let count = (script.writes)(output.len());
        for (i, byte) in output[..count].iter_mut().enumerate() {
            *byte = if source_is_null { (p.output_offset as usize + i) as u8 } else { !*p.input.add(i) };
        }
        // The scratch buffer may be written unless it is the output.
        if p.ttmp != p.output {
            p.ttmp.write_bytes(0x77, p.ttmp_nbytes);
        }
        script.calls.lock().expect("the list").push(FilterCall {
            input: p.input.addr(),
            output: p.output.addr(),
            size: p.output_size,
            typesize: p.output_typesize,
            offset: p.output_offset,
            nchunk: p.nchunk,
            nblock: p.nblock,
            tid: p.tid,
            ttmp: p.ttmp.addr(),
            ttmp_nbytes: p.ttmp_nbytes,
            ctx: p.ctx.addr(),
            zeroed,
        });
        script.result
    }
}

/// Postfilter: inverts its input.
unsafe extern "C" fn inverting_postfilter(params: *mut blosc2_postfilter_params) -> c_int {
    // SAFETY: as in `inverting_prefilter`.
    unsafe {
        let p = &*params;
        let script = &*p.user_data.cast::<CallbackScript>();
        for i in 0..p.size as usize {
            *p.output.add(i) = !*p.input.add(i);
        }
        if p.ttmp.cast_const() != p.input {
            p.ttmp.write_bytes(0x77, p.ttmp_nbytes);
        }
        script.calls.lock().expect("the list").push(FilterCall {
            input: p.input.addr(),
            output: p.output.addr(),
            size: p.size,
            typesize: p.typesize,
            offset: p.offset,
            nchunk: p.nchunk,
            nblock: p.nblock,
            tid: p.tid,
            ttmp: p.ttmp.addr(),
            ttmp_nbytes: p.ttmp_nbytes,
            ctx: p.ctx.addr(),
            zeroed: true,
        });
        script.result
    }
}

/// Creates a compression context with [`inverting_prefilter`]. The parameters are a local variable of this function:
/// the library must have copied them.
fn context_with_prefilter(
    params: &Params,
    script: &CallbackScript,
    change: impl FnOnce(&mut blosc2_prefilter_params),
) -> OwnedContext<'static> {
    let mut parameters = preparams();
    parameters.user_data = script.user_data();
    change(&mut parameters);
    let mut cparams = params.cparams();
    cparams.prefilter = Some(inverting_prefilter);
    cparams.preparams = &mut parameters;
    let context = OwnedContext::for_compression(ours(), cparams).expect("a context");
    std::hint::black_box(&mut parameters).user_data = std::ptr::null_mut();
    context
}

fn context_with_postfilter(nthreads: i16, script: &CallbackScript) -> OwnedContext<'static> {
    let mut parameters = postparams();
    parameters.user_data = script.user_data();
    let mut given = dparams(nthreads);
    given.postfilter = Some(inverting_postfilter);
    given.postparams = &mut parameters;
    let context = OwnedContext::for_decompression(ours(), given);
    std::hint::black_box(&mut parameters).user_data = std::ptr::null_mut();
    context
}

fn inverted(src: &[u8]) -> Vec<u8> {
    src.iter().map(|byte| !byte).collect()
}

fn params(nthreads: i16) -> Params {
    Params { nthreads, codec: 1, typesize: 4, blocksize: 16_000, ..Params::default() }
}

#[test]
fn chunk_3_10_prefilter_gets_one_call_per_block() {
    let src = data(Data::Ramp, 4, 100_002);
    for nthreads in [1, 4] {
        let script = CallbackScript::new();
        let mut context = context_with_prefilter(&params(nthreads), &script, |_| ());
        let (rc, dest) = with_destination(large_destsize(src.len()), |dest| context.compress(&src, dest));
        assert!(rc > 0 && !Header::parse(&dest).is_memcpyed(), "{rc}");
        assert_all_decode(
            &dest[..rc as usize],
            &inverted(&src[..100_000]).into_iter().chain([0, 0]).collect::<Vec<_>>(),
        );
        let mut all_calls = script.take_calls();
        all_calls.sort_by_key(|call| call.nblock);
        assert_eq!(all_calls.len(), 7);
        for (nblock, call) in all_calls.into_iter().enumerate() {
            let whole = nblock < 6;
            let expected = FilterCall {
                input: src.as_ptr().addr() + 16_000 * nblock,
                output: call.ttmp,
                // An incomplete item at the end does not count.
                size: if whole { 16_000 } else { 4000 },
                typesize: 4,
                offset: 16_000 * nblock as i32,
                nchunk: -1,
                nblock: nblock as i32,
                tid: call.tid,
                ttmp: call.ttmp,
                ttmp_nbytes: 4 * (16_000 + 16),
                ctx: context.raw().addr(),
                zeroed: true,
            };
            assert_eq!(call, expected);
            assert!((0..i32::from(nthreads)).contains(&call.tid));
        }
    }
}

/// A chunk that is stored uncompressed, decided at the start or at the end, contains the output of the prefilter,
/// which is called with its final destination.
#[test]
fn chunk_3_10_memcpyed_chunks_contain_the_prefilter_output() {
    let noise = data(Data::Noise, 4, 100_000);
    for nthreads in [1, 4] {
        // In the last case compression does not pay: each block is prefiltered once for the attempt, and once to be
        // stored.
        for (clevel, nbytes, calls) in [(0, 100_000, 7), (5, 24, 1), (5, 100_000, 14)] {
            let src = &noise[..nbytes];
            let script = CallbackScript::new();
            let mut context = context_with_prefilter(&Params { clevel, ..params(nthreads) }, &script, |_| ());
            let mut place = 0;
            let (rc, dest) = with_destination(nbytes + 32, |dest| {
                place = dest.as_ptr().addr();
                context.compress(src, dest)
            });
            assert!(rc == nbytes as i32 + 32 && Header::parse(&dest).is_memcpyed(), "{rc}");
            assert_all_decode(&dest, &inverted(src));
            let all_calls = script.take_calls();
            assert_eq!(all_calls.len(), calls);
            let in_place = all_calls.iter().filter(|call| call.output == place + 32 + call.offset as usize);
            assert_eq!(in_place.count(), if calls == 14 { 7 } else { calls });
            assert!(all_calls.iter().all(|call| call.zeroed && call.ttmp != 0));
        }
    }
}

#[test]
fn chunk_3_10_prefilter_can_generate_data_without_a_source() {
    let expected: Vec<u8> = (0..100_000).map(|i| i as u8).collect();
    for nthreads in [1, 4] {
        for (clevel, filters) in
            [(5, pipeline(&[1])), (0, [0; 6]), (5, pipeline(&[3, 1])), (5, pipeline(&[1, 2, 1]))]
        {
            let script = CallbackScript::new();
            let params = Params { clevel, filters, ..params(nthreads) };
            let context = context_with_prefilter(&params, &script, |_| ());
            let (rc, dest) = with_destination(large_destsize(100_000), |dest| {
                // SAFETY: the data come from the prefilter.
                unsafe {
                    let to = dest.as_mut_ptr().cast();
                    (ours().blosc2_compress_ctx)(
                        context.raw(),
                        std::ptr::null(),
                        100_000,
                        to,
                        dest.len() as i32,
                    )
                }
            });
            assert!(rc > 0, "{rc}");
            assert_ours_decodes(&dest[..rc as usize], &expected);
            // Without a prefilter there is nothing to compress.
            let plain = OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
            let (rc, _) = with_destination(200_000, |dest| {
                // SAFETY: the source is NULL, which must be rejected.
                unsafe {
                    let to = dest.as_mut_ptr().cast();
                    (ours().blosc2_compress_ctx)(
                        plain.raw(),
                        std::ptr::null(),
                        100_000,
                        to,
                        dest.len() as i32,
                    )
                }
            });
            assert_eq!(rc, -32);
        }
    }
}

#[test]
fn chunk_3_10_prefilter_applies_to_variable_length_blocks() {
    let blocks = [5000, 40_000, 3, 70_000].map(|len| data(Data::Ramp, 4, len));
    for nthreads in [1, 4] {
        let script = CallbackScript::new();
        let mut context = context_with_prefilter(&params(nthreads), &script, |_| ());
        let (rc, dest) = with_destination(200_000, |dest| context.vlcompress(&blocks, dest));
        assert!(rc > 0, "{rc}");
        let mut expected: Vec<_> = blocks.iter().map(|block| inverted(block)).collect();
        // Less than an item: the prefilter has nothing to process, and the output is zeros.
        expected[2] = vec![0; 3];
        let mut reader = OwnedContext::for_decompression(ours(), dparams(1));
        assert!(reader.vldecompress(&dest[..rc as usize], 4).as_ref() == Ok(&expected));
        let mut all_calls = script.take_calls();
        all_calls.sort_by_key(|call| call.size);
        let sizes: Vec<_> = all_calls.iter().map(|call| (call.size, call.offset, call.nblock)).collect();
        assert_eq!(sizes, [(0, 0, 0), (5000, 0, 0), (40_000, 0, 0), (70_000, 0, 0)]);
        assert!(all_calls.iter().all(|call| call.ttmp_nbytes == 4 * (70_000 + 16)));
    }
}

/// If the output items are wider, the output is truncated to the block; if they are narrower, the rest of the block
/// is zero.
#[test]
fn filters_d8_prefilter_output_of_another_width_is_cut_or_zero_filled() {
    let src = data(Data::Ramp, 4, 100_000);
    for nthreads in [1, 4] {
        for width in [1, 2, 3, 4, 8, 17, 64] {
            for clevel in [0, 5] {
                let script = CallbackScript { writes: |size| size.min(16_000), ..CallbackScript::new() };
                let mut context =
                    context_with_prefilter(&Params { clevel, ..params(nthreads) }, &script, |params| {
                        params.output_typesize = width;
                    });
                let (rc, dest) =
                    with_destination(large_destsize(src.len()), |dest| context.compress(&src, dest));
                assert!(rc > 0, "{rc}");
                let mut expected = inverted(&src);
                if width < 4 {
                    for block in expected.chunks_mut(16_000) {
                        let written = block.len() / 4 * width as usize;
                        block[written..].fill(0);
                    }
                }
                assert_ours_decodes(&dest[..rc as usize], &expected);
                for call in script.take_calls() {
                    assert_eq!(
                        (call.typesize, call.size),
                        (width, width * if call.nblock < 6 { 4000 } else { 1000 })
                    );
                    assert!(call.zeroed);
                }
            }
        }
    }
}

/// Output marked as disposable: the result is a chunk of zeros, whatever the function returns, in any destination.
#[test]
fn chunk_10_24_disposable_output_gives_a_chunk_of_zeros() {
    let src = data(Data::Noise, 4, 100_000);
    for result in [0, 1, -1] {
        for nthreads in [1, 4] {
            for codec in CODECS {
                let script = CallbackScript { result, ..CallbackScript::new() };
                let mut context =
                    context_with_prefilter(&Params { codec, ..params(nthreads) }, &script, |params| {
                        params.output_is_disposable = CBool::TRUE;
                    });
                let (rc, dest) =
                    with_destination(large_destsize(src.len()), |dest| context.compress(&src, dest));
                assert_eq!(rc, 32);
                let all_calls = script.take_calls();
                assert_eq!((Header::parse(&dest).special(), all_calls.len()), (1, 7));
                assert!(all_calls.iter().all(|call| call.zeroed), "bytes of earlier blocks in the output");
                assert_all_decode(&dest[..32], &vec![0; src.len()]);
                // Space for the header, for some runs, for all of them: nothing behind the destination is written.
                for destsize in (32..300).step_by(4) {
                    let (rc, dest) = with_destination(destsize, |dest| context.compress(&src, dest));
                    assert!(rc == 0 || rc == 32, "{destsize} bytes: {rc}");
                    if rc == 32 {
                        assert_all_decode(&dest[..32], &vec![0; src.len()]);
                    }
                }
            }
        }
    }
}

#[test]
fn chunk_3_10_failing_prefilter_fails_the_compression() {
    let src = data(Data::Ramp, 4, 100_000);
    for result in [1, -1, -18, 77] {
        for nthreads in [1, 4] {
            for (clevel, use_dict) in [(5, false), (0, false), (5, true)] {
                let script = CallbackScript { result, ..CallbackScript::new() };
                let mut context =
                    context_with_prefilter(&Params { clevel, use_dict, ..params(nthreads) }, &script, |_| ());
                let (rc, _) =
                    with_destination(large_destsize(src.len()), |dest| context.compress(&src, dest));
                assert_eq!(rc, -18);
                assert!(!script.take_calls().is_empty());
            }
        }
    }
}

/// A codec without dictionaries, `use_dict`, and a prefilter that supplies the data: with a source -8 as without a
/// prefilter, without one -9, and none at level 0, as from the C library.
#[test]
fn chunk_3_1_dictionary_that_the_codec_lacks_has_the_code_of_the_reference() {
    let libraries = std::iter::once(ours()).chain(Library::reference());
    for library in libraries {
        for (codec, has_dictionaries) in [(0, false), (1, true), (2, true), (4, false), (5, true)] {
            for (clevel, nbytes) in [(0, 1000), (5, 0), (5, 20), (5, 1000), (5, 100_000)] {
                for is_null in [false, true] {
                    let mut parameters = preparams();
                    let params = Params { codec, clevel, use_dict: true, typesize: 1, ..Params::default() };
                    let mut cparams = params.cparams();
                    cparams.prefilter = Some(filling_prefilter);
                    cparams.preparams = &mut parameters;
                    let context = OwnedContext::for_compression(library, cparams).expect("a context");
                    let src = vec![0u8; nbytes + 1];
                    let (rc, _) = with_destination(large_destsize(nbytes), |dest| {
                        let from = if is_null { std::ptr::null() } else { src.as_ptr().cast() };
                        // SAFETY: a source and a destination with their true lengths.
                        unsafe {
                            let (to, room) = (dest.as_mut_ptr().cast(), dest.len() as i32);
                            (library.blosc2_compress_ctx)(context.raw(), from, nbytes as i32, to, room)
                        }
                    });
                    let what = format!("{}: {params:?}, {nbytes} bytes, NULL: {is_null}", library.name);
                    match (has_dictionaries, is_null, clevel) {
                        (false, false, _) => assert_eq!(rc, -8, "{what}"),
                        (false, true, 5) => assert_eq!(rc, -9, "{what}"),
                        _ => assert!(rc >= 32, "{what}: {rc}"),
                    }
                }
            }
        }
    }
}

unsafe extern "C" fn filling_prefilter(params: *mut blosc2_prefilter_params) -> i32 {
    // SAFETY: the library passes an output of that size.
    unsafe { (*params).output.write_bytes(7, (*params).output_size as usize) };
    0
}

#[test]
fn chunk_4_3_postfilter_gets_one_call_per_block() {
    let src = data(Data::Ramp, 4, 100_002);
    let value = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    let wide = Params { typesize: 12, blocksize: 16_000, ..Params::default() };
    let special = |special| special_chunk(ours(), &wide, special, 48_000, 100).expect("a chunk");
    let mut lying = special(Special::Value(&value));
    // The item size in the header is independent of the width of the value.
    lying[3] = 3;
    let coded = compressed(&params(1), &src);
    let plain = compressed(&Params { clevel: 0, ..params(1) }, &src);
    let repeated: Vec<u8> = value.iter().copied().cycle().take(48_000).collect();
    for (what, chunk, decoded, typesize, blocksize, simple) in [
        ("coded", &coded, &src, 4, 16_000, false),
        ("plain", &plain, &src, 4, 16_000, true),
        ("zeros", &special(Special::Zeros), &vec![0; 48_000], 12, 15_996, true),
        ("value", &special(Special::Value(&value)), &repeated, 12, 15_996, true),
        ("value of another width", &lying, &repeated, 12, 15_996, true),
    ] {
        for nthreads in [1, 4] {
            let script = CallbackScript::new();
            let mut context = context_with_postfilter(nthreads, &script);
            let mut place = 0;
            let (rc, dest) = with_destination(decoded.len(), |dest| {
                place = dest.as_ptr().addr();
                context.decompress(chunk, dest)
            });
            assert!(rc == decoded.len() as i32 && dest == inverted(decoded), "{what}: {rc}");
            let mut all_calls = script.take_calls();
            all_calls.sort_by_key(|call| call.nblock);
            assert_eq!(all_calls.len(), decoded.len().div_ceil(blocksize), "{what}");
            for (nblock, call) in all_calls.into_iter().enumerate() {
                let offset = nblock * blocksize;
                assert_eq!((call.nblock, call.offset), (nblock as i32, offset as i32), "{what}");
                assert_eq!((call.output, call.nchunk), (place + offset, -1), "{what}");
                assert_eq!(call.size as usize, blocksize.min(decoded.len() - offset), "{what}");
                assert_eq!((call.typesize, call.ctx), (typesize, context.raw().addr()), "{what}");
                assert!((0..i32::from(nthreads)).contains(&call.tid), "{what}");
                assert_eq!(call.input == call.ttmp, simple, "{what}");
                let unit = usize::from(chunk[3]);
                assert_eq!(call.ttmp_nbytes, 4 * (blocksize + 4 * unit), "{what}");
            }
            // Masked blocks are not written; the others are.
            let mut mask = vec![0; decoded.len().div_ceil(blocksize)];
            mask[1] = 1;
            assert_eq!(context.set_maskout(&mut mask), 0);
            let (rc, dest) = with_destination(decoded.len(), |dest| context.decompress(chunk, dest));
            assert_eq!(rc, decoded.len() as i32);
            assert!(dest[blocksize..2 * blocksize].iter().all(|&byte| byte == DEST_FILL_BYTE), "{what}");
            assert!(dest[..blocksize] == inverted(decoded)[..blocksize], "{what}");
            assert!(script.take_calls().iter().all(|call| call.nblock != 1), "{what}");
            // Partial reads: whole blocks are decoded, in order, and only those of the part.
            let unit = usize::from(chunk[3]);
            let start = (blocksize - 12) / unit;
            let (rc, items) =
                with_destination(2 * unit, |dest| context.getitem(chunk, start as i32, 2, dest));
            assert_eq!(rc, 2 * unit as i32, "{what}");
            assert_eq!(items, inverted(&decoded[start * unit..][..2 * unit]), "{what}");
            let expected = if 2 * unit > 12 { vec![0, 1] } else { vec![0] };
            let blocks: Vec<_> = script.take_calls().iter().map(|call| call.nblock).collect();
            assert_eq!(blocks, expected, "{what}");
        }
    }
}

#[test]
fn chunk_4_3_postfilter_applies_to_variable_length_blocks() {
    let blocks = [5000, 40_000, 3, 70_000].map(|len| data(Data::Ramp, 4, len));
    let expected: Vec<_> = blocks.iter().map(|block| inverted(block)).collect();
    let chunk = vlcompress(ours(), &params(1), &blocks, 200_000).expect("a chunk");
    for nthreads in [1, 4] {
        let script = CallbackScript::new();
        let mut context = context_with_postfilter(nthreads, &script);
        assert!(context.vldecompress(&chunk, 4).as_ref() == Ok(&expected));
        let mut all_calls = script.take_calls();
        all_calls.sort_by_key(|call| call.nblock);
        let seen: Vec<_> = all_calls.iter().map(|call| (call.nblock, call.size, call.offset)).collect();
        assert_eq!(seen, [(0, 5000, 0), (1, 40_000, 70_000), (2, 3, 140_000), (3, 70_000, 210_000)]);
        for nblock in [3, 0, 2, 1] {
            let block = context.vldecompress_block(&chunk, nblock as i32);
            assert!(block.as_ref() == Ok(&expected[nblock]));
            let all_calls = script.take_calls();
            assert_eq!(
                (all_calls.len(), all_calls[0].nblock, all_calls[0].offset),
                (1, nblock as i32, 70_000 * nblock as i32)
            );
        }
        let whole = expected.concat();
        let (rc, dest) = with_destination(whole.len(), |dest| context.decompress(&chunk, dest));
        assert!(rc == whole.len() as i32 && dest == whole);
    }
}

#[test]
fn chunk_4_3_failing_postfilter_fails_the_decompression() {
    let src = data(Data::Ramp, 4, 100_002);
    let vl = vlcompress(ours(), &params(1), &[src.clone(), src.clone()], 300_000).expect("a chunk");
    for result in [1, -1, 77] {
        for nthreads in [1, 4] {
            let script = CallbackScript { result, ..CallbackScript::new() };
            let mut context = context_with_postfilter(nthreads, &script);
            for params in [params(1), Params { clevel: 0, ..params(1) }] {
                let chunk = compressed(&params, &src);
                let (rc, _) = with_destination(src.len(), |dest| context.decompress(&chunk, dest));
                assert_eq!(rc, -27);
                let (rc, _) = with_destination(40, |dest| context.getitem(&chunk, 100, 10, dest));
                assert_eq!(rc, -27);
            }
            assert_eq!(context.vldecompress(&vl, 2).err(), Some(-27));
            assert_eq!(context.vldecompress_block(&vl, 1).err(), Some(-27));
        }
    }
}
