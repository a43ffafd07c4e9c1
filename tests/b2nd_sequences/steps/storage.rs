//! Creation, serialised forms, and handles that are opened and closed.

use std::path::PathBuf;

use crate::geometry::Geometry;
use crate::known_defects::KnownDefect;
use crate::model::Model;
use crate::sequence_state::{LIBRARY_NAMES, SequenceState, StepEnd, StepResult, vlmetalayers_of, wrong};
use crate::setup::Backend;
use crate::steps::draw_items;
use crate::support::array::{Array, ArrayContext, ArraySpec};
use crate::support::random::Random;
use crate::support::super_chunk::{Store, SuperChunk};

/// How the first array is created.
#[derive(Clone, Copy, Debug)]
enum Creation {
    Zeros,
    Empty,
    Full,
    Nans,
    Uninit,
    FromCbuffer,
    /// A buffer that is too small leaves an array of zeros (b2nd.md Q13).
    ShortBuffer,
}

/// Creates the array of both sides.
pub fn create(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let spec = state.setup.spec.clone();
    let backend = state.setup.backend;
    let g = Geometry::of(&spec);
    let creation = match random.below(10) {
        0 => Creation::Zeros,
        1 => Creation::Empty,
        2 => Creation::Full,
        3 => Creation::Nans,
        4 => Creation::Uninit,
        5 if g.nitems() > 0 && random.one_in(3) => Creation::ShortBuffer,
        _ => Creation::FromCbuffer,
    };
    let source = draw_items(random, g.nbytes());
    let value = draw_items(random, g.typesize);
    let name = state.fresh_name();
    state.log(format!("{creation:?} {:?}", state.setup));
    let nan: Vec<u8> = match g.typesize {
        4 => 0x7fc0_0000u32.to_le_bytes().to_vec(),
        8 => 0x7ff8_0000_0000_0000u64.to_le_bytes().to_vec(),
        typesize => vec![0; typesize],
    };
    let (right, model) = match creation {
        Creation::Zeros | Creation::Empty => (0, Model::zeros(g.clone())),
        Creation::Full => (0, Model::full(g.clone(), &value)),
        // For other item sizes there is no NaN: the call returns an error, and an array (b2nd.md Q13).
        Creation::Nans => (if matches!(g.typesize, 4 | 8) { 0 } else { -3 }, Model::full(g.clone(), &nan)),
        Creation::Uninit | Creation::FromCbuffer => (0, Model::from_items(g.clone(), &source)),
        Creation::ShortBuffer => (-12, Model::zeros(g.clone())),
    };
    if right == -3 {
        // The zeros stand for undefined items.
        return create_as(state, &spec, backend, &name, 0, model, &|context| context.zeros());
    }
    create_as(state, &spec, backend, &name, right, model, &|context| match creation {
        Creation::Zeros => context.zeros(),
        Creation::Empty => context.empty(),
        Creation::Full => context.full(&value),
        Creation::Nans => context.nans(),
        Creation::FromCbuffer => context.create_from_buffer(&source),
        // On an error the array of the reference is not used: see `call_creator`.
        Creation::ShortBuffer => context.create_from_buffer(&source[..source.len() - 1]),
        Creation::Uninit => {
            let (rc, array) = context.uninit();
            if let Some(array) = &array {
                // Undefined until the items are written.
                let zero = vec![0; g.ndim()];
                assert_eq!(array.set(&zero, &g.shape, &source), 0);
            }
            (rc, array)
        }
    })
}

fn create_as(
    state: &mut SequenceState,
    spec: &ArraySpec,
    backend: Backend,
    name: &str,
    right: i32,
    model: Model,
    make: &dyn Fn(&ArrayContext) -> (i32, Option<Array>),
) -> StepResult {
    for (side, label) in state.sides.iter_mut().zip(LIBRARY_NAMES) {
        let path = if spec.store.is_on_disk() { side.directory.join(name) } else { PathBuf::new() };
        let spec = ArraySpec { path: path.clone(), ..spec.clone() };
        let context = side.context(&spec, backend).ok_or_else(|| wrong!("{label}: no context"))?;
        let (rc, array) = make(&context);
        if rc != right {
            return Err(wrong!("creation by {label} gives {rc}, right is {right}"));
        }
        side.replace_array(array, &path);
        if right < 0 {
            side.replace_array(None, &path);
        }
    }
    if right < 0 {
        // The sequence continues with an array at another path.
        return create_as(state, spec, backend, &format!("again-{name}"), 0, model, &|context| {
            context.zeros()
        });
    }
    state.model = model;
    state.check()
}

