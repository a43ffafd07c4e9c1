//! The decoded index, and the meaning of its entries.

#![forbid(unsafe_code)]

use crate::chunk::SpecialValue;
use crate::error::{Result, ensure, err};
use crate::fallible;

/// The size of an entry in bytes: the item size of the index chunk.
pub(crate) const ENTRY_LEN: usize = 8;

/// The number of entries that [`Offsets::max_number`] compares together: with them, opening a frame of 100,000 chunks takes
/// 112 us instead of 157 us (`cargo bench --bench growth -- chunks file`).
const ENTRIES_PER_SEARCH: usize = 256;

/// Position of the lowest bit of the kind of a special chunk in an index entry.
const KIND_SHIFT: u32 = 56;

/// The meaning of an index entry: the location of a chunk, or the kind of a special chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IndexEntry {
    /// Offset of the chunk from the end of the header, in bytes; of a sparse frame, the number of the chunk file.
    Payload(u64),
    /// A special chunk, which has no bytes: all zero, NaN or uninitialised.
    Special(SpecialValue),
}

/// Decodes an entry. Undefined bits are ignored; if several kind bits are set, the order is zero, uninitialised, NaN.
pub(crate) fn decode_entry(code: i64) -> Result<IndexEntry> {
    if let Ok(payload) = u64::try_from(code) {
        return Ok(IndexEntry::Payload(payload));
    }
    for kind in [SpecialValue::Zero, SpecialValue::Uninit, SpecialValue::Nan] {
        if code >> KIND_SHIFT & i64::from(kind.id()) != 0 {
            return Ok(IndexEntry::Special(kind));
        }
    }
    Err(err!(Data, "index entry {code:#x} has no known kind of special chunk"))
}

/// Encodes an entry. A repeated value, which is stored like any other chunk, and a payload beyond `i64::MAX` have no
/// entry: for them it returns a value that all readers reject.
pub(crate) fn encode_entry(entry: IndexEntry) -> i64 {
    match entry {
        IndexEntry::Payload(payload) => i64::try_from(payload).unwrap_or(i64::MIN),
        IndexEntry::Special(SpecialValue::Value) => i64::MIN,
        IndexEntry::Special(kind) => i64::MIN | i64::from(kind.id()) << KIND_SHIFT,
    }
}

/// The entries of an index, in the order of the chunks.
///
/// A frame of 250 million special chunks has an index of 40 bytes; the uniform form needs no more memory until an entry
/// changes.
#[derive(Clone, Debug)]
pub(crate) enum Offsets {
    /// All entries are the same.
    Uniform { code: i64, len: usize },
    /// The list of the entries.
    List(Vec<i64>),
}

impl Default for Offsets {
    fn default() -> Self {
        Offsets::List(Vec::new())
    }
}

impl PartialEq for Offsets {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Offsets {}

impl Offsets {
    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        match self {
            Offsets::Uniform { len, .. } => *len,
            Offsets::List(list) => list.len(),
        }
    }

    /// Returns entry `n`; `None` beyond the end.
    pub(crate) fn get(&self, n: usize) -> Option<i64> {
        match self {
            Offsets::Uniform { code, len } => (n < *len).then_some(*code),
            Offsets::List(list) => list.get(n).copied(),
        }
    }

