package core

import (
	"errors"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/wire"
)

// Limits of what a service has not taken yet.
const (
	maximumWaitingWords = 4096
	streamedByteCount   = 1 << 20 // entries that are read from the log at once
)

// entrySource is what an outbox streams from.
type entrySource interface {
	FirstIndex() uint64
	Entries(from, through, byteCount uint64) ([]etcd.Entry, error)
	StatePath(index uint64) string
}

// outbox has what is to be said to one service: the log in its order, and words beside it. It does no I/O.
//
// The log is not copied: the outbox knows how far it was said, and reads on when there is room. A service that
// takes nothing costs nothing but the words.
type outbox struct {
	words     []wire.Frame
	heard     *wire.Frame // only the newest one matters
	streamed  uint64      // entries up to here were said
	committed uint64      // entries up to here may be said
	isStuck   bool        // the log begins behind what the service needs

	term       uint64
	leads      bool
	leadFrom   uint64 // it leads once all up to here was said
	isToldLead bool
}

// begin is the state after HELLO of a service that has all up to an index.
func (o *outbox) begin(applied, committed uint64) {
	o.streamed, o.committed = applied, committed
}

// tell puts a word in; false if there is no room.
func (o *outbox) tell(word wire.Frame) bool {
	if len(o.words) >= maximumWaitingWords {
		return false
	}
	o.words = append(o.words, word)
	return true
}

// lead says that the node leads a term. It is told behind an entry.
func (o *outbox) lead(term, from uint64) {
	o.term, o.leads, o.leadFrom, o.isToldLead = term, true, from, false
}

// follow says that the node does not lead, and who does. It is never left out: what is in doubt depends on it.
func (o *outbox) follow(term, leader uint64) bool {
	o.leads, o.isToldLead = false, false
	return o.tell(wire.New(wire.Role, nil, 0, term, leader, 0))
}

func (o *outbox) isRoleDue() bool { return o.leads && !o.isToldLead && o.streamed >= o.leadFrom }

// hasMore says whether take would give something.
func (o *outbox) hasMore() bool {
	return len(o.words) > 0 || o.heard != nil || o.isRoleDue() || !o.isStuck && o.streamed < o.committed
}

// take gives what is to be said next, in order, about 1 MiB at most but for one entry.
func (o *outbox) take(node uint64, log entrySource) ([]wire.Frame, error) {
	frames := o.words
	o.words = nil
	if o.heard != nil {
		frames = append(frames, *o.heard)
		o.heard = nil
	}
	if o.isRoleDue() {
		o.isToldLead = true
		frames = append(frames, wire.New(wire.Role, nil, 1, o.term, node, o.leadFrom))
	}
	if o.isStuck || o.streamed >= o.committed {
		return frames, nil
	}
	entries, err := log.Entries(o.streamed+1, o.committed, streamedByteCount)
	if errors.Is(err, etcd.ErrCompacted) {
		o.isStuck = true
		return append(frames, behind(log)), nil
	}
	if err != nil {
		return nil, exit.New(exit.Internal, "reading the log for the service: %w", err)
	}
	return o.stream(frames, entries), nil
}

// behind is what a service is told whose next entry was forgotten: to take the state that has come, if it is
// still there.
func behind(log entrySource) wire.Frame {
	first := log.FirstIndex()
	if path := log.StatePath(first - 1); path != "" {
		return wire.New(wire.Install, []byte(path), first-1)
	}
	return wire.New(wire.TooOld, nil, first)
}

// stream says entries. Those that the service proposed itself have no bodies, and one word for several: they are
// of the term that it was told that it leads, and behind what it was told before.
func (o *outbox) stream(frames []wire.Frame, entries []etcd.Entry) []wire.Frame {
	own := uint64(0)
	flush := func() {
		if own != 0 {
			frames = append(frames, wire.New(wire.Committed, nil, o.term, own))
			own = 0
		}
	}
	for i := range entries {
		entry := &entries[i]
		o.streamed = entry.Index
		kind := entryKind(entry)
		if kind == wire.Batch && o.isToldLead && entry.Term == o.term {
			own = entry.Index
			continue
		}
		flush()
		var body []byte
		if kind == wire.Batch {
			body = entry.Data
		}
		frames = append(frames, wire.New(wire.Entry, body, entry.Index, entry.Term, uint64(kind)))
	}
	flush()
	return frames
}

func entryKind(entry *etcd.Entry) wire.EntryKind {
	switch {
	case entry.Type == etcd.ConfChangeEntry:
		return wire.MemberChange
	case len(entry.Data) == 0:
		return wire.LeaderBegins
	}
	return wire.Batch
}
