//! Calls all array functions on an array whose frame is damaged. Buffers are bounded: an array that claims to be huge
//! is not read as a whole.

use crate::support::array::{Array, ArraySpec};
use crate::support::random::Random;
use crate::support::watchdog;

/// The largest result that is requested, in bytes.
const MAX_RESULT_BYTES: i64 = 1 << 18;
/// Maximum number of chunks of an array for lists of chunks and for changes.
const MAX_CHUNKS: i64 = 5000;
/// Maximum size in bytes of a chunk or block that a read may have to decode.
const MAX_DECODED_BYTES: i64 = 4 << 20;

fn checked_product(lengths: impl IntoIterator<Item = i64>) -> Option<i64> {
    lengths.into_iter().try_fold(1i64, |product, length| product.checked_mul(length))
}

/// Draws a box of at most [`MAX_RESULT_BYTES`] bytes, mostly inside the shape.
fn draw_box(random: &mut Random, array: &Array) -> (Vec<i64>, Vec<i64>, i64) {
    let typesize = array.typesize() as i64;
    let mut start = Vec::new();
    let mut stop = Vec::new();
    let mut room = (MAX_RESULT_BYTES / typesize.max(1)).max(1);
    for &length in array.shape() {
        let limit = length.clamp(0, 1 << 40);
        let from = random.below(limit as usize + 1 + usize::from(random.clone().one_in(20))) as i64;
        let most = (limit - from).clamp(0, room.min(40));
        let extent = random.below(most as usize + 1) as i64;
        start.push(from);
        stop.push(from + extent);
        room /= extent.max(1);
    }
    let items = checked_product(start.iter().zip(&stop).map(|(start, stop)| stop - start)).unwrap_or(0);
    (start, stop, items * typesize)
}

pub fn read_array(random: &mut Random, array: &Array) {
    let fields = array.fields();
    assert!((0..=16).contains(&fields.ndim), "{} dimensions", fields.ndim);
    assert!(array.shape().iter().all(|&length| length >= 0), "{:?}", array.shape());
    assert_eq!(Some(fields.nitems), checked_product(array.shape().iter().copied()), "{:?}", array.shape());
    assert!(array.typesize() >= 1 && fields.extchunknitems >= 0 && fields.blocknitems >= 0);
    let _ = array.dtype().map(|dtype| dtype.as_bytes().len());
    let nbytes = fields.nitems.checked_mul(array.typesize() as i64);
    let chunk_bytes = fields.extchunknitems.saturating_mul(array.typesize() as i64);
    let decodable = chunk_bytes <= MAX_DECODED_BYTES;
    for room in [nbytes.unwrap_or(MAX_RESULT_BYTES).min(MAX_RESULT_BYTES), 0, 5] {
        watchdog::record_step();
        if decodable {
            let (rc, dest) = array.to_cbuffer_sized(room as usize, room);
            assert!(rc <= 0 && dest.len() as i64 == room);
            assert!(
                rc < 0 || nbytes.is_some_and(|nbytes| nbytes <= room),
                "{rc} for {room} of {nbytes:?} bytes"
            );
        }
    }
    for _ in 0..4 {
        let (start, stop, len) = draw_box(random, array);
        watchdog::record_step();
        if decodable && len <= MAX_RESULT_BYTES {
            let _ = array.get(&start, &stop);
        }
        watchdog::record_step();
        if fields.extnitems / i64::from(fields.chunknitems.max(1)) <= MAX_CHUNKS {
            let _ = array.slice_nchunks(&start, &stop);
        }
    }
    let typesize = array.typesize() as i64;
    if decodable && 4 * typesize <= MAX_RESULT_BYTES {
        watchdog::record_step();
        let coords: Vec<i64> =
            (0..4).map(|_| random.below(fields.nitems.clamp(1, 1 << 50) as usize) as i64).collect();
        let _ = array.get_sparse(&coords, 4 * typesize as usize, 4 * typesize);
        // The reference rejects lists of no dimension, and reads past the end of a list (b2nd.md D8).
        if array.ndim() > 0 && fields.nitems > 0 || !array.library.is_reference() {
            let lists: Vec<Vec<i64>> = array
                .shape()
                .iter()
                .map(|&length| vec![random.below(length.clamp(1, 1 << 40) as usize) as i64])
                .collect();
            watchdog::record_step();
            let _ = array.get_orthogonal(&lists, &vec![1; lists.len()], typesize as usize, typesize);
        }
    }
    watchdog::record_step();
    let _ = array.refresh();
    if array.schunk().nchunks() <= MAX_CHUNKS {
        // The reference frees data that a view shares (b2nd.md D7).
        if !array.library.is_reference()
            && let (_, Some(view)) = array.squeeze()
        {
            let (start, stop, len) = draw_box(random, &view);
            if decodable && len <= MAX_RESULT_BYTES {
                let _ = view.get(&start, &stop);
            }
        }
        watchdog::record_step();
        if decodable && array.schunk().nbytes() <= MAX_DECODED_BYTES {
            let _ = array.to_cframe();
            let ndim = array.ndim();
            let (start, stop, len) = draw_box(random, array);
            let ones = vec![4; ndim];
            let shape: Vec<i64> = start.iter().zip(&stop).map(|(start, stop)| stop - start).collect();
            if len <= 1 << 14 {
                let spec = ArraySpec::new(&shape, &ones[..], &vec![2; ndim], array.typesize() as i32);
                watchdog::record_step();
                if 4i64.saturating_pow(ndim as u32).saturating_mul(typesize) < MAX_DECODED_BYTES
                    && let Some(context) = spec.try_context(array.library, None)
                {
                    let _ = context.get_slice(array, &start, &stop);
                }
            }
        }
    }
}

