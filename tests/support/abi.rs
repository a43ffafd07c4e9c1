//! The structs of the ABI that the harness hands to the loaded libraries, laid out as the spec says
//! (abi.md 3.1, 3.2, 3.9, 3.10). Plain data.

use std::ffi::{c_char, c_int, c_void};

pub type PrefilterFn = Option<unsafe extern "C" fn(*mut PrefilterParams) -> c_int>;
pub type PostfilterFn = Option<unsafe extern "C" fn(*mut PostfilterParams) -> c_int>;

/// `blosc2_cparams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Cparams {
    pub compcode: u8,
    pub compcode_meta: u8,
    pub clevel: u8,
    pub use_dict: c_int,
    pub typesize: i32,
    pub nthreads: i16,
    pub blocksize: i32,
    pub splitmode: i32,
    pub schunk: *mut c_void,
    pub filters: [u8; 6],
    pub filters_meta: [u8; 6],
    pub prefilter: PrefilterFn,
    pub preparams: *mut PrefilterParams,
    pub tuner_params: *mut c_void,
    pub tuner_id: c_int,
    pub instr_codec: u8,
    pub codec_params: *mut c_void,
    pub filter_params: [*mut c_void; 6],
}

/// `blosc2_dparams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dparams {
    pub nthreads: i16,
    pub schunk: *mut c_void,
    pub postfilter: PostfilterFn,
    pub postparams: *mut PostfilterParams,
    pub typesize: i32,
}

/// `blosc2_prefilter_params`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PrefilterParams {
    pub user_data: *mut c_void,
    pub input: *const u8,
    pub output: *mut u8,
    pub output_size: i32,
    pub output_typesize: i32,
    pub output_offset: i32,
    pub nchunk: i64,
    pub nblock: i32,
    pub tid: i32,
    pub ttmp: *mut u8,
    pub ttmp_nbytes: usize,
    pub ctx: *mut c_void,
    pub output_is_disposable: u8,
}

/// `blosc2_postfilter_params`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PostfilterParams {
    pub user_data: *mut c_void,
    pub input: *const u8,
    pub output: *mut u8,
    pub size: i32,
    pub typesize: i32,
    pub offset: i32,
    pub nchunk: i64,
    pub nblock: i32,
    pub tid: i32,
    pub ttmp: *mut u8,
    pub ttmp_nbytes: usize,
    pub ctx: *mut c_void,
}

pub type Encoder =
    unsafe extern "C" fn(*const u8, i32, *mut u8, i32, u8, *mut Cparams, *const c_void) -> c_int;
pub type Decoder =
    unsafe extern "C" fn(*const u8, i32, *mut u8, i32, u8, *mut Dparams, *const c_void) -> c_int;
pub type FilterForward = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut Cparams, u8) -> c_int;
pub type FilterBackward = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut Dparams, u8) -> c_int;

/// `blosc2_codec`.
#[repr(C)]
pub struct Codec {
    pub compcode: u8,
    pub compname: *const c_char,
    pub complib: u8,
    pub version: u8,
    pub encoder: Option<Encoder>,
    pub decoder: Option<Decoder>,
}

/// `blosc2_filter`.
#[repr(C)]
pub struct Filter {
    pub id: u8,
    pub name: *const c_char,
    pub version: u8,
    pub forward: Option<FilterForward>,
    pub backward: Option<FilterBackward>,
}

const _: () = {
    assert!(size_of::<Cparams>() == 136);
    assert!(size_of::<Dparams>() == 40);
    assert!(size_of::<PrefilterParams>() == 88);
    assert!(size_of::<PostfilterParams>() == 80);
    assert!(size_of::<Codec>() == 40);
    assert!(size_of::<Filter>() == 40);
};
