package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
	"feed-replica/powercut"
)

// What the process that is recorded says at its standard output.
type told struct {
	Opened *model `json:",omitempty"` // what the log has: peers may be told all of it
	Begins *step  `json:",omitempty"`
	IsDone bool   `json:",omitempty"` // the step before: peers may be told of it
	Failed string `json:",omitempty"`
}

// asRecorded is the variable with which the tests' program is a process that is recorded.
const asRecorded = "FEED_REPLICA_TEST_RECORDED"

// recorded is what such a process was told to do.
type recorded struct {
	Folder  string
	Seed    int64
	Faults  []faults.Fault
	Install *step // the last one that a process before it has begun
}

const (
	powerCutSegmentByteCount = 64 << 10
	stepsOfAProcess          = 60
	opsOfACut                = 4
)

// runRecorded uses a log until it ends, or is killed as the recording is played no further.
func runRecorded(text string) {
	say := func(word told) {
		b, _ := json.Marshal(word)
		os.Stdout.Write(b)
	}
	var r recorded
	err := json.Unmarshal([]byte(text), &r)
	if err == nil {
		err = r.run(say)
	}
	if err != nil {
		say(told{Failed: err.Error()})
	}
	os.Exit(0)
}

func (r recorded) run(say func(told)) error {
	etcd.SetSegmentByteCount(powerCutSegmentByteCount)
	random := rand.New(rand.NewSource(r.Seed))
	o := options(r.Folder, faults.Of(r.Faults...))
	if !etcd.WALExists(o.path(logFolder)) {
		if err := Create(o, &Base{Index: 1, Voters: []uint64{1}, Roster: []byte("{}")}); err != nil {
			return err
		}
		say(told{Opened: &model{Base: 1, BaseTerm: 1, Term: 1}}) // it may be a node from now on
	}
	s, err := Open(o)
	if err != nil {
		return err
	}
	m := modelOf(s)
	say(told{Opened: &m})
	for n := 0; n < stepsOfAProcess; n++ {
		step := m.next(random)
		if r.Install != nil && m.Commit < r.Install.InstallAt {
			step = m.again(*r.Install, random)
		}
		say(told{Begins: &step})
		if err := s.do(step); err != nil {
			return err
		}
		m = m.after(step)
		say(told{IsDone: true})
		if n%8 == 7 {
			s.purgeOnce()
		}
	}
	return s.Close()
}

// purgeOnce deletes the files that were released, as Purge does from time to time.
func (s *Store) purgeOnce() {
	stop := make(chan struct{})
	close(stop)
	done, _ := etcd.PurgeFiles(s.options.Logger, s.options.path(logFolder), "wal", keptLogFiles, purgePeriod, stop)
	<-done
}

// outcomes counts what cuts have come to.
type outcomes struct {
	cuts, spoiled, refused int
	failure                error // the first thing that must not be
}

// powerCuts lets processes live on the disks of those before them, and cuts the power under each again and again.
func powerCuts(t *testing.T, count int, seed int64, list ...faults.Fault) (all outcomes) {
	t.Helper()
	etcd.SetSegmentByteCount(powerCutSegmentByteCount)
	defer etcd.SetSegmentByteCount(testSegmentByteCount)
	for ; all.cuts < count && all.failure == nil; seed++ {
		l := &life{t: t, seed: seed, random: rand.New(rand.NewSource(seed)), faults: list, disk: powercut.NewDisk(),
			folder: newFolder(t), outcomes: &all, count: count}
		for process := int64(0); process < 4 && all.cuts < count && all.failure == nil; process++ {
			l.process(seed<<8 | process)
		}
		os.RemoveAll(l.folder)
	}
	return all
}

// life is a log with one process after another.
type life struct {
	t      *testing.T
	seed   int64
	random *rand.Rand
	faults []faults.Fault
	disk   *powercut.Disk
	folder string
	count  int
	*outcomes

	promised *model // nil until a process has opened the log
	step     *step  // on its way
	install  *step
}

func (l *life) fail(format string, values ...interface{}) {
	if l.failure == nil {
		l.failure = fmt.Errorf("seed %d, cut %d: "+format, append([]interface{}{l.seed, l.cuts}, values...)...)
	}
}

// process records a process on the disk as it is, and cuts the power under it. Then it is killed somewhere, or
// ends in another cut.
func (l *life) process(seed int64) {
	directory := filepath.Join(l.folder, "node")
	os.RemoveAll(directory)
	if err := l.disk.Kill(directory); err != nil {
		l.t.Fatal(err)
	}
	text, _ := json.Marshal(recorded{directory, seed, l.faults, l.install})
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), asRecorded+"="+string(text))
	ops, err := powercut.Record(directory, command)
	if errors.Is(err, powercut.ErrNoStrace) {
		l.t.Skip(err)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	l.disk.Begin()
	end := len(ops)/4 + l.random.Intn(len(ops)*3/4)
	for _, op := range ops[:end] {
		if err := l.disk.Do(op); err != nil {
			l.t.Fatal(err)
		}
		l.hear(op)
		if l.promised != nil && l.random.Intn(opsOfACut) == 0 {
			l.cut(directory)
		}
		if l.failure != nil || l.cuts >= l.count {
			return
		}
	}
	if l.random.Intn(2) == 0 {
		return // killed
	}
	os.RemoveAll(directory)
	if err := l.disk.Cut(directory, l.random); err != nil {
		l.t.Fatal(err)
	}
	if l.disk, err = powercut.Restart(directory); err != nil {
		l.t.Fatal(err)
	}
}