/// Changes the array; whatever the calls return, the array can be read and freed afterwards.
pub fn change_array(random: &mut Random, array: &Array) {
    let chunk_bytes = array.fields().extchunknitems.saturating_mul(array.typesize() as i64);
    if chunk_bytes > MAX_DECODED_BYTES || array.schunk().nchunks() > MAX_CHUNKS {
        return;
    }
    for _ in 0..3 {
        let (start, stop, len) = draw_box(random, array);
        watchdog::record_step();
        match random.below(6) {
            0..=1 if len <= MAX_RESULT_BYTES => {
                let items = vec![random.byte(); len as usize];
                let rc = array.set(&start, &stop, &items);
                if rc == 0 && array.get(&start, &stop).is_ok() {
                    assert_eq!(array.get(&start, &stop), Ok(items), "{start:?}..{stop:?}");
                }
            }
            2 if array.ndim() > 0 => {
                let axis = random.below(array.ndim());
                let _ = array.delete(axis as i8, start[axis], stop[axis] - start[axis]);
            }
            3 if array.ndim() > 0 => {
                let axis = random.below(array.ndim());
                let items = vec![3; random.below(2000)];
                let _ = array.insert(&items, axis as i8, start[axis]);
            }
            _ => {
                let mut shape = array.shape().to_vec();
                let mut chunks = 1i64;
                for (length, &chunk) in shape.iter_mut().zip(array.chunkshape()) {
                    *length = (*length + random.below(9) as i64 - 4).max(0);
                    chunks = chunks.saturating_mul((*length / i64::from(chunk.max(1)) + 1).max(1));
                }
                if chunks <= MAX_CHUNKS {
                    let rc = array.resize(&shape, None);
                    assert!(rc < 0 || array.shape() == shape, "{shape:?} gives {rc}");
                }
            }
        }
        watchdog::record_step();
        let (start, stop, len) = draw_box(random, array);
        if len <= MAX_RESULT_BYTES {
            let _ = array.get(&start, &stop);
        }
    }
}
