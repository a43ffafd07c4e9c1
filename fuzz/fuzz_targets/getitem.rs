//! Items of chunks of arbitrary bytes: a partial read returns an error, or the same items as decompressing the whole
//! chunk.

#![no_main]

use std::cell::RefCell;

use libblosc2_fuzz::chunks::Reader;
use libblosc2_fuzz::{library, split_seed};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static READER: RefCell<Reader> = RefCell::new(Reader::new(library()));
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split_seed(input) else { return };
    READER.with_borrow_mut(|reader| {
        let choices = &mut random.clone();
        reader.with_chunk(data, &mut random, |reader, chunk| {
            for _ in 0..6 {
                reader.read_items(chunk, choices);
            }
        });
    });
});
