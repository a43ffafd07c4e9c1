//! The tuner hooks (`chunk.md` 5.4, `codecs.md` 15): functions of the program that choose parameters of a context.
//!
//! A hook reads and writes the context's head through the pointer it gets.

mod old_layout;

use self::old_layout::OldContext;
use super::block_size::DefaultTuner;
use super::head::ContextHeadCell;
use crate::abi::{BLOSC2X_TUNER_AUTO, blosc2_context, blosc2_tuner};
use crate::error::{Result, ensure, err};
use crate::registry;
use crate::trace;
use std::ffi::c_void;
use std::ptr;

/// Returns the function that `hook` selects of the tuner `id`, from its plugin library if it was registered without
/// one.
fn hook_function<F>(id: i32, hook: impl Fn(&blosc2_tuner) -> Option<F>) -> Result<F> {
    let registered = registry::tuner(id).ok_or_else(|| err!(InvalidParam, "tuner {id} is not registered"))?;
    let function = match hook(&registered.properties.0) {
        Some(function) => Some(function),
        None => hook(&registry::load_tuner(id)?.properties.0),
    };
    function.ok_or_else(|| err!(Failure, "tuner {id} has no function for this hook"))
}

/// Fields that a tuner must not change. A tuner that was built for another layout of the context may overwrite them
/// instead of its own fields (`abi.md` 4.3), and the library follows these pointers later.
#[derive(Clone, Copy, PartialEq)]
struct ProtectedFields {
    schunk: *mut c_void,
    prefilter: Option<usize>,
    preparams: *mut c_void,
    block_maskout: *mut c_void,
    do_compress: i32,
}

impl ProtectedFields {
    fn from_head(head: &ContextHeadCell) -> ProtectedFields {
        ProtectedFields {
            schunk: head.schunk().cast(),
            prefilter: head.prefilter().map(|function| function as usize),
            preparams: head.preparams().cast(),
            block_maskout: head.block_maskout().cast(),
            do_compress: head.do_compress(),
        }
    }
}

/// A context whose parameters a tuner may choose.
///
/// # Safety
/// [`as_ptr`](Self::as_ptr) returns the address of the whole context to which [`head`](Self::head) belongs.
pub(crate) unsafe trait TunedContext {
    /// Returns the head, which hooks read and write.
    fn head(&self) -> &ContextHeadCell;

    /// Returns the pointer that hooks get.
    fn as_ptr(&self) -> *mut blosc2_context;
}

/// Runs a hook. Afterwards restores the fields that no tuner may change.
fn run_hook(context: &dyn TunedContext, id: i32, hook: impl FnOnce(*mut blosc2_context) -> i32) -> i32 {
    let head = context.head();
    let (before, prefilter) = (ProtectedFields::from_head(head), head.prefilter());
    let code = hook(context.as_ptr());
    if ProtectedFields::from_head(head) == before {
        return code;
    }
    // SAFETY: the values that the context had before.
    unsafe {
        head.set_schunk(before.schunk.cast());
        head.set_prefilter(prefilter);
        head.set_preparams(before.preparams.cast());
    }
    head.set_block_maskout(before.block_maskout.cast());
    head.set_do_compress(before.do_compress);
    trace::warning(|| {
        format!("tuner {id} was built for another layout of the context: its choices may have no effect")
    });
    code
}

/// Returns whether the tuner `id` is one of the program or of a plugin: not one of the library itself.
pub(crate) fn is_registered(id: i32) -> bool {
    id > 0 && id != BLOSC2X_TUNER_AUTO
}

/// Calls `init` of the tuner `id` for a new context. Ids up to 0 mean the default tuner, which needs no initialisation.
///
/// # Safety
/// `config` is valid for the tuner's `init`.
///
/// # Errors
/// `InvalidParam` for an unknown tuner, `Tuner` when it fails.
pub(crate) unsafe fn call_init(context: &dyn TunedContext, id: i32, config: *mut c_void) -> Result<()> {
    if !is_registered(id) {
        return Ok(());
    }
    let init = hook_function(id, |tuner| tuner.init)?;
    // SAFETY: the program's function, with a fully initialised context and the program's own pointer.
    let init = |context| unsafe { init(config, context, ptr::null_mut()) };
    let code = match old_layout::may_be_used_by(id) {
        true => OldContext::init(context.head(), init),
        false => None,
    };
    let code = code.unwrap_or_else(|| run_hook(context, id, init));
    ensure!(code >= 0, Tuner, "`init` of tuner {id} returned {code}, expected 0 or more");
    Ok(())
}

