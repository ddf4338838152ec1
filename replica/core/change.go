package core

import (
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/wire"
)

// pendingChange is the change of the members that is on its way: there is one at a time.
type pendingChange struct {
	index     uint64
	added     members.ID
	isSession bool // the session that proposed it is still there
	wantedAt  time.Time
}

// promotionLimit is how far behind a learner may be that is promoted.
const promotionLimit = time.Second

// proposeChange appends a change of the members. Its number is the service's, as that of a batch: so nothing
// is in the log that a leading service does not expect.
func (c *Core) proposeChange(s *session, f wire.Frame) {
	term, index := f.Fields[0], f.Fields[1]
	change, added, err := c.planChange(wire.Change(f.Fields[2]), members.ID(f.Fields[3]), string(f.Tail))
	if err != nil {
		c.refuse(s, term, index, refusal{wire.BadChange, err.Error()})
		return
	}
	if c.append(s, term, index, func() error { return c.raft.ProposeConfChange(change) }) {
		c.change = pendingChange{index: index, added: added, isSession: true, wantedAt: c.change.wantedAt}
	}
}

// planChange says what a change is for the Raft core, or why it cannot be.
func (c *Core) planChange(change wire.Change, id members.ID, tail string) (etcd.ConfChange, members.ID, error) {
	none := etcd.ConfChange{} // beside an error
	if c.change.index > c.applied || c.applied < c.leadFrom {
		return none, 0, fmt.Errorf("another change is on its way; there is one at a time")
	}
	roster := c.history.roster()
	member, isMember := roster.Members[id]
	switch change {
	case wire.AddMember:
		name, url, _ := strings.Cut(tail, "\n")
		member = members.Member{Name: name, URL: url}
		if err := roster.CheckAddition(member); err != nil {
			return none, 0, err
		}
		drawn, err := roster.DrawID(c.options.Random)
		if err != nil {
			return none, 0, err
		}
		return etcd.ConfChange{Type: etcd.AddLearner, NodeID: uint64(drawn), Context: member.Encode()}, drawn, nil
	case wire.PromoteMember:
		if !isMember || !c.isLearner(id) {
			return none, 0, fmt.Errorf("node %s is not a member that learns", id)
		}
		return etcd.ConfChange{Type: etcd.AddVoter, NodeID: uint64(id), Context: member.Encode()}, 0, nil
	case wire.RemoveMember:
		if !isMember {
			return none, 0, fmt.Errorf("node %s is not a member", id)
		}
		if id == c.options.Identity.ID {
			return none, 0, fmt.Errorf("node %s leads: transfer the leadership first", id)
		}
		if err := c.checkRemoval(id); err != nil {
			return none, 0, err
		}
		return etcd.ConfChange{Type: etcd.RemoveMember, NodeID: uint64(id)}, 0, nil
	}
	return none, 0, fmt.Errorf("change %d: expected 1 to 3", change)
}

func (c *Core) isLearner(id members.ID) bool {
	for _, learner := range c.history.newest().voters.Learners {
		if learner == uint64(id) {
			return true
		}
	}
	return false
}

// checkRemoval refuses a removal after which no majority would be connected.
func (c *Core) checkRemoval(id members.ID) error {
	if c.isLearner(id) {
		return nil
	}
	voters, connected := 0, 0
	for _, voter := range c.history.newest().voters.Voters {
		if voter == uint64(id) {
			continue
		}
		voters++
		if voter == uint64(c.options.Identity.ID) || c.peers.IsConnected(voter) {
			connected++
		}
	}
	if connected <= voters/2 {
		return fmt.Errorf("%d of the %d voters that would stay are connected, expected a majority",
			connected, voters)
	}
	return nil
}

// applyChange does a change that is committed. Every node does the same.
func (c *Core) applyChange(entry *etcd.Entry) error {
	var change etcd.ConfChange
	if err := change.Unmarshal(entry.Data); err != nil {
		return exit.New(exit.Internal, "a change of the members: %w", err)
	}
	id := members.ID(change.NodeID)
	roster := c.history.roster().Clone()
	if change.Type != etcd.RemoveMember && roster.WasRemoved(id) && !c.options.Faults.Has(faults.ReturnsIDs) {
		change.NodeID = 0 // the Raft core takes it for no change
		c.raft.ApplyConfChange(change)
		return nil
	}
	voters := c.raft.ApplyConfChange(change)
	if change.Type == etcd.RemoveMember {
		roster.Remove(id)
	} else {
		member, err := members.DecodeMember(change.Context)
		if err != nil {
			return exit.New(exit.Internal, "a change of the members: %w", err)
		}
		roster.Add(id, member)
	}
	c.history.add(entry.Index, *voters, roster)
	c.publishRoster()
	c.logger.Info("the members changed", zapIndex(entry.Index), zap.Stringer("change", change.Type),
		zapNode(uint64(id)), zap.Int("voters", len(voters.Voters)), zap.Int("learners", len(voters.Learners)))
	if change.Type != etcd.RemoveMember {
		c.addPeer(id, roster.Members[id])
		c.tellAdded(entry.Index, id, roster)
		return nil
	}
	if id == c.options.Identity.ID {
		return Removed(id)
	}
	c.dropCopy(uint64(id), "the node was removed")
	delete(c.services, id)
	c.peers.Remove(uint64(id))
	return nil
}

// tellAdded gives the service that added a node the token of it.
func (c *Core) tellAdded(index uint64, id members.ID, roster members.Roster) {
	if c.session == nil || !c.change.isSession || c.change.index != index || c.change.added != id {
		return
	}
	identity := members.Identity{
		Cluster: c.options.Identity.Cluster, ID: id, Name: roster.Members[id].Name, Members: roster.Members,
	}
	c.session.tell(wire.Added, []byte(identity.Token()), index, uint64(id))
}

// wantPromotions asks the leading service to promote a learner that keeps up: once a second, one at a time.
func (c *Core) wantPromotions(now time.Time) {
	if !c.isLeader || c.session == nil || c.change.index > c.applied || c.applied < c.leadFrom ||
		now.Sub(c.change.wantedAt) < promotionLimit {
		return
	}
	wanted := uint64(0)
	c.raft.WithProgress(func(id uint64, kind etcd.ProgressType, progress etcd.Progress) {
		behind, isKnown := c.pace.behind(now, progress.Match)
		if kind == etcd.Learner && progress.State == etcd.Replicating && c.peers.IsConnected(id) &&
			isKnown && behind < promotionLimit {
			wanted = id
		}
	})
	if wanted != 0 {
		c.change.wantedAt = now
		c.session.tell(wire.MemberWanted, nil, uint64(wire.PromoteMember), wanted)
	}
}

// publishRoster lets the transport's goroutines see who belongs to the cluster, and who does no more.
func (c *Core) publishRoster() {
	roster := c.history.roster()
	c.roster.Store(&roster)
}
