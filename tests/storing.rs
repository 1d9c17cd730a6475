//! Stores and checkpoints on the command line: killed, interrupted, on full disks, twice at once, and gone on with.
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::program::{PROGRAM, process};
use serde_json::Value;

const FIVE: &str = "bounded-moore --heaps 5 --width 2";

/// The program with these arguments, split at blanks.
fn nimstrata(arguments: &str) -> Command {
    let mut command = process(arguments.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &str) -> Output {
    nimstrata(arguments).output().unwrap()
}

/// The object that a run with `--json` prints.
fn json(arguments: &str) -> Value {
    let run = run(&format!("{arguments} --json"));
    assert!(run.status.success(), "{arguments}: {}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
}

/// Asserts that a run says this on standard error and ends with this code.
fn refuses(arguments: &str, code: i32, message: &str) {
    let run = run(arguments);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(code), "{arguments}: {said}");
    assert!(said.contains(message), "{arguments}: {said}");
    assert_eq!(said.lines().count(), 1, "{arguments}: {said}");
}

/// All files of a folder with their bytes.
fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let file = |entry: fs::DirEntry| {
        (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).unwrap())
    };
    let mut files = entries.map(file).collect::<Vec<_>>();
    files.sort();
    files
}

/// Waits until a run has written so many bytes into a folder, or has ended.
fn wait_for_bytes(child: &mut Child, folder: &Path, bytes: u64) {
    let start = Instant::now();
    loop {
        let written = fs::read_dir(folder).into_iter().flatten().flatten();
        let written = written.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum::<u64>();
        if written >= bytes || child.try_wait().unwrap().is_some() {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(90), "nothing was written");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a file is there, or the run has ended.
fn wait_for_file(child: &mut Child, file: &Path) {
    let start = Instant::now();
    while !file.exists() && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(90), "nothing was written");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

struct Folders {
    _temporary: tempfile::TempDir,
    one: PathBuf,
    other: PathBuf,
}

fn folders() -> Folders {
    let temporary = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| temporary.path().join(name));
    Folders { _temporary: temporary, one, other }
}

/// Kills a run again and again at different moments, lets it go on, and compares with an undisturbed run.
fn killed_and_resumed(solve: &str, kills: u64) {
    let Folders { _temporary, one, other } = folders();
    let whole = json(&format!("{solve} --out {}", one.display()));
    let all = whole["store_bytes"].as_u64().unwrap();
    let again = format!("{solve} --out {}", other.display());
    for kill in 0..kills {
        let mut child = nimstrata(&again).spawn().unwrap();
        wait_for_bytes(&mut child, &other, all * kill / kills);
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.signal() == Some(9) || output.status.success(), "{output:?}");
    }
    let resumed = json(&again);
    for key in ["positions", "p_positions", "p_forbidden", "strata", "digest", "store_bytes"] {
        assert_eq!(resumed[key], whole[key], "{key} of {solve}");
    }
    assert_eq!(files(&one), files(&other), "{solve}");
    let found = json(&format!("verify {} --audit 200", other.display()));
    assert_eq!((&found["intact"], &found["disagreements"]), (&Value::Bool(true), &Value::from(0)));
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_files() {
    killed_and_resumed(&format!("solve {FIVE} --max 60"), 8);
    killed_and_resumed("solve fts --heaps 3 --forbid 5k --max 250", 5);
    killed_and_resumed("solve exact-slow --heaps 4 --width 3 --misere --max 60 --quantity remoteness", 5);
}

#[test]
fn a_finished_store_is_not_solved_again() {
    let Folders { _temporary, one, .. } = folders();
    let solve = format!("solve {FIVE} --max 30 --out {}", one.display());
    let first = json(&solve);
    let before = files(&one);
    let again = json(&solve);
    assert_eq!(again["strata_before"], again["strata"]);
    assert_eq!(again["positions_per_second"], 0.0);
    assert_eq!((&again["p_positions"], &again["digest"]), (&first["p_positions"], &first["digest"]));
    assert_eq!(files(&one), before);
    let text = nimstrata(&solve).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("time") && !text.contains("positions/s"), "{text}");
    assert_eq!(first["digest"], json(&format!("solve {FIVE} --max 30 --digest"))["digest"]);
}

