//! Reads and writes of arrays: b2nd.md 10 D1, D3, D5, D8, D9, D10, D18, D19, D20, D23, D25.

use crate::checks::ours;
use crate::support::all_libraries;
use crate::support::array::functions::Functions;
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::{DEST_FILL_BYTE, Params, compress};
use crate::support::child::{in_new_process, test_name};
use crate::support::has_atomic_changes;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::verify;

fn increasing_bytes(len: usize) -> Vec<u8> {
    (1..=len).map(|value| value as u8).collect()
}

fn array_5x7() -> Array {
    ArraySpec::new(&[5, 7], &[3, 4], &[2, 2], 1).create_from_buffer(ours(), &increasing_bytes(35))
}

/// All functions that read a part, with DELTA in the pipeline.
#[test]
fn b2nd_10_d1_partial_reads_with_delta_return_the_items() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        // Compressible items, since chunks that are stored uncompressed are not filtered.
        let items: Vec<u8> = (0..301u32).flat_map(|at| (1000 + at / 3).to_le_bytes()).collect();
        for store in Store::ALL {
            for (dthreads, filters) in [
                (1, [0, 0, 0, 0, 0, 3]),
                (4, [0, 0, 0, 0, 0, 3]),
                (1, [0, 0, 0, 0, 1, 3]),
                (4, [0, 0, 0, 0, 3, 1]),
            ] {
                let mut spec =
                    ArraySpec::new(&[301], &[150], &[50], 4).with_store(store, &scratch.new_path());
                spec.params = Params { codec: 1, typesize: 4, filters, ..Params::default() };
                spec.dthreads = dthreads;
                let array = spec.create_from_buffer(ours(), &items);
                assert_eq!(array.to_cbuffer().as_ref(), Ok(&items), "{store:?} {dthreads} {filters:?}");
                for at in 0..301 {
                    let item = Ok(&items[at * 4..at * 4 + 4]);
                    assert_eq!(array.get(&[at as i64], &[at as i64 + 1]).as_deref(), item, "{store:?} {at}");
                }
                for (start, stop) in [(5, 295), (95, 130), (37, 101), (150, 151), (200, 301)] {
                    let found = array.get(&[start], &[stop]);
                    assert_eq!(
                        found.as_deref(),
                        Ok(&items[start as usize * 4..stop as usize * 4]),
                        "{start}..{stop}"
                    );
                }
                let coords: Vec<i64> = (0..301).rev().step_by(3).collect();
                let right: Vec<u8> =
                    coords.iter().flat_map(|&at| items[at as usize * 4..][..4].to_vec()).collect();
                assert_eq!(array.get_sparse(&coords, right.len(), right.len() as i64), (0, right.clone()));
                let list = [coords.clone()];
                let shape = [coords.len() as i64];
                assert_eq!(array.get_orthogonal(&list, &shape, right.len(), right.len() as i64), (0, right));
            }
        }
    });
}

#[test]
fn b2nd_10_d3_whole_chunk_slices_use_the_strides_of_wider_buffers() {
    let array =
        ArraySpec::new(&[4, 4], &[4, 4], &[4, 4], 1).create_from_buffer(ours(), &increasing_bytes(16));
    let (rc, dest) = array.get_slice_cbuffer(&[0, 0], &[4, 4], &[4, 8], 32, 32);
    let right: Vec<u8> = increasing_bytes(16).chunks(4).flat_map(|row| [row, &[0; 4]].concat()).collect();
    assert_eq!((rc, dest), (0, right));
    let source: Vec<u8> = (0..32).map(|at| 100 + at).collect();
    assert_eq!(array.set_slice_cbuffer(&source, &[4, 8], 32, &[0, 0], &[4, 4]), 0);
    let right: Vec<u8> = source.chunks(8).flat_map(|row| row[..4].to_vec()).collect();
    assert_eq!(array.to_cbuffer(), Ok(right));
    // Through a concatenation.
    let first = ArraySpec::new(&[11, 0], &[3, 1], &[3, 1], 1).zeros(ours());
    let second =
        ArraySpec::new(&[11, 1], &[3, 2], &[3, 2], 1).create_from_buffer(ours(), &increasing_bytes(11));
    assert_eq!(first.extend(&second, 1), 0);
    assert_eq!(first.to_cbuffer(), Ok(increasing_bytes(11)));
}

