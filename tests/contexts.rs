//! Contexts beyond one compression and one decompression: partial reads of all kinds of chunks, masks, no state
//! carried over from chunk to chunk, many contexts at once.

use libblosc2_test_support::support;

use std::sync::mpsc;
use std::time::Duration;

use support::calls::{
    DEST_FILL_BYTE, Header, OwnedContext, Params, Special, compress, compress_copy, decompress, dparams,
    getitem, getitem_bytes, special_chunk, vlcompress, with_destination,
};
use support::data::Data;
use support::guard::ReadOnlyBuffer;
use support::library::Library;
use support::random::Random;
use support::short_header::with_short_header;

/// A chunk of our library and its contents.
struct Sample {
    name: String,
    chunk: Vec<u8>,
    bytes: Vec<u8>,
}

fn make_sample(ours: &Library, name: &str, params: &Params, bytes: &[u8]) -> Sample {
    let destsize = 2 * bytes.len() + (40 << 10);
    let chunk = compress(ours, params, bytes, destsize).unwrap_or_else(|code| panic!("{name}: {code}"));
    Sample { name: format!("{name}: {params:?}"), chunk, bytes: bytes.to_vec() }
}

/// Chunks of every kind, about four blocks each.
fn samples(ours: &Library) -> Vec<Sample> {
    let random = &mut Random::new(21);
    let mut samples = Vec::new();
    for (typesize, items) in [(1, 130), (4, 100), (8, 97), (12, 60), (300, 9)] {
        let len = typesize as usize * items;
        let smooth = Data::Ramp.generate(random, typesize as usize, len);
        let noise = random.bytes(len);
        let base = Params { typesize, blocksize: typesize * (items as i32 / 4), ..Params::default() };
        for codec in [0, 1, 2, 4, 5] {
            for filters in
                [[0; 6], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 3, 1], [0, 3, 1, 2, 0, 3]]
            {
                let params = Params { codec, filters, ..base.clone() };
                samples.push(make_sample(ours, "smooth", &params, &smooth));
                if codec == 1 {
                    samples.push(make_sample(ours, "noise", &params, &noise));
                    samples.push(make_sample(ours, "plain", &Params { clevel: 0, ..params.clone() }, &noise));
                    samples.push(make_sample(
                        ours,
                        "never split",
                        &Params { splitmode: 2, ..params },
                        &smooth,
                    ));
                }
            }
        }
        let width = typesize as usize;
        let value = random.bytes(width);
        let specials = [
            (Special::Zeros, vec![0; len]),
            (Special::Uninit, vec![DEST_FILL_BYTE; len]),
            (Special::Value(&value), value.repeat(items)),
        ];
        for (special, bytes) in specials {
            let chunk = special_chunk(ours, &base, special, len as i32, 1000).expect("a special chunk");
            samples.push(Sample { name: format!("{special:?}, typesize {typesize}"), chunk, bytes });
        }
    }
    // A value wider than the item that the header states (chunk.md 10.14).
    let value: Vec<u8> = (1..=12).collect();
    let params = Params { typesize: 12, ..Params::default() };
    let mut chunk = special_chunk(ours, &params, Special::Value(&value), 600, 100).expect("a value");
    chunk[3] = 4;
    samples.push(Sample { name: "a wide value".into(), chunk, bytes: value.repeat(50) });

    let short: Vec<Sample> = samples
        .iter()
        .filter_map(|sample| {
            let chunk = with_short_header(&sample.chunk)?;
            Some(Sample {
                name: format!("16-byte header, {}", sample.name),
                chunk,
                bytes: sample.bytes.clone(),
            })
        })
        .collect();
    assert!(short.len() > 20);
    samples.extend(short);
    samples
}

/// Chunks with a dictionary, which must be large.
fn dictionary_samples(ours: &Library) -> Vec<Sample> {
    let random = &mut Random::new(22);
    let data = Data::Sparse.generate(random, 4, 20_000);
    let mut samples = Vec::new();
    for codec in [1, 2, 5] {
        for filters in [[0; 6], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 3, 1]] {
            let params =
                Params { codec, use_dict: true, typesize: 4, blocksize: 5000, filters, ..Params::default() };
            let sample = make_sample(ours, "dictionary", &params, &data);
            assert!(Header::parse(&sample.chunk).uses_dictionary(), "{}", sample.name);
            samples.push(sample);
        }
    }
    samples
}

