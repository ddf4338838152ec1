package store

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/exit"
)

// Trailing says how many bytes of entries stay for peers that come back: the log is cut to `Least` when it
// has more than `Most`.
type Trailing struct{ Least, Most int64 }

// DefaultTrailing is 32 to 64 MiB.
var DefaultTrailing = Trailing{32 << 20, 64 << 20}

// smallestCutShare keeps a service that is slow from causing a snapshot for each entry that it takes.
const smallestCutShare = 4

// CutIndex is the index up to which the log can be cut now, or 0. Entries above the limit are needed.
func (s *Store) CutIndex(trailing Trailing, limit uint64) uint64 {
	if s.sizes.total <= trailing.Most {
		return 0
	}
	through, byteCount := s.sizes.cut(trailing.Least, limit)
	if byteCount < trailing.Least/smallestCutShare || through <= s.base.Metadata.Index {
		return 0
	}
	return through
}

const (
	keptLogFiles   = 2
	keptSnapshots  = 16 // installs that were cut off have names above the one in use
	purgePeriod    = 2 * time.Second
	stateSuffix    = ".snap.db"
	stateNameWidth = 16
)

// Purge deletes the files of the log that were released, until stop is closed or it has failed. The channel is closed
// at its end.
func (s *Store) Purge(stop <-chan struct{}) <-chan error {
	// etcd warns each time of a file that is still in use, as one of the log nearly always is.
	logger := s.options.Logger.WithOptions(zap.IncreaseLevel(zap.ErrorLevel))
	var running sync.WaitGroup
	failed := make(chan error, 2)
	for _, each := range []struct {
		folder, suffix string
		kept           uint
	}{{logFolder, "wal", keptLogFiles}, {stateFolder, "snap", keptSnapshots}} {
		done, errs := etcd.PurgeFiles(logger, s.options.path(each.folder), each.suffix, each.kept,
			purgePeriod, stop)
		running.Add(1)
		go func() {
			defer running.Done()
			<-done
			select {
			case err := <-errs:
				failed <- exit.Log("deleting files of the log", err)
			default:
			}
		}()
	}
	go func() {
		running.Wait()
		close(failed)
	}()
	return failed
}

// StatePath is the file, below the root, of the state that came with the snapshot at an index, or "" if there is none.
func (s *Store) StatePath(index uint64) string {
	path, err := s.snapshots.DBFilePath(index)
	if err != nil {
		return ""
	}
	// The service has another working directory.
	if path, err = filepath.Abs(path); err != nil {
		return ""
	}
	return path
}

// dropRemains deletes what is left of states that were on their way when the process was killed, and of files of the
// log that were not in use: etcd takes one up again, with what it has behind its new head. One that cannot be deleted
// only takes room, or is refused later.
func (s *Store) dropRemains() {
	for _, pattern := range []string{stateFolder + "/tmp*", logFolder + "/*.tmp"} {
		remains, _ := filepath.Glob(s.options.path(pattern))
		for _, path := range remains {
			os.Remove(path)
		}
	}
}

// DropStates deletes the files of states up to an index, which the service has made its own.
func (s *Store) DropStates(through uint64) error {
	folder := s.options.path(stateFolder)
	files, err := os.ReadDir(folder)
	if err != nil {
		return exit.Disk("reading "+stateFolder, err)
	}
	for _, file := range files {
		name := file.Name()
		if !strings.HasSuffix(name, stateSuffix) || len(name) != stateNameWidth+len(stateSuffix) {
			continue
		}
		index, err := strconv.ParseUint(name[:stateNameWidth], 16, 64)
		if err != nil || index > through {
			continue
		}
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !os.IsNotExist(err) {
			return exit.Disk("deleting a state", err)
		}
	}
	return nil
}
