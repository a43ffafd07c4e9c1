//! A decoder of zlib streams (RFC 1950 and 1951), whole buffer to whole buffer.
//!
//! Owns the blocks of a stream and the checked decoding of the symbols that the fast loop leaves. Never writes past the
//! destination; the only failure, whatever the input, is `None`.
//!
//! Not a library, because streams of shuffled numbers contain many matches at short distances, which the libraries copy
//! three to eight times more slowly than possible.

mod bit_reader;
mod fast;
mod kernels;
mod table;

use bit_reader::BitReader;
use fast::{BlockTables, StopReason};
use table::{
    DISTANCE_SYMBOLS, DistanceTable, HuffmanTable, LENGTH_CODE_SYMBOLS, LITLEN_SYMBOLS, LitlenTable,
};

use crate::codec::match_copy::copy_match_checked;

/// The length in bytes of the checksum of the plain bytes that ends a stream.
pub(super) const ADLER_LEN: usize = 4;

/// The decoding tables of one thread.
#[derive(Default)]
pub(super) struct Inflater {
    litlen: LitlenTable,
    distance: DistanceTable,
    has_fixed_codes: bool,
}

impl Inflater {
    /// Decodes the zlib stream that `src` begins with into `dest`, and returns the number of bytes written. Returns
    /// `None` if the stream is invalid, truncated, or longer than `dest`. `adler32` is the checksum function.
    pub(super) fn decode_zlib(
        &mut self,
        src: &[u8],
        dest: &mut [u8],
        adler32: impl Fn(&[u8]) -> u32,
    ) -> Option<usize> {
        let (header, body) = src.split_first_chunk::<2>()?;
        let [method, flags] = *header;
        let checked = u16::from_be_bytes(*header).is_multiple_of(31);
        let deflate = method & 0xf == 8 && method >> 4 <= 7;
        let dictionary = flags & 0x20 != 0;
        if !checked || !deflate || dictionary {
            return None;
        }
        let (used, written) = self.decode_raw(body, dest)?;
        let checksum = body.get(used..)?.first_chunk::<ADLER_LEN>()?;
        (adler32(&dest[..written]) == u32::from_be_bytes(*checksum)).then_some(written)
    }

    /// Decodes the deflate stream that `src` begins with into `dest`, and returns the number of bytes read and the
    /// number of bytes written. Returns `None` if the stream is invalid, truncated, or longer than `dest`.
    pub(super) fn decode_raw(&mut self, src: &[u8], dest: &mut [u8]) -> Option<(usize, usize)> {
        let mut bits = BitReader::new(src);
        let mut out = 0;
        loop {
            bits.refill();
            let last = bits.read_bits(1) == 1;
            match bits.read_bits(2) {
                0 => out = copy_stored_block(&mut bits, dest, out)?,
                1 => {
                    self.load_fixed()?;
                    out = self.decode_block_symbols(&mut bits, dest, out)?;
                }
                2 => {
                    self.load_dynamic(&mut bits)?;
                    out = self.decode_block_symbols(&mut bits, dest, out)?;
                }
                _ => return None,
            }
            if last {
                return Some((bits.byte_position()?, out));
            }
            bits.check_not_past_end()?;
        }
    }

    fn load_fixed(&mut self) -> Option<()> {
        if self.has_fixed_codes {
            return Some(());
        }
        let mut lens = [8; 288];
        lens[144..256].fill(9);
        lens[256..280].fill(7);
        self.litlen.build(&lens, &LITLEN_SYMBOLS)?;
        self.distance.build(&[5; 32], &DISTANCE_SYMBOLS)?;
        self.has_fixed_codes = true;
        Some(())
    }