/// Items that were never written read as zeros, not as old memory contents.
#[test]
fn b2nd_10_d5_uninitialised_items_read_as_zeros() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let spec = ArraySpec::new(&[40, 40], &[16, 16], &[4, 4], 4).with_store(store, &scratch.new_path());
        let array = spec.context(ours()).uninit().1.expect("an array");
        for _ in 0..3 {
            // Fills memory that is then freed, so that reading old contents would be detected.
            drop(std::hint::black_box(vec![0xEEu8; 1024]));
            assert_eq!(array.get(&[1, 1], &[20, 39]), Ok(vec![0; 19 * 38 * 4]), "{store:?}");
            assert_eq!(array.get(&[3, 3], &[4, 4]), Ok(vec![0; 4]), "{store:?}");
        }
        assert_eq!(array.set(&[2, 2], &[3, 3], &[1, 2, 3, 4]), 0);
        let mut right = vec![0; 40 * 40 * 4];
        right[(2 * 40 + 2) * 4..][..4].copy_from_slice(&[1, 2, 3, 4]);
        assert_eq!(array.to_cbuffer(), Ok(right), "{store:?}");
    }
}

/// The same for a box that is a whole chunk, which is decompressed directly into the caller's buffer: zeros for items
/// that were never written, and for masked blocks.
#[test]
fn b2nd_10_d5_whole_chunk_reads_zero_unwritten_and_masked_blocks() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let spec = ArraySpec::new(&[8, 4], &[4, 4], &[2, 4], 1).with_store(store, &scratch.new_path());
        let array = spec.context(ours()).uninit().1.expect("an array");
        let read = || array.get_slice_cbuffer(&[4, 0], &[8, 4], &[4, 4], 16, 16);
        assert_eq!(read(), (0, vec![0; 16]), "{store:?}");
        assert_eq!(array.set(&[4, 0], &[8, 4], &increasing_bytes(16)), 0);
        assert_eq!(read(), (0, increasing_bytes(16)), "{store:?}");
        // SAFETY: the context of a live array; the mask has the stated length and is copied.
        let masked =
            unsafe { (ours().blosc2_set_maskout)((*array.fields().sc).dctx, [1, 0].as_mut_ptr(), 2) };
        assert_eq!(masked, 0);
        let unmasked = [&[0; 8], &increasing_bytes(16)[8..]].concat();
        assert_eq!(read(), (0, unmasked), "{store:?}");
        assert_eq!(read(), (0, increasing_bytes(16)), "{store:?}");
    }
}

/// Copies of items into another array do not use the mask, which is for the caller's next decompression: the reference
/// stores zeros for masked blocks.
#[test]
fn b2nd_10_d5_copies_ignore_masks() {
    let items = increasing_bytes(48);
    let array = ArraySpec::new(&[12, 4], &[4, 4], &[2, 4], 1).create_from_buffer(ours(), &items);
    // SAFETY: the context of a live array; the mask has the stated length and is copied.
    let masked = unsafe { (ours().blosc2_set_maskout)((*array.fields().sc).dctx, [1, 0].as_mut_ptr(), 2) };
    assert_eq!(masked, 0);
    let slice =
        ArraySpec::new(&[4, 4], &[4, 4], &[2, 4], 1).context(ours()).get_slice(&array, &[4, 0], &[8, 4]);
    assert_eq!(slice.1.expect("a slice").to_cbuffer(), Ok(items[16..32].to_vec()));
    let first = ArraySpec::new(&[3, 4], &[4, 4], &[2, 4], 1).create_from_buffer(ours(), &[7; 12]);
    let context = ArraySpec::new(&[15, 4], &[4, 4], &[2, 4], 1).context(ours());
    let both = context.concatenate(&first, &array, 0).1.expect("an array");
    assert_eq!(both.to_cbuffer(), Ok([&[7; 12], &items[..]].concat()));
    let unmasked = [&[0; 8], &items[24..32]].concat();
    assert_eq!(array.get_slice_cbuffer(&[4, 0], &[8, 4], &[4, 4], 16, 16), (0, unmasked));
}