/// Calls the tuner, which chooses the parameters of the next compression, of `nbytes` bytes; afterwards the head's
/// block size is effective.
///
/// # Errors
/// `InvalidParam` for an unknown tuner, `Tuner` when it fails, `Failure` when it lacks the function.
pub(crate) fn choose_params(context: &dyn TunedContext, nbytes: i32) -> Result<()> {
    let (id, has_state) = (context.head().tuner_id(), !context.head().tuner_params().is_null());
    if is_registered(id) {
        let next = |tuner: &blosc2_tuner| if has_state { tuner.next_cparams } else { tuner.next_blocksize };
        let hook = hook_function(id, next)?;
        // SAFETY: the program's function, with a fully initialised context.
        let hook = |context| unsafe { hook(context) };
        let code = match old_layout::is_used_by(id) {
            true => OldContext::choose(context.head(), hook),
            false => run_hook(context, id, hook),
        };
        ensure!(code >= 0, Tuner, "tuner {id} returned {code}, expected 0 or more");
    }
    let head = context.head();
    let default_tuner = DefaultTuner::new(head.compcode(), head.clevel(), head.splitmode(), &head.filters());
    // A tuner's block size is adjusted to the data too; if the tuner left it at 0, the default is used.
    head.set_blocksize(default_tuner.blocksize(nbytes, head.typesize(), head.blocksize()));
    if !is_registered(id) {
        trace_choice(head.compcode(), head.clevel(), head.blocksize(), head.typesize(), default_tuner);
    }
    Ok(())
}

/// Writes a trace message with the block size and the split decision of the default tuner.
pub(crate) fn trace_choice(
    compcode: i32,
    clevel: i32,
    blocksize: i32,
    typesize: i32,
    default_tuner: DefaultTuner,
) {
    trace::info(|| {
        let split = i32::from(default_tuner.is_split(typesize, blocksize));
        format!(
            "compcode: {compcode}, clevel: {clevel}, blocksize: {blocksize}, splitmode: {split}, typesize: {typesize}"
        )
    });
}

/// Passes the duration of a compression, in seconds, to a tuner that has state.
///
/// # Errors
/// `Tuner` when it fails, `Failure` when it lacks the function.
pub(crate) fn call_update(context: &dyn TunedContext, seconds: f64) -> Result<()> {
    let (id, has_state) = (context.head().tuner_id(), !context.head().tuner_params().is_null());
    if !is_registered(id) || !has_state {
        return Ok(());
    }
    let update = hook_function(id, |tuner| tuner.update)?;
    // SAFETY: the program's function, with a fully initialised context.
    let update = |context| unsafe { update(context, seconds) };
    let code = match old_layout::is_used_by(id) {
        true => OldContext::update(context.head(), update),
        false => run_hook(context, id, update),
    };
    ensure!(code >= 0, Tuner, "`update` of tuner {id} returned {code}, expected 0 or more");
    Ok(())
}

/// Calls `free` of a tuner that has state. An error of the tuner, or a missing one, does not prevent the context from
/// being freed.
///
/// The state is removed from the head afterwards: a second call, or a hook that is called later, finds none.
pub(crate) fn call_free(context: &dyn TunedContext) {
    let head = context.head();
    let (id, has_state) = (head.tuner_id(), !head.tuner_params().is_null());
    if !is_registered(id) || !has_state {
        return;
    }
    match hook_function(id, |tuner| tuner.free) {
        Ok(free) => {
            // SAFETY: the program's function, with a fully initialised context that has state: `free` is not called for
            // it again.
            let free = |context| unsafe { free(context) };
            let code = match old_layout::is_used_by(id) {
                true => free(OldContext::from_head(head).as_ptr()),
                false => free(context.as_ptr()),
            };
            if code < 0 {
                trace::warning(|| format!("`free` of tuner {id} returned {code}, expected 0 or more"));
            }
        }
        Err(error) => trace::warning(|| format!("the state of tuner {id} is not freed: {error}")),
    }
    // SAFETY: NULL.
    unsafe { head.set_tuner_params(ptr::null_mut()) };
}
