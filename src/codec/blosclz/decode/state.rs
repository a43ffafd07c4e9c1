//! The progress of decoding a stream, and the decoding of single tokens with every check.

#![forbid(unsafe_code)]

use crate::codec::blosclz::format::{EXTENDED_LENGTH_CODE, MAX_LITERALS, MAX_NEAR_DISTANCE};
use crate::codec::match_copy::copy_match_checked;

/// The length and the distance of a match token, in bytes.
pub(super) struct MatchToken {
    pub length: usize,
    pub distance: usize,
}

/// The buffers and the progress of decoding: `ip` bytes of the input are consumed, `op` bytes of output are written.
pub(super) struct StreamDecoder<'a> {
    pub src: &'a [u8],
    /// The stream, followed by bytes that may be read.
    pub readable_src: &'a [u8],
    /// The output, followed by bytes that may be overwritten.
    pub dest: &'a mut [u8],
    pub dest_len: usize,
    /// Decoding may stop at this number of bytes of output.
    pub wanted_len: usize,
    pub ip: usize,
    pub op: usize,
}

impl StreamDecoder<'_> {
    /// Returns the control byte of the token at `ip`, which is inside the stream.
    #[inline(always)]
    pub(super) fn control_byte(&self) -> usize {
        let control = usize::from(self.src[self.ip]);
        // The first token is always literals.
        if self.op == 0 { control % MAX_LITERALS } else { control }
    }

    /// Copies a run of literals whose control byte is already consumed.
    #[inline(always)]
    pub(super) fn copy_literals(&mut self, run: usize) -> Option<()> {
        let from = self.src.get(self.ip..self.ip + run)?;
        self.dest[..self.dest_len].get_mut(self.op..self.op + run)?.copy_from_slice(from);
        self.ip += run;
        self.op += run;
        Some(())
    }

    /// Reads the bytes that follow the control byte of a match.
    #[inline(always)]
    pub(super) fn read_match_token(&mut self, control: usize) -> Option<MatchToken> {
        let mut length = control >> 5;
        if length == EXTENDED_LENGTH_CODE {
            loop {
                // Two bytes must remain, so that the low distance byte exists if this extension byte is the last one.
                let &[extension, _, ..] = self.src.get(self.ip..)? else { return None };
                self.ip += 1;
                length = length.checked_add(extension as usize)?;
                if extension != 255 {
                    break;
                }
            }
        } else if self.src.len() - self.ip < 2 {
            return None;
        }
        let low = self.src[self.ip] as usize;
        self.ip += 1;
        let mut distance = (control % 32) << 8 | low;
        if distance == MAX_NEAR_DISTANCE {
            let &[high, low, ..] = self.src.get(self.ip..)? else { return None };
            self.ip += 2;
            distance += (high as usize) << 8 | low as usize;
        }
        Some(MatchToken { length: length + 2, distance: distance + 1 })
    }

    /// Decodes one token, with every check and copies of the exact size.
    #[inline(never)]
    pub(super) fn decode_token_checked(&mut self) -> Option<()> {
        let control = self.control_byte();
        self.ip += 1;
        if control < MAX_LITERALS {
            return self.copy_literals(control + 1);
        }
        let found = self.read_match_token(control)?;
        if found.length > self.dest_len - self.op || found.distance > self.op {
            return None;
        }
        // A match that ends the input is checked but not copied.
        if self.ip < self.src.len() {
            copy_match_checked(self.dest, self.op, found.distance, found.length)?;
            self.op += found.length;
        }
        Some(())
    }
}
