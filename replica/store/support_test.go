package store

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"syscall"
	"testing"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/faults"
)

const testSegmentByteCount = 1 << 20

func TestMain(m *testing.M) {
	if text := os.Getenv(asRecorded); text != "" {
		runRecorded(text)
	}
	etcd.SetSegmentByteCount(testSegmentByteCount)
	os.Exit(m.Run())
}

// newFolder is one in memory, if the system has such a place with room: a disk would take most of the time.
func newFolder(t *testing.T) string {
	t.Helper()
	parent := "/dev/shm"
	var room syscall.Statfs_t
	if err := syscall.Statfs(parent, &room); err != nil || room.Bavail*uint64(room.Bsize) < 1<<30 {
		parent = "" // containers often have 64 MiB there
	}
	folder, err := os.MkdirTemp(parent, "feed-replica-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

func options(directory string, set faults.Set) Options {
	return Options{Directory: directory, Logger: zap.NewNop(), Faults: set}
}

// founded makes the log of a cluster that begins behind an index, and opens it.
func founded(t *testing.T, index uint64, set faults.Set) *Store {
	t.Helper()
	o := options(newFolder(t), set)
	if err := Create(o, &Base{Index: index, Voters: []uint64{1}, Roster: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	return opened(t, o)
}

func opened(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// body is the content of an entry: its index, its term, and bytes that follow from them.
func body(index, term uint64, count int) []byte {
	b := make([]byte, count)
	rand.New(rand.NewSource(int64(index<<20 + term))).Read(b)
	binary.LittleEndian.PutUint64(b, index)
	binary.LittleEndian.PutUint64(b[8:], term)
	return b
}

// entries makes those of a range, in one term.
func entries(from, through, term uint64, count int) (list []etcd.Entry) {
	for index := from; index <= through; index++ {
		list = append(list, etcd.Entry{Index: index, Term: term, Data: body(index, term, count)})
	}
	return list
}

func save(t *testing.T, s *Store, term, commit uint64, list []etcd.Entry) {
	t.Helper()
	if err := s.Save(etcd.HardState{Term: term, Commit: commit}, list); err != nil {
		t.Fatal(err)
	}
}

// isWhole says whether each entry of a log has its content, and none is missing inside.
func isWhole(s *Store) bool {
	first, last := s.FirstIndex(), s.LastIndex()
	if last < first {
		return true
	}
	list, err := s.Entries(first, last, 1<<62)
	if err != nil || uint64(len(list)) != last-first+1 {
		return false
	}
	for i, entry := range list {
		if entry.Index != first+uint64(i) ||
			!bytes.Equal(entry.Data, body(entry.Index, entry.Term, len(entry.Data))) {
			return false
		}
	}
	return true
}

func lastLogFile(directory string) string {
	names, _ := filepath.Glob(filepath.Join(directory, logFolder, "*.wal"))
	sort.Strings(names)
	return names[len(names)-1]
}

// writtenByteCount is where the zeros begin that a file of the log ends with.
func writtenByteCount(path string) int {
	b, _ := os.ReadFile(path)
	return len(bytes.TrimRight(b, "\x00"))
}

// copyOf is what a machine would find that stopped now: the files without what a process still holds.
func copyOf(t *testing.T, directory string) string {
	t.Helper()
	to := newFolder(t)
	if output, err := exec.Command("cp", "-R", directory+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return to
}
