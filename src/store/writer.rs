//! Writes a store while it is being solved, and goes on with one that a run left unfinished.
//!
//! Strata go to a thread that writes them behind one another, and is at most [`WAITING`] of them behind: solving waits for
//! the disk only when the disk is slower. Every [`SYNC`] what has been written is made durable, first the strata, then
//! their digests. A run that was killed loses nothing that the system had taken; one that lost power, what it had
//! written since. Either way the digests tell which strata are whole.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::folder::{DIGESTS, Folder, MANIFEST, OFFSETS, PROGRESS};
use super::manifest::{Counts, Manifest, Subject, game_name};
use super::mapped::Mapped;
use super::{Store, read};
use crate::error::{Error, Result};
use crate::npy;
use crate::observe::{Digest, stratum_digest};
use crate::solver::{Known, Observer, Summary};
use crate::space::{Canonical, CanonicalBuf, Stratum};

/// Strata that wait to be written at most.
const WAITING: usize = 2;
/// How often what has been written is made durable.
const SYNC: Duration = Duration::from_secs(5);

/// Called with how many strata have been read back; [`ControlFlow::Break`] stops that.
pub type WatchStrata<'a> = dyn FnMut(u32) -> ControlFlow<()> + 'a;

/// A stratum with its digest.
type Digested = (CanonicalBuf, u64);
/// The thread that writes strata.
type Writing = (SyncSender<Digested>, JoinHandle<io::Result<()>>);

/// Writes a store, as an observer of the solver. While it lives, no other writer can have the folder.
pub struct Writer {
    game: String,
    subject: Subject,
    folder: Folder,
    /// The strata that were there before, and how many.
    old: Option<Store>,
    known: u32,
    mapped: Mapped,
    header: usize,
    /// The next stratum to be written.
    next: u32,
    digest: Digest,
    thread: Option<Writing>,
    failed: Arc<AtomicBool>,
    /// Holds the lock.
    lock: Option<File>,
}

impl Writer {
    /// Takes a folder for a store, makes it where there is none, and reads back what an unfinished run left in it.
    ///
    /// # Errors
    /// [`Error::OtherStore`] for a folder with a store of something else, [`Error::Foreign`] for one with other files,
    /// [`Error::StoreBusy`] while another run writes it, [`Error::Disk`] for a disk without room for it, and as
    /// [`Store::open`].
    pub fn open(path: &Path, subject: Subject, watch: &mut WatchStrata<'_>) -> Result<Self> {
        Self::open_named(path, game_name(&subject.rules), subject, watch)
    }

    /// The same, where the game goes by this name, which the manifest keeps: some rules are those of two games.
    ///
    /// # Errors
    /// As [`Writer::open`].
    pub fn open_named(
        path: &Path,
        game: &str,
        subject: Subject,
        watch: &mut WatchStrata<'_>,
    ) -> Result<Self> {
        let folder = Folder::new(path, &subject)?;
        check_subject(path, &subject)?;
        check_room(&folder, 0)?;
        fs::create_dir_all(path).map_err(|source| failed("making", path, source))?;
        check_files(&folder)?;
        let data = existing(&folder, folder.data());
        let lock = if folder.file(MANIFEST).exists() { None } else { Some(lock(&folder, &data)?) };
        let mut writer = Self {
            header: folder.data_header().len(),
            game: game.to_owned(),
            subject,
            folder,
            old: None,
            known: 0,
            mapped: Mapped::empty(),
            next: 0,
            digest: Digest::default(),
            thread: None,
            failed: Arc::default(),
            lock,
        };
        // Another run may have finished it before the lock was taken.
        if writer.folder.file(MANIFEST).exists() {
            let store = Store::open(path)?;
            (writer.known, writer.next) = (store.strata(), store.strata());
            writer.old = Some(store);
            let _ = fs::remove_file(writer.folder.file(PROGRESS));
            return Ok(writer);
        }
        writer.write_whole(PROGRESS, writer.manifest(None).to_text().as_bytes())?;
        writer.read_back(&data, watch)?;
        check_room(&writer.folder, writer.known)?;
        writer.start(&data)?;
        Ok(writer)
    }

