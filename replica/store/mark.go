package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"syscall"

	"feed-replica/exit"
)

// mark says what the log had on the disk, in a file beside it, `durable.hwm`, that is rarely synced.
//
// etcd's Repair takes a zeroed sector anywhere in the last file for a torn write, and drops what follows; the
// mark tells. It is written after the sync of what it names, so it is never ahead of the log; a power cut may
// take it back, and then it says less: a mark that says less than the one before is synced.
type mark struct {
	term      uint64 // of the hard state
	vote      uint64 // in that term: a node that forgets it could give another one
	lastTerm  uint64 // of the last entry
	lastIndex uint64
	// The snapshot behind which nothing was saved since it was installed, or 0: what the files have behind it
	// are entries that it has replaced, and reading brings them back (the other half of etcd#22442).
	installed uint64
	// The snapshot that is being installed, or 0: as soon as the log has it, the same holds behind it. The one before
	// stays beside it, as the install may be cut off.
	installing uint64
}

const (
	markName      = "durable.hwm"
	markByteCount = 52
	markSumOffset = 48
)

func (m mark) bytes() []byte {
	b := make([]byte, 0, markByteCount)
	for _, field := range []uint64{m.term, m.vote, m.lastTerm, m.lastIndex, m.installed, m.installing} {
		b = binary.LittleEndian.AppendUint64(b, field)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func parseMark(b []byte) (mark, bool) {
	if len(b) != markByteCount ||
		binary.LittleEndian.Uint32(b[markSumOffset:]) != crc32.ChecksumIEEE(b[:markSumOffset]) {
		return mark{}, false
	}
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return mark{field(0), field(1), field(2), field(3), field(4), field(5)}, true
}

// isBehind says whether a log with this mark lacks something that one with the other had. A log may become
// shorter only under a later term, whose leader has overwritten its end.
func (m mark) isBehind(other mark) bool {
	return m.term < other.term || m.term == other.term && other.vote != 0 && m.vote != other.vote ||
		m.lastTerm < other.lastTerm || m.lastTerm == other.lastTerm && m.lastIndex < other.lastIndex
}

// isVoidBehind says whether what the files have behind a snapshot is void.
func (m mark) isVoidBehind(index uint64) bool {
	return index != 0 && (index == m.installed || index == m.installing)
}

func (m mark) String() string {
	return fmt.Sprintf("%d of term %d (saved: term %d, vote for %x)", m.lastIndex, m.lastTerm, m.term, m.vote)
}

// markFile is the open file of the mark.
type markFile struct {
	file *os.File
	last mark
}

// createMark makes the file. A log without one is damaged, so it is there before anything is promised.
func createMark(path string, m mark) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return exit.Disk("creating "+markName, err)
	}
	f := &markFile{file: file}
	if err := f.write(m); err != nil {
		file.Close()
		return err
	}
	if err := f.sync(); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// openMark opens the file, and locks it: all that a start reads, cuts and deletes is one process's.
func openMark(path string) (*markFile, mark, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if os.IsNotExist(err) {
		return nil, mark{}, exit.Damaged(path + " is missing")
	}
	if err != nil {
		return nil, mark{}, exit.Disk("opening "+markName, err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		if err == syscall.EWOULDBLOCK {
			return nil, mark{}, inUse(filepath.Dir(path))
		}
		return nil, mark{}, exit.Disk("locking "+markName, err)
	}
	b := make([]byte, markByteCount)
	n, _ := file.ReadAt(b, 0)
	m, ok := parseMark(b[:n])
	if !ok {
		file.Close()
		return nil, mark{}, exit.Damaged(path + " has a wrong checksum")
	}
	return &markFile{file, m}, m, nil
}

func (f *markFile) write(m mark) error {
	if _, err := f.file.WriteAt(m.bytes(), 0); err != nil {
		return exit.Disk("writing "+markName, err)
	}
	saysLess := m.isBehind(f.last) || m.installed != f.last.installed || m.installing != f.last.installing
	f.last = m
	if saysLess {
		return f.sync()
	}
	return nil
}

func (f *markFile) sync() error {
	if err := f.file.Sync(); err != nil {
		return exit.Disk("syncing "+markName, err)
	}
	return nil
}
