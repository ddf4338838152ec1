package core

import (
	"time"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/members"
)

// era is who belonged to the cluster from an index on.
type era struct {
	index  uint64
	voters etcd.ConfState
	roster members.Roster
}

// history has the eras of the log: a snapshot at an index carries the members as of it.
type history struct{ eras []era }

func (h *history) begin(snapshot etcd.Snapshot) error {
	roster, err := members.DecodeRoster(snapshot.Data)
	if err != nil {
		return exit.New(exit.Internal, "the snapshot: %w", err)
	}
	h.eras = []era{{snapshot.Metadata.Index, snapshot.Metadata.ConfState, roster}}
	return nil
}

func (h *history) newest() era { return h.eras[len(h.eras)-1] }

func (h *history) roster() members.Roster { return h.newest().roster }

func (h *history) at(index uint64) era {
	found := h.eras[0]
	for _, each := range h.eras {
		if each.index <= index {
			found = each
		}
	}
	return found
}

func (h *history) add(index uint64, voters etcd.ConfState, roster members.Roster) {
	h.eras = append(h.eras, era{index, voters, roster})
}

// cut forgets the eras that ended before an index.
func (h *history) cut(index uint64) {
	begin := h.at(index)
	begin.index = index
	kept := []era{begin}
	for _, each := range h.eras {
		if each.index > index {
			kept = append(kept, each)
		}
	}
	h.eras = kept
}

// firstWith is the index from which on a node belongs to the cluster, as far as the log reaches.
func (h *history) firstWith(node uint64) uint64 {
	for _, each := range h.eras {
		if _, isMember := each.roster.Members[members.ID(node)]; isMember {
			return each.index
		}
	}
	return h.newest().index
}

// pace has how far the log was, five times a second: how long ago a peer's end was the log's end.
type pace struct{ marks []paceMark }

type paceMark struct {
	at   time.Time
	last uint64
}

// maximumPaceMarks is a minute; what is behind for longer is behind for a minute or more.
const maximumPaceMarks = 300

func (p *pace) record(now time.Time, last uint64) {
	if len(p.marks) >= maximumPaceMarks {
		p.marks = append(p.marks[:0], p.marks[1:]...)
	}
	p.marks = append(p.marks, paceMark{now, last})
}

// behind is for how long the log has had more than up to an index; false if it is for longer than is known.
func (p *pace) behind(now time.Time, index uint64) (time.Duration, bool) {
	for i := len(p.marks) - 1; i >= 0; i-- {
		if p.marks[i].last > index {
			continue
		}
		if i == len(p.marks)-1 {
			return 0, true
		}
		return now.Sub(p.marks[i+1].at), true
	}
	if len(p.marks) == 0 {
		return 0, false
	}
	return now.Sub(p.marks[0].at), false
}
