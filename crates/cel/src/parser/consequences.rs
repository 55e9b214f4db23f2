//! One mistake, one error: what follows from an error is not reported.
//!
//! A wrong token upsets the parser for some tokens more, and the end of the text is missed by all that was begun. cel-go reports
//! each. Here an error counts as a consequence of the one before it unless a token stands between them at which things begin
//! anew: a comma, `&&`, `||`, a closing bracket.
//!
//! Absent: the errors themselves (lexer, `recovery`).
use crate::{
    lexer::{Token, TokenKind},
    source::Issue,
};

/// Leaves of `issues`, which are in the order of their places, those that are no consequences. The parser has read no further
/// than to `gave_up_at`.
pub(super) fn dropped(issues: Vec<Issue>, tokens: &[Token], gave_up_at: Option<u32>) -> Vec<Issue> {
    use TokenKind::{And, Comma, Or, RightBrace, RightBracket, RightParen};
    let is_anew = |token: &&Token| matches!(token.kind, Comma | And | Or | RightParen | RightBracket | RightBrace);
    let mut anew = tokens.iter().filter(is_anew).map(|token| token.span.start).peekable();
    let mut kept: Vec<Issue> = vec![];
    // Whether something began anew since the last error, reported or not.
    let mut is_first = true;
    // `${...}` is read as a map, `if ...` as a name: all that is wrong from there on comes of that.
    let mut is_foreign = false;
    for issue in issues {
        let at = issue.at.unwrap_or_default();
        while anew.next_if(|place| *place < at).is_some() {
            is_first = true;
        }
        // Others (a macro's arguments, a number too large) are found where the parser is not upset.
        let is_consequence = issue.message.starts_with("Syntax error") && (!is_first || is_foreign);
        is_first = false;
        is_foreign |= issue.message.ends_with("error at: '$'") || issue.message.starts_with("reserved identifier");
        if !is_consequence {
            kept.push(issue);
            if gave_up_at == Some(at) {
                break;
            }
        }
    }
    kept
}