/// Every (start, nitems) of every sample, with fresh and with long-lived contexts.
#[test]
fn getitem_of_every_range_returns_its_items() {
    let ours = Library::ours();
    if ours.is_reference() {
        return;
    }
    let mut contexts = [1, 4].map(|nthreads| OwnedContext::for_decompression(ours, dparams(nthreads)));
    let mut writer = OwnedContext::for_compression(ours, Params::default().cparams()).expect("a context");
    let random = &mut Random::new(23);
    let all = samples(ours);
    for sample in &all {
        let unit = i32::from(sample.chunk[3]);
        let nitems = sample.bytes.len() as i32 / unit;
        let step = (nitems / 100).max(1) as usize;
        for start in (0..=nitems).step_by(step) {
            for count in (0..=nitems - start).step_by(step) {
                let (from, len) = ((start * unit) as usize, (count * unit) as usize);
                let what = || format!("getitem({start}, {count}): {}", sample.name);
                let context = if random.one_in(10) { &mut writer } else { pick_mut(&mut contexts, random) };
                let mut dest = vec![DEST_FILL_BYTE; len];
                let rc = context.getitem(&sample.chunk, start, count, &mut dest);
                assert_eq!(rc, len as i32, "{}", what());
                assert!(dest == sample.bytes[from..from + len], "{}", what());
                if random.one_in(20) {
                    let got = getitem_bytes(ours, &sample.chunk, from as i32, len as i32, len);
                    assert!(got.as_deref() == Ok(&sample.bytes[from..from + len]), "bytes {}", what());
                    let got = getitem(ours, 4, &sample.chunk, start, count, len + 7);
                    assert!(got.as_deref() == Ok(&sample.bytes[from..from + len]), "fresh {}", what());
                }
            }
        }
    }
    for sample in dictionary_samples(ours) {
        for _ in 0..300 {
            let start = random.below(5000);
            let count = random.below(5000 - start + 1);
            let context = pick_mut(&mut contexts, random);
            let mut dest = vec![DEST_FILL_BYTE; count * 4];
            let rc = context.getitem(&sample.chunk, start as i32, count as i32, &mut dest);
            assert_eq!(rc, dest.len() as i32, "getitem({start}, {count}): {}", sample.name);
            assert!(
                dest == sample.bytes[start * 4..][..count * 4],
                "getitem({start}, {count}): {}",
                sample.name
            );
        }
    }
}

fn pick_mut<'a, T>(items: &'a mut [T], random: &mut Random) -> &'a mut T {
    &mut items[random.below(items.len())]
}

/// One context reads chunks of all kinds, whole or in part, in random order (chunk.md 10.6, 10.7, 10.9).
#[test]
fn context_keeps_no_state_between_chunks() {
    let ours = Library::ours();
    if ours.is_reference() {
        return;
    }
    let mut samples = samples(ours);
    samples.extend(dictionary_samples(ours));
    let random = &mut Random::new(24);
    for nthreads in [1, 4] {
        let mut context = OwnedContext::for_decompression(ours, dparams(nthreads));
        for round in 0..2000 {
            let sample = random.pick(&samples);
            let what = || format!("round {round}, nthreads {nthreads}: {}", sample.name);
            let unit = usize::from(sample.chunk[3]);
            match random.below(4) {
                0 => {
                    let start = random.below(sample.bytes.len() / unit);
                    let mut dest = vec![DEST_FILL_BYTE; unit];
                    assert_eq!(
                        context.getitem(&sample.chunk, start as i32, 1, &mut dest),
                        unit as i32,
                        "{}",
                        what()
                    );
                    assert_eq!(dest, sample.bytes[start * unit..][..unit], "{}", what());
                }
                1 => {
                    // A failed call in between.
                    let cut = random.below(sample.chunk.len());
                    let mut dest = vec![DEST_FILL_BYTE; sample.bytes.len()];
                    assert!(context.decompress(&sample.chunk[..cut], &mut dest) < 0, "{}", what());
                }
                _ => {
                    let mut dest = vec![DEST_FILL_BYTE; sample.bytes.len()];
                    assert_eq!(context.decompress(&sample.chunk, &mut dest), dest.len() as i32, "{}", what());
                    assert!(dest == sample.bytes, "{}", what());
                }
            }
        }
    }
    // Reading items with a compression context does not affect its next compression.
    let noise = random.bytes(4000);
    let params = Params { codec: 5, typesize: 4, ..Params::default() };
    let mut writer = OwnedContext::for_compression(ours, params.cparams()).expect("a context");
    let expected = with_destination(5000, |dest| writer.compress(&noise, dest));
    for sample in &samples {
        let mut dest = [DEST_FILL_BYTE; 300];
        let unit = usize::from(sample.chunk[3]);
        assert_eq!(writer.getitem(&sample.chunk, 1, 1, &mut dest[..unit]), unit as i32, "{}", sample.name);
        let again = with_destination(5000, |dest| writer.compress(&noise, dest));
        assert!(again == expected, "after getitem on {}", sample.name);
    }
}

