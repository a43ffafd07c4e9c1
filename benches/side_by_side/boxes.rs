//! Group `boxes`: boxes of items copied between buffers with `b2nd_copy_buffer2`.

use crate::Bench;
use crate::library::Library;
use crate::report::Report;
use crate::timing::speed_ratio;

/// A box at the origin of a source and of a destination, all shapes in items.
struct BoxCase {
    name: &'static str,
    itemsize: i32,
    shape: &'static [i64],
    src: &'static [i64],
    dst: &'static [i64],
}

const fn case(
    name: &'static str,
    itemsize: i32,
    shape: &'static [i64],
    src: &'static [i64],
    dst: &'static [i64],
) -> BoxCase {
    BoxCase { name, itemsize, shape, src, dst }
}

const CASES: [BoxCase; 15] = [
    case("block into array", 4, &[16, 16, 16], &[16, 16, 16], &[256, 256, 256]),
    case("chunk into array", 4, &[64, 64, 64], &[64, 64, 64], &[256, 256, 256]),
    case("block into small array", 4, &[16, 16, 16], &[16, 16, 16], &[64, 64, 64]),
    case("out of array", 4, &[16, 16, 16], &[64, 64, 64], &[16, 16, 16]),
    case("whole", 4, &[64, 64, 64], &[64, 64, 64], &[64, 64, 64]),
    case("whole rows", 4, &[64, 32, 64], &[64, 64, 64], &[64, 32, 64]),
    case("short rows", 1, &[64, 64, 4], &[64, 64, 4], &[64, 64, 64]),
    case("short rows", 8, &[64, 64, 2], &[64, 64, 2], &[64, 64, 16]),
    case("column", 1, &[64, 64, 1], &[64, 64, 64], &[64, 64, 1]),
    case("column", 4, &[64, 64, 1], &[64, 64, 64], &[64, 64, 1]),
    case("column", 3, &[64, 64, 1], &[64, 64, 64], &[64, 64, 1]),
    case("rows of odd items", 12, &[16, 16, 4], &[16, 16, 4], &[32, 32, 32]),
    case("large items", 300, &[8, 8, 8], &[8, 8, 8], &[16, 16, 16]),
    case("one item", 4, &[1, 1, 1], &[16, 16, 16], &[1, 1, 1]),
    case("six dimensions", 4, &[4, 4, 4, 4, 4, 4], &[8, 8, 8, 8, 8, 8], &[4, 4, 4, 4, 4, 4]),
];

fn copy(library: &Library, case: &BoxCase, src: &[u8], dst: &mut [u8]) {
    let start = [0i64; 16];
    // SAFETY: the buffers have the sizes of their shapes, and the box lies inside both.
    let rc = unsafe {
        (library.b2nd_copy_buffer2)(
            case.shape.len() as i8,
            case.itemsize,
            src.as_ptr().cast(),
            case.src.as_ptr(),
            start.as_ptr(),
            case.shape.as_ptr(),
            dst.as_mut_ptr().cast(),
            case.dst.as_ptr(),
            start.as_ptr(),
        )
    };
    assert!(rc == 0, "a copy: {rc}");
}

/// Measures every case on one thread.
pub fn run(bench: &Bench) -> Report {
    let mut report = Report::new("boxes", &["copy"], bench.options.summary);
    for case in &CASES {
        let name = format!("{:?} of {:?} to {:?}, {} bytes", case.shape, case.src, case.dst, case.itemsize);
        if !bench.options.is_selected(case.name, &name) {
            continue;
        }
        let len = |shape: &[i64]| shape.iter().product::<i64>() as usize * case.itemsize as usize;
        let src: Vec<u8> = (0..len(case.src)).map(|at| (at % 251) as u8).collect();
        let mut dst = vec![0; len(case.dst)];
        let mut reference_dst = dst.clone();
        copy(bench.ours, case, &src, &mut dst);
        copy(bench.reference, case, &src, &mut reference_dst);
        assert!(dst == reference_dst, "{}: other bytes", case.name);
        let ratio = speed_ratio(
            &bench.options,
            1,
            || copy(bench.ours, case, &src, &mut dst),
            || copy(bench.reference, case, &src, &mut reference_dst),
        );
        report.add(case.name, name, vec![ratio]);
    }
    report
}
