//! Hostile texts: 100 KB of whatever nests or goes on and on.
//!
//! Absent: what is done with them.

/// Code points of the longest expression.
const LONGEST: usize = 100_000;

/// What is repeated to no end: mostly no expressions.
const PIECES: &[&str] = &[
    "(",
    "[",
    "{",
    "{1:",
    "f(",
    "a.f(",
    "a[",
    "a[?",
    "A{b:",
    "-",
    "!",
    "- ",
    "!-",
    "a.",
    "a.?",
    "a?",
    "a?b:",
    "1+",
    "1*",
    "1==",
    "a&&",
    "a||",
    "a||b&&",
    "a in ",
    "'",
    "\"",
    "'''",
    "b'",
    "`",
    "r\"",
    "\\",
    "1",
    "a ",
    ")",
    "]",
    "}",
    ",",
    ":",
    "?",
    "=",
    "\u{1f600}",
    "\n",
    "//",
    "/",
    "has(",
    "has(a.",
    "[1].all(x,",
    "[1].map(x,",
    "a.optMap(v,",
    "cel.bind(x,1,",
    "cel.block([1,",
    "[?",
    "{?1:",
    "a(1)+",
    "1 2 ",
    "a.`b`.",
    "x.y{",
    "if(",
    "[].map(x,[x,",
    "(1+1+(",
    "[[],",
    "{a:{},b:",
    "a\n",
    "a.b(",
    "1.",
    "0x",
    "1e",
    "'a' ",
    "'a'+",
    "é+",
    "a..b",
    "&",
    "|",
    "&&",
    "a? b",
    "\u{201c}",
    "${a}",
    "a=b&&",
    "a.map(x,",
    "1<",
    "a!=",
    "b'\\x00'+",
    "'\\",
    "'\\n'+",
    "f(a,",
    "[a,",
    "{1:a,",
    "{'a':",
    "A{",
    "a.b.c{",
    "!(",
    "-(",
];

/// What ends a repeated piece.
const TAILS: &[&str] = &["", "1", "a", ")"];

/// What begins a chain.
pub(crate) const STARTS: &[&str] =
    &["a", "[]", "[1]", "optional.of(1)", "{}", "{1:1}", "'a'", "1", "true", "optional.none()"];

/// What a chain is made of.
const LINKS: &[&str] = &[
    ".b",
    "[0]",
    ".f()",
    "+a",
    "+1",
    "-1",
    "*1",
    "+'a'",
    "+[1]",
    ".map(x,x)",
    ".map(x,[x])",
    ".map(x,{x:x})",
    ".map(x,x==x,x)",
    ".filter(x,true)",
    ".optMap(v,v)",
    ".optMap(v,optional.of(v))",
    ".optMap(v,[v])",
    ".optFlatMap(v,v)",
    ".optFlatMap(v,optional.of(v))",
    ".optFlatMap(v,optional.of([v]))",
    ".or(optional.of(1))",
    ".orValue(1)",
    ".hasValue()",
    ".value()",
    ".sortBy(e,e)",
    ".?b",
    "[?0]",
    "[?'b']",
    "&&a",
    "&&true",
    "||a&&b",
    "||false",
    "?b:a",
    "?a:",
    "==a",
    "==1",
    "<1",
    "!=true",
    ".transformMap(k,v,{k:v})",
    ".transformMap(k,v,v)",
    ".transformMap(k,v,[v])",
    ".transformList(k,v,v)",
    ".transformList(k,v,[v])",
    ".transformMapEntry(k,v,{k:v})",
    ".transformMapEntry(k,v,{v:k})",
    ".all(x,x)",
    ".all(k,v,v)",
    ".exists(x,x)",
    ".exists_one(x,x)",
    " in a",
    " in [1]",
    " in [a]",
    ".size()",
    ".replace('a','aa')",
    ".split('')",
    ".lowerAscii()",
    ".format([a])",
    ".join()",
    ".reverse()",
    ".flatten()",
    ".distinct()",
    ".sort()",
    ".slice(0,1)",
    ".matches('a')",
    ".b.c.d",
    ".b[0].c",
    ".?b[?0].?c",
    ".`b-c`",
    ".map(x,optional.of(x))",
    ".map(x,a)",
    ".filter(x,a.exists(y,y==x))",
    "+\n1",
    "+ a // b\n",
    "==[1]",
    "=={}",
    "+b'a'",
    "+duration('1s')",
];

