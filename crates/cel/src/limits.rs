//! Every bound of the language in one place, each with its reason.

/// Code points of an expression. Kubernetes' `celconfig`/cel-go's `ExpressionSizeCodePointLimit`.
pub const MAX_CODE_POINTS: usize = 100_000;

/// Levels of nesting of a parsed expression. cel-go's `MaxRecursionDepth` as Kubernetes leaves it.
pub const MAX_DEPTH: usize = 250;

/// Levels of a tree after macro expansion. The text's 250 levels may each hold a macro that becomes up to four nested nodes
/// (`map` with a filter: fold, conditional, sum, list); cel-go has no such bound, real expressions stay below 100.
pub const MAX_TREE_DEPTH: usize = 4 * MAX_DEPTH + 24;

/// Levels of a type. As deep as the deepest literal, and twice, so that no literal meets it; chains of macros can.
pub const MAX_TYPE_DEPTH: usize = 2 * MAX_DEPTH;

/// Parts of a type when it is written out. Beyond it a type doubles at each link of a chain of macros.
pub const MAX_TYPE_SIZE: usize = 10_000;

/// Syntax errors after which the parser gives up on finding more. ANTLR's recovery limit in cel-go.
pub const MAX_RECOVERIES: usize = 30;

/// Levels of nesting of a value that is compared, printed or converted; deeper ones are an error, not a stack overflow.
pub const MAX_VALUE_DEPTH: usize = 250;

/// Values of a value that is written by serde, those within others, keys, and each 64 bytes of texts included. An answer of 8 MiB
/// has less than half of them.
pub const WRITTEN_VALUES: usize = 4 << 20;

/// Weight of a pattern, of which a literal is 1, a Unicode letter (`\\pL`) some 7,000; and twice that for the constant patterns
/// of an expression together. 1,000,000 are about 50 ms to compile and 10 MiB; patterns of people stay below 1,000, RE2 has a
/// budget of 8 MiB.
pub const PATTERN_WEIGHT: u64 = 1_000_000;

/// Bytes that a thread remembers of the patterns that it matched, so that matching them again is quick; beside the last one, which
/// for the heaviest pattern is as much again. Some hundred patterns of people fit.
pub const MATCHER_BYTES: usize = 16 << 20;

/// Problems listed for one expression, as cel-go prints at most.
pub const MAX_ISSUES: usize = 100;

/// Run-time cost of one evaluation. Kubernetes' `PerCallLimit`.
pub const COST_PER_EXPRESSION: u64 = 1_000_000;

/// Work of one evaluation that the cost model does not price: bytes copied or read, and 8 for each value compared. 64 MiB, or
/// 8 million values; less than a tenth of a second. An honest expression over a 3 MiB request stays far below.
pub const WORK_PER_EXPRESSION: u64 = 64 << 20;
