package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"feed-replica/core"
	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/members"
	"feed-replica/peers"
	"feed-replica/wire"
)

// patience ends a test that hangs; nothing is asserted on how long anything takes.
const patience = 4 * time.Minute

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "":
	case panics:
		begin()
		go func() { panic("outside of the node's goroutine") }()
		select {}
	default:
		main()
	}
	etcd.SetSegmentByteCount(1 << 20)
	os.Exit(m.Run())
}

var testCluster = members.Cluster{9, 8, 7}

// machine is a node with its service, as a process each would be.
type machine struct {
	t        *testing.T
	settings settings
	stop     chan os.Signal
	ended    chan error
	service  *service
}

// newFolder is one whose sockets have short enough names.
func newFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "feed")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// newHost is an address of this machine that no other test has: connections to others come from 127.0.0.1, so
// their ports cannot be those that a node is to listen on.
func newHost() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 1+pid>>8&0x7f, pid&0xff, 1+hostCount.Add(1)%254)
}

var hostCount atomic.Uint32

// freeAddress is a port of the host that nobody uses just now.
func freeAddress(t *testing.T, host string) string {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func newMachine(t *testing.T, folder, name string) *machine {
	t.Helper()
	host := newHost()
	if err := peers.MakeNodeCertificate(folder, name, []string{host}, time.Now()); err != nil {
		t.Fatal(err)
	}
	file := func(suffix string) string { return filepath.Join(folder, name+suffix) }
	m := &machine{t: t, settings: settings{
		name: name, directory: file(""), listen: "https://" + freeAddress(t, host), socket: file(".socket"),
		metrics: freeAddress(t, host), certificate: file(".crt"), key: file(".key"),
		authority: filepath.Join(folder, "ca.crt"), logLimit: 1 << 30,
	}}
	t.Cleanup(m.end)
	return m
}

func (m *machine) run() {
	m.stop, m.ended = make(chan os.Signal, 1), make(chan error, 1)
	go func() { m.ended <- runNode(&m.settings, zap.NewNop(), m.stop) }()
}

// end stops both programs.
func (m *machine) end() {
	if m.service != nil {
		m.service.close()
		m.service = nil
	}
	if m.stop != nil {
		m.stop <- syscall.SIGTERM
		if err := <-m.ended; err != nil {
			m.t.Errorf("%s ends with %v", m.settings.name, err)
		}
		m.stop = nil
	}
}

// service is as much of a service as the replica needs: a journal in memory, and copies of it.
type service struct {
	t    *testing.T
	path string

	mu       sync.Mutex
	changed  *sync.Cond
	conn     net.Conn
	isClosed bool
	journal  [][]byte // behind its base
	base     uint64
	pending  [][]byte
	leads    bool
	term     uint64
	acked    map[string]bool // batches of its own that were committed
	sent     int             // proposals that were not answered
	refused  bool            // one was: nothing is proposed until all are answered
	token    string
	heard    uint64
	readOK   uint64
	installs int
}

func newService(t *testing.T, m *machine, base uint64, journal ...[]byte) *service {
	s := &service{t: t, path: m.settings.socket, base: base, journal: journal, acked: map[string]bool{}}
	s.changed = sync.NewCond(&s.mu)
	m.service = s
	go s.run()
	return s
}

func (s *service) applied() uint64 { return s.base + uint64(len(s.journal)) }

// run connects again until it is closed, as a unit restarts a service.
func (s *service) run() {
	for {
		s.mu.Lock()
		isClosed := s.isClosed
		s.mu.Unlock()
		if isClosed {
			return
		}
		conn, err := net.Dial("unix", s.path)
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		s.mu.Lock()
		s.conn, s.leads, s.pending, s.sent, s.refused = conn, false, nil, 0, false
		s.say(wire.Hello, append(testCluster[:len(testCluster):len(testCluster)], s.path...), wire.Version, s.applied(), 1, 3)
		s.mu.Unlock()
		done := make(chan struct{})
		go s.beat(done)
		for {
			frame, err := wire.ReadFrame(conn)
			if err != nil {
				break
			}
			s.mu.Lock()
			s.take(frame)
			s.changed.Broadcast()
			s.mu.Unlock()
		}
		close(done)
		conn.Close()
		s.mu.Lock()
		s.leads = false
		s.changed.Broadcast()
		s.mu.Unlock()
	}
}

// beat says DURABLE as a sign of life.
func (s *service) beat(done <-chan struct{}) {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.mu.Lock()
			s.say(wire.Durable, nil, s.applied())
			s.mu.Unlock()
		case <-done:
			return
		}
	}
}

