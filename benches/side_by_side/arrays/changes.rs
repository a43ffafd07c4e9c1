//! Cells that write to arrays.

use std::cell::RefCell;

use super::cases::ArrayCase;
use super::is_wanted;
use super::reads::OrthogonalSelection;
use crate::Bench;
use crate::report::Report;
use crate::support::array::Array;
use crate::timing::speed_ratio;

fn set_box(array: &Array, src: &[u8], start: &[i64], stop: &[i64]) {
    let shape: Vec<i64> = start.iter().zip(stop).map(|(start, stop)| stop - start).collect();
    // SAFETY: each list has one number per dimension, and `src` is valid for reads of `src.len()` bytes.
    let rc = unsafe {
        (array.functions.b2nd_set_slice_cbuffer)(
            src.as_ptr().cast(),
            shape.as_ptr(),
            src.len() as i64,
            start.as_ptr(),
            stop.as_ptr(),
            array.raw(),
        )
    };
    assert_eq!(rc, 0, "{}: a box", array.library.name);
}

pub fn run(bench: &Bench, report: &mut Report, case: &ArrayCase, data: &[u8], nthreads: i16) {
    let suffix = format!("{}, {nthreads} threads", case.name);
    let spec = case.spec(nthreads);
    if is_wanted(bench, "from_cbuffer", &suffix) {
        let contexts = [spec.context(bench.ours), spec.context(bench.reference)];
        let make = |which: usize| contexts[which].create_from_buffer(data).1.expect("an array");
        for which in [0, 1] {
            assert!(make(which).to_cbuffer().expect("items") == data, "other items");
        }
        let ratio = speed_ratio(&bench.options, nthreads, || drop(make(0)), || drop(make(1)));
        report.add("from_cbuffer", suffix.clone(), vec![ratio]);
    }

    let pair = case.create_pair(bench.ours, bench.reference, nthreads);
    let pair = RefCell::new(pair);
    let mut measure = |family: &'static str, name: String, work: &dyn Fn(&Array)| {
        if !is_wanted(bench, family, &name) {
            return;
        }
        let pair = pair.borrow_mut();
        work(&pair[0]);
        work(&pair[1]);
        let items = [&pair[0], &pair[1]].map(|array| array.to_cbuffer().expect("items"));
        assert!(items[0] == items[1], "{family} {name}: other items");
        let ratio = speed_ratio(&bench.options, nthreads, || work(&pair[0]), || work(&pair[1]));
        report.add(family, name, vec![ratio]);
    };
    for (name, part) in [("small", 8), ("large", 2)] {
        let shape: Vec<i64> = case.shape().iter().map(|extent| extent / part).collect();
        let start: Vec<i64> = case.shape().iter().map(|extent| extent / 3).collect();
        let stop: Vec<i64> = start.iter().zip(&shape).map(|(start, extent)| start + extent).collect();
        let nbytes = shape.iter().product::<i64>() as usize * case.typesize();
        measure("box set", format!("{name}, {suffix}"), &|array| {
            set_box(array, &data[..nbytes], &start, &stop)
        });
    }
    let whole = vec![0; case.ndim()];
    measure("box set", format!("whole, {suffix}"), &|array| set_box(array, data, &whole, case.shape()));
    let selection = OrthogonalSelection::random(case);
    measure("orthogonal set", suffix.clone(), &|array| selection.set(array, &data[..selection.nbytes(case)]));
    let mut grown = case.shape().to_vec();
    grown[0] += grown[0] / 2;
    measure("resize", format!("grow and shrink, {suffix}"), &|array| {
        assert_eq!(array.resize(&grown, None), 0);
        assert_eq!(array.resize(case.shape(), None), 0);
    });
    let rows = data.len() / case.shape()[0] as usize * 8;
    measure("append", format!("and delete 8 rows, {suffix}"), &|array| {
        assert_eq!(array.append(&data[..rows], 0), 0);
        assert_eq!(array.resize(case.shape(), None), 0);
    });
}