/// Frees the arrays.
pub fn finish(state: &mut SequenceState) -> Result<(), String> {
    for side in &mut state.sides {
        side.replace_array(None, &PathBuf::new());
    }
    let counted = state.sides.each_ref().map(|side| side.io_counts());
    // If a call fails after it has created an array, the reference leaks the array (D16), and never calls `destroy`
    // of the back-end.
    if counted.iter().any(|counted| counted.0 != 0) || counted[0].1 < counted[1].1 {
        return Err(format!("user back-ends (streams left open, destroy calls): {counted:?}"));
    }
    Ok(())
}

/// Compares everything about an array that was opened from the output of a library.
fn check_read_back(state: &SequenceState, what: &str, array: &Array) -> StepResult {
    state.check_contents(what, array, &state.model)?;
    let (layers, found) = (state.metalayers(), array.schunk().metalayers());
    if layers != found {
        return Err(wrong!("{what}: metalayers {found:?}, right are {layers:?}"));
    }
    let found = vlmetalayers_of(array);
    if found != state.vlmetalayers {
        return Err(wrong!("{what}: variable-length metalayers {found:?}"));
    }
    if array.dtype().as_ref() != Some(&state.stored_dtype) {
        return Err(wrong!("{what}: dtype {:?}, right is {:?}", array.dtype(), state.stored_dtype));
    }
    Ok(())
}

/// Serialises the array of each side; both libraries read both frames.
pub fn cframe(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let store = state.setup.spec.store;
    if state.model.geometry.typesize > 255 && store != Store::MemoryFrame {
        return Err(StepEnd::Skip(KnownDefect::WideCopy));
    }
    state.log(format!("in {store:?}"));
    let frames = [0, 1].map(|at| state.sides[at].array().to_cframe());
    for (at, frame) in frames.iter().enumerate() {
        let what = format!("frame of {}", LIBRARY_NAMES[at]);
        let (frame, fresh) = frame.as_ref().map_err(|rc| wrong!("{what}: {rc}"))?;
        if *fresh != (store != Store::MemoryFrame) {
            return Err(wrong!("{what}: needs_free is {fresh} in {store:?}"));
        }
        for side in [0, 1] {
            let library = state.sides[side].library;
            let what = format!("{what} read by {}", LIBRARY_NAMES[side]);
            let mut bytes = frame.clone();
            let copy = random.one_in(2);
            let (rc, array) = if copy {
                Array::from_frame_copy(library, &mut bytes)
            } else {
                // SAFETY: only read, and freed before the bytes are.
                unsafe { Array::from_borrowed_frame(library, bytes.as_mut_ptr(), bytes.len()) }
            };
            let array = array.ok_or_else(|| wrong!("{what}: {rc}"))?;
            if copy {
                // A copied frame is in memory without a frame (b2nd.md 6.10).
                let fields = array.fields();
                // SAFETY: a live super-chunk with a storage.
                let (frame, contiguous) =
                    unsafe { ((*fields.sc).frame, (*(*fields.sc).storage).contiguous.get()) };
                if !frame.is_null() || contiguous {
                    return Err(wrong!("{what}: a copy that has a frame"));
                }
            }
            check_read_back(state, &what, &array)?;
            drop(array);
            if bytes != *frame {
                return Err(wrong!("{what}: the buffer was changed"));
            }
        }
    }
    Ok(())
}

pub fn save(state: &mut SequenceState, random: &mut Random) -> StepResult {
    if state.model.geometry.typesize > 255 {
        return Err(StepEnd::Skip(KnownDefect::WideCopy));
    }
    let name = state.fresh_name();
    state.log(format!("to {name}"));
    for at in [0, 1] {
        let path = state.sides[at].directory.join(&name);
        for right in [0, -1] {
            // The second time the file exists already (b2nd.md Q5).
            let rc = state.sides[at].array().save(&path);
            if rc != right {
                return Err(wrong!("save by {} gives {rc}, right is {right}", LIBRARY_NAMES[at]));
            }
        }
        for reader in [0, 1] {
            let library = state.sides[reader].library;
            let what = format!("file of {} read by {}", LIBRARY_NAMES[at], LIBRARY_NAMES[reader]);
            let array = if random.one_in(3) {
                let schunk =
                    SuperChunk::open(library, &path).ok_or_else(|| wrong!("{what}: no super-chunk"))?;
                Array::from_super_chunk(schunk).map_err(|rc| wrong!("{what}: from_schunk gives {rc}"))?
            } else {
                let (rc, array) = Array::open(library, &path);
                array.ok_or_else(|| wrong!("{what}: {rc}"))?
            };
            check_read_back(state, &what, &array)?;
        }
    }
    Ok(())
}

