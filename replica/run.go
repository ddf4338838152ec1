package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"

	"feed-replica/core"
	"feed-replica/exit"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/metrics"
	"feed-replica/peers"
	"feed-replica/store"
)

// What the memory is bounded by: the log is in it, and what is collected above it costs time.
const (
	collectorPercent  = 50
	memoryBesideLog   = 256 << 20
	waitingErrorCount = 8
)

// runCommand runs a node until a signal, or until it cannot go on.
func runCommand(arguments []string, out io.Writer) error {
	var s settings
	flags := newFlagSet("run")
	s.register(flags)
	if err := s.parse(flags, arguments, out); err != nil {
		return err
	}
	logger, err := newLogger(s.logLevel)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectorPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(s.logLimit) + memoryBesideLog)
	}
	return runNode(&s, logger, signals)
}

// runNode joins the parts of a node, and takes them apart in the other order.
func runNode(s *settings, logger *zap.Logger, stop <-chan os.Signal) error {
	syscall.Umask(privateUmask)
	identity, err := members.LoadIdentity(s.directory)
	if errors.Is(err, os.ErrNotExist) {
		return exit.Usage("--dir: %s is no node: `feed-replica init` or `join` makes one", s.directory)
	}
	var path *os.PathError
	if errors.As(err, &path) {
		return exit.Disk("reading who the node is", err)
	}
	if err != nil {
		return exit.New(exit.Replace, "who the node is cannot be read: %w; replace this node", err)
	}
	if err := s.checkIdentity(identity); err != nil {
		return err
	}
	rules := faults.Chosen()
	log, err := store.Open(store.Options{Directory: s.directory, Logger: logger.Named("log"), Faults: rules})
	if err != nil {
		return err
	}
	defer log.Close()
	counts := &metrics.Replica{}
	node, err := core.New(core.Options{
		Identity: identity, Store: log, Logger: logger, Metrics: counts, Trailing: store.DefaultTrailing,
		LogLimit: int64(s.logLimit), CopyRate: int64(s.copyRate), Tick: core.DefaultTick,
		Now: time.Now, Boottime: boottime, Random: rand.Reader, Faults: rules,
	})
	if err != nil {
		return err
	}
	transport, err := peers.Listen(peers.Options{
		URL: s.listen, TLS: peers.TLS{Certificate: s.certificate, Key: s.key, Authority: s.authority},
		Identity: identity, Receiver: node, Directory: node, Files: log.Snapshots(),
		Logger: logger.Named("peers"),
	})
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer transport.Close()
	node.Connect(transport.Peers)
	socket, err := core.Listen(node, s.socket)
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer socket.Close()
	observer, err := listenForObservers(s, node, counts)
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer observer.close()

	ending := make(chan struct{})
	defer close(ending)
	failed := make(chan error, waitingErrorCount)
	go func() { failed <- transport.Serve() }()
	go func() { failed <- socket.Serve() }()
	go transport.AskServices(ending)
	if observer.listener != nil {
		go func() { failed <- observer.serve() }()
	}
	logger.Info("the node runs", zap.Stringer("node", identity.ID), zap.String("name", identity.Name),
		zap.Stringer("cluster", identity.Cluster), zap.Uint64("last", log.LastIndex()),
		zap.String("listen", s.listen))
	return supervise(node, transport.Failures(), log.Purge(ending), failed, stop)
}

// supervise runs the node until something ends it.
func supervise(node *core.Core, removed, purge, failed <-chan error, stop <-chan os.Signal) error {
	ended := make(chan error, 1)
	go func() { ended <- node.Run() }()
	var cause error
	select {
	case err := <-ended:
		return err
	case <-removed:
		cause = core.Removed(node.ID())
	case cause = <-purge:
	case cause = <-failed:
	case <-stop:
	}
	node.Stop()
	if err := <-ended; cause == nil {
		return err
	}
	return cause
}

// boottime is CLOCK_BOOTTIME, which all processes of the machine read alike. It runs while the machine is suspended:
// a node that wakes up does not take for fresh what it has heard before.
func boottime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("CLOCK_BOOTTIME cannot be read: " + err.Error()) // Linux always has it
	}
	return time.Duration(now.Nano())
}

func encodeTime(at time.Time, to zapcore.PrimitiveArrayEncoder) {
	to.AppendString(at.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// statusPatience is how long an observer waits for the node's goroutine: a stalled disk holds it.
const statusPatience = 2 * time.Second

func statusOf(node *core.Core) (core.Status, error) {
	ctx, cancel := context.WithTimeout(context.Background(), statusPatience)
	defer cancel()
	return node.Status(ctx)
}
