//! The copies of matches in the decoder's output: from a distance before, byte by byte in meaning, many bytes at a time
//! in fact. Knows nothing of streams; the caller has checked that everything lies inside the output.

/// What a copy may write: a short one from its beginning, a long one beyond its end.
pub const COPY_MARGIN: usize = 64;
/// Up to this length copies are done in line; longer ones are worth the call of `memcpy`.
const NEAR_COPY: usize = 256;
/// The same for one repeated byte and `memset`.
const NEAR_FILL: usize = 96;

/// Copies `N` bytes.
///
/// # Safety
/// `N` bytes at both places; where they overlap the old bytes of `from` are copied.
#[inline(always)]
pub unsafe fn copy<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise. Arrays of bytes have no alignment.
    unsafe { to.cast::<[u8; N]>().write(from.cast::<[u8; N]>().read()) }
}

/// Eight bytes that repeat the first `distance` of `v`, or `v` from a `distance` of 8 on. Without a branch: nobody can foretell
/// whether the next match is that near.
#[inline(always)]
fn repeat(v: u64, distance: usize) -> u64 {
    /// The first bytes of a word.
    const FIRST: [u64; 9] = {
        let mut table = [u64::MAX; 9];
        let mut distance = 0;
        while distance < 8 {
            table[distance] = (1 << (8 * distance)) - 1;
            distance += 1;
        }
        table
    };
    /// The sum of `256^(distance * k)` below `2^64`: multiplying by it repeats `distance` bytes.
    const REPEAT: [u64; 9] = {
        let mut table = [0; 9];
        let mut distance = 1;
        while distance <= 8 {
            let mut at = 0;
            while at < 8 {
                table[distance] |= 1 << (8 * at);
                at += distance;
            }
            distance += 1;
        }
        table
    };
    let distance = distance.min(8);
    (v & FIRST[distance]).wrapping_mul(REPEAT[distance])
}

/// Copies 8 bytes to `to` from `distance` bytes before.
///
/// # Safety
/// `distance` >= 1 bytes before `to`, 8 after it.
#[inline(always)]
pub unsafe fn copy_short(to: *mut u8, distance: usize) {
    // SAFETY: the caller's promise: the bytes read lie between `to - distance` and `to + 8`.
    unsafe {
        let v = u64::from_le_bytes(to.sub(distance).cast::<[u8; 8]>().read());
        to.cast::<[u8; 8]>().write(repeat(v, distance).to_le_bytes());
    }
}

/// Copies `length` bytes to `to` from `distance` bytes before, and may write [`COPY_MARGIN`] more.
///
/// Small distances are written from registers: loading what narrower stores have just written would cost more
/// than the copy itself.
///
/// # Safety
/// `distance` >= 1 bytes before `to`, `length + COPY_MARGIN` after it.
#[inline(always)]
pub unsafe fn copy_long(to: *mut u8, distance: usize, length: usize) {
    // SAFETY: the caller's promise; each arm is for distances that its function allows.
    unsafe {
        let near = length.min(NEAR_COPY);
        let done = match distance {
            1 if length > NEAR_FILL => {
                to.write_bytes(*to.sub(1), length);
                return;
            }
            1 if length <= 32 => {
                // Only that byte is read: from a literal that has just been stored wide, eight would come late.
                let byte = *to.sub(1);
                to.cast::<[u8; 32]>().write([byte; 32]);
                return;
            }
            0..8 => copy_small_period(to, distance, near),
            8..16 => copy_period::<8>(to, distance, near),
            16..32 => copy_period::<16>(to, distance, near),
            32..64 => copy_period::<32>(to, distance, near),
            _ if length > NEAR_COPY => 0,
            _ => {
                let mut done = 0;
                while done < length {
                    copy::<32>(to.sub(distance).add(done), to.add(done));
                    done += 32;
                }
                return;
            }
        };
        if done < length {
            copy_exact(to, distance, done, length);
        }
    }
}

/// Copies `length` bytes to `to` from `distance` bytes before, and writes nothing beyond. `done` of them, whole
/// periods, are there already.
///
/// Marked cold to keep its calls out of the way of the decoder's short copies: worth a tenth on text.
///
/// # Safety
/// `distance` >= 1 bytes before `to`, `length` after it, the first `done` of them written.
#[cold]
#[inline(never)]
pub unsafe fn copy_exact(to: *mut u8, distance: usize, mut done: usize, length: usize) {
    // SAFETY: the caller's promise. What is read lies between `to - distance` and `to + done`, what is
    // written between there and `to + length`: they don't overlap.
    unsafe {
        let from = to.sub(distance);
        if distance == 1 {
            to.add(done).write_bytes(*from, length - done);
            return;
        }
        // Each copy doubles the bytes that the next can take, whole periods all of them.
        while done < length {
            let part = (distance + done).min(length - done);
            to.add(done).copy_from_nonoverlapping(from, part);
            done += part;
        }
    }
}

/// Writes the `distance` bytes before `to` again and again until `length` bytes are there, and perhaps `distance`
/// more. Returns how many whole periods of bytes are written.
///
/// # Safety
/// `N` <= `distance` <= `2 * N`, `distance` bytes before `to`, `length + distance` after it.
#[inline(always)]
unsafe fn copy_period<const N: usize>(to: *mut u8, distance: usize, length: usize) -> usize {
    // SAFETY: the caller's promise: the two parts, which overlap or touch, lie before `to` and make a whole period.
    unsafe {
        let head = to.sub(distance).cast::<[u8; N]>().read();
        let tail = to.sub(N).cast::<[u8; N]>().read();
        let mut done = 0;
        while done < length {
            to.add(done).cast::<[u8; N]>().write(head);
            to.add(done + distance - N).cast::<[u8; N]>().write(tail);
            done += distance;
        }
        done
    }
}

/// As [`copy_period`], for distances below 8; may write 32 bytes more.
///
/// # Safety
/// 1 <= `distance` < 8, `distance` bytes before `to`, `length + 32` after it.
#[inline(always)]
unsafe fn copy_small_period(to: *mut u8, distance: usize, length: usize) -> usize {
    // SAFETY: the caller's promise. The 8 bytes read begin before `to`, and at least 8 come after it.
    unsafe {
        let v = repeat(u64::from_le_bytes(to.sub(distance).cast::<[u8; 8]>().read()), distance).to_le_bytes();
        let mut done = 0;
        if distance.is_power_of_two() {
            while done < length {
                to.add(done).cast::<[[u8; 8]; 4]>().write([v; 4]);
                done += 32;
            }
        } else {
            while done < length {
                to.add(done).cast::<[u8; 8]>().write(v);
                // The whole periods in 8 bytes.
                done += if distance == 3 { 6 } else { distance };
            }
        }
        done
    }
}