    /// Returns all entries in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        self.iter_from(0)
    }

    pub(crate) fn iter_from(&self, first: usize) -> impl Iterator<Item = i64> + '_ {
        let (list, code, times) = match self {
            Offsets::Uniform { code, len } => (&[][..], *code, len.saturating_sub(first)),
            Offsets::List(list) => (list.get(first..).unwrap_or_default(), 0, 0),
        };
        list.iter().copied().chain(std::iter::repeat_n(code, times))
    }

    /// Converts the entries to a list, reserves memory for one more entry, and returns the list.
    fn make_list(&mut self) -> Result<&mut Vec<i64>> {
        if let Offsets::Uniform { code, len } = *self {
            let mut list = fallible::vec_with_capacity(len.saturating_add(1))?;
            list.resize(len, code);
            *self = Offsets::List(list);
        }
        match self {
            Offsets::List(list) => {
                fallible::reserve(list, 1)?;
                Ok(list)
            }
            Offsets::Uniform { len, .. } => Err(err!(MemoryAlloc, "an index of {len} entries")),
        }
    }

    fn check_entry(&self, n: usize) -> Result<()> {
        ensure!(n < self.len(), InvalidParam, "no entry {n} in an index of {} entries", self.len());
        Ok(())
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// `MemoryAlloc`; the entries are unchanged then.
    #[cfg(test)]
    pub(crate) fn push(&mut self, code: i64) -> Result<()> {
        self.insert(self.len(), code)
    }

    /// Inserts an entry before entry `n`, or at the end.
    ///
    /// # Errors
    /// `InvalidParam` when `n` is beyond the end, `MemoryAlloc`; the entries are unchanged then.
    pub(crate) fn insert(&mut self, n: usize, code: i64) -> Result<()> {
        if n > self.len() {
            return Err(err!(InvalidParam, "the position of an entry is {n}, expected 0 to {}", self.len()));
        }
        match self {
            Offsets::Uniform { code: all, len } if *all == code && *len < usize::MAX => *len += 1,
            _ => self.make_list()?.insert(n, code),
        }
        Ok(())
    }

    /// Changes entry `n`.
    ///
    /// # Errors
    /// `InvalidParam` when there is no entry `n`, `MemoryAlloc`; the entries are unchanged then.
    pub(crate) fn set(&mut self, n: usize, code: i64) -> Result<()> {
        self.check_entry(n)?;
        match self {
            Offsets::Uniform { code: all, .. } if *all == code => {}
            _ => self.make_list()?[n] = code,
        }
        Ok(())
    }

    /// Removes entry `n` and returns it.
    ///
    /// # Errors
    /// `InvalidParam` when there is no entry `n`; the entries are unchanged then.
    pub(crate) fn remove(&mut self, n: usize) -> Result<i64> {
        self.check_entry(n)?;
        match self {
            Offsets::Uniform { code, len } => {
                *len -= 1;
                Ok(*code)
            }
            Offsets::List(list) => Ok(list.remove(n)),
        }
    }

    /// Returns the entries in another order: entry `i` of the result is entry `order[i]` of `self`. Returns `None`
    /// unless `order` is a permutation of all indexes, and when memory cannot be allocated.
    pub(crate) fn permuted(&self, order: &[i64]) -> Option<Offsets> {
        let len = self.len();
        if order.len() != len {
            return None;
        }
        let mut seen = fallible::filled(false, len).ok()?;
        for &n in order {
            let seen = seen.get_mut(usize::try_from(n).ok()?)?;
            if std::mem::replace(seen, true) {
                return None;
            }
        }
        match self {
            Offsets::Uniform { code, len } => Some(Offsets::Uniform { code: *code, len: *len }),
            Offsets::List(list) => {
                let mut permuted = fallible::vec_with_capacity(len).ok()?;
                permuted.extend(order.iter().map(|&n| list[n as usize]));
                Some(Offsets::List(permuted))
            }
        }
    }

    /// Returns the largest offset or file number of all payloads; -1 without payloads.
    pub(crate) fn max_number(&self) -> i64 {
        match self {
            Offsets::Uniform { code, len } if *len > 0 => (*code).max(-1),
            Offsets::Uniform { .. } => -1,
            // The chunks at the end mostly have the largest numbers. The signs of differences are computed for several
            // entries at a time; each comparison of a search for the maximum depends on the one before.
            Offsets::List(list) => list.rchunks(ENTRIES_PER_SEARCH).fold(-1, |max, entries| {
                let signs = |signs: i64, &code: &i64| signs | (max.wrapping_sub(code) & !code);
                let is_above = entries.iter().fold(0, signs) < 0;
                if is_above { entries.iter().fold(max, |max, &code| max.max(code)) } else { max }
            }),
        }
    }

    /// Returns the lowest file number that no entry has, and that is not in `taken`.
    pub(crate) fn lowest_free_number(&self, taken: &[u64]) -> Result<u64> {
        let distinct = match self {
            Offsets::Uniform { .. } => self.len().min(1),
            Offsets::List(list) => list.len(),
        };
        // One of the first `distinct + taken.len() + 1` numbers is free.
        let len = distinct + taken.len();
        let mut is_taken = fallible::filled(false, len)?;
        let used = self.iter().take(distinct).filter_map(|code| usize::try_from(code).ok());
        for number in used.chain(taken.iter().filter_map(|&number| usize::try_from(number).ok())) {
            if let Some(is_taken) = is_taken.get_mut(number) {
                *is_taken = true;
            }
        }
        Ok(is_taken.iter().position(|&is_taken| !is_taken).unwrap_or(len) as u64)
    }

    /// Adds `by` bytes to the offset of all payloads that begin behind `offset`, for an update that changes the size of
    /// the chunk at `offset` (`frame.md` 2.5). Returns the first changed entry, if any.
    ///
    /// # Errors
    /// `Data` when an offset would leave `0..=i64::MAX`, `MemoryAlloc`; the entries are unchanged then.
    pub(crate) fn shift_offsets_after(&mut self, offset: u64, by: i64) -> Result<Option<usize>> {
        let is_behind = |code: i64| u64::try_from(code).is_ok_and(|code| code > offset);
        let moved = |code: i64| code.checked_add(by).filter(|&code| code >= 0);
        if by == 0 {
            return Ok(None);
        }
        let mut first = None;
        for (n, code) in self.iter().enumerate().filter(|&(_, code)| is_behind(code)) {
            if moved(code).is_none() {
                return Err(err!(Data, "the chunk offset {code} plus {by} is negative or overflows"));
            }
            first = first.or(Some(n));
            if matches!(self, Offsets::Uniform { .. }) {
                break;
            }
        }
        match self {
            Offsets::Uniform { code, .. } => {
                *code = moved(*code).filter(|_| first.is_some()).unwrap_or(*code);
            }
            Offsets::List(list) => {
                let from = first.unwrap_or(list.len());
                for code in list[from..].iter_mut().filter(|code| is_behind(**code)) {
                    *code = moved(*code).unwrap_or(*code);
                }
            }
        }
        Ok(first)
    }
}
