package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"feed-replica/core"
	"feed-replica/metrics"
	"feed-replica/peers"
)

// observer is the address for metrics, on this machine only: it authenticates nobody.
type observer struct {
	listener    net.Listener // nil without an address
	server      *http.Server
	node        *core.Core
	counts      *metrics.Replica
	certificate string
}

const observerPatience = 5 * time.Second

func listenForObservers(s *settings, node *core.Core, counts *metrics.Replica) (*observer, error) {
	o := &observer{node: node, counts: counts, certificate: s.certificate}
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", o.writeMetrics)
	mux.HandleFunc("/status", o.writeStatus)
	o.server = &http.Server{Handler: mux, ReadTimeout: observerPatience, WriteTimeout: observerPatience}
	if s.metrics == "" {
		return o, nil
	}
	host, _, err := net.SplitHostPort(s.metrics)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("--metrics: expected an address of 127.0.0.0/8, got %s", host)
	}
	if o.listener, err = net.Listen("tcp", s.metrics); err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	return o, nil
}

// serve answers until close. It returns nil after that.
func (o *observer) serve() error {
	if err := o.server.Serve(o.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("--metrics: %w", err)
	}
	return nil
}

func (o *observer) close() { o.server.Close() }

func (o *observer) writeStatus(w http.ResponseWriter, _ *http.Request) {
	status, err := statusOf(o.node)
	if err != nil {
		http.Error(w, "the node does not answer: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(status) // who asked may be gone
}

func (o *observer) writeMetrics(w http.ResponseWriter, _ *http.Request) {
	status, err := statusOf(o.node)
	if err != nil {
		http.Error(w, "the node does not answer: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	m := metrics.NewWriter(w)
	value := func(v float64) metrics.Sample { return metrics.Sample{Value: v} }
	isLeader, hasLeader, hasService := 0.0, 0.0, 0.0
	if status.Role == "leader" {
		isLeader = 1
	}
	if status.Leader != 0 {
		hasLeader = 1
	}
	if status.HasService {
		hasService = 1
	}
	m.Gauge("feed_replica_leads", "", "1 on the node that leads.", value(isLeader))
	m.Gauge("feed_replica_has_leader", "", "1 if the node knows a leader.", value(hasLeader))
	m.Gauge("feed_replica_has_service", "", "1 while the service is connected.", value(hasService))
	m.Gauge("feed_replica_term", "", "Term of the node.", value(float64(status.Term)))
	m.Counter("feed_replica_elections", "", "Times that the node became leader.", o.counts.Elections.Load())
	m.Counter("feed_replica_hand_overs", "", "Times that the node began to give the leadership away.", o.counts.HandOvers.Load())
	m.Gauge("feed_replica_committed_index", "", "Last committed record.", value(float64(status.Committed)))
	m.Gauge("feed_replica_last_index", "", "Last record of the log.", value(float64(status.Last)))
	m.Gauge("feed_replica_durable_index", "", "Last record on the service's disk.", value(float64(status.Durable)))
	m.Gauge("feed_replica_log_bytes", "bytes", "Entries in the log.", value(float64(status.LogBytes)))
	m.Gauge("feed_replica_window", "", "Proposals that are not committed yet.", value(float64(status.Window)))
	m.Gauge("feed_replica_copies", "", "Copies of the state on their way.", value(float64(status.Copies)))
	m.Counter("feed_replica_copies_sent", "", "Copies of the state that were begun.", o.counts.CopiesSent.Load())
	m.Counter("feed_replica_copies_given_up", "", "Copies that did not end.", o.counts.CopiesEnded.Load())
	m.Counter("feed_replica_refusals", "", "Proposals that were refused.", o.counts.Refusals.Load())
	m.Gauge("feed_replica_heard_age_seconds", "seconds", "Age of what a follower knows; -1 if it knows nothing.", value(status.HeardAge))
	writePeers(m, status)
	m.Durations("feed_replica_sync_seconds", "Writes of the log with their syncs.", &o.counts.Syncs)
	m.Durations("feed_replica_commit_seconds", "Proposals, from their arrival to their commit.", &o.counts.Commits)
	if o.certificate != "" {
		if expiry, err := peers.CertificateExpiry(o.certificate); err == nil {
			m.Gauge("feed_replica_certificate_expiry_seconds", "seconds", "End of the node's certificate, since 1970.",
				value(float64(expiry.Unix())))
		}
	}
	_ = m.End() // who asked may be gone
}

// writePeers writes what a leader knows of the others.
func writePeers(m *metrics.Writer, status core.Status) {
	var connected, bytes, seconds []metrics.Sample
	for _, member := range status.Members {
		if member.Node == status.Node {
			continue
		}
		labels := []metrics.Label{{Name: "member", Value: member.Name}}
		isConnected := 0.0
		if member.IsConnected {
			isConnected = 1
		}
		connected = append(connected, metrics.Sample{Labels: labels, Value: isConnected})
		if status.Role == "leader" {
			bytes = append(bytes, metrics.Sample{Labels: labels, Value: float64(member.LagBytes)})
			seconds = append(seconds, metrics.Sample{Labels: labels, Value: member.LagSeconds})
		}
	}
	m.Gauge("feed_replica_peer_connected", "", "1 if a stream to the member is open.", connected...)
	m.Gauge("feed_replica_peer_lag_bytes", "bytes", "Entries that the member does not have; on the leader.", bytes...)
	m.Gauge("feed_replica_peer_lag_seconds", "seconds", "For how long it has not had all; on the leader.", seconds...)
}