    /// Reads the dynamic codes of a block.
    fn load_dynamic(&mut self, bits: &mut BitReader) -> Option<()> {
        /// The order in which the lengths of the length code are stored.
        const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

        self.has_fixed_codes = false;
        let litlen_count = 257 + bits.read_bits(5) as usize;
        let distance_count = 1 + bits.read_bits(5) as usize;
        let length_count = 4 + bits.read_bits(4) as usize;
        if litlen_count > 286 || distance_count > 30 {
            return None;
        }
        let mut lens = [0u8; 19];
        for &symbol in &ORDER[..length_count] {
            bits.refill();
            lens[symbol] = bits.read_bits(3) as u8;
        }
        // Unlike the other two, this code may not consist of a single symbol.
        if lens.iter().filter(|&&len| len != 0).count() < 2 {
            return None;
        }
        let mut length_code = HuffmanTable::<7, 128>::default();
        length_code.build(&lens, &LENGTH_CODE_SYMBOLS)?;

        let mut lens = [0u8; 286 + 30];
        let (mut at, count) = (0, litlen_count + distance_count);
        while at < count {
            bits.refill();
            let entry = length_code.lookup(bits.peek());
            if entry.is_special() {
                return None;
            }
            let symbol = entry.value(bits.peek());
            bits.consume(entry.bits());
            let (len, times) = match symbol {
                16 => (*lens.get(at.checked_sub(1)?)?, 3 + bits.read_bits(2) as usize),
                17 => (0, 3 + bits.read_bits(3) as usize),
                18 => (0, 11 + bits.read_bits(7) as usize),
                len => (len as u8, 1),
            };
            lens[..count].get_mut(at..at + times)?.fill(len);
            at += times;
        }
        bits.check_not_past_end()?;
        // A block without a code for its end is invalid.
        if lens[256] == 0 {
            return None;
        }
        self.litlen.build(&lens[..litlen_count], &LITLEN_SYMBOLS)?;
        self.distance.build(&lens[litlen_count..count], &DISTANCE_SYMBOLS)
    }

    /// Decodes symbols up to the end of the block. Returns the position in `dest` behind the last byte written.
    fn decode_block_symbols(
        &mut self,
        bits: &mut BitReader,
        dest: &mut [u8],
        mut out: usize,
    ) -> Option<usize> {
        let codes = BlockTables { litlen: &self.litlen, distance: &self.distance };
        loop {
            let mut stop;
            (out, stop) = kernels::symbols(codes, bits, dest, out)?;
            if let (StopReason::NearEnd, Some(tail)) = (&stop, bits.copy_tail()) {
                // A few bytes can encode many long matches: copying them to a buffer with room to read ahead is
                // worthwhile.
                let mut copy = bits.over_tail(&tail);
                (out, stop) = kernels::symbols(codes, &mut copy, dest, out)?;
                bits.resume_after_tail((copy.pos, copy.word, copy.valid_bits));
            }
            if let StopReason::Match { distance, length } = stop {
                copy_match_checked(dest, out, distance, length)?;
                out += length;
                continue;
            }
            while let StopReason::NearEnd = stop {
                bits.check_not_past_end()?;
                (out, stop) = self.decode_symbol_checked(bits, dest, out)?;
                if fast::has_room(bits, dest, out) {
                    break;
                }
            }
            if let StopReason::EndOfBlock = stop {
                return Some(out);
            }
        }
    }

    fn decode_symbol_checked(
        &self,
        bits: &mut BitReader,
        dest: &mut [u8],
        out: usize,
    ) -> Option<(usize, StopReason)> {
        bits.refill();
        let mut entry = self.litlen.lookup(bits.peek());
        if entry.is_link() {
            bits.consume(entry.bits());
            entry = self.litlen.lookup_second(entry, bits.peek());
        }
        if entry.is_literal() {
            *dest.get_mut(out)? = entry.byte();
            bits.consume(entry.bits());
            return Some((out + 1, StopReason::NearEnd));
        }
        if entry.is_special() {
            bits.consume(entry.bits());
            return entry.is_end().then_some((out, StopReason::EndOfBlock));
        }
        let length = entry.value(bits.peek());
        bits.consume(entry.bits());
        bits.refill();
        let mut entry = self.distance.lookup(bits.peek());
        if entry.is_link() {
            bits.consume(entry.bits());
            entry = self.distance.lookup_second(entry, bits.peek());
        }
        if entry.is_special() {
            return None;
        }
        let distance = entry.value(bits.peek());
        bits.consume(entry.bits());
        copy_match_checked(dest, out, distance, length)?;
        Some((out + length, StopReason::NearEnd))
    }
}

/// Copies a stored block. Returns the position in `dest` behind it, or `None` if the block is invalid, truncated, or
/// does not fit.
fn copy_stored_block(bits: &mut BitReader, dest: &mut [u8], out: usize) -> Option<usize> {
    let rest = bits.rest_at_byte()?;
    let (header, data) = rest.split_first_chunk::<4>()?;
    let [len_low, len_high, check_low, check_high] = *header;
    let len = u16::from_le_bytes([len_low, len_high]);
    if len != !u16::from_le_bytes([check_low, check_high]) {
        return None;
    }
    let len = usize::from(len);
    dest.get_mut(out..out + len)?.copy_from_slice(data.get(..len)?);
    bits.skip_bytes(header.len() + len);
    Some(out + len)
}

#[cfg(test)]
mod tests;