    /// Whether the store was finished before.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.old.is_some()
    }

    /// The strata that were there before.
    #[must_use]
    pub fn known(&self) -> Before<'_> {
        Before(self)
    }

    /// Bytes of memory that a writer needs, besides what solving does.
    ///
    /// # Errors
    /// [`Error::TooLong`] when games may last longer than remoteness is counted.
    pub fn memory(subject: &Subject) -> Result<u64> {
        let folder = Folder::new(Path::new(""), subject)?;
        let largest = folder.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        // Those that wait, one that is written, and one that is put in order, which takes twice its size.
        Ok(largest.saturating_mul(WAITING as u64 + 3))
    }

    /// Set when nothing more can be written: the run may as well end. [`pause`](Self::pause) says why.
    #[must_use]
    pub fn failure(&self) -> Arc<AtomicBool> {
        self.failed.clone()
    }

    /// Checks which of the written strata are whole.
    fn read_back(&mut self, data: &Path, watch: &mut WatchStrata<'_>) -> Result<()> {
        let digests = fs::read(existing(&self.folder, DIGESTS)).unwrap_or_default();
        let header = self.folder.digests_header();
        self.mapped = Mapped::open(data)?;
        if !digests.starts_with(&header) || npy::found(&self.mapped, &self.folder.data_header()).is_some() {
            return Ok(());
        }
        let digests = digests[header.len()..].as_chunks::<8>().0;
        for (&digest, total) in digests.iter().zip(0..self.folder.strata()) {
            let end = self.header as u64 + self.folder.offsets[total as usize + 1];
            if (self.mapped.len() as u64) < end {
                break;
            }
            let (canonical, padding) = self.folder.stratum(&self.mapped[self.header..], total);
            let whole = stratum_digest(canonical) == u64::from_le_bytes(digest);
            if !whole || padding.iter().any(|&byte| byte != 0) {
                break;
            }
            self.digest.add(u64::from_le_bytes(digest));
            self.known = total + 1;
            if watch(self.known).is_break() {
                // All of them are still there.
                let (done, strata) = (written(&self.folder), self.folder.strata().into());
                return Err(Error::Interrupted { done, strata, goes_on: true });
            }
        }
        self.next = self.known;
        Ok(())
    }

    /// Cuts off what is not whole, and starts the thread that writes behind it. Nobody reads the mapping behind the known
    /// strata.
    fn start(&mut self, data: &Path) -> Result<()> {
        let digests = existing(&self.folder, DIGESTS);
        let ready = |path: &Path, header: &[u8], length: u64| {
            let file = match &self.lock {
                Some(lock) if path == data => lock.try_clone(),
                _ => File::options().read(true).write(true).create(true).truncate(false).open(path),
            };
            let file = file.and_then(|file| behind(file, header, length));
            file.map_err(|source| self.explain(failed("writing", path, source)))
        };
        let length = self.folder.offsets[self.known as usize];
        let data = ready(data, &self.folder.data_header(), length)?;
        let digests = ready(&digests, &self.folder.digests_header(), 8 * u64::from(self.known))?;
        let (sender, receiver) = sync_channel(WAITING);
        let failed = self.failed.clone();
        let thread = std::thread::spawn(move || {
            let written = write_strata(&receiver, data, digests);
            failed.store(written.is_err(), Ordering::Relaxed);
            // Nothing that is still sent can be written.
            if written.is_err() {
                receiver.iter().for_each(drop);
            }
            written
        });
        self.thread = Some((sender, thread));
        Ok(())
    }

    /// Waits until all that was observed is on the disk, so that the same command can go on.
    ///
    /// # Errors
    /// [`Error::Disk`] when there was no room, [`Error::Io`] when it could not be written.
    pub fn pause(&mut self) -> Result<()> {
        let Some((sender, thread)) = self.thread.take() else { return Ok(()) };
        drop(sender);
        let written = thread.join().unwrap_or_else(|_| Err(io::Error::other("the writing thread failed")));
        written.map_err(|source| {
            self.next = written_strata(&self.folder);
            self.explain(failed("writing", &self.folder.path, source))
        })
    }

    /// Says how much is missing where a disk is full.
    fn explain(&self, error: Error) -> Error {
        match &error {
            Error::Io { source, .. }
                if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) =>
            {
                let free = fs4::available_space(&self.folder.path).unwrap_or(0);
                no_room(&self.folder, self.next, free)
            }
            _ => error,
        }
    }

    /// Gives the files their names, once all strata have been observed. Returns the digest of the region.
    ///
    /// # Errors
    /// As [`pause`](Self::pause).
    ///
    /// # Panics
    /// If strata are missing.
    pub fn finish(mut self, summary: &Summary) -> Result<u64> {
        if let Some(old) = &self.old {
            return Ok(old.digest());
        }
        self.pause()?;
        assert_eq!(self.next, self.folder.strata(), "all strata have been observed");
        self.write_whole(OFFSETS, &self.folder.offsets_file())?;
        for name in [self.folder.data(), DIGESTS] {
            let (part, file) = (self.folder.part(name), self.folder.file(name));
            if part.exists() {
                fs::rename(&part, &file).map_err(|source| failed("writing", &file, source))?;
            }
        }
        let counts = Counts {
            strata: self.folder.strata(),
            positions: summary.positions,
            p_positions: summary.p_positions,
            n_positions: summary.positions - summary.p_positions,
            p_forbidden: summary.p_forbidden,
        };
        let digest = self.digest.value();
        self.write_whole(MANIFEST, self.manifest(Some((counts, digest))).to_text().as_bytes())?;
        let progress = self.folder.file(PROGRESS);
        fs::remove_file(&progress).map_err(|source| failed("removing", &progress, source))?;
        sync_folder(&self.folder.path);
        Ok(digest)
    }

    fn manifest(&self, outcome: Option<(Counts, u64)>) -> Manifest {
        Manifest { game: self.game.clone(), subject: self.subject.clone(), outcome }
    }

    /// Writes a small file, which appears under its name when it is whole.
    fn write_whole(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let (part, file) = (self.folder.part(name), self.folder.file(name));
        let write = || {
            let mut out = File::create(&part)?;
            out.write_all(bytes)?;
            out.sync_all()?;
            fs::rename(&part, &file)
        };
        write().map_err(|source| self.explain(failed("writing", &file, source)))
    }
}

