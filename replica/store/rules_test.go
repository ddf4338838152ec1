package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
)

// endAfterOverwriting is where a log ends that a new leader has overwritten, and that was cut there.
func endAfterOverwriting(t *testing.T, set faults.Set) (last, term uint64, err error) {
	s := founded(t, 1, set)
	save(t, s, 5, 4, entries(2, 10, 5, 100))
	save(t, s, 6, 6, entries(5, 6, 6, 100))
	if err := s.Compact(6, etcd.ConfState{Voters: []uint64{1}}, nil); err != nil {
		t.Fatal(err)
	}
	s.Close()
	return reopenedEnd(s.options)
}

func reopenedEnd(o Options) (last, term uint64, err error) {
	s, err := Open(o)
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	last = s.LastIndex()
	term, err = s.Term(last)
	return last, term, err
}

// Fails if overwritten entries come back at a start (etcd#22442).
func TestOverwrittenEntriesStayAway(t *testing.T) {
	if last, term, err := endAfterOverwriting(t, faults.Set{}); last != 6 || term != 6 || err != nil {
		t.Fatalf("the log ended at 6 of term 6, and is opened at %d of term %d: %v", last, term, err)
	}
}

var installedSnapshot = etcd.Snapshot{Metadata: etcd.SnapMetadata{
	Index: 7, Term: 4, ConfState: etcd.ConfState{Voters: []uint64{1}},
}}

