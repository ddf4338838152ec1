package store

import (
	"errors"
	"fmt"
	"io"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
)

// load reads snapshot and log, and compares their end with what the mark says that they had.
func (s *Store) load(had mark) error {
	snapshot, err := s.newestSnapshot()
	if err != nil {
		return err
	}
	var at etcd.WALSnapshot
	if snapshot != nil {
		at = etcd.MarkOf(snapshot.Metadata)
		s.base = *snapshot
		if err := s.memory.ApplySnapshot(*snapshot); err != nil {
			return exit.Log("the snapshot cannot be used", err)
		}
	}
	entries, err := s.readLog(at)
	if err != nil {
		return err
	}
	isVoid := had.isVoidBehind(at.Index) && !s.options.Faults.Has(faults.KeepsVoidEntries)
	if isVoid {
		entries = nil
		s.installed = at.Index
		if err := s.forgetCommit(at.Index); err != nil {
			return err
		}
	}
	if !s.options.Faults.Has(faults.KeepsFallingTerms) {
		entries = cutWhereTermsFall(at.Term, entries)
	}
	if err := s.memory.SetHardState(s.hard); err != nil {
		return exit.Log("the log cannot be used", err)
	}
	if err := s.memory.Append(entries); err != nil {
		return exit.Log("the log cannot be used", err)
	}
	s.sizes.begin(at.Index)
	s.sizes.append(entries)
	return s.compare(had, isVoid)
}

// newestSnapshot is the newest one that the log names, or nil for a node that only joins.
//
// etcd takes an older one if its file is missing or spoiled. Behind an installed snapshot that is another log: it
// has the entries that the snapshot has replaced, up to the first one that was saved since.
func (s *Store) newestSnapshot() (*etcd.Snapshot, error) {
	folder := s.options.path(logFolder)
	marks, err := etcd.ValidWALSnapshots(s.options.Logger, folder)
	if errors.Is(err, io.ErrUnexpectedEOF) && etcd.RepairWAL(s.options.Logger, folder) {
		marks, err = etcd.ValidWALSnapshots(s.options.Logger, folder)
	}
	if err != nil {
		return nil, exit.Log("the log cannot be read", err)
	}
	snapshot, err := s.snapshots.LoadNewestAvailable(marks)
	if err != nil && !errors.Is(err, etcd.ErrNoSnapshot) {
		return nil, exit.Log("the snapshot cannot be read", err)
	}
	var has etcd.SnapMetadata
	if snapshot != nil {
		has = snapshot.Metadata
	}
	// The highest, and not the last: an install that a kill has cut off may be above a later one.
	var wanted etcd.WALSnapshot
	for _, mark := range marks {
		if mark.Index >= wanted.Index {
			wanted = mark
		}
	}
	isNewest := has.Index == wanted.Index && has.Term == wanted.Term
	if !isNewest && !s.options.Faults.Has(faults.TakesOlderSnapshots) {
		return nil, exit.Damaged(fmt.Sprintf("the snapshot at %d of term %d is missing or spoiled",
			wanted.Index, wanted.Term))
	}
	return snapshot, nil
}

// readLog opens the log behind a snapshot. A torn end was never synced: it is cut, once.
func (s *Store) readLog(at etcd.WALSnapshot) ([]etcd.Entry, error) {
	folder := s.options.path(logFolder)
	for isRepaired := false; ; isRepaired = true {
		log, err := etcd.OpenWAL(s.options.Logger, folder, at)
		if etcd.IsLocked(err) {
			return nil, inUse(s.options.Directory)
		}
		if err != nil {
			return nil, exit.Log("the log cannot be opened", err)
		}
		_, hard, entries, err := log.ReadAll()
		if err == nil {
			s.log, s.hard = log, hard
			return entries, nil
		}
		log.Close()
		if isRepaired || !errors.Is(err, io.ErrUnexpectedEOF) || !etcd.RepairWAL(s.options.Logger, folder) {
			return nil, exit.Log("the log cannot be read", err)
		}
	}
}

// forgetCommit takes back a commit index that came with void entries. A cut between their sync and the mark's
// leaves both, and nobody was told of them; what the log says stays behind the entries that come now.
func (s *Store) forgetCommit(above uint64) error {
	if s.hard.Commit <= above {
		return nil
	}
	s.hard.Commit = above
	if err := s.log.Save(s.hard, nil); err != nil { // compare syncs it
		return exit.Log("writing the log", err)
	}
	return nil
}

// cutWhereTermsFall leaves out the entries from the first one on whose term is below that before it.
func cutWhereTermsFall(term uint64, entries []etcd.Entry) []etcd.Entry {
	for i := range entries {
		if entries[i].Term < term {
			return entries[:i]
		}
		term = entries[i].Term
	}
	return entries
}

// compare refuses a log that has less than the mark says, and writes what it has.
func (s *Store) compare(had mark, isVoid bool) error {
	has := s.currentMark()
	if isVoid {
		// The mark may be the one from before the install, whose entries the snapshot has replaced.
		had.lastTerm, had.lastIndex = has.lastTerm, has.lastIndex
	}
	if has.isBehind(had) && !s.options.Faults.Has(faults.NoMark) {
		return exit.Damaged(fmt.Sprintf("entries or a vote are lost: the log ends at %v, and had %v", has, had))
	}
	if s.hard.Commit > has.lastIndex {
		return exit.Damaged(fmt.Sprintf("entries are lost: the log ends at %v, and %d was committed",
			has, s.hard.Commit))
	}
	// A process before this one may have been killed before it had synced what is here.
	if err := s.log.Sync(); err != nil {
		return exit.Log("syncing the log", err)
	}
	if err := syncFile(s.options.path(logFolder)); err != nil {
		return err
	}
	if err := s.mark.write(has); err != nil {
		return err
	}
	return s.mark.sync()
}

// currentMark is what the log has now.
func (s *Store) currentMark() mark {
	last := s.LastIndex()
	term, _ := s.memory.Term(last) // there is always a last term, 0 for an empty log
	return mark{term: s.hard.Term, vote: s.hard.Vote, lastTerm: term, lastIndex: last, installed: s.installed}
}
