// Package etcd is the one place that imports etcd: the Raft core, the write-ahead log, the snapshots and
// the transport between peers.
//
// The rest of the program names what it uses of them through this package, so another release of etcd,
// whose packages have other paths and a few other signatures, is another file here and nothing else. This
// one is for 3.4, which Debian 12 ships.
package etcd

import (
	"io"
	"net"
	"net/http"
	"time"

	"go.etcd.io/etcd/etcdserver/api/rafthttp"
	"go.etcd.io/etcd/etcdserver/api/snap"
	stats "go.etcd.io/etcd/etcdserver/api/v2stats"
	"go.etcd.io/etcd/pkg/fileutil"
	"go.etcd.io/etcd/pkg/transport"
	"go.etcd.io/etcd/pkg/types"
	"go.etcd.io/etcd/raft"
	"go.etcd.io/etcd/raft/raftpb"
	"go.etcd.io/etcd/raft/tracker"
	"go.etcd.io/etcd/wal"
	"go.etcd.io/etcd/wal/walpb"
	"go.uber.org/zap"
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

// IsLocked says whether a log could not be opened because another process has it.
func IsLocked(err error) bool { return err == fileutil.ErrLocked }

// MakeDirectory makes a directory that only its owner reads, or checks that it can be written to.
func MakeDirectory(path string) error { return fileutil.TouchDirAll(path) }

// The transport between peers.
type (
	TLSInfo      = transport.TLSInfo
	PeerReceiver = rafthttp.Raft
	Transport    = rafthttp.Transport
)

// PeerOptions says who a transport speaks for, and to whom it gives what it receives.
type PeerOptions struct {
	Logger      *zap.Logger
	TLS         TLSInfo
	Node        uint64
	Cluster     uint64
	Receiver    PeerReceiver
	Snapshotter *Snapshotter
	DialTimeout time.Duration
}

// NewTransport makes the transport of a node. Critical errors, as that the node was removed, come out of
// its `ErrorC`.
func NewTransport(options PeerOptions) *Transport {
	id := types.ID(options.Node)
	return &rafthttp.Transport{
		Logger:      options.Logger,
		TLSInfo:     options.TLS,
		ID:          id,
		ClusterID:   types.ID(options.Cluster),
		Raft:        options.Receiver,
		Snapshotter: options.Snapshotter,
		ServerStats: stats.NewServerStats(id.String(), id.String()),
		LeaderStats: stats.NewLeaderStats(id.String()),
		ErrorC:      make(chan error, 1),
		DialTimeout: options.DialTimeout,
	}
}

// Peers sends through a transport, with plain numbers for nodes.
type Peers struct{ Transport *Transport }

// Send sends messages; those to nodes that it does not know are dropped.
func (p Peers) Send(messages []Message) { p.Transport.Send(messages) }

// SendState streams a state to a peer, and closes it; its outcome comes through `ReportSnapshot`. It returns
// false, and does neither, if the peer is not known.
func (p Peers) SendState(message Message, state io.ReadCloser, byteCount int64) bool {
	if p.Transport.Get(types.ID(message.To)) == nil {
		return false
	}
	p.Transport.SendSnapshot(*snap.NewMessage(message, state, byteCount))
	return true
}

// Add adds a peer. A URL that is none panics; `members.CheckURL` refuses it before.
func (p Peers) Add(node uint64, url string) { p.Transport.AddPeer(types.ID(node), []string{url}) }

// Remove removes a peer, if it is there.
func (p Peers) Remove(node uint64) {
	if p.Transport.Get(types.ID(node)) != nil {
		p.Transport.RemovePeer(types.ID(node))
	}
}

// IsConnected says whether a stream to the peer is open.
func (p Peers) IsConnected(node uint64) bool {
	return !p.Transport.ActiveSince(types.ID(node)).IsZero()
}

// ListenForPeers opens the listener of a transport, with client certificates where the scheme is https.
func ListenForPeers(address, scheme string, info *TLSInfo) (net.Listener, error) {
	return transport.NewTimeoutListener(address, scheme, info, rafthttp.ConnReadTimeout, rafthttp.ConnWriteTimeout)
}

// NewRoundTripper makes requests to peers, with the certificate of the node.
func NewRoundTripper(info TLSInfo, dialTimeout time.Duration) (http.RoundTripper, error) {
	return transport.NewTransport(info, dialTimeout)
}

// Handler answers the requests of peers.
func (p Peers) Handler() http.Handler { return p.Transport.Handler() }
