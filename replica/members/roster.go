// Package members has who belongs to a cluster: the numbers of nodes, where they are, and who was removed.
package members

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
)

// ID is the number of a node. It is drawn when the node is added, and never given to another one.
type ID uint64

// String is the number in 16 hexadecimal digits, as logs and documents have it.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// MarshalText is String.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what String writes.
func (id *ID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || n == 0 {
		return fmt.Errorf("node %q: expected 1 to 16 hexadecimal digits, not all 0", text)
	}
	*id = ID(n)
	return nil
}

// Limits of a cluster.
const (
	MaximumMemberCount   = 9
	MaximumNameByteCount = 64
	MaximumURLByteCount  = 256
)

// Member is where a node is, and what people call it.
type Member struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Roster is who belongs to the cluster, and who did. A snapshot of the log carries it.
type Roster struct {
	Members map[ID]Member `json:"members"`
	Removed []ID          `json:"removed,omitempty"`
}

// Clone is a roster that changes by itself.
func (r Roster) Clone() Roster {
	clone := Roster{Members: make(map[ID]Member, len(r.Members)), Removed: append([]ID(nil), r.Removed...)}
	for id, member := range r.Members {
		clone.Members[id] = member
	}
	return clone
}

// Add puts a member in, or changes it.
func (r *Roster) Add(id ID, member Member) {
	if r.Members == nil {
		r.Members = map[ID]Member{}
	}
	r.Members[id] = member
}

// Remove takes a member out for ever.
func (r *Roster) Remove(id ID) {
	delete(r.Members, id)
	if !r.WasRemoved(id) {
		r.Removed = append(r.Removed, id)
		sort.Slice(r.Removed, func(i, j int) bool { return r.Removed[i] < r.Removed[j] })
	}
}

// WasRemoved says whether a node belonged to the cluster, and does no more.
func (r Roster) WasRemoved(id ID) bool {
	for _, removed := range r.Removed {
		if removed == id {
			return true
		}
	}
	return false
}

// Encode is the roster as JSON, the same bytes on every node.
func (r Roster) Encode() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("a roster of %d members has no JSON: %v", len(r.Members), err))
	}
	return b
}

// DecodeRoster reads what Encode writes; no bytes are an empty roster.
func DecodeRoster(b []byte) (Roster, error) {
	roster := Roster{Members: map[ID]Member{}}
	if len(b) == 0 {
		return roster, nil
	}
	if err := json.Unmarshal(b, &roster); err != nil {
		return Roster{}, fmt.Errorf("the list of members cannot be read: %w", err)
	}
	return roster, nil
}

// Service is what the service of a node says of itself: to whom clients go who ask another node, and which
// levels of entries it reads. Every node asks the others for it.
type Service struct {
	Address      string `json:"address"`
	LowestLevel  uint64 `json:"lowest_level"`
	HighestLevel uint64 `json:"highest_level"`
	// IsGone says that it is not there any more, or says nothing: it could not use a leadership.
	IsGone bool `json:"gone,omitempty"`
}