func (s *service) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isClosed = true
	if s.conn != nil {
		s.conn.Close()
	}
}

func (s *service) say(kind wire.Kind, tail []byte, fields ...uint64) {
	_, _ = s.conn.Write(wire.New(kind, tail, fields...).Append(nil)) // the reader sees that it is closed
}

func (s *service) take(f wire.Frame) {
	switch f.Kind {
	case wire.Entry:
		if f.Fields[0] != s.applied()+1 {
			s.t.Errorf("%s: given %d, has %d", s.path, f.Fields[0], s.applied())
		}
		s.journal = append(s.journal, f.Tail)
		if len(s.pending) > 0 {
			s.pending = s.pending[1:]
		}
	case wire.Committed:
		for s.applied() < f.Fields[1] && len(s.pending) > 0 {
			s.acked[string(s.pending[0])] = true
			s.journal, s.pending = append(s.journal, s.pending[0]), s.pending[1:]
			s.answered()
		}
		if s.applied() != f.Fields[1] {
			s.t.Errorf("%s: COMMITTED %d, has %d", s.path, f.Fields[1], s.applied())
		}
	case wire.Role:
		s.leads, s.term = f.Fields[0] == 1, f.Fields[1]
		s.pending, s.sent, s.refused = nil, 0, false
	case wire.Refused:
		if kept := f.Fields[1] - s.applied() - 1; f.Fields[1] > s.applied() && kept < uint64(len(s.pending)) {
			s.pending = s.pending[:kept]
		}
		s.refused = true
		s.answered()
	case wire.Heard:
		s.heard = f.Fields[0]
	case wire.ReadOK:
		s.readOK = f.Fields[0]
	case wire.Added:
		s.token = string(f.Tail)
	case wire.MemberWanted:
		if s.leads && len(s.pending) == 0 {
			s.pending = append(s.pending, nil)
			s.say(wire.Member, nil, s.term, s.applied()+1, f.Fields[0], f.Fields[1])
		}
	case wire.CopyWanted:
		path := fmt.Sprintf("%s.state-%d", s.path, f.Fields[0])
		state, _ := json.Marshal(s.journal)
		if err := os.WriteFile(path, append(binary.LittleEndian.AppendUint64(nil, s.base), state...), 0o600); err != nil {
			s.t.Error(err)
		}
		s.say(wire.Copy, []byte(path), f.Fields[0], s.applied())
	case wire.Install:
		b, err := os.ReadFile(string(f.Tail))
		if err == nil {
			err = json.Unmarshal(b[8:], &s.journal)
		}
		if err != nil {
			s.t.Error(err)
		}
		s.base = binary.LittleEndian.Uint64(b)
		s.installs++
		s.conn.Close() // exit 75
	case wire.TooOld, wire.End:
		if f.Kind == wire.TooOld || wire.Reason(f.Fields[0]) != wire.Stopping {
			s.t.Errorf("%s: %s %v %q", s.path, f.Kind, f.Fields, f.Tail)
		}
	}
}

// answered counts an answer to a proposal.
func (s *service) answered() {
	if s.sent > 0 {
		s.sent--
	}
	s.refused = s.refused && s.sent > 0
}

// load proposes batches of its own while it leads, four at once, until it is stopped.
func (s *service) load(isStopped *atomic.Bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; ; i++ {
		for !isStopped.Load() && (!s.leads || s.refused || len(s.pending) >= 4) {
			s.changed.Wait()
		}
		if isStopped.Load() {
			return
		}
		body := fmt.Sprintf("%s %d %s", s.path, i, strings.Repeat("x", i%4000))
		s.pending = append(s.pending, []byte(body))
		s.sent++
		s.say(wire.Propose, []byte(body), s.term, s.applied()+uint64(len(s.pending)))
	}
}