/// Runs `work` on another thread and fails after a time that indicates a deadlock rather than a slow machine.
fn with_deadlock_timeout(work: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    if wait.recv_timeout(Duration::from_secs(300)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("a deadlock");
    }
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Masks (chunk.md 4.4, 10.13): used once, masked blocks count as decoded, and their part of the destination is not
/// written.
#[test]
fn masked_blocks_are_not_written_and_masks_are_used_once() {
    with_deadlock_timeout(|| {
        for library in support::all_libraries() {
            check_masks(library);
        }
    });
}

fn check_masks(library: &'static Library) {
    let random = &mut Random::new(25);
    let bytes = Data::Ramp.generate(random, 4, 200_000);
    for (filters, delta) in [([0, 0, 0, 0, 0, 1], false), ([0, 0, 0, 0, 3, 1], true)] {
        if delta && library.is_reference() {
            // The reference hangs when block 0 is masked out.
            continue;
        }
        for (clevel, special) in [(5, false), (0, false), (5, true)] {
            let params = Params { typesize: 4, blocksize: 20_000, clevel, filters, ..Params::default() };
            let chunk = if special {
                special_chunk(library, &params, Special::Value(&bytes[..4]), 200_000, 100).expect("a value")
            } else {
                compress(library, &params, &bytes, 200_032).expect("a chunk")
            };
            let whole = decompress(library, 1, &chunk, 200_000).expect("the whole");
            let nblocks = 200_000usize.div_ceil(Header::parse(&chunk).blocksize as usize);
            for nthreads in [1, 4] {
                let mut context = OwnedContext::for_decompression(library, dparams(nthreads));
                let masks: [Vec<u8>; 4] = [
                    vec![0; nblocks],
                    vec![1; nblocks],
                    (0..nblocks).map(|block| u8::from(block == 0)).collect(),
                    // Our library treats any non-zero byte as true (abi.md 1.2).
                    (0..nblocks).map(|block| if block % 3 == 0 { 1 } else { 0 }).collect(),
                ];
                for mut mask in masks {
                    assert_eq!(context.set_maskout(&mut mask), 0);
                    let (rc, dest) = with_destination(200_000, |dest| context.decompress(&chunk, dest));
                    assert_eq!(rc, 200_000, "{}: {mask:?}", library.name);
                    let blocksize = Header::parse(&chunk).blocksize as usize;
                    for (block, got) in dest.chunks(blocksize).enumerate() {
                        let expected = &whole[block * blocksize..][..got.len()];
                        let kept = got.iter().all(|&byte| byte == DEST_FILL_BYTE);
                        assert!(
                            if mask[block] != 0 { kept } else { got == expected },
                            "{}: block {block} of {mask:?}, nthreads {nthreads}, {params:?}",
                            library.name
                        );
                    }
                    // The mask is used once.
                    let (rc, dest) = with_destination(200_000, |dest| context.decompress(&chunk, dest));
                    assert!(rc == 200_000 && dest == whole, "{}: after a mask", library.name);
                }
                // The wrong number of blocks: the call fails, and the mask is discarded.
                assert_eq!(context.set_maskout(&mut vec![1; nblocks + 1]), 0);
                let (rc, _) = with_destination(200_000, |dest| context.decompress(&chunk, dest));
                assert_eq!(rc, -3, "{}", library.name);
                let (rc, dest) = with_destination(200_000, |dest| context.decompress(&chunk, dest));
                assert!(rc == 200_000 && dest == whole, "{}: after a wrong mask", library.name);
            }
        }
    }
}

/// A chunk of no blocks under a mask of no blocks, whatever its pipeline.
#[test]
fn empty_chunk_with_empty_mask_decodes_to_nothing() {
    let ours = Library::ours();
    let src = Data::Sparse.generate(&mut Random::new(32), 4, 1000);
    for filters in [[0; 6], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 3, 1]] {
        let params = Params { typesize: 4, blocksize: 128, filters, ..Params::default() };
        let mut chunk = compress(ours, &params, &src, 2000).expect("a chunk");
        chunk[4..8].fill(0);
        for nthreads in [1, 4] {
            let mut context = OwnedContext::for_decompression(ours, dparams(nthreads));
            assert_eq!(context.set_maskout(&mut []), 0);
            for _ in 0..2 {
                assert_eq!(with_destination(0, |dest| context.decompress(&chunk, dest)).0, 0, "{filters:?}");
            }
        }
    }
}

