//! The functions that take no array (b2nd.md 6.17, 6.18).

use crate::support::all_libraries;
use crate::support::array::functions::Functions;
use crate::support::library::Library;
use crate::support::random::Random;

/// Calls the C function for boxes given by shape, start and stop.
fn copy_buffer(
    library: &Library,
    itemsize: i32,
    src: (&[u8], &[i64], &[i64], &[i64]),
    dest: (&mut [u8], &[i64], &[i64]),
    narrow: bool,
) -> i32 {
    let f = Functions::of(library);
    let (ndim, from, to) = (src.1.len() as i8, src.0.as_ptr().cast(), dest.0.as_mut_ptr().cast());
    let (shape, start, stop) = (src.1.as_ptr(), src.2.as_ptr(), src.3.as_ptr());
    // SAFETY: boxes inside the two buffers (ensured by the caller).
    unsafe {
        if narrow {
            let itemsize = u8::try_from(itemsize).expect("a byte");
            (f.b2nd_copy_buffer)(
                ndim,
                itemsize,
                from,
                shape,
                start,
                stop,
                to,
                dest.1.as_ptr(),
                dest.2.as_ptr(),
            )
        } else {
            (f.b2nd_copy_buffer2)(
                ndim,
                itemsize,
                from,
                shape,
                start,
                stop,
                to,
                dest.1.as_ptr(),
                dest.2.as_ptr(),
            )
        }
    }
}

#[test]
fn copy_buffer_writes_the_golden_bytes() {
    for library in all_libraries() {
        for narrow in [false, true] {
            let src: Vec<u8> = (1..=24).collect();
            let mut dest = vec![0; 40];
            let rc = copy_buffer(
                library,
                2,
                (&src, &[3, 4], &[1, 1], &[3, 3]),
                (&mut dest, &[4, 5], &[2, 3]),
                narrow,
            );
            let mut right = vec![0; 40];
            right[26..30].copy_from_slice(&[11, 12, 13, 14]);
            right[36..40].copy_from_slice(&[19, 20, 21, 22]);
            assert_eq!((rc, dest), (0, right), "{}", library.name);
            let mut dest = [5; 4];
            let rc = copy_buffer(
                library,
                1,
                (&src, &[2, 2], &[0, 1], &[2, 1]),
                (&mut dest, &[2, 2], &[0, 0]),
                narrow,
            );
            assert_eq!((rc, dest), (0, [5; 4]), "{}", library.name);
        }
    }
}

/// Random boxes of 1 to 16 dimensions and items of 1 to 300 bytes, compared with plain loops.
#[test]
fn copy_buffer_of_random_boxes_matches_plain_loops() {
    let random = &mut Random::new(3);
    for _ in 0..400 {
        let ndim = if random.one_in(4) { 5 + random.below(12) } else { 1 + random.below(4) };
        let most = [9, 9, 9, 6, 4, 3, 3, 2, 2][ndim.min(8)];
        let itemsize =
            if random.one_in(3) { 1 + random.below(300) } else { *random.pick(&[1, 2, 3, 4, 8, 16]) };
        let draw = |random: &mut Random, most: usize| -> Vec<i64> {
            (0..ndim).map(|_| 1 + random.below(most) as i64).collect()
        };
        let mut extent = draw(random, most);
        while extent.iter().product::<i64>() as usize * itemsize > 60_000 {
            extent[random.below(ndim)] = 1;
        }
        let mut pad = |start: &mut Vec<i64>| -> Vec<i64> {
            let mut shape = extent.clone();
            for dim in 0..ndim {
                start.push(0);
                if random.one_in(if ndim > 4 { 5 } else { 2 }) {
                    start[dim] = random.below(3) as i64;
                    shape[dim] += start[dim] + random.below(2) as i64;
                }
            }
            shape
        };
        let (mut from, mut to) = (Vec::new(), Vec::new());
        let (src_shape, dest_shape) = (pad(&mut from), pad(&mut to));
        let bytes = |shape: &[i64]| shape.iter().product::<i64>() as usize * itemsize;
        if bytes(&src_shape) > 1 << 20 || bytes(&dest_shape) > 1 << 20 {
            continue;
        }
        let src = random.bytes(bytes(&src_shape) + 1);
        // At an unaligned address.
        let src = &src[1..];
        let stop: Vec<i64> = from.iter().zip(&extent).map(|(from, extent)| from + extent).collect();
        let before = random.bytes(bytes(&dest_shape));
        let mut right = before.clone();
        let items: i64 = extent.iter().product();
        for number in 0..items {
            let (mut rest, mut a, mut b, mut wide_a, mut wide_b) = (number, 0, 0, 1, 1);
            for dim in (0..ndim).rev() {
                let m = rest % extent[dim];
                rest /= extent[dim];
                a += (from[dim] + m) * wide_a;
                b += (to[dim] + m) * wide_b;
                wide_a *= src_shape[dim];
                wide_b *= dest_shape[dim];
            }
            let (a, b) = (a as usize * itemsize, b as usize * itemsize);
            right[b..b + itemsize].copy_from_slice(&src[a..a + itemsize]);
        }
        for library in all_libraries() {
            let mut dest = before.clone();
            let source = (src, &src_shape[..], &from[..], &stop[..]);
            let rc = copy_buffer(library, itemsize as i32, source, (&mut dest, &dest_shape, &to), false);
            assert!(
                rc == 0 && dest == right,
                "{}: {src_shape:?} {from:?} {stop:?}, {dest_shape:?} {to:?}",
                library.name
            );
        }
    }
}

#[test]
fn unidim_and_multidim_conversions_return_the_documented_indexes() {
    for library in all_libraries() {
        let multi = |shape: &[i64], i: i64| {
            let (mut shape, mut index) = (shape.to_vec(), vec![77; shape.len()]);
            // SAFETY: one number per dimension in each list.
            unsafe {
                (library.blosc2_unidim_to_multidim)(
                    shape.len() as u8,
                    shape.as_mut_ptr(),
                    i,
                    index.as_mut_ptr(),
                );
            }
            index
        };
        assert_eq!(multi(&[2, 3, 4], 23), [1, 2, 3]);
        assert_eq!(multi(&[2, 3, 4], 25), [2, 0, 1]);
        assert_eq!(multi(&[2, 3, 4], 17), [1, 1, 1]);
        assert_eq!(multi(&[2, 3, 4], 100), [8, 1, 0]);
        assert_eq!(multi(&[2, 3, 4], -5), [0, -1, -1]);
        let mut found = 77;
        // SAFETY: two lists of three, and an out-pointer.
        unsafe {
            (library.blosc2_multidim_to_unidim)([1, 2, 3].as_ptr(), 3, [12, 4, 1].as_ptr(), &mut found)
        };
        assert_eq!(found, 23);
    }
}