// await waits until something holds.
func (s *service) await(what string, holds func() bool) {
	s.t.Helper()
	timer := time.AfterFunc(patience, func() {
		s.mu.Lock()
		s.t.Errorf("never: %s", what)
		s.isClosed = true
		s.changed.Broadcast()
		s.mu.Unlock()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !holds() && !s.isClosed {
		s.changed.Wait()
	}
}

// propose proposes a batch, and waits for its commit, or for the end of the leadership.
func (s *service) propose(body string) bool {
	s.t.Helper()
	s.mu.Lock()
	index := s.applied() + uint64(len(s.pending)) + 1
	if s.leads {
		s.pending = append(s.pending, []byte(body))
		s.say(wire.Propose, []byte(body), s.term, index)
	}
	s.mu.Unlock()
	s.await("commit of "+body, func() bool { return !s.leads || s.acked[body] || len(s.pending) == 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acked[body]
}

// add adds a member, and gives its token; none if the leadership ends before.
func (s *service) add(name, url string) string {
	s.t.Helper()
	s.await("nothing else on its way", func() bool { return !s.leads || len(s.pending) == 0 })
	s.mu.Lock()
	s.token = ""
	if s.leads {
		s.pending = append(s.pending, nil)
		s.say(wire.Member, []byte(name+"\n"+url), s.term, s.applied()+1, uint64(wire.AddMember), 0)
	}
	s.mu.Unlock()
	s.await("the token of "+name, func() bool { return !s.leads || s.token != "" || len(s.pending) == 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

func (s *service) has(body string) func() bool {
	return func() bool {
		for _, each := range s.journal {
			if string(each) == body {
				return true
			}
		}
		return false
	}
}

// eventually asks again until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begin := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatalf("never: %s", what)
		}
	}
}

// leading is the machine whose service leads. On a slow machine that may change at any time.
func leading(t *testing.T, machines ...*machine) (found *machine) {
	t.Helper()
	eventually(t, "a service leads", func() bool {
		for _, each := range machines {
			each.service.mu.Lock()
			if each.service.leads {
				found = each
			}
			each.service.mu.Unlock()
		}
		return found != nil
	})
	return found
}

// commit proposes a batch wherever a service leads, until one is committed. A batch whose fate is unknown is not
// proposed again.
func commit(t *testing.T, what string, machines ...*machine) (leader *machine, body string) {
	t.Helper()
	eventually(t, "commit of "+what, func() bool {
		leader, body = leading(t, machines...), fmt.Sprintf("%s, %d", what, time.Now().UnixNano())
		return leader.service.propose(body)
	})
	return leader, body
}

// join adds a machine to the cluster of others, and makes its node.
func join(t *testing.T, m *machine, others ...*machine) {
	t.Helper()
	token := ""
	eventually(t, "a token", func() bool {
		token = leading(t, others...).service.add(m.settings.name, m.settings.listen)
		return token != ""
	})
	do(t, append([]string{"join", token}, m.flags()...)...)
}

func do(t *testing.T, arguments ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := dispatch(arguments, &out); err != nil {
		t.Fatalf("%v: %v", arguments, err)
	}
	return out.String()
}

func (m *machine) flags() []string {
	return []string{"--dir", m.settings.directory, "--listen", m.settings.listen, "--name", m.settings.name}
}

// get reads a page of the machine's own address. A node whose disk is slow answers later.
func (m *machine) get(path string) (page string) {
	m.t.Helper()
	eventually(m.t, path, func() bool {
		response, err := http.Get("http://" + m.settings.metrics + path)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		b, err := io.ReadAll(response.Body)
		page = string(b)
		return err == nil && response.StatusCode == http.StatusOK
	})
	return page
}

func (m *machine) status() (status core.Status) {
	m.t.Helper()
	if err := json.Unmarshal([]byte(m.get("/status")), &status); err != nil {
		m.t.Fatal(err)
	}
	return status
}

// awaitVoters waits until the machine knows of so many.
func (m *machine) awaitVoters(want int) {
	m.t.Helper()
	eventually(m.t, "a voter", func() bool {
		count := 0
		for _, member := range m.status().Members {
			if member.IsVoter {
				count++
			}
		}
		return count >= want
	})
}

// addressOf is where the service of another member is, as this machine knows it.
func (m *machine) addressOf(name string) string {
	for _, member := range m.status().Members {
		if member.Name == name && member.Service != nil && member.Service.HighestLevel == 3 {
			return member.Service.Address
		}
	}
	return ""
}

// Fails if a cluster cannot be made of one node as the page says: over TLS, with states copied to the new
// nodes, learners promoted, followers told what is committed, a leader stopped and the next one going on.
func TestClusterOfThreeIsMadeAndLosesItsLeader(t *testing.T) {
	folder := newFolder(t)
	do(t, "cert", "--dir", folder, "--authority")
	a, b, c := newMachine(t, folder, "a"), newMachine(t, folder, "b"), newMachine(t, folder, "c")
	do(t, append([]string{"init", "--last-index", "7", "--cluster", testCluster.String()}, a.flags()...)...)
	a.run()
	newService(t, a, 7)
	for i := 0; i < 20; i++ {
		commit(t, fmt.Sprintf("first %d", i), a)
	}
	all := []*machine{a, b, c}
	for n, each := range []*machine{b, c} {
		join(t, each, all[:n+1]...)
		each.run()
		follower := newService(t, each, 0)
		follower.await("a state", func() bool { return follower.installs > 0 })
		a.awaitVoters(n + 2)
	}
	_, body := commit(t, "with three", all...)
	for _, each := range []*machine{b, c} {
		s := each.service
		s.await("all records", s.has(body))
		s.await("what the leader has", func() bool { return s.leads || s.heard >= s.applied() })
		eventually(t, "the address of another", func() bool { return each.addressOf("a") == a.service.path })
	}
	eventually(t, "READ_OK", func() bool {
		s := leading(t, all...).service
		s.mu.Lock()
		s.say(wire.Read, nil, 77)
		s.mu.Unlock()
		s.await("READ_OK", func() bool { return s.readOK == 77 || !s.leads })
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.readOK == 77
	})
	page := ""
	eventually(t, "a leader that is connected to two", func() bool {
		page = leading(t, all...).get("/metrics")
		return strings.Contains(page, "feed_replica_leads 1\n") && strings.HasSuffix(page, "# EOF\n") &&
			len(regexp.MustCompile(`(?m)^feed_replica_peer_connected\{member="[abc]"\} 1$`).FindAllString(page, -1)) == 2
	})
	documented, err := os.ReadFile("../docs/CLUSTER.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`(?m)^# TYPE feed_replica_(\w+) (\w+)$`).FindAllStringSubmatch(page, -1) {
		name := match[1] + map[string]string{"counter": "_total"}[match[2]]
		if !strings.Contains(string(documented), "`"+name+"`") {
			t.Errorf("docs/CLUSTER.md lacks the metric %s", name)
		}
	}
	stopped, others := leading(t, all...), []*machine{}
	for _, each := range all {
		if each != stopped {
			others = append(others, each)
		}
	}
	left := stopped.service
	stopped.end()
	_, body = commit(t, "without the first", others...)
	for _, each := range others {
		each.service.await("the next leader's record", each.service.has(body))
	}
	stopped.run()
	left.mu.Lock()
	back := newService(t, stopped, left.base, left.journal...)
	left.mu.Unlock()
	back.await("what it missed", back.has(body))
}

// Fails if nodes that are made of one list are no cluster: with other numbers, or without a leader.
func TestClusterBeginsWithThree(t *testing.T) {
	folder := newFolder(t)
	do(t, "cert", "--dir", folder, "--authority")
	all := []*machine{newMachine(t, folder, "a"), newMachine(t, folder, "b"), newMachine(t, folder, "c")}
	list := ""
	for _, each := range all {
		list += "," + each.settings.name + "=" + each.settings.listen
	}
	for _, each := range all {
		do(t, append([]string{"init", "--last-index", "7", "--cluster", testCluster.String(), "--members", list[1:]},
			each.flags()...)...)
		each.run()
		newService(t, each, 7)
	}
	_, body := commit(t, "the first", all...)
	for _, each := range all {
		each.service.await("the first record", each.service.has(body))
		if voters := len(each.status().Members); voters != 3 {
			t.Errorf("%s has %d members", each.settings.name, voters)
		}
	}
}

// Fails if a node takes a peer that the cluster's authority has not signed.
func TestPeersOfOthersAreRefused(t *testing.T) {
	folder, other := newFolder(t), newFolder(t)+"/ca"
	do(t, "cert", "--dir", folder, "--authority")
	do(t, "cert", "--dir", other, "--authority")
	a, b := newMachine(t, folder, "a"), newMachine(t, other, "b")
	do(t, append([]string{"init", "--last-index", "7", "--cluster", testCluster.String()}, a.flags()...)...)
	a.run()
	newService(t, a, 7)
	join(t, b, a)
	b.run()
	newService(t, b, 0)
	for i := 0; i < 30; i++ {
		commit(t, fmt.Sprint(i), a)
	}
	if page := a.get("/metrics"); !strings.Contains(page, `feed_replica_peer_connected{member="b"} 0`) {
		t.Errorf("a peer of another authority is connected:\n%s", page)
	}
	b.service.mu.Lock()
	defer b.service.mu.Unlock()
	if b.service.installs != 0 {
		t.Error("a peer of another authority got the state")
	}
}

// Fails if a mistake of the operator is not refused with its flag.
func TestMistakesAreRefused(t *testing.T) {
	folder := newFolder(t)
	good := []string{"--dir", filepath.Join(folder, "n"), "--listen", "http://127.0.0.1:1", "--name", "n"}
	for _, each := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"go"}, `command "go": expected run, init, join or cert`},
		{append([]string{"init", "--cluster", testCluster.String()}, good...), "--last-index: expected 1 or more"},
		{append([]string{"init", "--last-index", "7", "--cluster", "12"}, good...), "--cluster: "},
		{[]string{"init", "--last-index", "7", "--cluster", testCluster.String()}, "--dir: expected"},
		{append([]string{"init", "--last-index", "7", "--cluster", testCluster.String(), "--listen", "http://10.0.0.1:2"}, good[:2]...),
			"name of 0 bytes"},
		{append([]string{"init", "--last-index", "7", "--cluster", testCluster.String(), "--name", "x", "--listen", "http://10.0.0.1:2"},
			good[:2]...), "expected https://, or http:// on 127.0.0.0/8"},
		{append([]string{"init", "--last-index", "7", "--cluster", testCluster.String(), "--members", "n=http://127.0.0.1:2"}, good...),
			"--members: expected n=http://127.0.0.1:1 of --name and --listen in it, got n=http://127.0.0.1:2"},
		{append([]string{"init", "--last-index", "7", "--cluster", testCluster.String(), "--members", "n=http://127.0.0.1:1,"}, good...),
			"--members: name of 0 bytes"},
		{append([]string{"run"}, good...), "is no node"},
		{append([]string{"run", "--nothing"}, good...), "flag provided but not defined: -nothing"},
		{append([]string{"run"}, append(good, "more")...), `expected flags, got "more"`},
		{append([]string{"run", "--log-limit", "1MiB"}, good...), "--log-limit: expected 128MiB or more"},
		{append([]string{"run", "--log-limit", "-3"}, good...), "expected a count as 64MiB"},
		{append([]string{"run", "--copy-rate", "100KiB"}, good...), "--copy-rate: expected 0, or 1MiB or more, got 100KiB"},
		{append([]string{"join"}, good...), "join: expected the token"},
		{append([]string{"join", "x"}, good...), "the token cannot be read"},
		{[]string{"cert"}, "cert: expected --authority, or --name"},
		{[]string{"cert", "--name", "n"}, "--hosts: expected"},
		{[]string{"cert", "--name", "n", "--hosts", "n", "--dir", folder}, "ca.crt"},
	} {
		err := dispatch(each.arguments, io.Discard)
		if err == nil || !strings.Contains(err.Error(), each.want) || exit.CodeOf(err) != exit.Wrong {
			t.Errorf("%v: %v, exit %d; expected %q", each.arguments, err, exit.CodeOf(err), each.want)
		}
	}
	do(t, append([]string{"init", "--last-index", "7", "--cluster", testCluster.String()}, good...)...)
	err := dispatch(append([]string{"init", "--last-index", "7", "--cluster", testCluster.String()}, good...), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "is a node already") {
		t.Errorf("a second init: %v", err)
	}
	if err := os.Remove(filepath.Join(folder, "n", "node.json")); err != nil {
		t.Fatal(err)
	}
	err = dispatch(append([]string{"init", "--last-index", "7", "--cluster", testCluster.String()}, good...), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "a log that is no node's") || exit.CodeOf(err) != exit.Wrong {
		t.Errorf("an init after one that was killed: %v", err)
	}
}

// Fails if the file of settings is read otherwise than flags.
func TestSettingsAreOfFileAndFlags(t *testing.T) {
	path := filepath.Join(newFolder(t), "feed-replica.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parse := func(more ...string) (settings, error) {
		var s settings
		flags := newFlagSet("run")
		s.register(flags)
		err := s.parse(flags, append([]string{"--config", path}, more...), io.Discard)
		return s, err
	}
	write("name: b\nlisten: https://10.0.0.2:7440\ndir: /var/lib/feed-replica\ncopy-rate: 32MiB\nmetrics: ''\n")
	s, err := parse("--dir", "/other", "--log-limit", "2GiB")
	if err != nil || s.name != "b" || s.directory != "/other" || s.copyRate != 32<<20 || s.logLimit != 2<<30 || s.metrics != "" {
		t.Errorf("%+v: %v", s, err)
	}
	for text, want := range map[string]string{
		"nam: b":                          `unknown key "nam"`,
		"config: b":                       `unknown key "config"`,
		"log-limit: many":                 "expected a count as 64MiB",
		"dir: a\ndir: b":                  "already set",
		strings.Repeat("#", 64<<10) + "#": "more than 65536 bytes",
	} {
		write(text)
		if _, err := parse(); exit.CodeOf(err) != exit.Wrong || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, expected %q", text, err, want)
		}
	}
}