#[test]
fn b2nd_10_d8_orthogonal_coordinates_out_of_range_are_rejected() {
    in_new_process(test_name!(), || {
        let array = array_5x7();
        for wrong in [5, 6, -1, i64::MAX, i64::MIN] {
            let selection = [vec![0, wrong], vec![1]];
            assert_eq!(
                array.get_orthogonal(&selection, &[2, 1], 2, 2),
                (-33, vec![DEST_FILL_BYTE; 2]),
                "{wrong}"
            );
            assert_eq!(array.set_orthogonal(&selection, &[9, 9], &[2, 1], 2), -33, "{wrong}");
        }
        assert_eq!(array.to_cbuffer(), Ok(increasing_bytes(35)));
        let f = array.functions;
        let (mut list, mut sizes, mut shape) = ([0i64], [1i64, 1], [1i64, 1]);
        let mut lists = [list.as_mut_ptr(), list.as_mut_ptr()];
        // SAFETY: a live array, two lists of one coordinate; NULL must be rejected.
        unsafe {
            let (a, lists, sizes, shape) =
                (array.raw(), lists.as_mut_ptr(), sizes.as_mut_ptr(), shape.as_mut_ptr());
            assert_eq!(
                (f.b2nd_get_orthogonal_selection)(a, lists, sizes, std::ptr::null_mut(), shape, 1),
                -32
            );
            assert_eq!((f.b2nd_set_orthogonal_selection)(a, lists, sizes, std::ptr::null(), shape, 1), -32);
            let mut item = 0u8;
            let dest = std::ptr::from_mut(&mut item).cast();
            assert_eq!(
                (f.b2nd_get_orthogonal_selection)(a, lists, sizes, dest, std::ptr::null_mut(), 1),
                -32
            );
        }
        // Coordinates whose difference exceeds 32 bits, in chunks without content.
        let far = ArraySpec::new(&[1 << 33], &[1 << 26], &[1 << 16], 1).zeros(ours());
        let places = [0, (1 << 32) + 5, 7, 1 << 31, (1 << 33) - 1, (1 << 32) + 5];
        assert_eq!(far.set_orthogonal(&[vec![7]], &[3], &[1], 1), 0);
        assert_eq!(far.set_orthogonal(&[vec![(1 << 32) + 5]], &[4], &[1], 1), 0);
        assert_eq!(far.get_orthogonal(&[places.to_vec()], &[6], 6, 6), (0, vec![0, 4, 3, 0, 0, 4]));
        let point = ArraySpec::new(&[], &[], &[], 2).create_from_buffer(ours(), &[8, 9]);
        assert_eq!(point.get_orthogonal(&[], &[], 2, 2), (0, vec![8, 9]));
        assert_eq!(point.set_orthogonal(&[], &[1, 2], &[], 2), 0);
        assert_eq!(point.to_cbuffer(), Ok(vec![1, 2]));
    });
}

/// A box that extends beyond the chunks of the array affects only its own items: the C library uses another chunk for
/// one outside the grid, reads before the first chunk, and replaces chunks by zeros. A box that ends before it starts
/// is empty.
#[test]
fn b2nd_10_d9_slices_out_of_range_access_only_their_own_items() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            let make = || {
                let spec =
                    ArraySpec::new(&[5, 7], &[3, 4], &[2, 2], 1).with_store(store, &scratch.new_path());
                spec.create_from_buffer(ours(), &increasing_bytes(35))
            };
            let far = i64::MAX;
            for (start, stop, code) in [
                ([0, 0], [3, 12], 0),
                ([0, 0], [7, 1], -1),
                ([-1, 0], [1, 1], -1),
                ([0, -3], [1, 1], -1),
                ([4, -4], [5, 3], -1),
                ([0, 8], [1, 9], 0),
                ([6, 0], [7, 1], 0),
                ([far - 1, 0], [far, 1], 0),
                ([i64::MIN, 0], [i64::MIN + 1, 1], -1),
                ([-2, -2], [0, 0], -1),
            ] {
                let array = make();
                let what = format!("{store:?}: {start:?}..{stop:?}");
                // The part of the box that lies in the array, and the expected array after the write.
                let mut read = vec![0; 1600];
                let mut written = increasing_bytes(35);
                for (index, item) in increasing_bytes(35).into_iter().enumerate() {
                    let at = [index as i64 / 7, index as i64 % 7];
                    if start.iter().all(|&start| start >= 0)
                        && (0..2).all(|dim| (start[dim]..stop[dim]).contains(&at[dim]))
                    {
                        read[((at[0] - start[0]) * 40 + at[1] - start[1]) as usize] = item;
                        written[index] = 99;
                    }
                }
                let got = array.get_slice_cbuffer(&start, &stop, &[40, 40], 1600, 1600);
                assert!(got == (code, read), "{what}: {got:?}");
                let rc = array.set_slice_cbuffer(&[99; 1600], &[40, 40], 1600, &start, &stop);
                // A failed call with atomic changes changes nothing.
                let is_undone = code < 0 && has_atomic_changes() && store.is_on_disk();
                let expected = if is_undone { increasing_bytes(35) } else { written };
                assert_eq!((rc, array.to_cbuffer()), (code, Ok(expected)), "{what}");
            }
            let array = make();
            for (start, stop) in
                [([3, 2], [1, 5]), ([1, 5], [3, 2]), ([4, 4], [4, 4]), ([2, 0], [2, 7]), ([4, 6], [0, 0])]
            {
                let (rc, dest) = array.get_slice_cbuffer(&start, &stop, &[5, 7], 35, 35);
                assert_eq!((rc, dest), (0, vec![0; 35]), "{store:?}: {start:?}..{stop:?}");
                assert_eq!(array.set_slice_cbuffer(&[9; 35], &[5, 7], 35, &start, &stop), 0);
            }
            assert_eq!(array.to_cbuffer(), Ok(increasing_bytes(35)), "{store:?}");
        }
    });
}

