//! Huffman codes for deflate: lengths from counts, and codes from lengths (RFC 1951 3.2.2). Pure functions.

/// The longest code of a block, in bits.
pub(super) const MAX_CODE_LEN: usize = 15;
/// The number of symbols of the largest alphabet.
pub(super) const MAX_SYMBOLS: usize = 288;

/// A code: its bits in the order in which they are written, and their number.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Code {
    pub bits: u16,
    pub len: u8,
}

/// Sets `lens` to the lengths of an optimal prefix code for symbols with these counts, none longer than `limit` bits; 0
/// for symbols that do not occur. If fewer than two symbols occur, two still get a code, so that every decoder accepts
/// it.
pub(super) fn compute_code_lengths(counts: &[u32], limit: usize, lens: &mut [u8]) {
    debug_assert_eq!(counts.len(), lens.len());
    lens.fill(0);
    let mut sorted = [0u64; MAX_SYMBOLS];
    let mut n = 0;
    for (symbol, &count) in counts.iter().enumerate() {
        sorted[n] = u64::from(count) << 16 | symbol as u64;
        n += usize::from(count > 0);
    }
    if n < 2 {
        // A code of one symbol needs one bit, too.
        let only = if n == 1 { (sorted[0] & 0xffff) as usize } else { 0 };
        lens[only] = 1;
        lens[usize::from(only == 0)] = 1;
        return;
    }
    let sorted = &mut sorted[..n];
    sorted.sort_unstable();
    let mut depths = [0u32; MAX_SYMBOLS];
    for (depth, &entry) in depths.iter_mut().zip(sorted.iter()) {
        *depth = (entry >> 16) as u32;
    }
    depths_from_counts(&mut depths[..n]);
    let mut of_length = [0u32; MAX_CODE_LEN + 1];
    for &depth in &depths[..n] {
        of_length[(depth as usize).min(limit)] += 1;
    }
    limit_code_lengths(&mut of_length, limit);
    // The rarest symbols get the longest codes.
    let mut next = 0;
    for len in (1..=limit).rev() {
        for _ in 0..of_length[len] {
            lens[(sorted[next] & 0xffff) as usize] = len as u8;
            next += 1;
        }
    }
}

/// Replaces ascending counts by the depths of their leaves in an optimal tree, in place (Moffat and Katajainen 1995).
fn depths_from_counts(a: &mut [u32]) {
    let n = a.len();
    // Inner nodes. `a` holds the counts of the remaining leaves, and for each inner node first its sum, then the index
    // of its parent.
    a[0] += a[1];
    let (mut root, mut leaf) = (0, 2);
    for next in 1..n - 1 {
        if leaf >= n || a[root] < a[leaf] {
            a[next] = a[root];
            a[root] = next as u32;
            root += 1;
        } else {
            a[next] = a[leaf];
            leaf += 1;
        }
        if leaf >= n || (root < next && a[root] < a[leaf]) {
            a[next] += a[root];
            a[root] = next as u32;
            root += 1;
        } else {
            a[next] += a[leaf];
            leaf += 1;
        }
    }
    // Depths of the inner nodes, from the root on.
    a[n - 2] = 0;
    for next in (0..n - 2).rev() {
        a[next] = a[a[next] as usize] + 1;
    }
    // Depths of the leaves: the nodes of a depth that are not inner nodes.
    let (mut available, mut depth) = (1usize, 0u32);
    let (mut inner, mut next) = (n - 1, n);
    while available > 0 {
        let mut used = 0;
        while inner > 0 && a[inner - 1] == depth {
            used += 1;
            inner -= 1;
        }
        for _ in used..available {
            next -= 1;
            a[next] = depth;
        }
        available = 2 * used;
        depth += 1;
    }
}

/// Makes the lengths a prefix code again after they were cut to `limit`, by lengthening other codes as little as
/// possible.
fn limit_code_lengths(of_length: &mut [u32; MAX_CODE_LEN + 1], limit: usize) {
    let mut taken: u32 = (1..=limit).map(|len| of_length[len] << (limit - len)).sum();
    while taken > 1 << limit {
        // One code of the greatest length less than the limit becomes longer by one bit, and one of the longest codes
        // becomes its sibling.
        let Some(len) = (1..limit).rev().find(|&len| of_length[len] > 0) else { return };
        of_length[limit] -= 1;
        of_length[len] -= 1;
        of_length[len + 1] += 2;
        taken -= 1;
    }
}

/// Returns the canonical codes of these lengths in bits, bits reversed as deflate writes them; symbols of length 0 have
/// no code.
///
/// # Panics
/// If there are more than `N` lengths.
pub(super) const fn canonical_codes<const N: usize>(lens: &[u8]) -> [Code; N] {
    let mut of_length = [0u16; MAX_CODE_LEN + 1];
    let mut symbol = 0;
    while symbol < lens.len() {
        of_length[lens[symbol] as usize] += 1;
        symbol += 1;
    }
    of_length[0] = 0;
    let mut next = [0u16; MAX_CODE_LEN + 2];
    let mut len = 1;
    while len <= MAX_CODE_LEN {
        next[len + 1] = (next[len] + of_length[len]) << 1;
        len += 1;
    }
    let mut codes = [Code { bits: 0, len: 0 }; N];
    let mut symbol = 0;
    while symbol < lens.len() {
        let len = lens[symbol];
        if len > 0 {
            let number = &mut next[len as usize];
            codes[symbol] = Code { bits: number.reverse_bits() >> (16 - len), len };
            *number += 1;
        }
        symbol += 1;
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(counts: &[u32], limit: usize) -> u64 {
        let mut lens = vec![0; counts.len()];
        compute_code_lengths(counts, limit, &mut lens);
        let kraft: u64 =
            lens.iter().filter(|&&len| len > 0).map(|&len| 1 << (limit - usize::from(len))).sum();
        assert_eq!(kraft, 1 << limit, "{counts:?}");
        for (&count, &len) in counts.iter().zip(&lens) {
            assert!(count == 0 || (1..=limit).contains(&usize::from(len)), "{counts:?}");
        }
        counts.iter().zip(&lens).map(|(&count, &len)| u64::from(count) * u64::from(len)).sum()
    }

    #[test]
    fn codes_are_complete_and_optimal() {
        // 1 2 3 4 5: 3 + 3 + 2 + 2 + 2 bits.
        assert_eq!(check(&[1, 2, 3, 4, 5], 15), 33);
        assert_eq!(check(&[0, 7, 0], 15), 7);
        assert_eq!(check(&[0, 0, 0], 15), 0);
        assert_eq!(check(&[5, 5], 15), 10);
        let fibonacci: Vec<u32> = (0..30)
            .scan((1, 1), |s, _| {
                *s = (s.1, s.0 + s.1);
                Some(s.0)
            })
            .collect();
        for limit in [5, 7, 9, 15] {
            check(&fibonacci, limit);
        }
        let mut x = 1u32;
        for n in 2..MAX_SYMBOLS {
            let counts: Vec<u32> = (0..n)
                .map(|_| {
                    x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (x >> 20) >> (x & 15)
                })
                .collect();
            check(&counts, 15);
            check(&counts, 9);
        }
    }

    #[test]
    fn codes_are_canonical() {
        // The example of RFC 1951 3.2.2.
        let made: [Code; 8] = canonical_codes(&[3, 3, 3, 3, 3, 2, 4, 4]);
        let number = |code: &Code| code.bits.reverse_bits() >> (16 - code.len);
        let numbers: Vec<u16> = made.iter().map(number).collect();
        assert_eq!(numbers, [2, 3, 4, 5, 6, 0, 14, 15]);
    }
}
