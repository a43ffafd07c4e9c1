//! The settings of the automatic tuner.

use crate::error::{Error, Result};
use blosc2_core::rust_api::auto_tuner::{AutoTuning, SpeedMode};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// What the automatic tuner optimises, for [`Params::auto`](crate::Params::auto): the ratio, the speed, or both.
///
/// The tuner takes the codec, the level and the filters with the greatest predicted
/// `tradeoff * ln(ratio) + (1 - tradeoff) * ln(speed)`. The speed is the geometric mean of the speeds of compression and
/// decompression, unless [`for_compression`](Self::for_compression) or [`for_decompression`](Self::for_decompression) is
/// called.
///
/// As a text it is a number, and after a colon the speed that counts: `0.5`, `0.5:comp` or `0.5:decomp`.
///
/// ```
/// use blosc2::Tradeoff;
///
/// let tradeoff: Tradeoff = "0.5:decomp".parse()?;
/// assert_eq!(tradeoff, Tradeoff::new(0.5)?.for_decompression());
/// assert_eq!(tradeoff.to_string(), "0.5:decomp");
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tradeoff(AutoTuning);

impl Tradeoff {
    /// Returns a tradeoff from 0 (speed) to 1 (ratio).
    ///
    /// ```
    /// use blosc2::Tradeoff;
    ///
    /// assert_eq!(Tradeoff::new(0.25)?.value(), 0.25);
    /// assert!(Tradeoff::new(1.5).is_err() && Tradeoff::new(f64::NAN).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for another number.
    pub fn new(tradeoff: f64) -> Result<Tradeoff> {
        Tradeoff::with_mode(tradeoff, SpeedMode::Balanced)
    }

    fn with_mode(tradeoff: f64, mode: SpeedMode) -> Result<Tradeoff> {
        Ok(Tradeoff(AutoTuning::new(tradeoff, mode)?))
    }

    /// Has the speed of compression count, and that of decompression not.
    ///
    /// ```
    /// use blosc2::Tradeoff;
    ///
    /// assert_eq!(Tradeoff::new(0.5)?.for_compression().to_string(), "0.5:comp");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn for_compression(self) -> Tradeoff {
        Tradeoff(self.0.with_mode(SpeedMode::Compression))
    }

    /// Has the speed of decompression count, and that of compression not.
    ///
    /// ```
    /// use blosc2::{Params, Tradeoff};
    ///
    /// let lines: String = (0..20_000).map(|n| format!("station {n}: {} K\n", n % 300)).collect();
    /// let params = Params::new().typesize(1).auto(Tradeoff::new(0.5)?.for_decompression());
    /// let chunk = blosc2::compress(lines.as_bytes(), &params)?;
    /// assert!(chunk.as_bytes().len() < lines.len() / 2 && chunk.decompress()? == lines.as_bytes());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn for_decompression(self) -> Tradeoff {
        Tradeoff(self.0.with_mode(SpeedMode::Decompression))
    }

    /// Returns the number, from 0 to 1.
    ///
    /// ```
    /// assert_eq!(blosc2::Tradeoff::default().value(), 0.5);
    /// ```
    pub fn value(self) -> f64 {
        self.0.tradeoff()
    }

    pub(crate) fn tuning(self) -> AutoTuning {
        self.0
    }
}

impl Default for Tradeoff {
    /// Returns 0.5, with both speeds.
    fn default() -> Self {
        Tradeoff::new(0.5).expect("a number from 0 to 1")
    }
}

impl Hash for Tradeoff {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal tradeoffs have equal bits: they are not NaN, and 0 is positive.
        self.value().to_bits().hash(state);
        std::mem::discriminant(&self.0.mode()).hash(state);
    }
}

impl fmt::Display for Tradeoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.0.mode() {
            SpeedMode::Balanced => "",
            SpeedMode::Compression => ":comp",
            SpeedMode::Decompression => ":decomp",
        };
        write!(f, "{}{mode}", self.value())
    }
}

impl FromStr for Tradeoff {
    type Err = Error;

    /// Reads a number, optionally followed by `:balanced`, `:comp` or `:decomp`.
    fn from_str(text: &str) -> Result<Tradeoff> {
        Ok(Tradeoff(AutoTuning::parse(text)?))
    }
}