/// What is nested, by what is before and after.
const WHOLES: &[(&str, &str)] = &[
    ("(", ")"),
    ("[", "]"),
    ("{1:", "}"),
    ("{'a':", "}"),
    ("[[],", "]"),
    ("[a,", ",a]"),
    ("f(", ")"),
    ("size(", ")"),
    ("string(", ")"),
    ("type(", ")"),
    ("dyn(", ")"),
    ("optional.of(", ")"),
    ("a.f(", ")"),
    ("'a'.replace('a',", ")"),
    ("a[", "]"),
    ("a[?", "]"),
    ("!(", ")"),
    ("-(", ")"),
    ("a&&(", ")"),
    ("a||(", ")"),
    ("a||a&&(", ")"),
    ("a?a:", ""),
    ("(a?a:", ")"),
    ("a?(", "):a"),
    ("(", ")?a:a"),
    ("1+(", ")"),
    ("'a'+(", ")"),
    ("1==(", ")"),
    ("a<(", ")"),
    ("a in (", ")"),
    ("a in [", "]"),
    ("(", ").b"),
    ("(", ").?b"),
    ("[1].all(x,", ")"),
    ("[1].exists(x,", ")"),
    ("[1].exists_one(x,", ")"),
    ("[1].map(x,", ")"),
    ("[1].map(x,[x]+", ")"),
    ("[1].map(x,true,", ")"),
    ("[1].filter(x,", ")"),
    ("[1,2].map(x,", ")"),
    ("[1,2].map(k,v,", ")"),
    ("[1].map(x,x==1&&", ")"),
    ("[1].all(k,v,", ")"),
    ("[1].transformList(k,v,", ")"),
    ("[1].transformMap(k,v,", ")"),
    ("[1].transformMapEntry(k,v,{k:", "})"),
    ("{1:1}.transformMap(k,v,v==1,", ")"),
    ("a.map(x,", ")"),
    ("a.map(x,", ",x)"),
    ("a.optMap(v,", ")"),
    ("optional.of(1).optMap(v,", ")"),
    ("optional.of(1).optFlatMap(v,", ")"),
    ("(", ").optMap(v,v)"),
    ("cel.bind(v,1,", ")"),
    ("cel.bind(v,", ",v)"),
    ("cel.bind(v,", ",v+v)"),
    ("cel.bind(v,", ",[v,v])"),
    ("cel.bind(v,", ",{1:v,2:v})"),
    ("cel.block([1],", ")"),
    ("cel.block([", "],cel.index(0))"),
    ("[1].sortBy(x,", ")"),
    ("[", "].sortBy(x,x)"),
    ("has(a[", "].b)"),
    ("math.greatest(1,", ")"),
    ("lists.range(", ")"),
    ("!(a&&a||a?a:[{1:[1].map(x,true,", ")}])"),
];

/// What is many times beside itself.
const WIDE: &[&str] = &[
    "a",
    "1",
    "'x'",
    "{}",
    "a.b",
    "[a]",
    "[[1]]",
    "x",
    "optional.of(a)",
    "{1:a}",
    "a.map(x,x)",
    "a.f()",
    "size(a)",
    "a+a",
    "?a",
    "-1",
    "1u",
    "1.5",
    "b'a'",
    "a.?b",
    "a[0]",
    "a?a:a",
    "a&&a",
    "a in a",
    "a.optMap(v,v)",
    "cel.bind(v,1,v)",
    "null",
    "optional.none()",
    "type(1)",
    "[].map(x,x)",
    "{'a':[]}",
    "a.all(x,x.y==1)",
    "has(a.b)",
    "a.transformMap(k,v,v)",
    "a.b.c.d.e==1",
    "a.b[a.c]",
    "'x'.matches('a+')",
    "quantity('1')==a",
    "a in [1,2,3]",
    "duration('1s')",
    "'%s'.format([1])",
    "'%s'",
    "é",
    "\u{1f600}",
    "'é'",
    "a\n",
    "math.greatest(1,2,a)",
    "1+'a'",
    "1.f()",
    "a.f(",
    "x.y",
    "[1,2].sortBy(x,x)",
    "ip('::1')",
    "semver('1.0.0')",
];

/// What is between them, with what is before and after them all.
const JOINTS: &[(&str, &str, &str)] = &[
    ("[", ",", "]"),
    ("f(", ",", ")"),
    ("a.f(", ",", ")"),
    ("'%s'.format([", ",", "])"),
    ("a in [", ",", "]"),
    ("", "+", ""),
    ("", "==", ""),
    ("", "&&", ""),
    ("", "||", ""),
    ("", " in ", ""),
    ("", "?a:", "?a:a"),
    ("math.greatest(", ",", ")"),
    ("cel.block([", ",", "],a)"),
    ("[", ",", "].map(x,x)"),
    ("{1:", ",2:", "}"),
    ("A{b:", ",c:", "}"),
];

/// Pieces over and over.
pub(crate) fn repetitions(give: &mut dyn FnMut(&str)) {
    for piece in PIECES {
        for tail in TAILS {
            give(&(repeated(piece, LONGEST - tail.len()) + tail));
            give(&(piece.repeat(240) + tail));
        }
    }
}

