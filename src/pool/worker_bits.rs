//! Sets of workers as bits: worker `index` is bit `index % BANK_SIZE` of word `index / BANK_SIZE`.

/// Workers per bank: the number of bits of a word.
pub(super) const BANK_SIZE: usize = if cfg!(loom) { 2 } else { 64 };

pub(super) const BANK_COUNT: usize = if cfg!(loom) { 1 } else { 16 };

/// The maximum number of workers. A job of more threads runs on this many.
pub(super) const MAX_WORKERS: usize = BANK_COUNT * BANK_SIZE;

pub(super) fn lowest_bits(set: u64, count: usize) -> u64 {
    let mut rest = set;
    for _ in 0..count {
        if rest == 0 {
            break;
        }
        rest &= rest - 1;
    }
    set & !rest
}

/// Returns the positions of the bits of `set`, in ascending order.
pub(super) fn bit_positions(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        bit
    })
}
