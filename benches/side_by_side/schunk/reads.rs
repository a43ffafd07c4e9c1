//! Cells that only read super-chunks. The handle stays open during a cell, except in cells that time opening it.

use std::path::Path;
use std::ptr;

use super::handles::{self, LARGE_CHUNKSIZE, SMALL_CHUNKSIZE, StorageVariant, TYPESIZE};
use super::is_wanted;
use crate::Bench;
use crate::datasets::SplitMix64;
use crate::library::Library;
use crate::report::Report;
use crate::support::super_chunk::functions::Functions;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::timing::speed_ratio;

/// The number of random positions that are read in turn.
const POSITIONS: usize = 256;
/// The number of chunks that are read in sequence.
const NCHUNKS: usize = 64;

pub fn run(bench: &Bench, report: &mut Report) {
    let scratch = ScratchDir::new();
    let data = handles::dataset_bytes("field-f32", NCHUNKS * LARGE_CHUNKSIZE);
    let large = handles::compress_chunks(bench.reference, &data, LARGE_CHUNKSIZE);
    let small = handles::compress_chunks(
        bench.reference,
        &data[..handles::small_chunk_count(bench) * SMALL_CHUNKSIZE],
        SMALL_CHUNKSIZE,
    );
    for variant in StorageVariant::ALL {
        for nthreads in [1, 2] {
            measure_sequential(bench, report, variant, &scratch, nthreads, &data, &large);
        }
        measure_slices(bench, report, variant, &scratch, &data, &large);
        measure_opening(bench, report, variant, &scratch, &large, &small);
        measure_whole(bench, report, variant, &scratch, &large);
    }
}

fn measure_sequential(
    bench: &Bench,
    report: &mut Report,
    variant: StorageVariant,
    scratch: &ScratchDir,
    nthreads: i16,
    data: &[u8],
    chunks: &[Vec<u8>],
) {
    let name = format!("decompress_chunk in sequence, {nthreads} threads");
    if !is_wanted(bench, variant.name(), &name) {
        return;
    }
    let pair = handles::open_pair((bench.ours, bench.reference), variant, scratch, nthreads, chunks);
    let mut dest = vec![0; LARGE_CHUNKSIZE];
    for schunk in &pair {
        for (n, part) in data.chunks(LARGE_CHUNKSIZE).enumerate() {
            assert_eq!(handles::decompress(schunk, n as i64, &mut dest), LARGE_CHUNKSIZE as i32);
            assert!(dest == part, "{}: chunk {n}", schunk.library.name);
        }
    }
    let all = |schunk: &SuperChunk, dest: &mut [u8]| {
        for n in 0..chunks.len() {
            assert_eq!(handles::decompress(schunk, n as i64, dest), LARGE_CHUNKSIZE as i32);
        }
    };
    let mut other = dest.clone();
    let ratio =
        speed_ratio(&bench.options, nthreads, || all(&pair[0], &mut dest), || all(&pair[1], &mut other));
    report.add(variant.name(), name, vec![ratio]);
}

fn measure_slices(
    bench: &Bench,
    report: &mut Report,
    variant: StorageVariant,
    scratch: &ScratchDir,
    data: &[u8],
    chunks: &[Vec<u8>],
) {
    let nitems = data.len() / TYPESIZE;
    let pair = handles::open_pair((bench.ours, bench.reference), variant, scratch, 1, chunks);
    let mut random = SplitMix64::new(11);
    for (count, within, name) in [
        (1, nitems, "get_slice of 1 item, anywhere"),
        (1, 1024, "get_slice of 1 item, in one block"),
        (100, nitems, "get_slice of 100 items, anywhere"),
        (10_000, nitems, "get_slice of 10000 items, anywhere"),
    ] {
        if !is_wanted(bench, variant.name(), name) {
            continue;
        }
        let places: Vec<i64> = (0..POSITIONS).map(|_| random.below(within - count + 1) as i64).collect();
        let mut dest = vec![0; count * TYPESIZE];
        for schunk in &pair {
            for &start in &places {
                handles::get_slice(schunk, start, &mut dest);
                let wanted = &data[start as usize * TYPESIZE..][..dest.len()];
                assert!(dest == wanted, "{}: items at {start}", schunk.library.name);
            }
        }
        let all = |schunk: &SuperChunk, dest: &mut [u8]| {
            places.iter().for_each(|&start| handles::get_slice(schunk, start, dest));
        };
        let mut other = dest.clone();
        let ratio = speed_ratio(&bench.options, 1, || all(&pair[0], &mut dest), || all(&pair[1], &mut other));
        report.add(variant.name(), name.to_string(), vec![ratio]);
    }
    let name = "get_sparse of 1000 items";
    if is_wanted(bench, variant.name(), name) {
        let coords: Vec<i64> = (0..1000).map(|_| random.below(nitems) as i64).collect();
        let mut dest = vec![0; coords.len() * TYPESIZE];
        for schunk in &pair {
            handles::get_sparse(schunk, &coords, &mut dest);
            let item = |&coord: &i64| &data[coord as usize * TYPESIZE..][..TYPESIZE];
            assert!(dest.chunks(TYPESIZE).eq(coords.iter().map(item)), "{}", schunk.library.name);
        }
        let mut other = dest.clone();
        let ratio = speed_ratio(
            &bench.options,
            1,
            || handles::get_sparse(&pair[0], &coords, &mut dest),
            || handles::get_sparse(&pair[1], &coords, &mut other),
        );
        report.add(variant.name(), name.to_string(), vec![ratio]);
    }
}