/// Chains of links, from each of the given starts.
pub(crate) fn chains(starts: &[&str], give: &mut dyn FnMut(&str)) {
    for start in starts {
        for link in LINKS {
            for count in [20, 120, 248] {
                give(&(start.to_string() + &link.repeat(count)));
            }
            give(&(start.to_string() + &repeated(link, LONGEST - start.len())));
        }
    }
}

/// Wholes within each other.
pub(crate) fn nests(give: &mut dyn FnMut(&str)) {
    for (open, close) in WHOLES {
        for count in [10, 60, 100, 124, 200, 249, 250] {
            give(&format!("{}a{}", open.repeat(count), close.repeat(count)));
            give(&format!("{}1{}", open.repeat(count), close.repeat(count)));
        }
        let count = LONGEST / (open.len() + close.len() + 1);
        give(&format!("{}a{}", open.repeat(count), close.repeat(count)));
    }
}

/// Parts beside each other: the rows of one half of the joints, 0 or 1.
pub(crate) fn rows(half: usize, give: &mut dyn FnMut(&str)) {
    for (open, joint, close) in JOINTS.iter().skip(half).step_by(2) {
        for part in WIDE {
            let count = (LONGEST - open.len() - close.len()) / (part.chars().count() + joint.len());
            give(&format!("{open}{}{close}", vec![*part; count].join(joint)));
        }
    }
}

fn repeated(piece: &str, within: usize) -> String {
    piece.repeat(within / piece.chars().count())
}

/// Rows whose parts all differ, and tokens as long as the text.
pub(crate) fn differing(give: &mut dyn FnMut(&str)) {
    let each = |part: &str, joint: &str| {
        let count = LONGEST / (part.len() + joint.len() + 5);
        (0..count).map(|i| part.replace('#', &i.to_string())).collect::<Vec<_>>().join(joint)
    };
    for (part, joint) in [("v#", "+"), ("v#", "&&"), ("siz#(a)", "||"), ("a.siz#()", "||"), ("a.b#", ","), ("v#", ",")]
    {
        give(&format!("[{}]", each(part, joint)));
    }
    for part in ["#:a", "'k#':a", "#:#", "'k#':'#'", "#u:1", "a#:1", "?'k#':a", "?'k#':optional.of(1)"] {
        give(&format!("{{{}}}", each(part, ",")));
        give(&format!("{{{}}}['k1']", each(part, ",")));
    }
    give(&format!("A{{{}}}", each("f#:1", ",")));
    give(&format!("a in [{}]", each("#", ",")));
    give(&format!("a in [{}]", each("'#'", ",")));
    give(&format!("a in [{}]", each("#.5", ",")));
    give(&format!("[{}].distinct()", each("#", ",")));
    give(&format!("[{}].distinct()", each("[#]", ",")));
    give(&format!("[{}].sort()", each("#", ",")));
    give(&format!("sets.contains([{}],[1])", each("#", ",")));
    give(&each("cel.bind(v#,1,v#)", "+"));
    give(&each("a.all(v#,v#)", "&&"));
    give(&each("'#'.matches('#')", "&&"));
    give(&each("a == quantity('#')", "||"));
    give(&each("a == duration('#s')", "||"));
    give(&each("a == 'b#'", "||"));
    give(&format!("a{}", each(".b#", "")));
    give(&format!("a{}", each("[#]", "")));
    let binds = |n: usize| {
        (0..n).map(|i| format!("cel.bind(v{i},{},", if i == 0 { "1".into() } else { format!("v{0}+v{0}", i - 1) }))
    };
    give(&format!("{}1{}", binds(240).collect::<String>(), ")".repeat(240)));
    // Literals as long as a text can be.
    for (open, close) in
        [("'", "'"), ("b'", "'"), ("\"\"\"", "\"\"\""), ("r'", "'"), ("a.matches('", "')"), ("quantity('", "')")]
    {
        for filler in ["a", "1", "\\n", "é", "(", "a*", "[", "\\x00"] {
            give(&format!("{open}{}{close}", repeated(filler, LONGEST - 20)));
        }
    }
    for digits in ["1", "0", "9"] {
        give(&digits.repeat(LONGEST));
        give(&format!("1.{}", digits.repeat(LONGEST - 2)));
        give(&format!("1e{}", digits.repeat(LONGEST - 2)));
        give(&format!("0x{}", digits.repeat(LONGEST - 2)));
    }
    give(&format!("'{}'.format([{}])", repeated("%s", LONGEST / 2 - 10), vec!["1"; LONGEST / 4 - 10].join(",")));
    give(&format!("// {}", repeated("a", LONGEST - 3)));
    give(&repeated("//\n", LONGEST));
    give(&repeated(" ", LONGEST));
    give(&format!("1{}", repeated(" \n", LONGEST - 1)));
    give(&repeated("a", LONGEST));
    give(&format!("a.{}", repeated("a", LONGEST - 2)));
    give(&format!("{}()", repeated("a", LONGEST - 2)));
    give(&format!("a.{}()", repeated("a", LONGEST - 4)));
}
