package peers

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/members"
)

// Times of connections between peers.
const (
	dialTimeout       = time.Second
	readHeaderTimeout = 5 * time.Second
)

// TLS names the files of a node's certificate, and of the cluster's authority.
type TLS struct {
	Certificate, Key, Authority string
}

// Options says where a node listens, and for whom.
type Options struct {
	URL       string
	TLS       TLS
	Identity  members.Identity
	Receiver  etcd.PeerReceiver
	Directory Directory
	Files     *etcd.Snapshotter
	Logger    *zap.Logger
}

// Node is the transport of a node, and its listener.
type Node struct {
	etcd.Peers
	own       members.ID
	directory Directory
	client    *http.Client
	server    *http.Server
	listener  net.Listener
}

// Listen starts the transport, and opens the listener. Peers are authenticated by their certificates; whose
// are the cluster authority's may speak to any other, as its key signs nothing else.
func Listen(options Options) (*Node, error) {
	if err := members.CheckURL(options.URL); err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	address, err := url.Parse(options.URL)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	info := etcd.TLSInfo{Logger: options.Logger}
	if address.Scheme == "https" {
		if options.TLS.Certificate == "" || options.TLS.Key == "" || options.TLS.Authority == "" {
			return nil, errors.New("--listen: https needs --certificate, --key and --authority")
		}
		info.CertFile, info.KeyFile = options.TLS.Certificate, options.TLS.Key
		info.TrustedCAFile, info.ClientCertAuth = options.TLS.Authority, true
		// The address that a peer comes from may be none of those that it is reached under.
		info.SkipClientSANVerify = true
	}
	transport := etcd.NewTransport(etcd.PeerOptions{
		Logger: options.Logger, TLS: info, Node: uint64(options.Identity.ID),
		Cluster: options.Identity.Cluster.Short(), Receiver: options.Receiver, Snapshotter: options.Files, DialTimeout: dialTimeout,
	})
	if err := transport.Start(); err != nil {
		return nil, fmt.Errorf("the transport between peers: %w", err)
	}
	listener, err := etcd.ListenForPeers(address.Host, address.Scheme, &info)
	if err != nil {
		transport.Stop()
		return nil, fmt.Errorf("--listen: %w", err)
	}
	way, err := etcd.NewRoundTripper(info, dialTimeout)
	if err != nil {
		listener.Close()
		transport.Stop()
		return nil, fmt.Errorf("--certificate: %w", err)
	}
	node := &Node{Peers: etcd.Peers{Transport: transport}, own: options.Identity.ID, listener: listener,
		directory: options.Directory, client: &http.Client{Transport: way, Timeout: servicePatience}}
	mux := http.NewServeMux()
	mux.Handle("/", node.Handler())
	mux.HandleFunc(servicePath, answerService(options.Directory))
	node.server = &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout,
		ErrorLog: zap.NewStdLog(options.Logger)}
	return node, nil
}

// Serve answers peers until Close. It returns nil after that.
func (n *Node) Serve() error {
	if err := n.server.Serve(n.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("--listen: %w", err)
	}
	return nil
}

// Failures has the errors that end a node: a peer says that it was removed.
func (n *Node) Failures() <-chan error { return n.Transport.ErrorC }

// Close ends the transport and the listener.
func (n *Node) Close() {
	n.Transport.Stop()
	n.server.Close()
}
