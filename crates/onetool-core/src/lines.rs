//! Splits untrusted input into lines of bounded length.

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A complete line, including its line break.
    Whole(Vec<u8>),
    /// A line longer than the limit.
    TooLong {
        /// Its length in bytes, including the line break.
        length: usize,
        /// Its beginning and its end, with everything in between removed.
        edges: Vec<u8>,
    },
}

/// Collects the pieces of a line as they arrive, however they are cut.
///
/// It never keeps much more than the limit: once a line is longer, only its edges stay in memory.
///
/// ```
/// use onetool_core::lines::{Line, LineBuffer};
///
/// let mut buffer = LineBuffer::new(8, 2);
/// assert_eq!(buffer.take(b"abc"), (3, None));
/// assert_eq!(buffer.take(b"d\nnext"), (2, Some(Line::Whole(b"abcd\n".to_vec()))));
/// let too_long = Line::TooLong { length: 10, edges: b"126\n".to_vec() };
/// assert_eq!(buffer.take(b"123456786\nrest"), (10, Some(too_long)));
/// ```
#[derive(Debug)]
pub struct LineBuffer {
    max: usize,
    edge: usize,
    bytes: Vec<u8>,
    /// Length of the current line; `bytes` has only its edges once that is more than `max`.
    length: usize,
}

impl LineBuffer {
    /// Capacity that stays allocated when the middle of a line is discarded.
    const KEPT_CAPACITY: usize = 64 * 1024;

    /// Creates a buffer for lines of up to `max` bytes, which keeps `edge` bytes of either end of a longer one.
    pub fn new(max: usize, edge: usize) -> Self {
        Self { max, edge, bytes: Vec::new(), length: 0 }
    }

    /// Takes input up to and including the next line break.
    ///
    /// Returns how many bytes it took, and the line if it is complete.
    pub fn take(&mut self, input: &[u8]) -> (usize, Option<Line>) {
        let end = input.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(input.len(), |end| end + 1);
        self.length += taken;
        self.bytes.extend_from_slice(&input[..taken]);
        let is_too_long = self.length > self.max;
        if is_too_long && self.bytes.len() > 2 * self.edge {
            self.bytes.drain(self.edge..self.bytes.len() - self.edge);
            self.bytes.shrink_to(Self::KEPT_CAPACITY);
        }
        if end.is_none() {
            return (taken, None);
        }
        let (bytes, length) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.length));
        (taken, Some(if is_too_long { Line::TooLong { length, edges: bytes } } else { Line::Whole(bytes) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds input in pieces of `size` bytes and returns all complete lines.
    fn lines(buffer: &mut LineBuffer, input: &[u8], size: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        for mut piece in input.chunks(size) {
            while !piece.is_empty() {
                let (taken, line) = buffer.take(piece);
                lines.extend(line);
                piece = &piece[taken..];
            }
        }
        lines
    }

    #[test]
    fn lines_do_not_depend_on_how_the_input_is_cut() {
        let input = b"one\n\n12345678\n123456789\nlast";
        let expected = [
            Line::Whole(b"one\n".to_vec()),
            Line::Whole(b"\n".to_vec()),
            Line::Whole(b"12345678\n".to_vec()),
            Line::TooLong { length: 10, edges: b"12389\n".to_vec() },
        ];
        for size in 1..=input.len() {
            assert_eq!(lines(&mut LineBuffer::new(9, 3), input, size), expected, "pieces of {size} bytes");
        }
    }

    #[test]
    fn a_line_that_is_too_long_takes_little_memory() {
        let mut buffer = LineBuffer::new(1000, 0);
        let piece = vec![b'x'; 100_000];
        for _ in 0..100 {
            assert_eq!(buffer.take(&piece), (100_000, None));
        }
        assert!(buffer.bytes.capacity() <= LineBuffer::KEPT_CAPACITY);
        let end = Line::TooLong { length: 10_000_001, edges: Vec::new() };
        assert_eq!(buffer.take(b"\n"), (1, Some(end)));
        assert_eq!(buffer.take(b"a\n"), (2, Some(Line::Whole(b"a\n".to_vec()))));
    }
}
