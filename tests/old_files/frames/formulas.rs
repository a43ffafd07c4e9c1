//! Formulas of the contents of the fixtures' chunks. They must match `make_data` of `scripts/make-fixtures.py`.

/// Returns the bytes of Knuth's 64-bit linear congruential generator: its top byte at each step.
fn lcg(seed: usize) -> impl Iterator<Item = u8> {
    let mut state = seed as u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    })
}

/// Returns the bytes of a chunk, or `None` if they are not determined.
pub fn expected_chunk(formula: &str, nbytes: usize, typesize: usize) -> Option<Vec<u8>> {
    if let Some(digits) = formula.strip_prefix("hex:") {
        return Some(crate::support::hex(digits));
    }
    Some(match formula {
        "uninit" => return None,
        "nans" => std::iter::repeat_n(f64::NAN.to_le_bytes(), nbytes / 8).flatten().collect(),
        "zeros" => vec![0; nbytes],
        "constant" => (0..nbytes).map(|i| (37 + 11 * (i % typesize)) as u8).collect(),
        "series" => (0..nbytes)
            .map(|i| {
                let value = 1000 + 3 * (i / typesize / 8);
                (value >> (8 * (i % typesize % 8))) as u8
            })
            .collect(),
        "noise" => lcg(nbytes).take(nbytes).collect(),
        "mixed" => {
            let half = nbytes / 2;
            let part = |formula, nbytes| expected_chunk(formula, nbytes, typesize).expect("bytes");
            [part("series", half), part("noise", nbytes - half)].concat()
        }
        "text" => {
            let words = ["alpha ", "beta ", "gamma ", "delta ", "block ", "chunk ", "frame ", "\n"];
            lcg(nbytes).flat_map(|byte| words[usize::from(byte) % 8].bytes()).take(nbytes).collect()
        }
        _ => panic!("unknown formula {formula}"),
    })
}
