package core

import (
	"time"

	"feed-replica/etcd"
)

// process does what the Raft core has to have done: saved, sent, applied, told.
//
// A leader sends before it saves: no answer is taken in between, so nothing is committed before its own save. All
// others save first: an answer promises what is on the disk.
func (c *Core) process() error {
	c.reads.ask(c.raft)
	for c.raft.HasReady() {
		if err := c.processOne(c.raft.Ready()); err != nil {
			return err
		}
	}
	c.tellCommitted()
	return nil
}

func (c *Core) processOne(ready etcd.Ready) error {
	wasLeader := c.isLeader
	if !etcd.IsEmptyHardState(ready.HardState) {
		c.term = ready.HardState.Term
	}
	if ready.SoftState != nil {
		c.isLeader, c.leader = ready.SoftState.RaftState == etcd.StateLeader, ready.SoftState.Lead
	}
	var states []etcd.Message
	if c.isLeader {
		states = c.send(ready.Messages)
	}
	if err := c.save(ready); err != nil {
		return err
	}
	if ready.SoftState != nil {
		c.roleChanged(wasLeader)
	}
	if !c.isLeader {
		states = c.send(ready.Messages)
	}
	for i := range ready.CommittedEntries {
		if err := c.apply(&ready.CommittedEntries[i]); err != nil {
			return err
		}
	}
	c.takeReadStates(ready.ReadStates)
	c.raft.Advance(ready)
	for _, message := range states {
		c.wantCopy(message)
	}
	return nil
}

// send sends messages, and returns those that need a state, which the service has.
func (c *Core) send(messages []etcd.Message) (states []etcd.Message) {
	for i := range messages {
		if messages[i].Type == etcd.SnapshotMessage {
			states = append(states, messages[i])
			messages[i].To = 0 // the transport leaves it out
		}
	}
	c.peers.Send(messages)
	return states
}

// save makes entries durable; it returns when they are on the disk.
func (c *Core) save(ready etcd.Ready) error {
	begin := time.Now()
	if !etcd.IsEmptySnapshot(ready.Snapshot) {
		if err := c.store.Install(ready.Snapshot, ready.HardState, ready.Entries); err != nil {
			return err
		}
		if err := c.installed(ready.Snapshot); err != nil {
			return err
		}
	} else if err := c.store.Save(ready.HardState, ready.Entries); err != nil {
		return err
	}
	if count := len(ready.Entries); count > 0 {
		c.last = ready.Entries[count-1].Index
		c.options.Metrics.Syncs.Observe(time.Since(begin))
	}
	return nil
}

func (c *Core) apply(entry *etcd.Entry) error {
	if entry.Type == etcd.ConfChangeEntry {
		if err := c.applyChange(entry); err != nil {
			return err
		}
	}
	c.applied = entry.Index
	return nil
}

// installed takes a state of the leader for the begin of the log: its file waits for the service.
func (c *Core) installed(snapshot etcd.Snapshot) error {
	index := snapshot.Metadata.Index
	c.logger.Info("a state has come from the leader", zapIndex(index))
	c.applied, c.last = index, index
	before := c.history.roster()
	if err := c.history.begin(snapshot); err != nil {
		return err
	}
	now := c.history.roster()
	for id := range before.Members {
		if _, stays := now.Members[id]; !stays {
			c.peers.Remove(uint64(id))
		}
	}
	for id, member := range now.Members {
		c.addPeer(id, member)
	}
	c.publishRoster()
	return nil
}