// hear takes what the process has said.
func (l *life) hear(op powercut.Op) {
	if op.Kind != powercut.Tell {
		return
	}
	var word told
	if err := json.Unmarshal(op.Data, &word); err != nil {
		l.t.Fatalf("%v: %q", err, op.Data)
	}
	switch {
	case word.Failed != "":
		l.fail("the process fails: %s", word.Failed)
	case word.Opened != nil:
		if l.promised != nil {
			l.check(*word.Opened)
		}
		l.promised, l.step = word.Opened, nil
	case word.Begins != nil:
		if l.step = word.Begins; l.step.InstallAt != 0 {
			l.install = l.step
		}
	case word.IsDone:
		after := l.promised.after(*l.step)
		l.promised, l.step = &after, nil
	}
}

// cut cuts the power now, opens what is left, and compares it with what was promised.
func (l *life) cut(directory string) {
	l.cuts++
	os.RemoveAll(directory)
	if err := l.disk.Cut(directory, l.random); err != nil {
		l.t.Fatal(err)
	}
	isSpoiled := false
	if l.random.Intn(2) == 0 {
		var err error
		if isSpoiled, err = l.disk.Spoil(directory, ".wal", l.random); err != nil {
			l.t.Fatal(err)
		}
	}
	b, _ := os.ReadFile(filepath.Join(directory, markName))
	had, _ := parseMark(b)
	s, err := Open(options(directory, faults.Of(l.faults...)))
	if isSpoiled {
		l.spoiled++
		if exit.CodeOf(err) == exit.Replace {
			l.refused++
			return
		}
	}
	if err != nil {
		l.fail("refused: %v; promised was %+v, on its way %+v", err, *l.promised, l.step)
		return
	}
	defer func() { s.Close() }()
	if !isWhole(s) {
		l.fail("the log has other contents")
	}
	if isSpoiled {
		// The mark may be an older one, as it is rarely synced: then it knows less.
		if has := s.currentMark(); has.isBehind(had) && !had.isVoidBehind(s.base.Metadata.Index) {
			l.fail("opened short, at %v, and the mark has %v", has, had)
		}
		return
	}
	m := modelOf(s)
	l.check(m)
	if l.cuts%4 != 0 || l.failure != nil {
		return
	}
	// What is left must be fit to go on with.
	step := step{From: m.last() + 1, Through: m.last() + 1, Term: m.Term + 1, ByteCount: 1000,
		Hard: etcd.HardState{Term: m.Term + 1, Commit: m.Commit}}
	if err := s.do(step); err != nil {
		l.fail("going on: %v", err)
		return
	}
	s.Close()
	if s, err = Open(s.options); err != nil {
		l.fail("opened again: %v", err)
		return
	}
	if has := modelOf(s); !reflect.DeepEqual(has, m.after(step)) || !isWhole(s) {
		l.fail("opened again it is %+v, expected %+v", has, m.after(step))
	}
}

// check compares a log with what was promised, and with what was on its way.
func (l *life) check(has model) {
	before := *l.promised
	if isBetween(has, before, before) {
		return
	}
	if l.step == nil {
		l.fail("opened as %+v, and promised was %+v", has, before)
	} else if after := before.after(*l.step); !isBetween(has, before, after) &&
		!(has.Base == after.Base && isBetween(has, after, after)) && !l.hasSome(has, before, after) {
		l.fail("opened as %+v, and promised was %+v; on its way was %+v", has, before, *l.step)
	}
}

// isBetween says whether a log has the entries of a model, and what was saved of the one or of the other. It may begin
// behind a later snapshot, of an install that was cut off, once that is known to be committed.
func isBetween(has, entries, after model) bool {
	if has.Base < entries.Base || has.last() != entries.last() ||
		has.Base == entries.Base && has.BaseTerm != entries.BaseTerm {
		return false
	}
	for i, term := range has.Terms {
		if term != entries.Terms[has.Base-entries.Base+uint64(i)] {
			return false
		}
	}
	return has.Term == entries.Term && has.Vote == entries.Vote || has.Term == after.Term && has.Vote == after.Vote
}

// hasSome says whether a log has the first of the entries that were on their way.
func (l *life) hasSome(has, before, after model) bool {
	s := *l.step
	for through := s.From; through < s.Through; through++ {
		some := s
		some.Through = through
		entries := before.after(some)
		entries.Term, entries.Vote = before.Term, before.Vote
		if isBetween(has, entries, after) {
			return true
		}
	}
	if s.InstallAt != 0 { // without its entries
		s.Through = s.From - 1
		return isBetween(has, before.after(s), after)
	}
	entries := after
	entries.Term, entries.Vote = before.Term, before.Vote
	return isBetween(has, entries, after)
}

// Fails if, after a power cut at any moment, a log is not what was synced before anything was told; or, where the cut
// has spoiled a sector too, is opened with less than its mark has.
func TestPowerCutsCostNothingThatWasPromised(t *testing.T) {
	count, seed := powercut.Plan(500)
	got := powerCuts(t, count, seed)
	if got.failure != nil {
		t.Fatal(got.failure)
	}
	t.Logf("%d cuts, %d with a spoiled sector, of which %d are refused", got.cuts, got.spoiled, got.refused)
}
