// Package etcd is the one place that imports etcd: the Raft core, the write-ahead log, the snapshots and
// the transport between peers.
//
// The rest of the program names what it uses of them through this package, so another release of etcd,
// whose packages have other paths and a few other signatures, is another file here and nothing else:
// etcd34.go is for 3.4, and etcd35.go, with the tag etcd35, for 3.5.
package etcd

import (
	"io"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// IsLocked says whether a log could not be opened because another process has it.
func IsLocked(err error) bool { return err == errLocked }

// MakeDirectory makes a directory that only its owner reads, or checks that it can be written to.
func MakeDirectory(path string) error { return makeDirectory(zap.NewNop(), path) }

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
	id := peerID(options.Node)
	return &Transport{
		Logger:      options.Logger,
		TLSInfo:     options.TLS,
		ID:          id,
		ClusterID:   peerID(options.Cluster),
		Raft:        options.Receiver,
		Snapshotter: options.Snapshotter,
		ServerStats: newServerStats(id.String(), id.String()),
		LeaderStats: newLeaderStats(options.Logger, id.String()),
		ErrorC:      make(chan error, 1),
		DialTimeout: options.DialTimeout,
	}
}

// Peers sends through a transport, with plain numbers for nodes.
type Peers struct{ Transport *Transport }

// Send sends messages; those to nodes that it does not know are dropped.
func (p Peers) Send(messages []Message) { p.Transport.Send(messages) }

// SendState streams a state to a peer, and closes it; then it calls `ended`. It returns false, and does nothing,
// if the peer is not known. The transport's own `ReportSnapshot` names the peer, and not the state.
func (p Peers) SendState(message Message, state io.ReadCloser, byteCount int64, ended func(isReceived bool)) bool {
	if p.Transport.Get(peerID(message.To)) == nil {
		return false
	}
	sent := newStateMessage(message, state, byteCount)
	p.Transport.SendSnapshot(*sent)
	go func() { ended(<-sent.CloseNotify()) }()
	return true
}

// Add adds a peer. A URL that is none panics; `members.CheckURL` refuses it before.
func (p Peers) Add(node uint64, url string) { p.Transport.AddPeer(peerID(node), []string{url}) }

// Remove removes a peer, if it is there.
func (p Peers) Remove(node uint64) {
	if p.Transport.Get(peerID(node)) != nil {
		p.Transport.RemovePeer(peerID(node))
	}
}

// IsConnected says whether a stream to the peer is open.
func (p Peers) IsConnected(node uint64) bool {
	return !p.Transport.ActiveSince(peerID(node)).IsZero()
}

// ListenForPeers opens the listener of a transport, with client certificates where the scheme is https.
func ListenForPeers(address, scheme string, info *TLSInfo) (net.Listener, error) {
	return newListener(address, scheme, info, readTimeout, writeTimeout)
}

// NewRoundTripper makes requests to peers, with the certificate of the node.
func NewRoundTripper(info TLSInfo, dialTimeout time.Duration) (http.RoundTripper, error) {
	return newRoundTripper(info, dialTimeout)
}

// Handler answers the requests of peers.
func (p Peers) Handler() http.Handler { return p.Transport.Handler() }