// A deposed leader gets a snapshot whose last entry is of an earlier term than its own end.
func installOverOwnEnd(t *testing.T, set faults.Set) *Store {
	s := founded(t, 1, set)
	save(t, s, 5, 1, entries(2, 10, 5, 100))
	save(t, s, 6, 1, nil)
	if err := s.Install(installedSnapshot, etcd.HardState{Term: 6, Commit: 7}, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// Fails if what an installed snapshot has replaced comes back: the terms do not fall there.
func TestEntriesBehindAnInstalledSnapshotAreVoid(t *testing.T) {
	s := installOverOwnEnd(t, faults.Set{})
	s.Close()
	for start := 0; start < 2; start++ { // nothing was saved between them
		if last, term, err := reopenedEnd(s.options); last != 7 || term != 4 || err != nil {
			t.Fatalf("opened at %d of term %d: %v", last, term, err)
		}
	}
	s = opened(t, s.options)
	save(t, s, 6, 7, entries(8, 8, 6, 100))
	s.Close()
	if last, term, err := reopenedEnd(s.options); last != 8 || term != 6 || err != nil {
		t.Fatalf("after one more entry: opened at %d of term %d: %v", last, term, err)
	}
}

// endOfKilledInstall is where the log ends of a process that was killed right after an install.
func endOfKilledInstall(t *testing.T, set faults.Set) (uint64, error) {
	s := installOverOwnEnd(t, set)
	defer s.Close()
	last, _, err := reopenedEnd(options(copyOf(t, s.options.Directory), faults.Set{}))
	return last, err
}

// Fails if an install is told before it is on the disk (etcd#10219).
func TestInstallIsDurableWhenItReturns(t *testing.T) {
	if last, err := endOfKilledInstall(t, faults.Set{}); last != 7 || err != nil {
		t.Fatalf("opened at %d: %v", last, err)
	}
}

// Fails if entries that came with a snapshot are void at the next start.
func TestEntriesThatCameWithASnapshotStay(t *testing.T) {
	s := founded(t, 1, faults.Set{})
	save(t, s, 5, 1, entries(2, 10, 5, 100))
	if err := s.Install(installedSnapshot, etcd.HardState{Term: 6, Commit: 7}, entries(8, 9, 6, 100)); err != nil {
		t.Fatal(err)
	}
	killed := copyOf(t, s.options.Directory)
	s.Close()
	if last, term, err := reopenedEnd(options(killed, faults.Set{})); last != 9 || term != 6 || err != nil {
		t.Fatalf("opened at %d of term %d: %v", last, term, err)
	}
}

// termAfterLosingTheSnapshot is the term of the entry that an installed snapshot has, at a start without the file.
func termAfterLosingTheSnapshot(t *testing.T, set faults.Set) (uint64, error) {
	s := installOverOwnEnd(t, set)
	save(t, s, 6, 7, entries(8, 9, 6, 100))
	s.Close()
	name := filepath.Join(s.options.path(stateFolder), fmt.Sprintf("%016x-%016x.snap", 4, 7))
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	s, err := Open(s.options)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return s.Term(7)
}

// Fails if a log begins behind an older snapshot than it names: etcd takes one if the newest is lost or spoiled,
// and the log then has what an installed snapshot has replaced.
func TestLostSnapshotsAreRefused(t *testing.T) {
	if term, err := termAfterLosingTheSnapshot(t, faults.Set{}); exit.CodeOf(err) != exit.Replace {
		t.Fatalf("entry 7 was of term 4, and is of term %d: %v", term, err)
	}
	s := founded(t, 1, faults.Set{})
	save(t, s, 1, 4, entries(2, 4, 1, 100))
	if err := s.Compact(3, etcd.ConfState{Voters: []uint64{1}}, nil); err != nil {
		t.Fatal(err)
	}
	s.Close()
	name := filepath.Join(s.options.path(stateFolder), fmt.Sprintf("%016x-%016x.snap", 1, 3))
	if err := os.WriteFile(name, []byte("spoiled"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s.options); exit.CodeOf(err) != exit.Replace {
		t.Fatal("a spoiled snapshot:", err)
	}
}

// Fails if an install that a kill has cut off, before the log said that its snapshot is committed, keeps the node
// from starting, then or later.
func TestCutOffInstallsAreNoDamage(t *testing.T) {
	s := founded(t, 1, faults.Set{})
	save(t, s, 5, 4, entries(2, 10, 5, 100))
	snapshot := etcd.Snapshot{Metadata: etcd.SnapMetadata{Index: 7, Term: 5,
		ConfState: etcd.ConfState{Voters: []uint64{1}}}}
	if err := saveSnapshot(s.options, s.log, snapshot); err != nil {
		t.Fatal(err)
	}
	killed := copyOf(t, s.options.Directory)
	s.Close()
	s = opened(t, options(killed, faults.Set{}))
	if s.FirstIndex() != 2 || s.LastIndex() != 10 {
		t.Fatal(s.FirstIndex(), s.LastIndex())
	}
	save(t, s, 5, 10, entries(11, 11, 5, 100))
	if err := s.Compact(6, etcd.ConfState{Voters: []uint64{1}}, nil); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if last, term, err := reopenedEnd(s.options); last != 11 || term != 5 || err != nil {
		t.Fatal(last, term, err)
	}
}

// Fails if an install that a kill has cut off, before the log had its snapshot, brings back what an install before it
// has replaced.
func TestCutOffInstallKeepsWhatTheOneBeforeMadeVoid(t *testing.T) {
	s := installOverOwnEnd(t, faults.Set{})
	hidden := s.options.path("hidden")
	if err := os.Rename(s.options.path(stateFolder), hidden); err != nil {
		t.Fatal(err)
	}
	next := installedSnapshot
	next.Metadata.Index = 9
	if err := s.Install(next, etcd.HardState{Term: 7, Commit: 9}, nil); err == nil {
		t.Fatal("a snapshot was written into a folder that is not there")
	}
	s.Close()
	if err := os.Rename(hidden, s.options.path(stateFolder)); err != nil {
		t.Fatal(err)
	}
	if last, term, err := reopenedEnd(s.options); last != 7 || term != 4 || err != nil {
		t.Fatalf("opened at %d of term %d: %v", last, term, err)
	}
}

// Fails if a node does not start that was killed when its first entries behind an installed snapshot were on the disk,
// and the mark did not say so: they are void, and so is what their leader said that is committed.
func TestKillBeforeTheMarkForgetsWhatWasCommitted(t *testing.T) {
	s := installOverOwnEnd(t, faults.Set{})
	s.mark.file.Close()
	if err := s.Save(etcd.HardState{Term: 6, Commit: 9}, entries(8, 9, 6, 100)); err == nil {
		t.Fatal("the mark was written into a closed file")
	}
	s.log.Close()
	s = opened(t, s.options)
	if s.LastIndex() != 7 || s.hard.Commit != 7 {
		t.Fatalf("opened at %d, committed %d", s.LastIndex(), s.hard.Commit)
	}
	if err := s.Save(etcd.HardState{}, entries(8, 8, 6, 100)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if last, term, err := reopenedEnd(s.options); last != 8 || term != 6 || err != nil {
		t.Fatalf("after one more entry: opened at %d of term %d: %v", last, term, err)
	}
}

// Fails if the log goes on in a file that a killed process has left, with what is behind its new head.
func TestFilesThatWereNotInUseAreNotTakenUp(t *testing.T) {
	s := founded(t, 1, faults.Set{})
	s.Close()
	left := bytes.Repeat([]byte{0xff}, testSegmentByteCount)
	if err := os.WriteFile(filepath.Join(s.options.path(logFolder), "0.tmp"), left, 0o600); err != nil {
		t.Fatal(err)
	}
	s = opened(t, s.options)
	save(t, s, 1, 1, entries(2, 2, 1, testSegmentByteCount)) // it begins another file
	killed := copyOf(t, s.options.Directory)
	s.Close()
	if last, term, err := reopenedEnd(options(killed, faults.Set{})); last != 2 || term != 1 || err != nil {
		t.Fatalf("opened at %d of term %d: %v", last, term, err)
	}
}

// reopenWithLargeEntry saves an entry of a size, and reads it back.
func reopenWithLargeEntry(t *testing.T, count int, set faults.Set) (saved, read error) {
	s := founded(t, 1, set)
	saved = s.Save(etcd.HardState{Term: 1, Commit: 1}, entries(2, 2, 1, count))
	s.Close()
	_, _, read = reopenedEnd(s.options)
	return saved, read
}

// Fails if an entry is written that can never be read again (etcd#14025).
func TestOversizeEntriesAreRefused(t *testing.T) {
	if saved, read := reopenWithLargeEntry(t, MaximumEntryByteCount, faults.Set{}); saved != nil || read != nil {
		t.Fatal(saved, read)
	}
	saved, read := reopenWithLargeEntry(t, 11<<20, faults.Set{})
	if exit.CodeOf(saved) != exit.Internal || read != nil {
		t.Fatal(saved, read)
	}
}

// Fails if two processes write one log.
func TestLogIsOpenedOnce(t *testing.T) {
	s := founded(t, 1, faults.Set{})
	defer s.Close()
	if _, err := Open(s.options); exit.CodeOf(err) != exit.InUse {
		t.Fatal(err)
	}
	if err := Create(s.options, nil); exit.CodeOf(err) != exit.InUse {
		t.Fatal(err)
	}
}

// The service that is told of a state has another working directory than the replica.
func TestPathsOfStatesAreBelowTheRoot(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder := newFolder(t)
	relative, err := filepath.Rel(here, folder)
	if err != nil {
		t.Fatal(err)
	}
	o := options(relative, faults.Set{})
	if err := Create(o, &Base{Index: 7, Voters: []uint64{1}, Roster: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	s := opened(t, o)
	defer s.Close()
	name := fmt.Sprintf("%016x%s", 7, stateSuffix)
	if err := os.WriteFile(filepath.Join(folder, stateFolder, name), []byte("state"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, wanted := s.StatePath(7), filepath.Join(folder, stateFolder, name); found != wanted {
		t.Errorf("the path is %q, expected %q", found, wanted)
	}
}
