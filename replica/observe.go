package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
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
	for _, gauge := range []struct {
		name, unit, help string
		value            float64
	}{
		{"leads", "", "1 on the node that leads.", number(status.Role == "leader")},
		{"has_leader", "", "1 if the node knows a leader.", number(status.Leader != 0)},
		{"has_service", "", "1 while the service is connected.", number(status.HasService)},
		{"term", "", "Term of the node.", float64(status.Term)},
		{"committed_index", "", "Last committed record.", float64(status.Committed)},
		{"last_index", "", "Last record of the log.", float64(status.Last)},
		{"durable_index", "", "Last record on the service's disk.", float64(status.Durable)},
		{"log_bytes", "bytes", "Entries in the log.", float64(status.LogBytes)},
		{"window", "", "Proposals that are not committed yet.", float64(status.Window)},
		{"copies", "", "Copies of the state on their way.", float64(status.Copies)},
		{"heard_age_seconds", "seconds", "Age of what a follower knows; -1 if it knows nothing.", status.HeardAge},
		{"certificate_expiry_seconds", "seconds", "End of the certificate, since 1970; 0 without one.", o.expiry()},
	} {
		m.Gauge("feed_replica_"+gauge.name, gauge.unit, gauge.help, metrics.Sample{Value: gauge.value})
	}
	for _, counter := range []struct {
		name, help string
		value      *atomic.Uint64
	}{
		{"elections", "Times that the node became leader.", &o.counts.Elections},
		{"hand_overs", "Times that the node began to give the leadership away.", &o.counts.HandOvers},
		{"copies_sent", "Copies of the state that were begun.", &o.counts.CopiesSent},
		{"copies_given_up", "Copies that did not end.", &o.counts.CopiesEnded},
		{"refusals", "Proposals that were refused.", &o.counts.Refusals},
	} {
		m.Counter("feed_replica_"+counter.name, counter.help, counter.value.Load())
	}
	writePeers(m, status)
	m.Durations("feed_replica_sync_seconds", "Writes of the log with their syncs.", &o.counts.Syncs)
	m.Durations("feed_replica_commit_seconds", "Proposals, until their commit.", &o.counts.Commits)
	_ = m.End() // who asked may be gone
}

func number(value bool) float64 {
	if value {
		return 1
	}
	return 0
}

// expiry is when the certificate ends: another one may have come since the last request.
func (o *observer) expiry() float64 {
	at, err := peers.CertificateExpiry(o.certificate)
	if err != nil {
		return 0
	}
	return float64(at.Unix())
}

// writePeers writes what a leader knows of the others, and what each node does.
func writePeers(m *metrics.Writer, status core.Status) {
	var connected, bytes, seconds, levels []metrics.Sample
	for _, member := range status.Members {
		labels := []metrics.Label{{Name: "member", Value: member.Name}}
		if member.Service != nil {
			levels = append(levels, metrics.Sample{Labels: labels, Value: float64(member.Service.HighestLevel)})
		}
		if member.Node == status.Node {
			continue
		}
		connected = append(connected, metrics.Sample{Labels: labels, Value: number(member.IsConnected)})
		if status.Role == "leader" {
			bytes = append(bytes, metrics.Sample{Labels: labels, Value: float64(member.LagBytes)})
			seconds = append(seconds, metrics.Sample{Labels: labels, Value: member.LagSeconds})
		}
	}
	m.Gauge("feed_replica_peer_connected", "", "1 if a stream to the member is open.", connected...)
	m.Gauge("feed_replica_peer_lag_bytes", "bytes", "What the member does not have; on the leader.", bytes...)
	m.Gauge("feed_replica_peer_lag_seconds", "seconds", "For how long; on the leader.", seconds...)
	m.Gauge("feed_replica_member_level", "", "Highest level that the member's service reads, if it has said so.", levels...)
}
