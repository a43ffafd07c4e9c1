//! Group `shuffles`: the exported filters on one block, against the reference and against a copy of the same bytes.

use crate::Bench;
use crate::library::Library;
use crate::report::{BY_MEMCPY, Report, SPEED};
use crate::timing::speed_ratio;

/// Calls the filter of one library: source, destination, item size. Returns the code of the function.
type Filter = fn(&Library, &[u8], &mut [u8], usize) -> i32;

macro_rules! filter {
    ($name:ident) => {
        |library, src, dest, typesize| {
            assert_eq!(src.len(), dest.len(), "lengths of `src` (left) and `dest` (right)");
            let (src_ptr, dest_ptr) = (src.as_ptr().cast(), dest.as_mut_ptr().cast());
            // SAFETY: both buffers have the length that is passed and do not overlap.
            unsafe { (library.$name)(typesize as i32, src.len() as i32, src_ptr, dest_ptr) }
        }
    };
}

/// Name, function, and two families: the item sizes for which libraries commonly have special kernels, and all others.
const FILTERS: [(&str, Filter, [&str; 2]); 4] = [
    ("shuffle", filter!(blosc2_shuffle), SHUFFLES),
    ("unshuffle", filter!(blosc2_unshuffle), SHUFFLES),
    ("bitshuffle", filter!(blosc2_bitshuffle), BITSHUFFLES),
    ("bitunshuffle", filter!(blosc2_bitunshuffle), BITSHUFFLES),
];

const SHUFFLES: [&str; 2] = ["(un)shuffle of 2, 4, 8, 16 bytes", "(un)shuffle of other items"];
const BITSHUFFLES: [&str; 2] = ["bit(un)shuffle of 2, 4, 8, 16 bytes", "bit(un)shuffle of other items"];

const TYPESIZES: [usize; 27] =
    [2, 4, 8, 16, 1, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 24, 32, 40, 48, 64, 100, 255];
/// The item sizes of quick mode.
const QUICK_TYPESIZES: [usize; 12] = [2, 4, 8, 16, 1, 3, 5, 7, 12, 24, 64, 255];

const SIZES_KIB: [usize; 3] = [64, 128, 256];

/// Offset of the destination in its page, in bytes. The source starts at a page: the same offset would cause 4 KiB
/// aliasing of loads and stores.
const DEST_OFFSET: usize = 1088;
const PAGE: usize = 4096;

/// Measures every filter, item size and block length on one thread.
pub fn run(bench: &Bench) -> Report {
    let mut report = Report::new("shuffles", &[SPEED, BY_MEMCPY], bench.options.summary);
    let (typesizes, sizes) = if bench.options.full {
        (&TYPESIZES[..], &SIZES_KIB[..])
    } else {
        (&QUICK_TYPESIZES[..], &SIZES_KIB[..1])
    };
    for (filter, call, families) in FILTERS {
        for &typesize in typesizes {
            let family = families[usize::from(![2, 4, 8, 16].contains(&typesize))];
            for kib in sizes {
                let name = format!("{filter} typesize {typesize}, {kib} KiB");
                if bench.options.is_selected(family, &name) {
                    // Blocks hold whole items.
                    let nbytes = kib * 1024 / typesize * typesize;
                    report.add(family, name, measure(bench, call, typesize, nbytes));
                }
            }
        }
    }
    report
}

fn measure(bench: &Bench, call: Filter, typesize: usize, nbytes: usize) -> Vec<f64> {
    let src: Vec<u8> = (0..nbytes + PAGE).map(|i| (i * i / 3 + 5 * i) as u8).collect();
    let src = &src[src.as_ptr().align_offset(PAGE)..][..nbytes];
    let mut room = vec![0; nbytes + 2 * PAGE];
    let start = room.as_ptr().align_offset(PAGE) + DEST_OFFSET;
    let dest = std::cell::RefCell::new(&mut room[start..][..nbytes]);

    let filter = |library| assert_eq!(call(library, src, &mut dest.borrow_mut(), typesize), nbytes as i32);
    let outputs = [bench.ours, bench.reference].map(|library| {
        filter(library);
        dest.borrow().to_vec()
    });
    assert!(outputs[0] == outputs[1], "typesize {typesize}: other bytes");
    let copy = || std::hint::black_box(&mut **dest.borrow_mut()).copy_from_slice(std::hint::black_box(src));
    vec![
        speed_ratio(&bench.options, 1, || filter(bench.ours), || filter(bench.reference)),
        speed_ratio(&bench.options, 1, || filter(bench.ours), copy),
    ]
}
