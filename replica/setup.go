package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"

	"feed-replica/exit"
	"feed-replica/members"
	"feed-replica/peers"
	"feed-replica/store"
)

// initCommand makes a cluster of one, or one of the nodes that a cluster begins with.
func initCommand(arguments []string, out io.Writer) error {
	var s settings
	var lastIndex uint64
	var clusterText, list string
	flags := newFlagSet("init")
	s.register(flags)
	flags.Uint64Var(&lastIndex, "last-index", 0, "`number` of the last record of the service's journal")
	flags.StringVar(&clusterText, "cluster", "", "`instance` id of the service's state, in hexadecimal digits")
	flags.StringVar(&list, "members", "",
		"all `nodes` of a cluster that begins with several, as a=URL,b=URL; init is run on each, with one list and state")
	if err := s.parse(flags, arguments, out); err != nil {
		return err
	}
	if lastIndex == 0 {
		return exit.Usage("--last-index: expected 1 or more: a service that has run has a record")
	}
	var cluster members.Cluster
	if err := cluster.UnmarshalText([]byte(clusterText)); err != nil {
		return exit.Usage("--cluster: %w", err)
	}
	roster, id, err := firstMembers(list, members.Member{Name: s.name, URL: s.listen}, cluster, lastIndex)
	if err != nil {
		return err
	}
	base := &store.Base{Index: lastIndex, Roster: roster.Encode()}
	for member := range roster.Members {
		base.Voters = append(base.Voters, uint64(member))
	}
	sort.Slice(base.Voters, func(i, j int) bool { return base.Voters[i] < base.Voters[j] })
	identity := members.Identity{Cluster: cluster, ID: id, Name: s.name, Members: roster.Members}
	if err := makeNode(&s, identity, base); err != nil {
		return err
	}
	fmt.Fprintf(out, "Node %s (%s) is cluster %s, behind record %d.\n", s.name, id, cluster, lastIndex)
	return nil
}

// firstMembers are those that a cluster begins with, and the number of this node: drawn if there is no list,
// and else one that all nodes find alike.
func firstMembers(list string, member members.Member, cluster members.Cluster, lastIndex uint64) (
	roster members.Roster, id members.ID, err error) {
	if list == "" {
		if err := roster.CheckAddition(member); err != nil {
			return roster, 0, exit.Usage("--name, --listen: %w", err)
		}
		if id, err = roster.DrawID(rand.Reader); err != nil {
			return roster, 0, err
		}
		roster.Add(id, member)
		return roster, id, nil
	}
	roster, err = members.ParseList(list, cluster, lastIndex)
	if err != nil {
		return roster, 0, exit.Usage("--members: %w", err)
	}
	for id, other := range roster.Members {
		if other == member {
			return roster, id, nil
		}
	}
	return roster, 0, exit.Usage("--members: expected %s=%s of --name and --listen in it, got %s",
		member.Name, member.URL, list)
}

// joinCommand makes a node of a token.
func joinCommand(arguments []string, out io.Writer) error {
	var s settings
	flags := newFlagSet("join TOKEN")
	s.register(flags)
	if len(arguments) == 1 && arguments[0] == "--help" {
		return parseFlags(flags, arguments, out)
	}
	if len(arguments) == 0 || strings.HasPrefix(arguments[0], "-") {
		return exit.Usage("join: expected the token, then flags")
	}
	identity, err := members.ParseToken(arguments[0])
	if err != nil {
		return exit.Usage("join: %w", err)
	}
	if err := s.parse(flags, arguments[1:], out); err != nil {
		return err
	}
	if url := identity.Members[identity.ID].URL; s.listen != url {
		return exit.Usage("--listen: the token is for %s, got %s", url, s.listen)
	}
	if err := s.checkIdentity(identity); err != nil {
		return err
	}
	if err := makeNode(&s, identity, nil); err != nil {
		return err
	}
	fmt.Fprintf(out, "Node %s (%s) joins cluster %s when it runs.\n", identity.Name, identity.ID, identity.Cluster)
	return nil
}

// privateUmask is for the snapshots: etcd makes them for everybody.
const privateUmask = 0o077

// makeNode makes the directory of a node. Who it is, is written last: until then `run` refuses it.
func makeNode(s *settings, identity members.Identity, base *store.Base) error {
	syscall.Umask(privateUmask)
	if err := os.MkdirAll(s.directory, 0o700); err != nil {
		return exit.Usage("--dir: %w", err)
	}
	if members.HasIdentity(s.directory) {
		return exit.Usage("--dir: %s is a node already", s.directory)
	}
	logger, err := newLogger("error")
	if err != nil {
		return err
	}
	err = store.Create(store.Options{Directory: s.directory, Logger: logger}, base)
	if exit.CodeOf(err) == exit.InUse {
		return exit.Usage("--dir: %s has a log that is no node's, as of an init that was killed: remove it",
			s.directory)
	}
	if err != nil {
		return err
	}
	if err := identity.Save(s.directory); err != nil {
		return exit.Disk("writing who the node is", err)
	}
	return nil
}

// certCommand makes certificates.
func certCommand(arguments []string, out io.Writer) error {
	var folder, name, hosts string
	var isAuthority bool
	flags := newFlagSet("cert")
	flags.StringVar(&folder, "dir", ".", "`folder` of the certificates: ca.key stays there, and goes to no node")
	flags.BoolVar(&isAuthority, "authority", false, "make the cluster's authority, ca.crt and ca.key")
	flags.StringVar(&name, "name", "", "make NAME.crt and NAME.key of a node")
	flags.StringVar(&hosts, "hosts", "", "addresses and `names` that the node is reached under, with commas between")
	if err := parseFlags(flags, arguments, out); err != nil {
		return err
	}
	if isAuthority == (name != "") {
		return exit.Usage("cert: expected --authority, or --name and --hosts")
	}
	if isAuthority {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return exit.Usage("cert: %w", err)
		}
		if err := peers.MakeAuthority(folder, time.Now()); err != nil {
			return exit.Usage("cert: %w", err)
		}
		return nil
	}
	if err := members.CheckName(name); err != nil {
		return exit.Usage("--name: %w", err)
	}
	if hosts == "" {
		return exit.Usage("--hosts: expected addresses or names")
	}
	if err := peers.MakeNodeCertificate(folder, name, strings.Split(hosts, ","), time.Now()); err != nil {
		return exit.Usage("cert: %w", err)
	}
	return nil
}

// newLogger writes lines of JSON on standard error: time, level, message, and what the message says.
func newLogger(level string) (*zap.Logger, error) {
	config := zap.NewProductionConfig()
	if err := config.Level.UnmarshalText([]byte(level)); err != nil {
		return nil, exit.Usage("--log-level: expected debug, info, warn or error, got %q", level)
	}
	config.OutputPaths = []string{"stderr"}
	config.Sampling = nil
	config.DisableCaller, config.DisableStacktrace = true, true
	config.EncoderConfig.TimeKey, config.EncoderConfig.MessageKey = "time", "message"
	config.EncoderConfig.EncodeTime = encodeTime
	return config.Build()
}
