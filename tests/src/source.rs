//! The source of this workspace, as the rules of `tests/tidy.rs` read it.

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the workspace.
#[derive(Debug)]
pub struct File {
    /// From the root of the workspace, with `/`.
    pub path: String,
    /// All of it.
    pub text: String,
}

impl File {
    /// What a file is called in a list of functions: its stem, or its folder's name for `mod.rs`.
    #[must_use]
    pub fn stem(&self) -> &str {
        let whole = self.path.strip_suffix("/mod.rs").unwrap_or(&self.path);
        let name = whole.rsplit('/').next().unwrap_or(whole);
        name.strip_suffix(".rs").unwrap_or(name)
    }

    /// Whether it is compiled for tests alone.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.path.starts_with("tests/")
            || self.path.starts_with("ui-tests/")
            || self.path.contains("/tests/")
            || self.path.ends_with("/tests.rs")
    }

    /// The part before its unit tests, which stand last in a file.
    fn shipped(&self) -> &str {
        let end = self.text.find("#[cfg(test)]\nmod ").unwrap_or(self.text.len());
        &self.text[..end]
    }

    /// The lines of its code without unit tests, comments and the contents of strings.
    #[must_use]
    pub fn code(&self) -> String {
        blank(self.shipped(), Blank { strings: true })
    }

    /// The lines of its code without unit tests and comments.
    #[must_use]
    pub fn code_with_strings(&self) -> String {
        blank(self.shipped(), Blank { strings: false })
    }

    /// `path:line` of each line of `text`, which has this file's lines, that `found` accepts.
    pub fn lines(&self, text: &str, found: impl Fn(&str) -> bool) -> Vec<String> {
        text.lines()
            .enumerate()
            .filter(|(_, line)| found(line))
            .map(|(index, line)| format!("{}:{}: {}", self.path, index + 1, line.trim()))
            .collect()
    }

    /// The functions that are `pub` and return a future.
    #[must_use]
    pub fn public_futures(&self) -> Vec<PublicFuture> {
        public_futures(self.shipped())
    }
}

/// A `pub async fn`, or a `pub fn` that returns `impl Future` or a `BoxFuture`.
#[derive(Debug, PartialEq, Eq)]
pub struct PublicFuture {
    /// Its name.
    pub name: String,
    /// Its doc comment, without the slashes.
    pub docs: String,
}

/// The root of the workspace.
#[must_use]
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Every text file below a folder of the workspace, in the order of their paths.
///
/// # Panics
///
/// If there is none: a rule must not pass because what it reads has moved.
#[must_use]
pub fn files(folder: &str) -> Vec<File> {
    let mut paths = Vec::new();
    collect(&root().join(folder), &mut paths);
    paths.sort();
    let files: Vec<_> = paths.iter().filter_map(|path| read(path)).collect();
    assert!(!files.is_empty(), "there are no files in `{folder}`");
    files
}

/// The Rust files among [`files`].
#[must_use]
pub fn rust_files(folder: &str) -> Vec<File> {
    let mut files = files(folder);
    files.retain(|file| file.path.ends_with(".rs"));
    assert!(!files.is_empty(), "there are no Rust files in `{folder}`");
    files
}

/// The files of one module of the runtime, a folder or a single file.
#[must_use]
pub fn module(name: &str) -> Vec<File> {
    let file = root().join(format!("runtime/src/{name}.rs"));
    match read(&file) {
        Some(file) => vec![file],
        None => rust_files(&format!("runtime/src/{name}")),
    }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        // In a worktree `.git` is a file, which says where the rest is.
        let name = entry.file_name();
        if name == ".git" || name == "target" {
            continue;
        }
        if path.is_file() {
            paths.push(path);
        } else {
            collect(&path, paths);
        }
    }
}

/// Nothing for what is no text.
fn read(path: &Path) -> Option<File> {
    let text = fs::read_to_string(path).ok()?;
    let path = path.strip_prefix(root()).unwrap_or(path);
    let path = path.to_string_lossy().replace('\\', "/");
    Some(File { path, text })
}

/// What [`blank`] takes out besides comments.
#[derive(Clone, Copy)]
struct Blank {
    strings: bool,
}

/// Turns comments, and the contents of strings, into spaces; lines stay where they are.
fn blank(text: &str, what: Blank) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, hidden) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), true)
        } else if rest.starts_with("/*") {
            (block_comment(rest), true)
        } else if let Some(length) = string(rest, out.chars().next_back()) {
            (length, what.strings)
        } else {
            (first.len_utf8(), false)
        };
        let (token, after) = rest.split_at(length);
        if hidden {
            out.extend(token.chars().map(|c| if c == '\n' { c } else { ' ' }));
        } else {
            out.push_str(token);
        }
        rest = after;
    }
    out
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of the string or character literal at the start of `text`, if one starts there.
fn string(text: &str, before: Option<char>) -> Option<usize> {
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let raw = text.trim_start_matches(['b', 'c']).strip_prefix('r');
    if let Some(raw) = raw {
        let quote = raw.trim_start_matches('#');
        let hashes = raw.len() - quote.len();
        if let Some(content) = quote.strip_prefix('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let length = content.find(&end).map_or(content.len(), |at| at + end.len());
            return Some(text.len() - content.len() + length);
        }
    }
    let quoted = text.trim_start_matches(['b', 'c']);
    let quote = quoted.chars().next().filter(|&c| c == '"' || c == '\'')?;
    let content = &quoted[1..];
    // A lifetime has no closing quote after its first character.
    let is_lifetime =
        quote == '\'' && !content.starts_with('\\') && content.chars().nth(1) != Some('\'');
    if is_lifetime {
        return None;
    }
    let mut escaped = false;
    let end = content.find(|c| {
        let closes = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    });
    let start = text.len() - content.len();
    Some(start + end.map_or(content.len(), |at| at + 1))
}