impl Observer for Writer {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        // Strata that were there before are shown to all observers, but not written again.
        if stratum.total < self.next {
            return;
        }
        let canonical = stratum.canonical();
        let digest = stratum_digest(canonical.view());
        self.digest.add(digest);
        self.next = stratum.total + 1;
        if let Some((sender, _)) = &self.thread {
            // A thread that has stopped has said so.
            let _ = sender.send((canonical, digest));
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Whoever wants to know whether this worked has asked before.
        let _ = self.pause();
        if let Some(lock) = &self.lock {
            let _ = lock.unlock();
        }
    }
}

/// The strata that a store had before.
pub struct Before<'a>(&'a Writer);

impl Known for Before<'_> {
    fn strata(&self) -> u32 {
        self.0.known
    }

    fn values(&self, total: u32) -> Result<Canonical<'_>> {
        match &self.0.old {
            Some(store) => store.values(total),
            // They have just been checked.
            None => Ok(self.0.folder.stratum(&self.0.mapped[self.0.header..], total).0),
        }
    }
}

/// A file with this header, cut off `length` bytes behind it, to be written from there on.
fn behind(mut file: File, header: &[u8], length: u64) -> io::Result<File> {
    let mut old = vec![0; header.len()];
    file.seek(SeekFrom::Start(0))?;
    if file.read_exact(&mut old).is_err() || old != header {
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(header)?;
    }
    file.set_len(header.len() as u64 + length)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// Writes strata and their digests until there are no more.
fn write_strata(strata: &Receiver<Digested>, mut data: File, mut digests: File) -> io::Result<()> {
    let sync = |data: &File, digests: &File| data.sync_data().and_then(|()| digests.sync_data());
    let mut synced = Instant::now();
    for (canonical, digest) in strata {
        let bytes = canonical.view().bytes();
        data.write_all(bytes)?;
        data.write_all(&[0; 7][..bytes.len().next_multiple_of(8) - bytes.len()])?;
        digests.write_all(&digest.to_le_bytes())?;
        if synced.elapsed() >= SYNC {
            sync(&data, &digests)?;
            synced = Instant::now();
        }
    }
    sync(&data, &digests)
}

/// How many strata an unfinished store has, by its digests.
pub(super) fn written(folder: &Folder) -> u64 {
    written_strata(folder).into()
}

fn written_strata(folder: &Folder) -> u32 {
    let length = fs::metadata(existing(folder, DIGESTS)).map_or(0, |file| file.len());
    let strata = length.saturating_sub(folder.digests_header().len() as u64) / 8;
    (strata as u32).min(folder.strata())
}

/// A file that may not have its final name yet.
fn existing(folder: &Folder, name: &str) -> PathBuf {
    let file = folder.file(name);
    if file.exists() { file } else { folder.part(name) }
}

/// Refuses to start where the disk has no room for what is missing after so many strata, at least.
fn check_room(folder: &Folder, known: u32) -> Result<()> {
    // What is there of an unfinished store has its room already.
    let there = if known == 0 {
        fs::metadata(existing(folder, folder.data())).map_or(0, |file| file.len())
    } else {
        0
    };
    let disk = folder.path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let disk = if disk.as_os_str().is_empty() { Path::new(".") } else { disk };
    match fs4::available_space(disk) {
        Ok(free) if free.saturating_add(there) < bytes_left(folder, known) => {
            Err(no_room(folder, known, free))
        }
        // Where the system does not tell, writing will.
        _ => Ok(()),
    }
}

/// Bytes that the strata from this one on, the offsets and the digests take.
fn bytes_left(folder: &Folder, known: u32) -> u64 {
    folder.data_bytes() - folder.offsets[known as usize] + 16 * u64::from(folder.strata())
}

fn no_room(folder: &Folder, known: u32, free: u64) -> Error {
    let (done, strata) = (known.into(), folder.strata().into());
    Error::Disk { path: folder.path.clone(), needed: bytes_left(folder, known), free, done, strata }
}

/// Refuses a folder that holds a store of something else.
fn check_subject(path: &Path, subject: &Subject) -> Result<()> {
    for name in [MANIFEST, PROGRESS] {
        let name = path.join(name);
        if let Ok(bytes) = read(&name) {
            let there = Manifest::read(&name, &bytes)?.subject;
            if there != *subject {
                let (there, wanted) = (there.to_string(), subject.to_string());
                return Err(Error::OtherStore { path: path.to_owned(), there, wanted });
            }
        }
    }
    Ok(())
}

/// Refuses a folder with files of something else.
fn check_files(folder: &Folder) -> Result<()> {
    if folder.file(MANIFEST).exists() || folder.file(PROGRESS).exists() {
        return Ok(());
    }
    let files = fs::read_dir(&folder.path).map_err(|source| failed("reading", &folder.path, source))?;
    for file in files.flatten() {
        let name = file.file_name();
        // What a run leaves that was killed before it had written anything else.
        if name != *format!("{PROGRESS}.part") && name != *format!("{}.part", folder.data()) {
            let name = name.to_string_lossy().into_owned();
            return Err(Error::Foreign { path: folder.path.clone(), name });
        }
    }
    Ok(())
}

/// Takes the data for this run alone.
fn lock(folder: &Folder, data: &Path) -> Result<File> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(data);
    let file = file.map_err(|source| failed("writing", data, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::StoreBusy { path: folder.path.clone() }),
        // A file system without locks: as good as it gets.
        Err(TryLockError::Error(source)) if source.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(source)) => Err(failed("locking", data, source)),
    }
}

/// Makes renames durable, where the system can.
fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(path) {
        let _ = folder.sync_all();
    }
}

fn failed(doing: &str, path: &Path, source: io::Error) -> Error {
    Error::Io { what: format!("{doing} {}", path.display()), source }
}