pub fn save_append(state: &mut SequenceState, random: &mut Random) -> StepResult {
    if state.model.geometry.typesize > 255 {
        return Err(StepEnd::Skip(KnownDefect::WideCopy));
    }
    let name = state.fresh_name();
    let junk = random.below(2) * (1 + random.below(100));
    state.log(format!("to {name} behind {junk} bytes"));
    for at in [0, 1] {
        let path = state.sides[at].directory.join(&name);
        if junk > 0 {
            std::fs::write(&path, vec![0x99; junk]).expect("a file");
        }
        let mut offset = junk as i64;
        for _ in 0..2 {
            let found = state.sides[at].array().save_append(&path);
            if found != offset {
                return Err(wrong!("save_append by {} gives {found}, right is {offset}", LIBRARY_NAMES[at]));
            }
            for reader in [0, 1] {
                let what =
                    format!("file of {} at {offset} read by {}", LIBRARY_NAMES[at], LIBRARY_NAMES[reader]);
                let (rc, array) = Array::open_offset(state.sides[reader].library, &path, offset);
                check_read_back(state, &what, &array.ok_or_else(|| wrong!("{what}: {rc}"))?)?;
                let (rc, array) = Array::open_offset(state.sides[reader].library, &path, offset + 1);
                if rc != -32 || array.is_some() {
                    return Err(wrong!("{what} + 1: {rc}, right is -32"));
                }
            }
            offset = std::fs::metadata(&path).expect("the file").len() as i64;
        }
    }
    Ok(())
}

/// Opens the files again: each library its own, or the one of the other library.
pub fn reopen(state: &mut SequenceState, exchange: bool) -> StepResult {
    if !state.setup.spec.store.is_on_disk() {
        return Err(StepEnd::NothingToDo);
    }
    let backend = state.setup.backend;
    state.log(format!("exchange: {exchange}"));
    let mut paths = state.sides.each_ref().map(|side| side.path.clone());
    if exchange {
        paths.swap(0, 1);
    }
    state.sides.iter_mut().for_each(|side| side.replace_array(None, &PathBuf::new()));
    for ((side, path), name) in state.sides.iter_mut().zip(paths).zip(LIBRARY_NAMES) {
        let array =
            side.open(&path, backend).map_err(|rc| wrong!("{name} cannot open {}: {rc}", path.display()))?;
        side.replace_array(Some(array), &path);
    }
    state.dtype = Some(state.stored_dtype.clone());
    Ok(())
}

pub fn refresh(state: &mut SequenceState) -> StepResult {
    state.log(String::new());
    // The first refresh of a created array may report a change (b2nd.md Q9), the next one must not.
    state.expect_same("refresh", |side| side.array().refresh())?;
    state.expect("refresh again", &0, |side| side.array().refresh())
}

/// Adds, changes or removes a variable-length metalayer of the super-chunk.
pub fn vlmeta(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let name = *random.pick(&["one", "two"]);
    let len = 1 + random.below(100);
    let content = draw_items(random, len);
    let at = state.vlmetalayers.iter().position(|(found, _)| found == name);
    state.log(format!("{name} of {} bytes", content.len()));
    match at {
        None => {
            state.vlmetalayers.push((name.to_owned(), content.clone()));
            state.expect_same("vlmeta_add", |side| side.array().schunk().vlmeta_add(name, &content))?;
        }
        Some(at) if random.one_in(2) => {
            state.vlmetalayers.remove(at);
            state.expect_same("vlmeta_delete", |side| side.array().schunk().vlmeta_delete(name))?;
        }
        Some(at) => {
            state.vlmetalayers[at].1 = content.clone();
            state.expect_same("vlmeta_update", |side| side.array().schunk().vlmeta_update(name, &content))?;
        }
    }
    Ok(())
}