#[test]
fn an_interrupted_run_says_how_to_go_on() {
    for name in ["-INT", "-TERM"] {
        let Folders { _temporary, one, .. } = folders();
        let solve = format!("solve {FIVE} --max 110 --threads 1 --out {}", one.display());
        let mut child = nimstrata(&solve).spawn().unwrap();
        wait_for_bytes(&mut child, &one, 200_000);
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.contains("of 551 strata; the same command goes on from there"), "{said}");
        let strata: u64 =
            said.split(' ').skip_while(|&word| word != "after").nth(1).unwrap().parse().unwrap();
        assert!(strata > 0 && strata < 551, "{said}");
        let unfinished = format!("is not finished: it has {strata} of 551 strata");
        refuses(&format!("verify {}", one.display()), 2, &unfinished);
        assert!(!one.join("verdict.npy").exists() && !one.join("manifest.json").exists());
    }
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let Folders { _temporary, one, .. } = folders();
    let solve = format!("solve {FIVE} --max 110 --threads 1 --out {}", one.display());
    let mut child = nimstrata(&solve).spawn().unwrap();
    wait_for_bytes(&mut child, &one, 10_000);
    refuses(&solve, 3, "is being written by another run");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_folder_of_something_else_is_left_as_it_is() {
    let Folders { _temporary, one, other } = folders();
    let at = |path: &Path| format!("--out {}", path.display());
    json(&format!("solve {FIVE} --max 9 {}", at(&one)));
    let before = files(&one);
    for asked in ["--max 10", "--max 9 --misere", "--max 9 --forbid 7", "--max 9 --quantity remoteness"] {
        refuses(&format!("solve {FIVE} {asked} {}", at(&one)), 2, "was asked for; give another name");
    }
    assert_eq!(files(&one), before);
    fs::create_dir(&other).unwrap();
    fs::write(other.join("thesis.tex"), "mine").unwrap();
    refuses(&format!("solve {FIVE} --max 9 {}", at(&other)), 2, "holds other files, such as thesis.tex");
    assert_eq!(files(&other), [("thesis.tex".to_owned(), b"mine".to_vec())]);
    refuses(&format!("solve {FIVE} --max 9 {}", at(&other.join("thesis.tex"))), 2, "making");
}

#[test]
fn damage_is_found_and_named() {
    let Folders { _temporary, one, .. } = folders();
    json(&format!("solve {FIVE} --max 12 --out {}", one.display()));
    let verify = format!("verify {}", one.display());
    let change = |name: &str, at: usize| {
        let path = one.join(name);
        let mut bytes = fs::read(&path).unwrap();
        let at = if at == usize::MAX { bytes.len() - 8 } else { at };
        bytes[at] ^= 4;
        fs::write(path, bytes).unwrap();
    };
    for (name, at, message) in [
        ("verdict.npy", usize::MAX, "1 stratum not as written: total 60"),
        ("verdict.npy", 3, "verdict.npy: it is no .npy file"),
        ("digests.npy", usize::MAX, "digests.npy: its digests are not those of the manifest"),
        ("offsets.npy", usize::MAX, "offsets.npy: it is not what the region asks for"),
    ] {
        change(name, at);
        let run = run(&verify);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(4), "{said}");
        assert!(said.contains(message), "{said}");
        change(name, at);
    }
    change("manifest.json", 250);
    refuses(&verify, 4, "manifest.json is damaged");
    change("manifest.json", 250);
    assert!(run(&verify).status.success());
    let text = fs::read_to_string(one.join("manifest.json")).unwrap();
    fs::write(one.join("manifest.json"), text.replace("\"format_version\": 1", "\"format_version\": 7"))
        .unwrap();
    refuses(&verify, 2, "has format version 7, and this program reads versions up to 1");
}

