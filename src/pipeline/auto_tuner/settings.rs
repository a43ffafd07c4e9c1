//! What the automatic tuner optimises.

use crate::abi::blosc2x_tuner_params;
use crate::error::{Result, ensure, err};

/// The speed that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// The geometric mean of both speeds.
    #[default]
    Balanced,
    /// Speed of compression.
    Compression,
    /// Speed of decompression.
    Decompression,
}

/// What the automatic tuner optimises: `tradeoff * ln(ratio) + (1 - tradeoff) * ln(speed)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    tradeoff: f32,
    mode: Mode,
}

impl Settings {
    /// Returns settings for a tradeoff from 0 (speed) to 1 (ratio).
    ///
    /// # Errors
    /// `InvalidParam` for another tradeoff.
    pub fn new(tradeoff: f64, mode: Mode) -> Result<Settings> {
        ensure!(
            (0.0..=1.0).contains(&tradeoff),
            InvalidParam,
            "the tradeoff of the automatic tuner is {tradeoff}, expected 0 (speed) to 1 (ratio)"
        );
        Ok(Settings { tradeoff: tradeoff as f32, mode })
    }

    /// Returns the settings of a program.
    ///
    /// # Errors
    /// `InvalidParam` for NULL, another size of the struct, an unknown mode, or a tradeoff that is out of range.
    pub(crate) fn from_params(params: Option<&blosc2x_tuner_params>) -> Result<Settings> {
        let params =
            params.ok_or_else(|| err!(InvalidParam, "the parameters of the automatic tuner are NULL"))?;
        let size = size_of::<blosc2x_tuner_params>();
        ensure!(
            params.size as usize == size,
            InvalidParam,
            "the parameters of the automatic tuner have `size` {}, expected {size}",
            params.size
        );
        let mode = match params.mode {
            0 => Mode::Balanced,
            1 => Mode::Compression,
            2 => Mode::Decompression,
            mode => {
                return Err(err!(
                    InvalidParam,
                    "the mode of the automatic tuner is {mode}, expected 0, 1 or 2"
                ));
            }
        };
        Settings::new(params.tradeoff, mode)
    }

    /// Reads `TRADEOFF` or `TRADEOFF:MODE`, where the mode is `balanced`, `comp` or `decomp`.
    ///
    /// # Errors
    /// `InvalidParam` for another text.
    pub fn parse(text: &str) -> Result<Settings> {
        let (number, mode) = text.split_once(':').unwrap_or((text, "balanced"));
        let mode = match mode {
            "balanced" => Mode::Balanced,
            "comp" => Mode::Compression,
            "decomp" => Mode::Decompression,
            _ => {
                return Err(err!(
                    InvalidParam,
                    "the mode of the automatic tuner is `{mode}`, expected balanced, comp or decomp"
                ));
            }
        };
        let tradeoff =
            number.parse().map_err(|_| err!(InvalidParam, "`{number}` is not a tradeoff from 0 to 1"))?;
        Settings::new(tradeoff, mode)
    }

    /// Returns the score of natural logarithms: of the compressed size divided by the size, and of the times of compression
    /// and decompression per byte.
    pub fn score(&self, size: f32, compress_time: f32, decompress_time: f32) -> f32 {
        let time = match self.mode {
            Mode::Balanced => (compress_time + decompress_time) / 2.0,
            Mode::Compression => compress_time,
            Mode::Decompression => decompress_time,
        };
        -self.tradeoff * size - (1.0 - self.tradeoff) * time
    }
}
