// Package store has the log of a node, on its disk and in memory.
//
// On the disk it is etcd's write-ahead log and snapshots, and five rules around them:
//
//   - an entry has at most 8 MiB, as larger ones are written and never read again (etcd#14025);
//   - `durable.hwm` says what the log had, and a log that ends before it is refused: etcd's repair cuts at a
//     zeroed sector wherever it is;
//   - the terms of a log never fall: where they do, reading has brought overwritten entries back
//     (etcd#22442), and it is cut. Behind an installed snapshot a flag in the mark says the same;
//   - the log is synced before anything is released after an install (etcd#10219);
//   - the newest snapshot that the log names has to be there: behind an older one another log would begin.
//
// In memory it is what raft reads: all entries behind the newest snapshot. A Store is for one goroutine, but
// for what `Entries`, `FirstIndex` and `Term` read, which streams to the service use beside it.
package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
)

// MaximumEntryByteCount is the size that an entry of the log may have.
const MaximumEntryByteCount = 8 << 20

// Names in the directory of a store.
const (
	logFolder   = "wal"
	stateFolder = "snap"
)

// Options says where a store is.
type Options struct {
	Directory string
	Logger    *zap.Logger
	Faults    faults.Set
}

// Base is where a log begins: behind this index, with these members.
type Base struct {
	Index  uint64
	Voters []uint64
	Roster []byte
}

// Store is the log of one node.
type Store struct {
	options   Options
	memory    *etcd.MemoryStorage
	log       *etcd.WAL
	snapshots *etcd.Snapshotter
	mark      *markFile
	hard      etcd.HardState
	base      etcd.Snapshot // the log begins behind it
	installed uint64        // as in the mark
	sizes     sizes
}

func (o Options) path(name string) string { return filepath.Join(o.Directory, name) }

// Create makes the log of a new node. Without a base it is that of a node that joins, and its first record
// comes with the state. The directory must have no log yet.
func Create(options Options, base *Base) error {
	if etcd.WALExists(options.path(logFolder)) {
		return inUse(options.Directory)
	}
	if err := etcd.MakeDirectory(options.path(stateFolder)); err != nil {
		return exit.Disk("making "+stateFolder, err)
	}
	log, err := etcd.CreateWAL(options.Logger, options.path(logFolder), nil)
	if err != nil {
		return exit.Log("creating the log", err)
	}
	defer log.Close()
	first := mark{}
	if base != nil {
		first = mark{term: 1, lastTerm: 1, lastIndex: base.Index}
		snapshot := etcd.Snapshot{Data: base.Roster, Metadata: etcd.SnapMetadata{
			Index: base.Index, Term: 1, ConfState: etcd.ConfState{Voters: base.Voters},
		}}
		if err := saveSnapshot(options, log, snapshot); err != nil {
			return err
		}
		if err := log.Save(etcd.HardState{Term: 1, Commit: base.Index}, nil); err != nil {
			return exit.Log("writing the log", err)
		}
		if err := log.Sync(); err != nil {
			return exit.Log("syncing the log", err)
		}
	}
	if err := createMark(options.path(markName), first); err != nil {
		return err
	}
	// etcd syncs the name of the folder, but not that of the file in it.
	if err := syncFile(options.path(logFolder)); err != nil {
		return err
	}
	if err := syncFile(options.Directory); err != nil {
		return err
	}
	// The directory may be new too; where its parent may not be read, it is as the operator has made it.
	if err := syncFile(filepath.Dir(options.Directory)); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// Open reads the log of a node, and refuses one that has less than it had.
func Open(options Options) (*Store, error) {
	s := &Store{
		options:   options,
		memory:    etcd.NewMemoryStorage(),
		snapshots: etcd.NewSnapshotter(options.Logger, options.path(stateFolder)),
	}
	file, had, err := openMark(options.path(markName))
	if err != nil {
		return nil, err
	}
	s.mark = file
	s.dropRemains()
	if err := s.load(had); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// Close gives the files back. What was saved stays.
func (s *Store) Close() error {
	if err := s.close(); err != nil {
		return exit.Log("closing the log", err)
	}
	return nil
}

func (s *Store) close() (err error) {
	if s.log != nil {
		err = s.log.Close()
	}
	s.mark.file.Close()
	return err
}

// Memory is what raft reads.
func (s *Store) Memory() *etcd.MemoryStorage { return s.memory }

// Snapshots has the files of states.
func (s *Store) Snapshots() *etcd.Snapshotter { return s.snapshots }

// Base is the snapshot that the log begins behind.
func (s *Store) Base() etcd.Snapshot { return s.base }

// HardTerm is the term that was saved.
func (s *Store) HardTerm() uint64 { return s.hard.Term }

// FirstIndex is that of the first entry there is, or could be.
func (s *Store) FirstIndex() uint64 {
	index, _ := s.memory.FirstIndex() // MemoryStorage never fails
	return index
}

// LastIndex is that of the last entry.
func (s *Store) LastIndex() uint64 {
	index, _ := s.memory.LastIndex()
	return index
}

// Term is that of an entry; etcd.ErrCompacted if the log begins behind it.
func (s *Store) Term(index uint64) (uint64, error) { return s.memory.Term(index) }

// Entries has those of a range, one at least and at most so many bytes of them.
func (s *Store) Entries(from, through uint64, byteCount uint64) ([]etcd.Entry, error) {
	return s.memory.Entries(from, through+1, byteCount)
}

// ByteCount is the size of the entries behind the base.
func (s *Store) ByteCount() int64 { return s.sizes.total }

// ByteCountAbove is the size of the entries behind an index.
func (s *Store) ByteCountAbove(index uint64) int64 { return s.sizes.above(index) }

// syncFile syncs a file or a folder.
func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return exit.Disk("opening "+path, err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return exit.Disk("syncing "+path, err)
	}
	return nil
}

func inUse(directory string) error {
	return exit.New(exit.InUse, "%s: another replica uses this directory", directory)
}

// TooLarge is an entry that could be written and never be read again.
func TooLarge(count int) error {
	return exit.New(exit.Internal, "entry of %d bytes exceeds the limit of %d bytes", count, MaximumEntryByteCount)
}