/// A damaged first block of a delta chunk, with many threads: an error, without waiting (filters.md 18.9).
#[test]
fn corrupt_first_block_of_delta_is_an_error_without_deadlock() {
    with_deadlock_timeout(|| {
        let ours = Library::ours();
        if ours.is_reference() {
            return;
        }
        let bytes = Data::Ramp.generate(&mut Random::new(26), 4, 200_000);
        let params =
            Params { typesize: 4, blocksize: 4096, filters: [0, 0, 0, 0, 3, 1], ..Params::default() };
        let mut chunk = compress(ours, &params, &bytes, 200_032).expect("a chunk");
        let start = i32::from_le_bytes(chunk[32..36].try_into().expect("four bytes")) as usize;
        chunk[start..start + 4].copy_from_slice(&i32::MAX.to_le_bytes());
        let mut context = OwnedContext::for_decompression(ours, dparams(4));
        for _ in 0..100 {
            let (rc, _) = with_destination(200_000, |dest| context.decompress(&chunk, dest));
            assert_eq!(rc, -5);
        }
    });
}

/// Destinations of any size: rejected, or correct, and never a write beyond it (chunk.md 11.6).
#[test]
fn destination_of_any_size_is_rejected_or_correct() {
    let ours = Library::ours();
    if ours.is_reference() {
        return;
    }
    let random = &mut Random::new(27);
    let bytes = Data::Mixed.generate(random, 4, 6000);
    let noise = random.bytes(700);
    for codec in [0, 1, 2, 4, 5] {
        for (src, use_dict) in [(&bytes, false), (&bytes, true), (&noise, false), (&noise, true)] {
            let use_dict = use_dict && matches!(codec, 1 | 2 | 5);
            let params = Params { codec, use_dict, typesize: 4, blocksize: 1500, ..Params::default() };
            let mut fits = false;
            let sizes =
                (30..200).chain((200..src.len() + 3000).step_by(61)).chain(src.len() + 28..src.len() + 40);
            for destsize in sizes {
                match compress(ours, &params, src, destsize) {
                    Ok(chunk) => {
                        fits = true;
                        let decoded = decompress(ours, 1, &chunk, src.len());
                        assert!(decoded.as_ref() == Ok(src), "{params:?} into {destsize}");
                    }
                    Err(-35) => assert!(destsize < 32, "{params:?} into {destsize}"),
                    Err(0) => assert!(destsize < src.len() + 32, "{params:?} into {destsize}"),
                    Err(code) => panic!("{params:?} into {destsize}: {code}"),
                }
            }
            assert!(fits);
        }
    }
}

/// Many contexts on many threads, with the same pool (chunk.md 11.40, 11.43).
#[test]
fn contexts_on_many_threads_give_correct_results() {
    with_deadlock_timeout(|| {
        let ours = Library::ours();
        let random = &mut Random::new(28);
        let bytes = Data::Mixed.generate(random, 4, 300_000);
        let params = Params { codec: 1, typesize: 4, blocksize: 16_384, nthreads: 4, ..Params::default() };
        let serial = Params { nthreads: 1, ..params.clone() };
        let expected = compress(ours, &serial, &bytes, 300_032).expect("a chunk");
        std::thread::scope(|scope| {
            for thread in 0..6 {
                let (bytes, params, expected) = (&bytes, &params, &expected);
                scope.spawn(move || {
                    let mut writer =
                        OwnedContext::for_compression(ours, params.cparams()).expect("a context");
                    let mut reader = OwnedContext::for_decompression(ours, dparams(4));
                    for round in 0..15 {
                        let (rc, chunk) = with_destination(300_032, |dest| writer.compress(bytes, dest));
                        assert!(rc > 0);
                        let chunk = &chunk[..rc as usize];
                        assert!(ours.is_reference() || chunk == expected, "thread {thread} round {round}");
                        let (rc, got) = with_destination(300_000, |dest| reader.decompress(chunk, dest));
                        assert!(rc == 300_000 && got == *bytes, "thread {thread} round {round}: {rc}");
                        let (rc, got) = with_destination(400, |dest| reader.getitem(chunk, 5000, 100, dest));
                        assert!(rc == 400 && got == bytes[20_000..20_400], "thread {thread} round {round}");
                        // The functions without a context share one, protected by a lock.
                        // SAFETY: a source and a destination of their stated lengths.
                        let (rc, got) = with_destination(300_000, |dest| unsafe {
                            (ours.blosc2_decompress)(
                                chunk.as_ptr().cast(),
                                chunk.len() as i32,
                                dest.as_mut_ptr().cast(),
                                dest.len() as i32,
                            )
                        });
                        assert!(rc == 300_000 && got == *bytes, "thread {thread} round {round}: {rc}");
                    }
                });
            }
        });
    });
}