#[test]
fn b2nd_10_d10_point_read_into_a_short_buffer_fails() {
    let point = ArraySpec::new(&[], &[], &[], 8).create_from_buffer(ours(), &increasing_bytes(8));
    for room in 0..8 {
        let (rc, dest) = point.get_slice_cbuffer(&[], &[], &[], room, room as i64);
        assert_eq!((rc, dest.len()), (-12, room));
    }
    assert_eq!(point.get_slice_cbuffer(&[], &[], &[], 8, 8), (0, increasing_bytes(8)));
    assert_eq!(point.to_cbuffer_sized(8, 7).0, -12);
}

/// A failed read does not affect the next one.
#[test]
fn b2nd_10_d18_reads_after_a_failed_read_return_the_items() {
    let mut spec = ArraySpec::new(&[64], &[32], &[4], 4);
    spec.params.codec = 5;
    let items: Vec<u8> = (0..256).map(|at: u32| (at / 9) as u8).collect();
    let source = spec.create_from_buffer(ours(), &items);
    let layer = source.schunk().meta_get("b2nd").expect("a metalayer");
    let params = Params { codec: 5, typesize: 4, blocksize: 16, ..Params::default() };
    let schunk = SuperChunk::create(ours(), Store::Memory, "".as_ref(), &params);
    assert_eq!(schunk.meta_add("b2nd", &layer), 0);
    let mut broken = source.schunk().get_chunk(1).expect("a chunk");
    // Every stream starts behind the end of the chunk, or is invalid if the chunk was stored uncompressed.
    let special = broken[31];
    assert_eq!(special >> 4, 0, "an ordinary chunk");
    broken[2] &= !2;
    let blocks = 32..broken.len().min(64);
    broken[blocks].fill(0x7F);
    schunk.append_chunk(&source.schunk().get_chunk(0).expect("a chunk")).expect("appended");
    schunk.append_chunk(&broken).expect("appended");
    let array = Array::from_super_chunk(schunk).expect("an array");
    for (start, stop) in [(33, 62), (40, 41), (5, 60)] {
        assert!(array.get(&[start], &[stop]).is_err(), "{start}..{stop}");
        assert_eq!(array.schunk().decompress_into(0, 128).as_deref(), Ok(&items[..128]));
        assert_eq!(array.get(&[0], &[32]).as_deref(), Ok(&items[..128]));
        assert_eq!(array.get(&[3], &[29]).as_deref(), Ok(&items[12..116]));
    }
}

/// The last item of the box must lie inside the buffer.
#[test]
fn b2nd_10_d19_buffers_too_short_for_their_shape_are_rejected() {
    let array = array_5x7();
    // 3 x 4 items in rows of 5: the last item is the fourteenth.
    for (size, right) in [(12, -12), (13, -12), (14, 0), (20, 0)] {
        let (rc, dest) = array.get_slice_cbuffer(&[1, 2], &[4, 6], &[4, 5], size, size as i64);
        assert_eq!((rc, dest.len()), (right, size), "{size} bytes");
        let source = vec![7; size];
        assert_eq!(array.set_slice_cbuffer(&source, &[4, 5], size as i64, &[1, 2], &[4, 6]), right);
        if right < 0 {
            assert_eq!(array.to_cbuffer(), Ok(increasing_bytes(35)));
        }
    }
    let far = [1, i64::MAX];
    assert_eq!(array.get_slice_cbuffer(&[0, 0], &[1, 2], &far, 35, 35).0, 0);
    assert_eq!(array.get_slice_cbuffer(&[0, 0], &[5, 7], &[5, i64::MAX], 35, 35).0, -12);
}

