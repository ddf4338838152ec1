package wire

import "fmt"

// Kind is the second part of a frame: what it says. docs/REPLICA.md, "The socket", is the contract.
type Kind byte

// What the service says.
const (
	Hello    Kind = 1 // version, applied, lowest level, highest level; cluster id, then its public address
	Propose  Kind = 2 // term, index; body
	Durable  Kind = 3 // index
	Read     Kind = 4 // id
	Member   Kind = 5 // term, index, change, node; name, a line feed, URL
	Transfer Kind = 6 // node, or 0 for any
	Status   Kind = 7 // request
	Copy     Kind = 8 // request, index; path
	NoCopy   Kind = 9 // request; why
)

// What the replica says.
const (
	Welcome      Kind = 64 // version, node, term, leader, applied, last; cluster id
	Entry        Kind = 65 // index, term, entry kind; body
	Committed    Kind = 66 // term, index
	Role         Kind = 67 // 1 leads or 0, term, leader, index
	Refused      Kind = 68 // term, index, reason; text
	ReadOK       Kind = 69 // id
	ReadNo       Kind = 70 // id
	Heard        Kind = 71 // commit, microseconds of CLOCK_BOOTTIME
	Added        Kind = 72 // index, node; token
	MemberWanted Kind = 73 // change, node
	CopyWanted   Kind = 74 // request, least index
	CopyDone     Kind = 75 // request
	Install      Kind = 76 // index; path
	TooOld       Kind = 77 // first index
	StatusIs     Kind = 78 // request; JSON
	End          Kind = 79 // reason; text
)

// Version is that of the frames here, and OldestVersion the lowest that a service may speak.
const (
	Version       = 1
	OldestVersion = 1
)

// Limits of frames. An entry of the log has at most 8 MiB: etcd's write-ahead log writes records of 10 MiB
// and more, and never reads them again.
const (
	MaximumBodyByteCount  = 8 << 20
	MaximumFrameByteCount = 16 << 20 // a body over its limit still gets an answer
	MaximumTextByteCount  = 4 << 10
	MaximumTokenByteCount = 16 << 10
	MaximumJSONByteCount  = 1 << 20
	maximumFieldCount     = 6
	ClusterIDByteCount    = 16
)

// EntryKind says what a record of the log is.
type EntryKind uint64

// Kinds of entries. Records of the last two have no bytes.
const (
	Batch        EntryKind = 0
	MemberChange EntryKind = 1
	LeaderBegins EntryKind = 2
)

// Change is one of the members.
type Change uint64

// Changes of the members: a node that is added learns at first, and is promoted once it keeps up.
const (
	AddMember     Change = 1
	PromoteMember Change = 2
	RemoveMember  Change = 3
)

// Reason says why a proposal was refused, or a session ended.
type Reason uint64

// Reasons of REFUSED.
const (
	NotLeader    Reason = 1
	OtherTerm    Reason = 2
	OtherIndex   Reason = 3
	TooLarge     Reason = 4
	Transferring Reason = 5
	TooManyBytes Reason = 6
	BadChange    Reason = 7
	BadTransfer  Reason = 8
)

// Reasons of END.
const (
	Replaced     Reason = 32
	BadFrame     Reason = 33
	BadVersion   Reason = 34
	OtherCluster Reason = 35
	TooSlow      Reason = 36
	Stopping     Reason = 37
)

// layout is the form of a kind of frame.
type layout struct {
	name      string
	fields    int
	leastTail int
	mostTail  int
}

// layouts has the form of every kind; a kind without a name does not exist.
var layouts = [256]layout{
	Hello:    {"HELLO", 4, ClusterIDByteCount, ClusterIDByteCount + MaximumTextByteCount},
	Propose:  {"PROPOSE", 2, 1, MaximumFrameByteCount},
	Durable:  {"DURABLE", 1, 0, 0},
	Read:     {"READ", 1, 0, 0},
	Member:   {"MEMBER", 4, 0, MaximumTextByteCount},
	Transfer: {"TRANSFER", 1, 0, 0},
	Status:   {"STATUS", 1, 0, 0},
	Copy:     {"COPY", 2, 1, MaximumTextByteCount},
	NoCopy:   {"NO_COPY", 1, 0, MaximumTextByteCount},

	Welcome:      {"WELCOME", 6, ClusterIDByteCount, ClusterIDByteCount},
	Entry:        {"ENTRY", 3, 0, MaximumBodyByteCount},
	Committed:    {"COMMITTED", 2, 0, 0},
	Role:         {"ROLE", 4, 0, 0},
	Refused:      {"REFUSED", 3, 0, MaximumTextByteCount},
	ReadOK:       {"READ_OK", 1, 0, 0},
	ReadNo:       {"READ_NO", 1, 0, 0},
	Heard:        {"HEARD", 2, 0, 0},
	Added:        {"ADDED", 2, 1, MaximumTokenByteCount},
	MemberWanted: {"MEMBER_WANTED", 2, 0, 0},
	CopyWanted:   {"COPY_WANTED", 2, 0, 0},
	CopyDone:     {"COPY_DONE", 1, 0, 0},
	Install:      {"INSTALL", 1, 1, MaximumTextByteCount},
	TooOld:       {"TOO_OLD", 1, 0, 0},
	StatusIs:     {"STATUS_IS", 1, 2, MaximumJSONByteCount},
	End:          {"END", 1, 0, MaximumTextByteCount},
}

// String is the name of a kind, as the page has it.
func (k Kind) String() string {
	if name := layouts[k].name; name != "" {
		return name
	}
	return fmt.Sprintf("kind %d", byte(k))
}
