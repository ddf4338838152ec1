package store

import (
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
)

// writtenLog is the files of a log whose last write no sync has followed.
type writtenLog struct {
	directory  string
	synced     uint64 // entries up to here were synced
	lastOffset int    // where the last write begins in its file
	endOffset  int
}

func writeLog(t *testing.T, random *rand.Rand) writtenLog {
	t.Helper()
	s := founded(t, 1, faults.Set{})
	log := writtenLog{directory: s.options.Directory}
	var markThen []byte
	index := uint64(1)
	for write := 0; write < 12; write++ {
		from := index + 1
		index += uint64(1 + random.Intn(4))
		save(t, s, 1, from-1, entries(from, index, 1, 16+random.Intn(60000)))
		if write == 10 {
			log.synced = index
			log.lastOffset = writtenByteCount(lastLogFile(log.directory))
			markThen, _ = os.ReadFile(s.options.path(markName))
		}
	}
	log.endOffset = writtenByteCount(lastLogFile(log.directory))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The mark is written after the sync.
	if err := os.WriteFile(s.options.path(markName), markThen, 0o600); err != nil {
		t.Fatal(err)
	}
	return log
}

const smallestFileByteCount = 4096

// outcome is what opening a spoiled log has come to.
type outcome int

const (
	refused outcome = iota
	openedShort
	openedWhole
)

// reopen opens a log after its last file was changed.
func (l writtenLog) reopen(t *testing.T, set faults.Set, spoil func(b []byte)) outcome {
	t.Helper()
	path := lastLogFile(l.directory)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spoil(b)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(options(l.directory, set))
	if err != nil {
		if exit.CodeOf(err) != exit.Replace {
			t.Fatalf("a spoiled log is refused as %T: %v", err, err)
		}
		return refused
	}
	defer s.Close()
	if !isWhole(s) {
		t.Fatal("a log was opened with other contents")
	}
	if s.LastIndex() < l.synced {
		return openedShort
	}
	return openedWhole
}

func zero(b []byte, from, through int) {
	for i := from; i < through && i < len(b); i++ {
		b[i] = 0
	}
}

// Fails if a write that a power cut tore costs an entry before it, or keeps the node from starting.
func TestTornWritesCostNothingThatWasSynced(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	for run := 0; run < 60; run++ {
		log := writeLog(t, random)
		if log.endOffset <= log.lastOffset {
			continue // the last write began a file
		}
		block, share := 512, 2
		if run%3 == 2 {
			block, share = 4096, 3
		}
		cut := log.lastOffset + random.Intn(log.endOffset-log.lastOffset)
		got := log.reopen(t, faults.Set{}, func(b []byte) {
			if run%3 == 0 { // a beginning is there
				zero(b, cut, log.endOffset)
				return
			}
			for at := log.lastOffset / block * block; at < log.endOffset; at += block { // any blocks are
				if random.Intn(share) == 0 {
					from := at
					if from < log.lastOffset {
						from = log.lastOffset
					}
					zero(b, from, at+block)
				}
			}
		})
		if got == openedShort {
			t.Fatalf("run %d: synced entries are missing", run)
		}
		if got == refused && run%3 == 0 {
			t.Fatalf("run %d: a torn end is refused", run)
		}
	}
}

// Fails if a log with a wrong bit is opened with entries missing, or with others.
func TestFlippedBitsAreRefused(t *testing.T) {
	random := rand.New(rand.NewSource(8))
	for run := 0; run < 40; run++ {
		log := writeLog(t, random)
		if log.lastOffset < smallestFileByteCount {
			continue // the last writes began a file
		}
		at := 64 + random.Intn(log.lastOffset-64)
		bit := byte(1) << random.Intn(8)
		if got := log.reopen(t, faults.Set{}, func(b []byte) { b[at] ^= bit }); got == openedShort {
			t.Fatalf("run %d: a flipped bit at %d cost entries", run, at)
		}
	}
}