/// The source of the filters is not written, so it may be read-only (chunk.md 10.2, filters.md 18.11), and the chunk
/// decodes, for compressible and incompressible data.
#[test]
fn pipelines_do_not_write_to_the_source() {
    let ours = Library::ours();
    if ours.is_reference() {
        return;
    }
    let random = &mut Random::new(29);
    for data in [Data::Ramp, Data::Noise, Data::Zeros] {
        let bytes = data.generate(random, 4, 40_003);
        let source = ReadOnlyBuffer::new(&bytes);
        let source = source.bytes();
        for filters in [
            [1, 2, 1, 0, 0, 0],
            [1, 1, 1, 1, 1, 1],
            [1, 2, 3, 1, 2, 3],
            [3, 1, 2, 3, 0, 0],
            [2, 3, 3, 1, 3, 0],
        ] {
            for (codec, use_dict) in [(0, false), (1, true), (5, true), (4, false)] {
                let params = Params {
                    codec,
                    use_dict,
                    typesize: 4,
                    blocksize: 4096,
                    nthreads: 4,
                    filters,
                    ..Params::default()
                };
                let mut writer = OwnedContext::for_compression(ours, params.cparams()).expect("a context");
                for destsize in [40_003 + 32, 90_000] {
                    let (rc, dest) = with_destination(destsize, |dest| writer.compress(source, dest));
                    assert!(rc > 0, "{rc}: {params:?}");
                    for nthreads in [1, 4] {
                        let got = decompress(ours, nthreads, &dest[..rc as usize], bytes.len());
                        assert!(got.as_ref() == Ok(&bytes), "{:?}: {data:?}, {params:?}", got.err());
                    }
                }
            }
        }
    }
}

/// Small sources with a dictionary, and data for which a dictionary does not pay (chunk.md 10.3, 11.13).
#[test]
fn dictionary_chunks_of_small_and_incompressible_data_decode() {
    let ours = Library::ours();
    if ours.is_reference() {
        return;
    }
    let random = &mut Random::new(30);
    for codec in [1, 2, 5] {
        for len in [0, 1, 3, 16, 31, 32, 4999, 5119, 5120, 100_000] {
            for data in [Data::Noise, Data::Text, Data::Zeros] {
                let src = data.generate(random, 4, len);
                let params = Params { codec, use_dict: true, typesize: 4, ..Params::default() };
                for destsize in [len + 32, len / 10 + 32, 2 * len + 40_000] {
                    let chunk = match compress_copy(ours, &params, &src, destsize, false) {
                        Ok(chunk) => chunk,
                        Err(code) => {
                            assert!(code == 0 && destsize < len + 32, "{code}: {len} bytes into {destsize}");
                            continue;
                        }
                    };
                    let header = Header::parse(&chunk);
                    assert!(!(header.uses_dictionary() && (header.is_memcpyed() || len < 5120)));
                    for library in support::all_libraries() {
                        let got = decompress(library, 1, &chunk, len);
                        assert!(
                            got.as_ref() == Ok(&src),
                            "{}: {:?} {data:?} {len} {params:?}",
                            library.name,
                            got.err()
                        );
                    }
                }
            }
        }
    }
}