/// More rows than fit into 32 bits, each of width zero.
#[test]
fn b2nd_10_d20_copy_buffer_handles_more_rows_than_32_bits() {
    let f = Functions::of(ours());
    let shape = [2i64; 16];
    let (zero, src) = ([0i64; 16], Random::new(4).bytes(1 << 16));
    let mut dest = vec![0; 1 << 16];
    let mut stop = shape;
    // SAFETY: 2^16 items of a byte on both sides.
    let rc = unsafe {
        (f.b2nd_copy_buffer2)(
            16,
            1,
            src.as_ptr().cast(),
            shape.as_ptr(),
            zero.as_ptr(),
            stop.as_ptr(),
            dest.as_mut_ptr().cast(),
            shape.as_ptr(),
            zero.as_ptr(),
        )
    };
    assert!(rc == 0 && dest == src);
    stop[3] = 0;
    // SAFETY: no memory is accessed.
    let rc = unsafe {
        (f.b2nd_copy_buffer2)(
            16,
            1,
            src.as_ptr().cast(),
            [1 << 40; 16].as_ptr(),
            zero.as_ptr(),
            stop.as_ptr(),
            dest.as_mut_ptr().cast(),
            [1 << 40; 16].as_ptr(),
            zero.as_ptr(),
        )
    };
    assert_eq!(rc, 0);
}

/// Chunks of almost 2^31 bytes that a damaged metalayer claims: an error, without an allocation of that size.
#[test]
fn b2nd_10_d20_claimed_chunks_of_2_gib_fail_without_an_allocation() {
    in_new_process(test_name!(), || {
        for bytes in [i32::MAX, i32::MAX - 1, i32::MAX - 31, i32::MAX - 33] {
            let mut layer = vec![0x97, 0, 1, 0x91, 0xD3];
            layer.extend(100i64.to_be_bytes());
            for _ in 0..2 {
                layer.extend([0x91, 0xD2]);
                layer.extend(bytes.to_be_bytes());
            }
            layer.extend([0, 0xDB, 0, 0, 0, 0]);
            let params = Params { typesize: 1, ..Params::default() };
            let schunk = SuperChunk::create(ours(), Store::Memory, "".as_ref(), &params);
            assert_eq!(schunk.meta_add("b2nd", &layer), 0);
            schunk.append(&increasing_bytes(100)).expect("a chunk");
            let array = Array::from_super_chunk(schunk).expect("an array");
            assert!(array.get(&[3], &[5]).is_err(), "{bytes}");
            assert!(array.set(&[3], &[5], &[1, 2]) < 0, "{bytes}");
            assert!(array.set_orthogonal(&[vec![3]], &[1], &[1], 1) < 0, "{bytes}");
            assert_eq!(array.schunk().decompress_into(0, 100), Ok(increasing_bytes(100)), "{bytes}");
        }
    });
}

/// Blocks that a short chunk does not have are an error; uninitialised memory is not returned.
#[test]
fn b2nd_10_d23_missing_blocks_of_short_chunks_are_errors() {
    let source = ArraySpec::new(&[12], &[6], &[3], 4).create_from_buffer(ours(), &increasing_bytes(48));
    let layer = source.schunk().meta_get("b2nd").expect("a metalayer");
    let params = Params { typesize: 4, blocksize: 12, ..Params::default() };
    let schunk = SuperChunk::create(ours(), Store::Memory, "".as_ref(), &params);
    assert_eq!(schunk.meta_add("b2nd", &layer), 0);
    schunk.append(&increasing_bytes(12)).expect("a chunk of half the size");
    schunk.append(&increasing_bytes(12)).expect("a chunk of half the size");
    let array = Array::from_super_chunk(schunk).expect("an array");
    for (start, stop) in [(0, 12), (0, 6), (1, 5), (4, 5), (5, 7)] {
        assert!(array.get(&[start], &[stop]).is_err(), "{start}..{stop}");
    }
    assert!(array.to_cbuffer().is_err());
    assert_eq!(array.get(&[6], &[9]), Ok(increasing_bytes(12)));
    assert_eq!(array.get(&[1], &[3]), Ok(increasing_bytes(12)[4..].to_vec()));
}

