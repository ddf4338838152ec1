package core

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/metrics"
	"feed-replica/store"
	"feed-replica/wire"
)

// refusal is why a proposal was not appended.
type refusal struct {
	reason wire.Reason
	text   string
}

// propose appends a commit batch.
func (c *Core) propose(s *session, term, index uint64, body []byte) {
	if count := len(body); count > store.MaximumEntryByteCount {
		c.refuse(s, term, index, refusal{wire.TooLarge, store.TooLarge(count).Error()})
		return
	}
	c.append(s, term, index, func() error { return c.raft.Propose(body) })
}

// append appends what a service proposes, if it may: check and append are one step of the one goroutine. It
// says whether it did.
func (c *Core) append(s *session, term, index uint64, do func() error) bool {
	if why := c.check(term, index); why != nil {
		c.refuse(s, term, index, *why)
		return false
	}
	if err := do(); err != nil {
		why := refusal{wire.TooManyBytes,
			fmt.Sprintf("more than %d bytes would not be committed", maximumUncommittedBytes)}
		if err != etcd.ErrProposalDropped {
			why = refusal{wire.NotLeader, err.Error()}
		}
		c.refuse(s, term, index, why)
		return false
	}
	c.last++
	c.proposals.add(c.last, c.options.Now())
	return true
}

// check is the fence: the node leads that term, and the number is the next one.
func (c *Core) check(term, index uint64) *refusal {
	status := c.raft.BasicStatus()
	switch {
	case !c.isLeader || status.RaftState != etcd.StateLeader:
		return &refusal{wire.NotLeader, fmt.Sprintf("node %s leads", members.ID(c.leader))}
	case term != status.Term && !c.options.Faults.Has(faults.NoTermFence):
		return &refusal{wire.OtherTerm, fmt.Sprintf("term %d, expected %d", term, status.Term)}
	case status.LeadTransferee != 0:
		return &refusal{wire.Transferring, fmt.Sprintf("the leadership goes to node %s", members.ID(status.LeadTransferee))}
	case index != c.last+1 && !c.options.Faults.Has(faults.NoIndexFence):
		return &refusal{wire.OtherIndex, fmt.Sprintf("record %d, expected %d", index, c.last+1)}
	case len(c.proposals.times) >= maximumUncommittedCount:
		return &refusal{wire.TooManyBytes,
			fmt.Sprintf("%d records are not committed, which is the limit", maximumUncommittedCount)}
	}
	return nil
}

func (c *Core) refuse(s *session, term, index uint64, why refusal) {
	c.options.Metrics.Refusals.Add(1)
	c.logger.Debug("a proposal is refused", zap.Uint64("term", term), zapIndex(index),
		zap.String("why", why.text))
	s.tell(wire.Refused, []byte(why.text), term, index, uint64(why.reason))
}

func zapIndex(index uint64) zap.Field { return zap.Uint64("index", index) }

func zapNode(node uint64) zap.Field { return zap.Stringer("node", members.ID(node)) }

// proposals has when each entry was proposed that is not committed yet.
type proposals struct {
	first uint64 // the index of the first time
	times []time.Time
}

func (p *proposals) add(index uint64, now time.Time) {
	if index != p.first+uint64(len(p.times)) {
		p.first, p.times = index, p.times[:0]
	}
	p.times = append(p.times, now)
}

func (p *proposals) committed(through uint64, now time.Time, durations *metrics.Histogram) {
	count := 0
	for count < len(p.times) && p.first+uint64(count) <= through {
		durations.Observe(now.Sub(p.times[count]))
		count++
	}
	p.times = p.times[count:]
	p.first += uint64(count)
}
