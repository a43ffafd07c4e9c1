//! A short description of a chunk, which tells whether the parameters that were chosen for an earlier chunk still fit.

/// The number of values of a signature.
const NVALUES: usize = 3;
/// How far a value may lie outside those of earlier chunks: shares of bytes, and bits.
const TOLERANCES: [f32; NVALUES] = [0.06, 0.06, 0.5];
/// The number of pieces of a chunk that are read, at equal distances, and their length in bytes.
const PIECES: usize = 4;
const PIECE_LEN: usize = 256;
/// The distances of the bytes that are compared to estimate the entropy: each remainder of an item size of 1, 2, 4 or 8 bytes is
/// as frequent.
const FAR_DISTANCES: std::ops::RangeInclusive<usize> = 121..=128;

/// The share of bytes that are equal to the byte of the item before, the share of bytes that are equal to the byte before, and
/// an estimate of the order-2 Rényi entropy of the bytes, in bits.
#[derive(Clone, Copy)]
pub(super) struct Signature([f32; NVALUES]);

/// Returns the number of bytes that are equal to those `distance` bytes before them.
fn count_equal(bytes: &[u8], distance: usize) -> usize {
    let later = bytes.get(distance..).unwrap_or_default();
    // Counts of bytes in bytes: fast, and at most 255.
    let count = |(a, b): (&[u8], &[u8])| a.iter().zip(b).map(|(a, b)| u8::from(a == b)).sum::<u8>();
    bytes.chunks(255).zip(later.chunks(255)).map(count).map(usize::from).sum()
}

impl Signature {
    /// Returns the signature of `content`, items of `typesize` bytes (at least 1).
    pub(super) fn new(content: &[u8], typesize: usize) -> Signature {
        let piece_len = PIECE_LEN.min(content.len());
        let last = content.len() - piece_len;
        let (mut of_items, mut of_bytes, mut far) = (0, 0, 0);
        for npiece in 0..PIECES {
            let start = last / (PIECES - 1) * npiece;
            let piece = &content[start..start + piece_len];
            of_items += count_equal(piece, typesize);
            of_bytes += count_equal(piece, 1);
            far += FAR_DISTANCES.map(|distance| count_equal(piece, distance)).sum::<usize>();
        }
        let total = (PIECES * piece_len).max(1) as f32;
        let pairs: usize = FAR_DISTANCES.map(|distance| PIECES * piece_len.saturating_sub(distance)).sum();
        let entropy = (pairs.max(1) as f32 / far.max(1) as f32).log2();
        Signature([of_items as f32 / total, of_bytes as f32 / total, entropy])
    }
}

/// The range of the signatures for which a choice was made.
#[derive(Clone, Copy)]
pub(super) struct SignatureRange {
    low: Signature,
    high: Signature,
}

impl SignatureRange {
    pub(super) fn new(signature: Signature) -> SignatureRange {
        SignatureRange { low: signature, high: signature }
    }

    /// Returns whether `signature` lies in the range, or not far outside.
    pub(super) fn contains(&self, signature: &Signature) -> bool {
        let limits = self.low.0.iter().zip(&self.high.0).zip(TOLERANCES);
        signature
            .0
            .iter()
            .zip(limits)
            .all(|(value, ((low, high), tolerance))| (low - tolerance..=high + tolerance).contains(value))
    }

    /// Extends the range to `signature`.
    pub(super) fn extend(&mut self, signature: &Signature) {
        for (place, value) in signature.0.iter().enumerate() {
            self.low.0[place] = self.low.0[place].min(*value);
            self.high.0[place] = self.high.0[place].max(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(len: usize, mut state: u32) -> Vec<u8> {
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..len).map(next).collect()
    }

    #[test]
    fn contents_of_one_kind_have_near_signatures() {
        let range = SignatureRange::new(Signature::new(&noise(1 << 16, 1), 4));
        assert!(range.contains(&Signature::new(&noise(1 << 16, 2), 4)));
        assert!(!range.contains(&Signature::new(&[7; 1 << 16], 4)));
    }

    #[test]
    fn a_range_contains_what_it_was_extended_to() {
        let mut range = SignatureRange::new(Signature::new(&noise(1 << 16, 1), 4));
        let constant = Signature::new(&[7; 1 << 16], 4);
        range.extend(&constant);
        assert!(range.contains(&constant));
    }

    #[test]
    fn short_contents_have_signatures() {
        for len in 0..20 {
            let signature = Signature::new(&noise(len, 1), 255);
            assert!(SignatureRange::new(signature).contains(&signature), "{len} bytes");
        }
    }
}