/// An array whose only chunk is shorter than the chunk shape, and has all items: all functions read it. The C library
/// reads single rows of such a file.
#[test]
fn b2nd_10_d23_short_chunks_with_all_items_are_read() {
    let scratch = ScratchDir::new();
    let items: Vec<u8> = (0..7 * 50 * 4u32).map(|at| (at / 90) as u8).collect();
    for library in all_libraries() {
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let mut spec = ArraySpec::new(&[7, 50], &[8, 50], &[1, 50], 4).with_store(store, &path);
            spec.params.blocksize = 200;
            let array = spec.zeros(library);
            let chunk = compress(library, &spec.params, &items, 2000).expect("a chunk");
            array.schunk().update_chunk(0, &chunk).expect("a shorter chunk");
            drop(array);
            for reader in all_libraries() {
                let array = Array::open(reader, &path).1.expect("an array");
                for row in 0..7 {
                    let expected = items[row * 200..][..200].to_vec();
                    let row = row as i64;
                    assert_eq!(array.get(&[row, 0], &[row + 1, 50]), Ok(expected), "{} {row}", reader.name);
                }
            }
            let array = Array::open(ours(), &path).1.expect("an array");
            assert_eq!(array.to_cbuffer().as_ref(), Ok(&items));
            // A box as large as the chunk; the items behind the shape are zero.
            let (rc, all) = array.get_slice_cbuffer(&[0, 0], &[8, 50], &[8, 50], 1600, 1600);
            assert_eq!((rc, all), (0, [&items[..], &[0; 200]].concat()));
            assert_eq!(verify(&path), (0, vec![]));
        }
    }
}

/// A chunk that is larger than the chunk shape, or has items of another size, cannot become a chunk of an array.
#[test]
fn b2nd_10_d25_chunks_that_do_not_fit_the_array_are_rejected() {
    let scratch = ScratchDir::new();
    let items = increasing_bytes(48);
    let params = |typesize| Params { typesize, blocksize: 24, ..Params::default() };
    let larger = compress(ours(), &params(4), &[7; 28], 100).expect("a chunk");
    let other_items = compress(ours(), &params(8), &[7; 24], 100).expect("a chunk");
    let shorter = compress(ours(), &params(4), &[7; 20], 100).expect("a chunk");
    for store in Store::ALL {
        let spec = ArraySpec::new(&[12], &[6], &[3], 4).with_store(store, &scratch.new_path());
        let array = spec.create_from_buffer(ours(), &items);
        for chunk in [&larger, &other_items] {
            assert_eq!(array.schunk().update_chunk(0, chunk), Err(-21), "{store:?}");
            assert_eq!(array.schunk().insert_chunk(1, chunk), Err(-19), "{store:?}");
            assert_eq!(array.schunk().append_chunk(chunk), Err(-20), "{store:?}");
        }
        assert!(array.schunk().append(&[7; 28]).is_err(), "{store:?}");
        assert_eq!(array.to_cbuffer().as_ref(), Ok(&items), "{store:?}");
        assert_eq!(array.schunk().nchunks(), 2, "{store:?}");
        assert_eq!(array.schunk().update_chunk(1, &shorter), Ok(2), "{store:?}");
        assert_eq!(array.schunk().append_chunk(&shorter), Ok(3), "{store:?}");
        assert_eq!(array.schunk().insert_chunk(0, &shorter), Ok(4), "{store:?}");
        // The same chunks are accepted by a super-chunk that holds no array.
        let schunk = SuperChunk::create(ours(), store, &scratch.new_path(), &params(4));
        schunk.append(&items[..24]).expect("a chunk");
        assert_eq!(schunk.append_chunk(&larger), Ok(2), "{store:?}");
        assert_eq!(schunk.update_chunk(0, &other_items), Ok(2), "{store:?}");
    }
}

/// Items of more than 255 bytes have the size 1 in chunk headers.
#[test]
fn b2nd_10_d25_chunks_of_large_items_fit_their_array() {
    let array = ArraySpec::new(&[4], &[2], &[2], 300).create_from_buffer(ours(), &[3; 1200]);
    let chunk = array.schunk().get_chunk(0).expect("a chunk");
    assert_eq!(array.schunk().update_chunk(1, &chunk), Ok(2));
    assert_eq!(array.append(&[4; 300], 0), 0);
    assert_eq!(array.to_cbuffer(), Ok([[3; 1200].as_slice(), &[4; 300]].concat()));
}
