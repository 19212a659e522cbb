//! The texts in `fail` are those of one compiler, the one that `rust-toolchain.toml` names.

use std::error::Error;
use std::io::{Write, stderr};
use std::process::Command;

#[test]
fn the_compiler_says_what_to_type_instead() -> Result<(), Box<dyn Error>> {
    let pinned = pinned()?;
    let running = running()?;
    if pinned != running {
        // Straight to the terminal, because a passed test's own output is not shown.
        writeln!(stderr(), "ui tests skipped: they need rustc {pinned}, and this is {running}")?;
        return Ok(());
    }
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
    Ok(())
}

#[test]
fn one_mistake_is_one_error() -> Result<(), Box<dyn Error>> {
    for topic in std::fs::read_dir("fail")? {
        for file in std::fs::read_dir(topic?.path())? {
            let path = file?.path();
            if path.extension().is_none_or(|extension| extension != "stderr") {
                continue;
            }
            let text = std::fs::read_to_string(&path)?;
            let errors = text.lines().filter(|line| line.starts_with("error")).count();
            let mistakes =
                if path.ends_with("mistakes_are_reported_together.stderr") { 3 } else { 1 };
            assert_eq!(errors, mistakes, "{}", path.display());
        }
    }
    Ok(())
}

fn pinned() -> Result<String, Box<dyn Error>> {
    let file = include_str!("../../rust-toolchain.toml");
    let channel = file.lines().find_map(|line| line.strip_prefix("channel = "));
    Ok(channel.ok_or("rust-toolchain.toml names no channel")?.trim_matches('"').to_owned())
}

fn running() -> Result<String, Box<dyn Error>> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = String::from_utf8(Command::new(rustc).arg("--version").output()?.stdout)?;
    Ok(version.split_whitespace().nth(1).ok_or("rustc has no version")?.to_owned())
}