/// Runs a shell script as root of a mount namespace of its own, where the system lets it; says so where it does not.
fn in_namespace(script: &str) -> Option<Output> {
    let unshared = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).output()
    };
    let works = unshared("mount -t tmpfs tmpfs /mnt").is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("not run: this system has no mount namespaces for users");
        return None;
    }
    Some(unshared(script).unwrap())
}

#[test]
fn a_full_disk_leaves_a_store_that_goes_on() {
    let Folders { _temporary, one, other } = folders();
    let whole = json(&format!("solve {FIVE} --max 70 --out {}", one.display()));
    fs::create_dir(&other).unwrap();
    let (program, disk) = (PROGRAM, other.display());
    // 2.3 MB on a disk of 1 MB: refused before it begins. Then the disk fills while it is solved: the run does not know
    // beforehand, as the room is taken behind its back.
    let script = format!(
        "set -e; mount -t tmpfs -o size=1m tmpfs {disk}
        solve='{program} solve {FIVE} --max 70 --threads 1 --backend cpu --out {disk}/store'
        set +e; $solve; echo first $?; ls -A {disk}; set -e
        mount -o remount,size=3m {disk}
        (while ! test -s {disk}/store/digests.npy.part; do :; done; head -c 2000000 /dev/zero >{disk}/filler) 2>/dev/null &
        set +e; $solve; code=$?; wait; echo second $code
        test -e {disk}/store/manifest.json || rm {disk}/filler; set -e
        $solve --json; {program} verify {disk}/store"
    );
    let Some(output) = in_namespace(&script) else { return };
    let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{said}");
    assert!(out.contains("first 3\n"), "{out}{said}");
    assert!(said.contains("after 0 of 351 strata; the same command goes on when there is room"), "{said}");
    // The filler may come too late on a fast machine: then the second run has all it needs.
    assert!(out.contains("second 3\n") || out.contains("second 0\n"), "{out}{said}");
    let line = out.lines().find(|line| line.starts_with('{')).unwrap();
    let resumed: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&resumed["digest"], &resumed["p_positions"]), (&whole["digest"], &whole["p_positions"]));
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    // Root may write anywhere, except into /proc.
    refuses(&format!("solve {FIVE} --max 9 --out /proc/store"), 3, "writing /proc/store");
}

#[test]
fn a_checkpoint_takes_counts_and_censuses_up_again() {
    for command in [
        format!("solve {FIVE} --max 90 --digest"),
        format!("census {FIVE} --max 70 --modulus 3"),
        "solve fts --heaps 3 --forbid 5k --max 1500".to_owned(),
        "solve exact-slow --heaps 4 --width 3 --max 110 --quantity remoteness".to_owned(),
    ] {
        let temporary = tempfile::tempdir().unwrap();
        let file = temporary.path().join("run.checkpoint");
        let whole = json(&command);
        let saving = format!("{command} --threads 1 --checkpoint {}", file.display());
        // Every second stratum or so is saved, and the run killed when there is something.
        let mut child = nimstrata(&format!("{saving} --every 0")).spawn().unwrap();
        wait_for_file(&mut child, &file);
        child.kill().unwrap();
        child.wait().unwrap();
        let child = nimstrata(&saving).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(30));
        signal(&child, "-INT");
        let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
        assert!(said.is_empty() || said.contains("the same command goes on from there"), "{said}");
        let mut resumed = json(&saving);
        let mut expected = whole;
        for report in [&mut resumed, &mut expected] {
            for cost in ["solve_seconds", "positions_per_second", "peak_memory_bytes", "threads"] {
                report.as_object_mut().unwrap().remove(cost);
            }
        }
        assert_eq!(resumed, expected, "{command}");
        assert!(!file.exists());
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let file = temporary.path().join("run.checkpoint");
    let saving = |command: &str| format!("{command} --checkpoint {}", file.display());
    let mut child =
        nimstrata(&saving(&format!("solve {FIVE} --max 110 --threads 1 --every 0"))).spawn().unwrap();
    wait_for_file(&mut child, &file);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = fs::read(&file).unwrap();
    let other = saving(&format!("solve {FIVE} --max 100"));
    refuses(&other, 2, "counts of verdicts of 5 heaps, take 1 from each of 1..=2, every heap ≤ 110");
    refuses(&saving(&format!("census {FIVE} --max 110")), 2, "the words mod 2 of verdicts of 5 heaps");
    assert_eq!(fs::read(&file).unwrap(), before);
    let mut damaged = before.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&file, damaged).unwrap();
    refuses(&saving(&format!("solve {FIVE} --max 110")), 4, "its checksum is that of other contents");
    fs::write(&file, "something else").unwrap();
    refuses(&saving(&format!("solve {FIVE} --max 110")), 2, "it is there and is no checkpoint");
    assert_eq!(fs::read(&file).unwrap(), b"something else");
    refuses(&format!("solve {FIVE} --max 9 --checkpoint /nowhere/at/all"), 2, "/nowhere/at/all");
}

