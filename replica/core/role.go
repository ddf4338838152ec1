package core

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/members"
	"feed-replica/wire"
)

// roleChanged tells the service, and ends what only a leader can do.
func (c *Core) roleChanged(wasLeader bool) {
	switch {
	case c.isLeader && !wasLeader:
		c.options.Metrics.Elections.Add(1)
		c.leadFrom = c.last
		c.logger.Info("this node leads", zap.Uint64("term", c.term), zap.Uint64("last", c.last))
		c.handOverWithoutService(c.options.Now())
	case !c.isLeader && wasLeader:
		c.logger.Info("this node does not lead any more", zap.Uint64("term", c.term),
			zap.Stringer("leader", members.ID(c.leader)))
		c.proposals = proposals{} // another leader may overwrite them
		c.reads.refuse(c.session)
		c.dropCopies("this node does not lead any more")
		c.change = pendingChange{}
	}
	c.heard = heard{}
	c.tellRole()
}

// handOverWithoutService gives the leadership away if nobody is there to use it, and somebody is elsewhere: nodes
// without services would hand it to and fro, each time in another term. Once a second at most, as what is known of the
// others is a second old.
func (c *Core) handOverWithoutService(now time.Time) {
	if !c.isLeader || now.Sub(c.handedOver) < handOverPeriod {
		return
	}
	// What a service says waits while the disk is slow: then it is not the service that is silent.
	if c.session != nil && (!c.session.isSilent(now) || len(c.requests) > 0) {
		return
	}
	if to, isServed := c.successor(now); isServed && c.handOver(to) { // else it is tried again soon
		c.handedOver = now
		c.logger.Warn("no service, or a silent one: the leadership is handed over",
			zap.Bool("has_service", c.session != nil), zap.Duration("silence_limit", serviceSilence))
	}
}

// successor is the connected node that has most, of those whose services are there if there are such; 0 if none is
// connected. Whether a node is connected says its stream: the Raft core's own RecentActive is cleared by each check of
// the quorum.
func (c *Core) successor(now time.Time) (to uint64, isServed bool) {
	best := uint64(0)
	c.raft.WithProgress(func(id uint64, kind etcd.ProgressType, progress etcd.Progress) {
		heard, isKnown := c.services[members.ID(id)]
		serves := isKnown && !heard.IsGone && now.Sub(heard.at) <= serviceWordAge
		if !c.canLead(id, kind) || isServed && !serves {
			return
		}
		if to == 0 || serves && !isServed || progress.Match > best {
			to, best, isServed = id, progress.Match, serves
		}
	})
	return to, isServed
}

// noteService keeps for the other nodes whether the service is there.
func (c *Core) noteService(now time.Time) {
	known := c.service.Load()
	isGone := c.session == nil || c.session.isSilent(now)
	if known == nil || known.IsGone == isGone {
		return
	}
	changed := *known
	changed.IsGone = isGone
	c.service.Store(&changed)
}

// handOver begins to give the leadership to a node, or with 0 to the successor.
func (c *Core) handOver(to uint64) bool {
	if !c.isLeader {
		return false
	}
	if to == 0 {
		to, _ = c.successor(c.options.Now())
	}
	if to == 0 {
		return false
	}
	c.options.Metrics.HandOvers.Add(1)
	c.raft.TransferLeader(to)
	return true
}

func (c *Core) canLead(id uint64, kind etcd.ProgressType) bool {
	return id != uint64(c.options.Identity.ID) && kind == etcd.VotingPeer && c.peers.IsConnected(id)
}

func (c *Core) hasOtherVoters() bool {
	found := false
	c.raft.WithProgress(func(id uint64, kind etcd.ProgressType, _ etcd.Progress) {
		found = found || c.canLead(id, kind)
	})
	return found
}

// transfer does what an operator asks for: 0 is any node.
func (c *Core) transfer(s *session, to uint64) {
	if why := c.checkTransfer(to); why != "" {
		c.refuse(s, c.term, 0, refusal{wire.BadTransfer, why})
		return
	}
	c.handOver(to)
}

func (c *Core) checkTransfer(to uint64) (why string) {
	switch {
	case !c.isLeader:
		return "this node does not lead"
	case to == 0 && !c.hasOtherVoters():
		return "no other voter is connected"
	case to == 0:
		return ""
	}
	why = fmt.Sprintf("node %s is not a connected voter", members.ID(to))
	c.raft.WithProgress(func(id uint64, kind etcd.ProgressType, _ etcd.Progress) {
		if id == to && c.canLead(id, kind) {
			why = ""
		}
	})
	return why
}