fn public_futures(text: &str) -> Vec<PublicFuture> {
    let code = blank(text, Blank { strings: true });
    let mut found = Vec::new();
    let mut docs = String::new();
    let lines: Vec<_> = code.lines().zip(text.lines()).collect();
    for (index, (line, original)) in lines.iter().enumerate() {
        if let Some(doc) = original.trim_start().strip_prefix("///") {
            docs.push_str(doc);
            docs.push('\n');
        } else if let Some(name) = public_function(line) {
            let signature = signature(lines[index..].iter().map(|(code, _)| *code));
            if ["async fn ", "-> impl Future", "-> BoxFuture<"]
                .iter()
                .any(|it| signature.contains(it))
            {
                found.push(PublicFuture { name: name.to_owned(), docs: docs.clone() });
            }
            docs.clear();
        } else if !belongs_to_an_attribute(line, &docs) {
            docs.clear();
        }
    }
    found
}

fn public_function(line: &str) -> Option<&str> {
    let function = line.trim_start().strip_prefix("pub ")?;
    let function = function.strip_prefix("const ").unwrap_or(function);
    let function = function.strip_prefix("async ").unwrap_or(function);
    let name = function.strip_prefix("fn ")?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// A signature on one line, up to its body.
fn signature<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut signature = String::new();
    for line in lines {
        signature.push_str(line.trim());
        signature.push(' ');
        if line.contains('{') || line.trim_end().ends_with(';') {
            break;
        }
    }
    signature
}

/// Between a doc comment and its function stand only attributes; theirs may span lines.
fn belongs_to_an_attribute(line: &str, docs: &str) -> bool {
    let line = line.trim();
    !docs.is_empty() && !line.ends_with(['{', '}', ';']) && !line.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        for (text, code) in [
            ("a // sqlx::\nb", "a          \nb"),
            ("a /* x /* y */ z\n */ b", "a               \n    b"),
            (r#"f("a \" b", 1)"#, r"f(        , 1)"),
            (r##"f(r#"a " b"#, 1)"##, r"f(          , 1)"),
            (r#"f(b"a\\", c"x")"#, "f(      ,     )"),
            (r#"match c { '"' => 1, '\'' => 2 }"#, "match c {     => 1,      => 2 }"),
            ("fn f<'a>(x: &'a str, y: &'static str)", "fn f<'a>(x: &'a str, y: &'static str)"),
            (r#"for"x""#, r#"for"x""#),
        ] {
            assert_eq!(file("a.rs", text).code(), code, "{text}");
        }
    }

    #[test]
    fn strings_stay_where_they_are_asked_for() {
        let text = "f(\"http://x\"); // gone\n";
        assert_eq!(file("a.rs", text).code_with_strings(), "f(\"http://x\");        \n");
    }

    #[test]
    fn unit_tests_are_not_shipped() {
        assert_eq!(file("a.rs", "fn f() {}\n#[cfg(test)]\nmod tests {}\n").code(), "fn f() {}\n");
    }

    #[test]
    fn a_file_is_called_by_its_stem_or_its_folder() {
        for (path, stem) in
            [("runtime/src/claim/pace.rs", "pace"), ("runtime/src/claim/mod.rs", "claim")]
        {
            assert_eq!(file(path, "").stem(), stem);
        }
    }

    #[test]
    fn public_futures_are_found_with_their_docs() {
        let text = r#"
/// First.
///
/// # Cancel safety
#[must_use = "x"]
#[expect(
    clippy::large_futures,
    reason = "it is"
)]
pub async fn first() {}

pub fn second<T>(
    a: T,
) -> impl Future<Output = ()> + Send {
    async {}
}

/// Not a future.
pub fn third() {}
/// Not public.
pub(crate) async fn fourth() {}
/// Not public either: "pub async fn fifth() {}"
async fn fifth() {}
impl A {
    // pub async fn sixth() {}
    /// Last.
    pub async fn last(self) -> Result<(), E>;
}
"#;
        let found = file("a.rs", text).public_futures();
        let found: Vec<_> = found.iter().map(|f| (f.name.as_str(), f.docs.as_str())).collect();
        assert_eq!(
            found,
            [("first", " First.\n\n # Cancel safety\n"), ("second", ""), ("last", " Last.\n"),]
        );
    }
}