#[test]
fn damaged_values_are_not_counted() {
    let Folders { _temporary, one, .. } = folders();
    let solve = "solve exact-slow --heaps 3 --width 2 --max 9 --quantity remoteness --misere";
    let again = format!("{solve} --out {}", one.display());
    json(&again);
    let data = one.join("remoteness.npy");
    let whole = fs::read(&data).unwrap();
    for at in (128..whole.len() - 8).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x4e;
        fs::write(&data, bytes).unwrap();
        for command in [
            again.clone(),
            format!("census --store {}", one.display()),
            format!("export {} --format csv", one.display()),
        ] {
            let run = run(&command);
            let said = String::from_utf8_lossy(&run.stderr).into_owned();
            // Between strata there is nothing that is read.
            let padding = run.status.success() && run_verify(&one).contains("not as written");
            assert!(
                padding || run.status.code() == Some(4) && said.contains("is damaged"),
                "{command}: {said}"
            );
        }
    }
    fs::write(&data, &whole).unwrap();
    for name in ["offsets.npy", "digests.npy", "remoteness.npy"] {
        let bytes = fs::read(one.join(name)).unwrap();
        fs::remove_file(one.join(name)).unwrap();
        refuses(&again, 4, "is damaged");
        fs::write(one.join(name), bytes).unwrap();
    }
    assert!(run(&again).status.success());
}

fn run_verify(store: &Path) -> String {
    String::from_utf8_lossy(&run(&format!("verify {}", store.display())).stdout).into_owned()
}

#[test]
fn a_store_is_not_written_over_by_what_reads_it() {
    let Folders { _temporary, one, .. } = folders();
    json(&format!("solve fts --heaps 3 --forbid 5k --max 20 --out {}", one.display()));
    let before = files(&one);
    let store = one.display();
    for command in [
        format!("export {store} --max 2 --out {store}/verdict.npy"),
        format!("render {store} --density 1,2 --out {store}/digests.npy"),
        format!("completion fts --store {store} --max 3 --out {store}/manifest.json"),
    ] {
        refuses(&command, 2, "it is a file of a store");
    }
    assert_eq!(files(&one), before);
}

#[test]
fn what_does_not_fit_the_disk_leaves_no_folder() {
    let Folders { _temporary, one, .. } = folders();
    // 124 GiB; a machine with little memory refuses it for that.
    let asked = format!("solve bounded-moore --heaps 6 --width 2 --max 300 --out {}", one.display());
    let run = run(&asked);
    assert_eq!(run.status.code(), Some(3), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(!one.exists());
}

#[test]
fn claims_about_other_games_are_not_checked_on_a_store() {
    let Folders { _temporary, one, .. } = folders();
    json(&format!("solve fts --heaps 3 --forbid 5k --max 30 --out {}", one.display()));
    let found = json(&format!("check all --store {}", one.display()));
    assert_eq!(found["holds"], true, "{found}");
    let of = |claim: &str| {
        let claims = found["claims"].as_array().unwrap().iter();
        claims.into_iter().find(|one| one["claim"] == claim).unwrap()["not_checked"].to_string()
    };
    assert!(of("fts-2").contains("it is about --d 2"), "{}", of("fts-2"));
    // Whoever names a claim wants to see it fail.
    assert_eq!(run(&format!("check fts-2 --store {}", one.display())).status.code(), Some(1));
}
