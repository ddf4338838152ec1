//go:build etcd35

package etcd

// etcd 3.5, which Debian 13 ships: other paths, two functions with a logger more, and snapshots whose mark in
// the log has their members. Without modules Go leaves the /v3 of its paths out.

import (
	"go.etcd.io/etcd/client/pkg/fileutil"
	"go.etcd.io/etcd/client/pkg/transport"
	"go.etcd.io/etcd/client/pkg/types"
	"go.etcd.io/etcd/raft"
	"go.etcd.io/etcd/raft/raftpb"
	"go.etcd.io/etcd/raft/tracker"
	"go.etcd.io/etcd/server/etcdserver/api/rafthttp"
	"go.etcd.io/etcd/server/etcdserver/api/snap"
	stats "go.etcd.io/etcd/server/etcdserver/api/v2stats"
	"go.etcd.io/etcd/server/wal"
	"go.etcd.io/etcd/server/wal/walpb"
)

// The Raft core and its messages.
type (
	RawNode       = raft.RawNode
	Ready         = raft.Ready
	MemoryStorage = raft.MemoryStorage
	RaftConfig    = raft.Config
	RaftLogger    = raft.Logger
	Progress      = tracker.Progress
	ProgressType  = raft.ProgressType
	Message       = raftpb.Message
	Entry         = raftpb.Entry
	HardState     = raftpb.HardState
	Snapshot      = raftpb.Snapshot
	SnapMetadata  = raftpb.SnapshotMetadata
	ConfState     = raftpb.ConfState
	ConfChange    = raftpb.ConfChange
	ReadState     = raft.ReadState
)

// What Raft says of a state that was sent to a peer.
type SnapshotStatus = raft.SnapshotStatus

// Values of the Raft core.
const (
	StateLeader      = raft.StateLeader
	VotingPeer       = raft.ProgressTypePeer
	Learner          = raft.ProgressTypeLearner
	Replicating      = tracker.StateReplicate
	SnapshotFinished = raft.SnapshotFinish
	SnapshotFailed   = raft.SnapshotFailure
	ConfChangeEntry  = raftpb.EntryConfChange
	HeartbeatMessage = raftpb.MsgHeartbeat
	SnapshotMessage  = raftpb.MsgSnap
	ProposalMessage  = raftpb.MsgProp
	AddVoter         = raftpb.ConfChangeAddNode
	AddLearner       = raftpb.ConfChangeAddLearnerNode
	RemoveMember     = raftpb.ConfChangeRemoveNode
	NoLeader         = raft.None
)

// Errors of the Raft core that callers tell apart.
var (
	ErrCompacted       = raft.ErrCompacted
	ErrSnapOutOfDate   = raft.ErrSnapOutOfDate
	ErrProposalDropped = raft.ErrProposalDropped
	ErrPeerNotFound    = raft.ErrStepPeerNotFound
	ErrNoSnapshot      = snap.ErrNoSnapshot
)

// Functions of the Raft core.
var (
	NewRawNode       = raft.NewRawNode
	NewMemoryStorage = raft.NewMemoryStorage
	IsEmptyHardState = raft.IsEmptyHardState
	IsEmptySnapshot  = raft.IsEmptySnap
)

// The write-ahead log, and the files of snapshots beside it.
type (
	WAL         = wal.WAL
	WALSnapshot = walpb.Snapshot
	Snapshotter = snap.Snapshotter
)

// Functions of the write-ahead log and of snapshots.
var (
	CreateWAL         = wal.Create
	OpenWAL           = wal.Open
	WALExists         = wal.Exist
	RepairWAL         = wal.Repair
	ValidWALSnapshots = wal.ValidSnapshotEntries
	NewSnapshotter    = snap.New
	ReadSnapshot      = snap.Read
	PurgeFiles        = fileutil.PurgeFileWithDoneNotify
)

// SetSegmentByteCount says how large a file of the write-ahead log becomes. etcd has it as a variable of
// its package, so it holds for the whole process; the program sets it before it opens a log.
func SetSegmentByteCount(count int64) { wal.SegmentSizeBytes = count }

// The transport between peers.
type (
	TLSInfo      = transport.TLSInfo
	PeerReceiver = rafthttp.Raft
	Transport    = rafthttp.Transport
	peerID       = types.ID
)

var (
	readTimeout     = rafthttp.ConnReadTimeout
	writeTimeout    = rafthttp.ConnWriteTimeout
	errLocked       = fileutil.ErrLocked
	newServerStats  = stats.NewServerStats
	newStateMessage = snap.NewMessage
	newListener     = transport.NewTimeoutListener
	newRoundTripper = transport.NewTransport
	newLeaderStats  = stats.NewLeaderStats
	makeDirectory   = fileutil.TouchDirAll
)

// ReadsLongEntries says whether entries of more than 10 MB, which are written, are read again (etcd#14025).
const ReadsLongEntries = true

// MarkOf is what the log says of a snapshot. This release refuses to write one without the members.
func MarkOf(of SnapMetadata) WALSnapshot {
	return WALSnapshot{Index: of.Index, Term: of.Term, ConfState: &of.ConfState}
}