// Fails if a node that was removed goes on, or starts again: it would disturb those that stay.
func TestRemovedNodesEnd(t *testing.T) {
	folder := newFolder(t)
	do(t, "cert", "--dir", folder, "--authority")
	a, b := newMachine(t, folder, "a"), newMachine(t, folder, "b")
	do(t, append([]string{"init", "--last-index", "7", "--cluster", testCluster.String()}, a.flags()...)...)
	a.run()
	newService(t, a, 7)
	join(t, b, a)
	b.run()
	newService(t, b, 0)
	a.awaitVoters(2)
	identity, err := members.LoadIdentity(b.settings.directory)
	if err != nil {
		t.Fatal(err)
	}
	var ended error
	eventually(t, "the end of a removed node", func() bool {
		leader := leading(t, a, b)
		s := leader.service
		s.mu.Lock()
		if leader == b { // it has to give the leadership away first
			s.say(wire.Transfer, nil, 0)
		} else if s.leads && len(s.pending) == 0 {
			s.pending = append(s.pending, nil)
			s.say(wire.Member, nil, s.term, s.applied()+1, uint64(wire.RemoveMember), uint64(identity.ID))
		}
		s.mu.Unlock()
		select {
		case ended = <-b.ended:
			return true
		case <-time.After(time.Second):
			return false
		}
	})
	for start := 0; ; start++ {
		if exit.CodeOf(ended) != exit.Replace {
			t.Errorf("start %d: %v", start, ended)
		}
		if start == 2 {
			break
		}
		b.run()
		select {
		case ended = <-b.ended:
		case <-time.After(patience):
			t.Fatal("a removed node goes on")
		}
	}
	b.stop = nil
	commit(t, "alone again", a)
}
