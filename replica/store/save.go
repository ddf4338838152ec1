package store

import (
	"errors"
	"fmt"
	"path/filepath"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
)

// errStopped stands for a kill, in tests.
var errStopped = errors.New("stopped by a fault")

// Save makes entries and the hard state durable. It returns when they are on the disk.
func (s *Store) Save(hard etcd.HardState, entries []etcd.Entry) error {
	if err := s.check(entries); err != nil {
		return err
	}
	if err := faults.Sync(); err != nil {
		return exit.Log("syncing the log", err)
	}
	if err := s.log.Save(hard, entries); err != nil {
		return exit.Log("writing the log", err)
	}
	return s.saved(hard, entries)
}

// Install makes a snapshot that has come from the leader the begin of the log, and saves what came with it.
// Its state is in a file already, synced by the transport.
func (s *Store) Install(snapshot etcd.Snapshot, hard etcd.HardState, entries []etcd.Entry) error {
	if err := s.check(entries); err != nil {
		return err
	}
	// Before the log knows the snapshot: the entries that it replaces are void from the same moment on.
	flagged := s.currentMark()
	flagged.installing = snapshot.Metadata.Index
	if err := s.mark.write(flagged); err != nil { // and synced
		return err
	}
	if err := saveSnapshot(s.options, s.log, snapshot); err != nil {
		return err
	}
	// Alone, before the entries: without the commit index a start does not use the snapshot, and takes what is behind
	// it for what is behind the one before. And it is synced, as a commit index alone is not.
	if err := s.log.Save(hard, nil); err != nil {
		return exit.Log("writing the log", err)
	}
	if !s.options.Faults.Has(faults.ReleasesUnsynced) {
		if err := s.log.Sync(); err != nil {
			return exit.Log("syncing the log", err)
		}
	}
	if s.options.Faults.Has(faults.StopsInInstall) {
		return errStopped
	}
	if err := s.memory.ApplySnapshot(snapshot); err != nil {
		return exit.Log("the snapshot cannot be used", err)
	}
	s.base, s.installed = snapshot, snapshot.Metadata.Index
	s.sizes.begin(snapshot.Metadata.Index)
	if err := s.saved(hard, nil); err != nil {
		return err
	}
	if err := s.release(snapshot.Metadata.Index); err != nil || len(entries) == 0 {
		return err
	}
	return s.Save(etcd.HardState{}, entries)
}

// saved takes what is on the disk into memory, and into the mark.
func (s *Store) saved(hard etcd.HardState, entries []etcd.Entry) error {
	if !etcd.IsEmptyHardState(hard) {
		s.hard = hard
	}
	if err := s.memory.Append(entries); err != nil {
		return exit.Log("the log cannot be appended to", err)
	}
	s.sizes.append(entries)
	if len(entries) > 0 {
		// The first entries behind an installed snapshot are on the disk: nothing is void any more. Until the
		// mark says so, synced, a start would take them for void.
		s.installed = 0
	}
	if now := s.currentMark(); now != s.mark.last {
		return s.mark.write(now)
	}
	return nil
}

// Compact forgets the entries up to an index, which the service has on its own disk. The members are those
// as of the index.
func (s *Store) Compact(index uint64, members etcd.ConfState, roster []byte) error {
	snapshot, err := s.memory.CreateSnapshot(index, &members, roster)
	if errors.Is(err, etcd.ErrSnapOutOfDate) {
		return nil
	}
	if err != nil {
		return exit.Log("the log cannot be cut", err)
	}
	if err := saveSnapshot(s.options, s.log, snapshot); err != nil {
		return err
	}
	s.base = snapshot
	if err := s.memory.Compact(index); err != nil {
		return exit.Log("the log cannot be cut", err)
	}
	s.sizes.forget(index)
	return s.release(index)
}

func (s *Store) release(index uint64) error {
	if err := s.log.ReleaseLockTo(index); err != nil {
		return exit.Log("releasing files of the log", err)
	}
	return nil
}

func (s *Store) check(entries []etcd.Entry) error {
	if s.options.Faults.Has(faults.NoSizeLimit) {
		return nil
	}
	for i := range entries {
		if count := len(entries[i].Data); count > MaximumEntryByteCount {
			return TooLarge(count)
		}
	}
	return nil
}

// saveSnapshot keeps the order of etcd: the snapshot's file, then its record in the log. etcd syncs the file, but
// not its name.
func saveSnapshot(options Options, log *etcd.WAL, snapshot etcd.Snapshot) error {
	folder := options.path(stateFolder)
	if err := saveSnapshotFile(options, folder, snapshot); err != nil {
		return err
	}
	if err := syncFile(folder); err != nil {
		return err
	}
	if err := log.SaveSnapshot(etcd.MarkOf(snapshot.Metadata)); err != nil {
		return exit.Log("writing the log", err)
	}
	return nil
}

// saveSnapshotFile leaves a file that is there as it is: an install that was cut off may have put it into the log, and
// etcd would write it again in its place.
func saveSnapshotFile(options Options, folder string, snapshot etcd.Snapshot) error {
	name := fmt.Sprintf("%016x-%016x.snap", snapshot.Metadata.Term, snapshot.Metadata.Index)
	path := filepath.Join(folder, name)
	if _, err := etcd.ReadSnapshot(zap.NewNop(), path); err == nil {
		return syncFile(path)
	}
	if err := etcd.NewSnapshotter(options.Logger, folder).SaveSnap(snapshot); err != nil {
		return exit.Log("writing a snapshot", err)
	}
	return nil
}
