//! Naive implementations of the encoder and the decoder, written step by step from `codecs.md` 3.2 and 3.3. The rules of
//! release 2.5.1 were found by comparing streams of C-Blosc 1.21.6 with this model.

use super::Release;

fn hash(value: u32, log: u32) -> usize {
    (value.wrapping_mul(2_654_435_761) >> (32 - log)) as usize
}

fn key(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The rules in which releases differ.
struct Rules {
    /// The difference between the end of a match in the input, with the byte that differs, and its coded end.
    shift: usize,
    /// The coded length of the shortest match.
    min_coded: usize,
}

const RULES_2_5_1: Rules = Rules { shift: 3, min_coded: 3 };
const RULES_2_5_3: Rules = Rules { shift: 4, min_coded: 4 };

impl Rules {
    fn coded_length(&self, bytes: &[u8], at: usize, distance: usize, last: usize) -> usize {
        let end = (at + 4..last).find(|&d| bytes[d] != bytes[d - distance]).map_or(last, |d| d + 1);
        end - self.shift - at
    }
}

fn probe_ratio(rules: &Rules, input: &[u8], log: u32) -> f64 {
    let mut table = vec![0usize; 1 << log];
    let limit = input.len().min(1 << log) as isize;
    let (last, stop) = (limit - 1, limit - 12);
    let (mut ip, mut size, mut copy) = (0usize, 5usize, 4);
    while (ip as isize) < stop {
        let at = ip;
        let old = std::mem::replace(&mut table[hash(key(input, at), log)], at);
        let distance = at - old;
        let mut coded = 0;
        if distance != 0 && distance < 73725 && key(input, old) == key(input, at) {
            coded = rules.coded_length(input, at, distance, last as usize);
        }
        if coded < rules.min_coded {
            size += 1;
            ip = at + 1;
            copy += 1;
            if copy == 32 {
                copy = 0;
                size += 1;
            }
            continue;
        }
        if copy == 0 {
            size -= 1;
        }
        copy = 0;
        if coded >= 7 {
            size += (coded - 7) / 255 + 1;
        }
        size += if distance - 1 < 8191 { 2 } else { 4 };
        table[hash(key(input, at + coded), log)] = at + coded;
        ip = at + coded + 2;
        size += 1;
    }
    ip as f64 / size as f64
}

struct ModelOutput {
    bytes: Vec<u8>,
    maxout: usize,
    literal_run_len: usize,
}

impl ModelOutput {
    fn check_room(&self, room: usize) -> Option<()> {
        (self.bytes.len() + room <= self.maxout).then_some(())
    }

    fn write_literal(&mut self, byte: u8) -> Option<()> {
        self.check_room(2)?;
        self.bytes.push(byte);
        self.literal_run_len += 1;
        if self.literal_run_len == 32 {
            self.literal_run_len = 0;
            self.bytes.push(31);
        }
        Some(())
    }

    fn close_run(&mut self) {
        if self.literal_run_len > 0 {
            let control = self.bytes.len() - self.literal_run_len - 1;
            self.bytes[control] = self.literal_run_len as u8 - 1;
        } else {
            self.bytes.pop();
        }
        self.literal_run_len = 0;
    }
}

/// Compresses `input`. Returns `None` where the reference returns 0.
pub(super) fn encode(release: Release, clevel: i32, input: &[u8], maxout: usize) -> Option<Vec<u8>> {
    let (log, part, threshold) = match clevel {
        1 => (12, 8, 2.0),
        2 => (13, 4, 1.5),
        3 => (14, 4, 1.2),
        4..=6 => (14, 2, 1.2),
        7 => (14, 1, 1.15),
        8 => (14, 1, 1.1),
        9 => (14, 1, 1.0),
        _ => return None,
    };
    let n = input.len();
    let (rules, ratio) = match release {
        Release::V2_5_1 { is_split } => {
            let ratio = probe_ratio(&RULES_2_5_1, &input[n - n / 4..], 12);
            (if is_split && ratio >= 4.0 { RULES_2_5_3 } else { RULES_2_5_1 }, ratio)
        }
        Release::V2_5_3 => (RULES_2_5_3, probe_ratio(&RULES_2_5_3, &input[n - n / part..], log)),
    };
    if ratio < threshold {
        return None;
    }
    if n < 16 || maxout < 66 {
        return None;
    }
    let mut table = vec![0usize; 1 << log];
    let (last, stop) = (n - 1, n - 12);
    let mut out = ModelOutput { bytes: vec![31], maxout, literal_run_len: 4 };
    out.bytes.extend_from_slice(&input[..4]);
    let mut ip = 4;
    while ip < stop {
        let at = ip;
        let old = std::mem::replace(&mut table[hash(key(input, at), log)], at);
        let distance = at - old;
        let mut coded = 0;
        if distance != 0 && distance < 73725 && key(input, old) == key(input, at) {
            coded = rules.coded_length(input, at, distance, last);
        }
        if coded < rules.min_coded || distance > 8191 && coded <= 5 {
            out.write_literal(input[at])?;
            ip = at + 1;
            continue;
        }
        out.close_run();
        let far = distance > 8191;
        let d = if far { distance - 1 - 8191 } else { distance - 1 };
        let high = if far { 31 } else { d >> 8 };
        if coded < 7 {
            out.check_room(if far { 4 } else { 2 })?;
            out.bytes.push((coded << 5 | high) as u8);
        } else {
            out.check_room(1)?;
            out.bytes.push((7 << 5 | high) as u8);
            let mut rest = coded - 7;
            while rest >= 255 {
                out.check_room(1)?;
                out.bytes.push(255);
                rest -= 255;
            }
            out.check_room(if far { 4 } else { 2 })?;
            out.bytes.push(rest as u8);
        }
        if far {
            out.bytes.push(255);
            out.bytes.push((d >> 8) as u8);
        }
        out.bytes.push(d as u8);
        let p = at + coded;
        table[hash(key(input, p), log)] = p;
        if clevel == 9 {
            table[hash(key(input, p) >> 8, log)] = p + 1;
        }
        ip = p + 2;
        out.check_room(1)?;
        out.bytes.push(31);
    }
    while ip <= last {
        out.write_literal(input[ip])?;
        ip += 1;
    }
    out.close_run();
    out.bytes[0] |= 0x20;
    Some(out.bytes)
}

/// Decompresses `input`. Returns `None` where the reference returns 0.
pub(super) fn decode(input: &[u8], max: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut control = *input.first()? as usize & 31;
    let mut ip = 1;
    loop {
        if control < 32 {
            let run = control + 1;
            if out.len() + run > max || ip + run > input.len() {
                return None;
            }
            out.extend_from_slice(&input[ip..ip + run]);
            ip += run;
            if ip == input.len() {
                return Some(out);
            }
            control = input[ip] as usize;
            ip += 1;
            continue;
        }
        let (code, high) = (control >> 5, control & 31);
        let mut length = code + 2;
        let two_remain = |ip: usize| (input.len() - ip >= 2).then_some(());
        if code == 7 {
            loop {
                two_remain(ip)?;
                let e = input[ip];
                ip += 1;
                length += e as usize;
                if e != 255 {
                    break;
                }
            }
        } else {
            two_remain(ip)?;
        }
        let low = input[ip] as usize;
        ip += 1;
        let mut distance = high * 256 + low + 1;
        if high == 31 && low == 255 {
            two_remain(ip)?;
            distance = 8192 + input[ip] as usize * 256 + input[ip + 1] as usize;
            ip += 2;
        }
        if out.len() + length > max || distance > out.len() {
            return None;
        }
        if ip == input.len() {
            return Some(out);
        }
        control = input[ip] as usize;
        ip += 1;
        for _ in 0..length {
            out.push(out[out.len() - distance]);
        }
    }
}
