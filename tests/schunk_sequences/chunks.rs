//! The chunks that both libraries get: each is compressed once, by one of the two, so that the stored bytes must be
//! equal. Never creates a chunk that the reference could not read (`support::known_defects`).

use std::rc::Rc;

use super::api::Api;
use super::known_defects::is_oversized;
use super::model::Chunk;
use super::setup::draw_params;
use crate::support::calls::{Header, Params, Special, compress_copy, decompress, special_chunk, vlcompress};
use crate::support::data::Data;
use crate::support::known_defects::{self as defects, Verdict};
use crate::support::library::Library;
use crate::support::random::Random;

/// A chunk, and its properties.
pub type DrawnChunk = (Vec<u8>, Rc<Chunk>);

/// Returns parameters for which the reference has no known defect.
pub fn default_params(typesize: i32) -> Params {
    Params { typesize, ..Params::default() }
}

/// Draws `nbytes` bytes for items of `typesize` bytes. All zeros only if the items are whole: such a chunk has no
/// payload in a frame, which then cannot store its size.
pub fn draw_data(random: &mut Random, typesize: i32, nbytes: usize) -> Vec<u8> {
    loop {
        let kind = *random.pick(&Data::ALL);
        let data = kind.generate(random, typesize as usize, nbytes);
        if nbytes.is_multiple_of(typesize as usize) || data.iter().any(|&byte| byte != 0) {
            return data;
        }
    }
}

/// Compresses with a fresh context into a large enough destination. `Err`: the known defect of the reference.
pub fn compress_once(maker: &Library, params: &Params, data: &[u8]) -> Result<DrawnChunk, Verdict> {
    compress_into(maker, params, data, defects::sufficient_destsize(params, data.len() as i32))
}

/// As [`compress_once`], into `destsize` bytes.
pub fn compress_into(
    maker: &Library,
    params: &Params,
    data: &[u8],
    destsize: usize,
) -> Result<DrawnChunk, Verdict> {
    let nbytes = data.len() as i32;
    match defects::compression_verdict(params, nbytes, destsize) {
        Verdict::Right => (),
        wrong => return Err(wrong),
    }
    let Ok(chunk) = compress_copy(maker, params, data, destsize, true) else {
        panic!("{}: {params:?} on {nbytes} bytes", maker.name);
    };
    let header = Header::parse(&chunk);
    for verdict in
        [defects::chunk_verdict(params, &chunk), defects::decompression_verdict(params, &header, 2)]
    {
        if !verdict.is_right() {
            return Err(verdict);
        }
    }
    let content = decompress(maker, 1, &chunk, data.len()).unwrap_or_else(|code| {
        panic!("{}: {params:?} on {nbytes} bytes: its own chunk gives {code}", maker.name)
    });
    let lossy = defects::has_filter(params, 4);
    assert!(lossy || content == data, "{}: {params:?} on {nbytes} bytes: wrong contents", maker.name);
    let made = Chunk { header, params: params.clone(), content: Some(content), blocks: None, differs: false };
    Ok((chunk, Rc::new(made)))
}

/// Draws a chunk of `nbytes` bytes: mostly of data, sometimes a special one.
pub fn draw(apis: [&'static Api; 2], random: &mut Random, likely: &Params, nbytes: usize) -> DrawnChunk {
    let maker = random.pick(&apis).library;
    let typesize = likely.typesize;
    if nbytes > 0 && nbytes.is_multiple_of(typesize as usize) && random.one_in(4) {
        let value = random.bytes(typesize as usize);
        let special = match random.below(4) {
            0 => Special::Zeros,
            1 => Special::Nans,
            2 => Special::Uninit,
            _ => Special::Value(&value),
        };
        if let Some(made) = draw_special(maker, &default_params(typesize), special, nbytes) {
            return made;
        }
    }
    let params = match random.below(4) {
        0 | 1 => likely.clone(),
        2 if matches!(typesize, 4 | 8) && random.one_in(4) => Params {
            filters: [0, 0, 0, 0, 4, 1],
            filters_meta: [0, 0, 0, 0, 10, 0],
            ..draw_params(random, typesize)
        },
        2 => draw_params(random, typesize),
        _ => {
            let typesize = *random.pick(&[1, 4, 8, typesize]);
            draw_params(random, typesize)
        }
    };
    let data = draw_data(random, typesize, nbytes);
    match compress_once(maker, &params, &data) {
        Ok(made) if !is_oversized(&made.0, nbytes) => made,
        _ => compress_into(maker, &default_params(typesize), &data, nbytes + 32)
            .expect("plain parameters meet no defect"),
    }
}

fn draw_special(maker: &Library, params: &Params, special: Special, nbytes: usize) -> Option<DrawnChunk> {
    let destsize = 32 + params.typesize as usize;
    let chunk = special_chunk(maker, params, special, nbytes as i32, destsize).ok()?;
    let header = Header::parse(&chunk);
    let content = match special {
        Special::Uninit => None,
        Special::Value(_) if !defects::value_chunk_verdict(params, &header).is_right() => return None,
        // NaNs have 4 or 8 bytes, other sizes are an error.
        _ => decompress(maker, 1, &chunk, nbytes).ok(),
    };
    let made = Chunk { header, params: params.clone(), content, blocks: None, differs: false };
    Some((chunk, Rc::new(made)))
}

/// Draws a chunk of variable-length blocks whose sizes add up to `nbytes`.
pub fn draw_vl(apis: [&'static Api; 2], random: &mut Random, likely: &Params, nbytes: usize) -> DrawnChunk {
    let maker = random.pick(&apis).library;
    let mut left = nbytes.max(1);
    let mut blocks = Vec::new();
    while left > 0 {
        let len = if blocks.len() > 5 { left } else { 1 + random.below(left) };
        blocks.push(Data::Text.generate(random, likely.typesize as usize, len));
        left -= len;
    }
    let sizes: Vec<usize> = blocks.iter().map(Vec::len).collect();
    let readable = |params: &Params| {
        defects::vlcompression_verdict(params, &sizes).is_right()
            && defects::vldecompression_verdict(params, &sizes, 2).is_right()
    };
    let drawn = Params { use_dict: false, ..likely.clone() };
    let params = if readable(&drawn) { drawn } else { default_params(1) };
    let chunk = vlcompress(maker, &params, &blocks, 4 * nbytes + 4096 + 64 * blocks.len())
        .unwrap_or_else(|code| panic!("{}: {params:?}, blocks of {sizes:?}: {code}", maker.name));
    let made = Chunk {
        header: Header::parse(&chunk),
        params,
        content: Some(blocks.concat()),
        blocks: Some(sizes),
        differs: false,
    };
    (chunk, Rc::new(made))
}
