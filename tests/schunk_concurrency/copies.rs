//! Copies of a super-chunk while another thread changes its metalayers.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use crate::content::{
    CHUNK_NITEMS, CodecSettings, ITEM_SIZE, StorageVariant, chunk, create_filled, note_content,
};
use crate::support::library::Library;
use crate::support::random::from_environment;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

/// Number of metalayers that change: the maximum of a frame; more without a frame, so that a copy takes longer.
fn nlayers(store: Store) -> usize {
    if store == Store::Memory { 200 } else { 12 }
}

/// Ends the changes when the copies end, also after a panic.
struct FinishGuard<'a>(&'a AtomicBool);

impl Drop for FinishGuard<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[test]
fn copies_during_vlmeta_updates_contain_whole_metalayers() {
    let scratch = ScratchDir::new();
    let ncopies = from_environment("BLOSC2_CONCURRENCY_COPIES", 300);
    let settings = CodecSettings { codec: 1, delta: false, nthreads: 1 };
    for store in Store::ALL {
        let schunk = &create_filled(
            Library::ours(),
            StorageVariant::Unmapped(store),
            &scratch.new_path(),
            settings,
            1,
            true,
        );
        let names: &Vec<String> = &(0..nlayers(store)).map(|n| format!("{n}")).collect();
        for name in names {
            assert!(schunk.vlmeta_add(name, &note_content(0)) >= 0);
        }
        let over = &AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut version = 0;
                while !over.load(SeqCst) {
                    version += 1;
                    let name = &names[version as usize % names.len()];
                    assert!(schunk.vlmeta_update(name, &note_content(version)) >= 0);
                }
            });
            let _over = FinishGuard(over);
            for _ in 0..ncopies {
                let copy = schunk.copy_to(Store::Memory, "".as_ref(), None).expect("a copy");
                for name in names {
                    // Each version repeats one byte.
                    let content = copy.vlmeta_get(name).expect("a metalayer");
                    assert!(content.iter().all(|&byte| byte == content[0]), "{store:?}: two versions");
                }
                assert!(copy.decompress_into(0, CHUNK_NITEMS * ITEM_SIZE) == Ok(chunk(0)));
            }
        });
    }
}