// shortAfterZeroedSectors counts the logs that are opened without synced entries.
func shortAfterZeroedSectors(t *testing.T, set faults.Set) (short, refusals int) {
	random := rand.New(rand.NewSource(9))
	for run := 0; run < 20; run++ {
		log := writeLog(t, random)
		if log.lastOffset < smallestFileByteCount {
			continue
		}
		at := 512 + random.Intn(log.lastOffset-1024)/512*512
		switch log.reopen(t, set, func(b []byte) { zero(b, at, at+512) }) {
		case openedShort:
			short++
		case refused:
			refusals++
		}
	}
	return short, refusals
}

// Fails without the mark: etcd's repair takes a zeroed sector in synced entries for a torn write.
func TestZeroedSectorsAreRefused(t *testing.T) {
	short, refusals := shortAfterZeroedSectors(t, faults.Set{})
	if short != 0 || refusals == 0 {
		t.Fatalf("%d logs were opened short, %d refused", short, refusals)
	}
}

// Fails if a node whose mark is lost or spoiled may vote.
func TestMissingMarkIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"another": func(path string) error { return os.WriteFile(path, make([]byte, markByteCount), 0o600) },
	} {
		s := founded(t, 1, faults.Set{})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := spoil(s.options.path(markName)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(s.options); exit.CodeOf(err) != exit.Replace {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Fails if the log of another moment is taken for the newest one: it was restored, or the file was lost.
func TestOlderLogIsRefused(t *testing.T) {
	s := founded(t, 1, faults.Set{})
	save(t, s, 1, 1, entries(2, 4, 1, 100))
	older := copyOf(t, s.options.Directory)
	save(t, s, 1, 4, entries(5, 6, 1, 100))
	newest, err := os.ReadFile(s.options.path(markName))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := os.WriteFile(filepath.Join(older, markName), newest, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(options(older, faults.Set{})); exit.CodeOf(err) != exit.Replace {
		t.Fatal(err)
	}
}

// Fails if a node may start whose vote is lost, while its term is not: it could vote twice.
func TestLostVoteIsRefused(t *testing.T) {
	s := founded(t, 1, faults.Set{})
	save(t, s, 6, 1, nil) // a candidate that is behind
	older := copyOf(t, s.options.Directory)
	if err := s.Save(etcd.HardState{Term: 6, Vote: 3, Commit: 1}, nil); err != nil {
		t.Fatal(err)
	}
	newest, err := os.ReadFile(s.options.path(markName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(options(copyOf(t, s.options.Directory), faults.Set{})); err != nil {
		t.Error(err)
	}
	s.Close()
	if err := os.WriteFile(filepath.Join(older, markName), newest, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(options(older, faults.Set{})); exit.CodeOf(err) != exit.Replace {
		t.Error(err)
	}
}

// Fails if the form of the file changes: a node would refuse its own log after an upgrade.
func TestMarkHasItsBytes(t *testing.T) {
	m := mark{term: 7, vote: 9, lastTerm: 6, lastIndex: 258, installed: 3, installing: 4}
	want := "\x07\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00" +
		"\x02\x01\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00"
	b := m.bytes()
	if string(b[:markSumOffset]) != want || len(b) != markByteCount {
		t.Fatalf("got %x", b)
	}
	if read, ok := parseMark(b); !ok || read != m {
		t.Fatal(read, ok)
	}
}

// Fails if a write that the system refuses passes for one that is on the disk, or for damage: the disk is to be
// looked at, and the node stays what it is.
func TestRefusedWritesAreErrorsOfTheDisk(t *testing.T) {
	for name, spoil := range map[string]func(s *Store){
		"the mark": func(s *Store) { s.mark.file.Close() },
		"the snapshots": func(s *Store) {
			if err := os.RemoveAll(s.options.path(stateFolder)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		s := founded(t, 1, faults.Set{})
		save(t, s, 1, 1, entries(2, 4, 1, 100))
		spoil(s)
		err := s.Save(etcd.HardState{Term: 1, Commit: 4}, entries(5, 5, 1, 100))
		if err == nil {
			err = s.Compact(3, etcd.ConfState{Voters: []uint64{1}}, nil)
		}
		if exit.CodeOf(err) != exit.Failed {
			t.Errorf("%s: %v", name, err)
		}
		s.log.Close()
	}
}