/// Chunks that do not shrink are stored, also if the destination has room for the longer coded form (chunk.md 3.6).
/// Lossy filters are excluded: the stored bytes would differ from those that the pipeline decodes to.
#[test]
fn chunks_that_do_not_shrink_are_stored() {
    const BYTEDELTA: u8 = 35;
    let ours = Library::ours();
    if ours.is_reference() {
        return;
    }
    let random = &mut Random::new(32);
    let pipelines =
        [[0; 6], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 3, 1], [0, 0, 0, 0, 1, BYTEDELTA]];
    for (typesize, len) in [(1, 32), (1, 64_001), (4, 32), (4, 40_000), (8, 1003), (16, 70_000), (300, 6000)]
    {
        let noise = random.bytes(len);
        let zeros = vec![0; len];
        for codec in [0, 1, 2, 4, 5] {
            for (filters, splitmode) in pipelines.into_iter().flat_map(|filters| [(filters, 1), (filters, 2)])
            {
                for (use_dict, nthreads) in [(false, 1), (false, 4), (true, 1)] {
                    let use_dict = use_dict && matches!(codec, 1 | 2 | 5);
                    let blocksize = (len as i32 / 3).max(typesize);
                    let params = Params {
                        codec,
                        filters,
                        splitmode,
                        typesize,
                        blocksize,
                        use_dict,
                        nthreads,
                        ..Params::default()
                    };
                    let tight = compress(ours, &params, &noise, len + 32).expect("a chunk");
                    assert!(Header::parse(&tight).is_memcpyed(), "{len} bytes, {params:?}");
                    for destsize in [len + 33, len + 40, 3 * len + 40_000] {
                        let chunk = compress(ours, &params, &noise, destsize);
                        assert!(chunk.as_ref() == Ok(&tight), "{len} bytes into {destsize}, {params:?}");
                    }
                    let zero_chunk = compress(ours, &params, &zeros, 17 * len + 40_000).expect("a chunk");
                    assert!(use_dict || zero_chunk.len() == 32, "{len} zeros, {params:?}");
                    for library in support::all_libraries() {
                        assert!(
                            decompress(library, nthreads, &tight, len).as_ref() == Ok(&noise),
                            "{params:?}"
                        );
                    }
                }
            }
        }
        let lossy = Params {
            typesize: 4,
            filters: [0, 0, 0, 0, 0, 4],
            filters_meta: [0, 0, 0, 0, 0, 22],
            ..Params::default()
        };
        let coded = compress(ours, &lossy, &noise, 3 * len + 40_000).expect("a chunk");
        assert!(!Header::parse(&coded).is_memcpyed() && coded.len() > len + 32, "{len} bytes, {lossy:?}");
    }
}

/// A variable-length chunk through every function that reads one, with masks and invalid arguments.
#[test]
fn every_reader_decodes_variable_length_chunks() {
    let ours = Library::ours();
    if ours.is_reference() {
        return;
    }
    let random = &mut Random::new(31);
    let blocks: Vec<Vec<u8>> = (0..9).map(|i| Data::Text.generate(random, 4, 40 * (i + 1))).collect();
    for filters in [[0; 6], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 3, 1], [0, 3, 2, 3, 0, 0]] {
        let params = Params { typesize: 4, filters, ..Params::default() };
        let chunk = vlcompress(ours, &params, &blocks, 10_000).expect("a chunk");
        for nthreads in [1, 4] {
            let mut reader = OwnedContext::for_decompression(ours, dparams(nthreads));
            // Masks apply to whole chunks; the functions that read single blocks ignore them.
            assert_eq!(reader.set_maskout(&mut [1; 9]), 0);
            assert_eq!(reader.vldecompress(&chunk, 9).as_ref(), Ok(&blocks), "{filters:?}");
            for (nblock, block) in blocks.iter().enumerate() {
                assert_eq!(
                    reader.vldecompress_block(&chunk, nblock as i32).as_ref(),
                    Ok(block),
                    "{filters:?}"
                );
            }
            let whole = decompress(ours, nthreads, &chunk, 40 * 45);
            assert_eq!(whole, Ok(blocks.concat()), "{filters:?}");
            let regular = compress(ours, &params, &blocks[8], 1000).expect("a chunk");
            assert_eq!(reader.vldecompress(&regular, 9).err(), Some(-12));
            assert_eq!(reader.vldecompress_block(&regular, 0).err(), Some(-12));
        }
        let mut empty = chunk.clone();
        empty[4..8].copy_from_slice(&[0; 4]);
        empty[12..16].copy_from_slice(&32i32.to_le_bytes());
        assert_eq!(decompress(ours, 1, &empty, 100), Err(-11));
        let mut writer = OwnedContext::for_compression(ours, params.cparams()).expect("a context");
        assert_eq!(with_destination(1000, |dest| writer.vlcompress(&[], dest)).0, -12);
        assert_eq!(with_destination(1000, |dest| writer.vlcompress(&[vec![1, 2], vec![]], dest)).0, -12);
    }
}
