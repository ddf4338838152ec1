package core

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"time"

	"feed-replica/etcd"
	"feed-replica/members"
)

// Status is what a node says of itself, and a leader of the others.
type Status struct {
	Node       members.ID      `json:"node"`
	Name       string          `json:"name"`
	Cluster    members.Cluster `json:"cluster"`
	Role       string          `json:"role"` // leader, follower or learner; searching for a leader; or draining
	Term       uint64          `json:"term"`
	Leader     members.ID      `json:"leader"` // 0 if there is none
	First      uint64          `json:"first"`
	Last       uint64          `json:"last"`
	Committed  uint64          `json:"committed"`
	Durable    uint64          `json:"durable"` // of the service
	LogBytes   int64           `json:"log_bytes"`
	HasService bool            `json:"has_service"`
	HeardAge   float64         `json:"heard_age_seconds"` // of what a follower knows; -1 if it knows nothing
	Copies     int             `json:"copies"`
	Window     int             `json:"window"` // proposals on their way
	Members    []MemberStatus  `json:"members"`
	Removed    []members.ID    `json:"removed"`
}

// MemberStatus is what is known of a member. A node that does not lead knows only who there is.
type MemberStatus struct {
	Node        members.ID `json:"node"`
	Name        string     `json:"name"`
	URL         string     `json:"url"`
	IsVoter     bool       `json:"voter"`
	IsConnected bool       `json:"connected"`
	Match       uint64     `json:"match,omitempty"`
	State       string     `json:"state,omitempty"`
	LagBytes    int64      `json:"lag_bytes,omitempty"`
	LagSeconds  float64    `json:"lag_seconds,omitempty"`
	// What its service has said, and how long ago; absent if nothing was heard.
	Service    *members.Service `json:"service,omitempty"`
	ServiceAge float64          `json:"service_age_seconds,omitempty"`
}

// Status asks the node's goroutine.
func (c *Core) Status(ctx context.Context) (Status, error) {
	answer := make(chan Status, 1)
	select {
	case c.reports <- func() { answer <- c.status() }:
	case <-c.done:
		return Status{}, context.Canceled
	case <-ctx.Done():
		return Status{}, ctx.Err()
	}
	select {
	case status := <-answer:
		return status, nil
	case <-c.done:
		return Status{}, context.Canceled
	case <-ctx.Done():
		return Status{}, ctx.Err()
	}
}

func (c *Core) status() Status {
	now := c.options.Now()
	era := c.history.newest()
	status := Status{
		Node: c.options.Identity.ID, Name: c.options.Identity.Name, Cluster: c.options.Identity.Cluster,
		Role: c.roleName(), Term: c.term, Leader: members.ID(c.leader), First: c.store.FirstIndex(), Last: c.last,
		Committed: c.applied, Durable: c.durable, LogBytes: c.store.ByteCount(), HasService: c.session != nil,
		HeardAge: -1, Copies: len(c.copies.byNode), Window: len(c.proposals.times),
		Members: []MemberStatus{}, Removed: append([]members.ID{}, era.roster.Removed...),
	}
	if c.heard.at != 0 {
		status.HeardAge = (c.options.Boottime() - c.heard.at).Seconds()
	}
	known := map[uint64]etcd.Progress{}
	if c.isLeader {
		c.raft.WithProgress(func(id uint64, _ etcd.ProgressType, progress etcd.Progress) { known[id] = progress })
	}
	for id, member := range era.roster.Members {
		each := MemberStatus{Node: id, Name: member.Name, URL: member.URL, IsVoter: !c.isLearner(id)}
		each.IsConnected = id == status.Node || c.peers.IsConnected(uint64(id))
		if progress, isKnown := known[uint64(id)]; isKnown {
			each.Match, each.State = progress.Match, progress.State.String()
			each.LagBytes, each.LagSeconds = c.lag(now, progress.Match)
		}
		c.addService(&each, now)
		status.Members = append(status.Members, each)
	}
	sort.Slice(status.Members, func(i, j int) bool { return status.Members[i].Name < status.Members[j].Name })
	return status
}

func (c *Core) addService(member *MemberStatus, now time.Time) {
	if member.Node == c.options.Identity.ID {
		member.Service = c.service.Load()
	} else if heard, isKnown := c.services[member.Node]; isKnown {
		member.Service, member.ServiceAge = &heard.Service, now.Sub(heard.at).Seconds()
	}
}

func (c *Core) lag(now time.Time, match uint64) (byteCount int64, seconds float64) {
	behind, _ := c.pace.behind(now, match)
	return c.store.ByteCountAbove(match), behind.Seconds()
}

func (c *Core) roleName() string {
	switch {
	case c.isDraining:
		return "draining"
	case c.isLeader:
		return "leader"
	case c.isLearner(c.options.Identity.ID):
		return "learner"
	case c.leader == etcd.NoLeader:
		return "searching"
	}
	return "follower"
}

func (c *Core) statusJSON() []byte {
	b, err := json.Marshal(c.status())
	if err != nil {
		panic(fmt.Sprintf("a status has no JSON: %v", err))
	}
	return b
}
