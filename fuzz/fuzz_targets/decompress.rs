//! Chunks of arbitrary bytes: decompressing one returns an error or all of its content. The result does not depend on
//! the number of threads, the size of the destination or the earlier use of the context.

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
        reader.inspect(data);
        let choices = &mut random.clone();
        reader.with_chunk(data, &mut random, |reader, chunk| match choices.below(4) {
            0 => reader.read_masked(chunk, choices),
            1 => reader.read_without_sizes(chunk, choices),
            _ => reader.read_variable_length(chunk, choices),
        });
    });
});