fn measure_opening(
    bench: &Bench,
    report: &mut Report,
    variant: StorageVariant,
    scratch: &ScratchDir,
    large: &[Vec<u8>],
    small: &[Vec<u8>],
) {
    if variant == StorageVariant::In(Store::Memory) {
        return;
    }
    let many = format!("open a frame of {} chunks, free", small.len());
    for (chunks, nbytes, reads, name) in [
        (large, LARGE_CHUNKSIZE, true, "open, read the first chunk, free"),
        (small, SMALL_CHUNKSIZE, false, many.as_str()),
    ] {
        if !is_wanted(bench, variant.name(), name) {
            continue;
        }
        let mut dest = vec![0; nbytes];
        let mut work: Box<dyn FnMut(&'static Library)> = if variant == StorageVariant::In(Store::MemoryFrame)
        {
            let schunk = handles::create_with(bench.reference, Store::MemoryFrame, Path::new("-"), 1, chunks);
            let mut frame = schunk.to_buffer().expect("a frame");
            Box::new(move |library| {
                // SAFETY: the frame outlives the super-chunk, and neither is changed.
                let schunk =
                    unsafe { SuperChunk::from_borrowed_frame(library, frame.as_mut_ptr(), frame.len()) };
                check_first_chunk(&schunk.expect("a super-chunk"), reads, chunks.len(), &mut dest);
            })
        } else {
            let path = handles::write_frame(bench.reference, variant, scratch, chunks);
            Box::new(move |library| {
                check_first_chunk(&handles::open(library, variant, &path), reads, chunks.len(), &mut dest);
            })
        };
        let work = std::cell::RefCell::new(&mut work);
        let ratio = speed_ratio(
            &bench.options,
            1,
            || (work.borrow_mut())(bench.ours),
            || (work.borrow_mut())(bench.reference),
        );
        report.add(variant.name(), name.to_string(), vec![ratio]);
    }
}

fn check_first_chunk(schunk: &SuperChunk, reads: bool, nchunks: usize, dest: &mut [u8]) {
    assert_eq!(schunk.nchunks(), nchunks as i64);
    if reads {
        assert_eq!(handles::decompress(schunk, 0, dest), dest.len() as i32);
    }
}

/// Measures reading a metalayer and copying the whole super-chunk.
fn measure_whole(
    bench: &Bench,
    report: &mut Report,
    variant: StorageVariant,
    scratch: &ScratchDir,
    chunks: &[Vec<u8>],
) {
    if variant == StorageVariant::Mapped {
        return;
    }
    let pair = handles::open_pair((bench.ours, bench.reference), variant, scratch, 1, chunks);
    let content: Vec<u8> = (0..1000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    // On disk both handles have the same frame open: the other handle reads the new metalayer from it.
    let on_disk = matches!(variant, StorageVariant::In(store) if store.is_on_disk());
    assert_eq!(pair[1].vlmeta_add("bench", &content), 0);
    let ours_is_told = if on_disk { 0 } else { pair[0].vlmeta_add("bench", &content) };
    assert_eq!(ours_is_told, 0);
    let mut add = |name: &str, check: &dyn Fn(&SuperChunk) -> Vec<u8>, work: &dyn Fn(&SuperChunk)| {
        if is_wanted(bench, variant.name(), name) {
            assert!(check(&pair[0]) == check(&pair[1]), "{} {name}: results differ", variant.name());
            let ratio = speed_ratio(&bench.options, 1, || work(&pair[0]), || work(&pair[1]));
            report.add(variant.name(), name.to_string(), vec![ratio]);
        }
    };
    let get = |schunk: &SuperChunk| schunk.vlmeta_get("bench").expect("a metalayer");
    add("vlmeta_get of 4000 bytes", &get, &|schunk| drop(get(schunk)));
    add("to_buffer", &|schunk| contents_of(schunk.library, schunk.to_buffer().expect("a frame")), &to_buffer);
    let copy =
        |store| move |schunk: &SuperChunk| schunk.copy_to(store, Path::new("-"), None).expect("a copy");
    let to_memory = copy(Store::Memory);
    let to_frame = copy(Store::MemoryFrame);
    add("copy to memory", &|schunk| to_memory(schunk).contents(), &|schunk| drop(to_memory(schunk)));
    add("copy to a memory frame", &|schunk| to_frame(schunk).contents(), &|schunk| drop(to_frame(schunk)));
    if variant == StorageVariant::In(Store::MemoryFrame) {
        let frame = std::cell::RefCell::new(pair[1].to_buffer().expect("a frame"));
        let from_copy = |schunk: &SuperChunk| {
            SuperChunk::from_frame_copy(schunk.library, &mut frame.borrow_mut()).expect("a super-chunk")
        };
        add("from_buffer, copied", &|schunk| from_copy(schunk).contents(), &|schunk| drop(from_copy(schunk)));
    }
}

fn contents_of(library: &'static Library, mut frame: Vec<u8>) -> Vec<u8> {
    SuperChunk::from_frame_copy(library, &mut frame).expect("a super-chunk").contents()
}

fn to_buffer(schunk: &SuperChunk) {
    let (mut frame, mut needs_free) = (ptr::null_mut(), false);
    // SAFETY: the out-pointers are valid; the caller owns the buffer if `needs_free` is set.
    unsafe {
        let functions = Functions::of(schunk.library);
        let len = (functions.blosc2_schunk_to_buffer)(schunk.raw(), &mut frame, &mut needs_free);
        assert!(len > 0);
        if needs_free {
            libc::free(frame.cast());
        }
    }
}
