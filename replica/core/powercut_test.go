package core

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/powercut"
	"feed-replica/store"
)

// promise is what somebody may rely on from then on.
type promise struct {
	Node  members.ID `json:",omitempty"` // 0: the cluster has the change at an index
	Term  uint64     `json:",omitempty"`
	Vote  uint64     `json:",omitempty"` // the node's, in the term
	Index uint64     `json:",omitempty"` // without a vote: the node has all up to here, in the term
	Value uint64     `json:",omitempty"`
}

// sayPromiseOf says what a message promises to whom it is sent.
func (w *world) sayPromiseOf(m etcd.Message) {
	switch node := members.ID(m.From); {
	case m.Reject:
	case m.Type.String() == "MsgVote":
		w.say(promise{Node: node, Term: m.Term, Vote: m.From})
	case m.Type.String() == "MsgVoteResp":
		w.say(promise{Node: node, Term: m.Term, Vote: m.To})
	case m.Type.String() == "MsgAppResp":
		w.say(promise{Node: node, Term: m.Term, Index: m.Index})
	}
}

// asRecorded is the variable with which TestRecordedWorld is a world that is recorded.
const asRecorded = "FEED_REPLICA_TEST_RECORDED"

type recorded struct {
	Folder string
	Seed   int64
	Faults []faults.Fault
}

const (
	stepsOfAWorld = 6000
	opsOfACut     = 16
	worldSize     = 3
)

// TestRecordedWorld is no test, but what powerCuts records: a world whose promises go to the standard output.
func TestRecordedWorld(t *testing.T) {
	text := os.Getenv(asRecorded)
	if text == "" {
		return
	}
	var r recorded
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	w := newWorldIn(t, r.Folder, r.Seed, faults.Of(r.Faults...), 1, 2, worldSize)
	w.say = func(p promise) {
		b, _ := json.Marshal(p)
		os.Stdout.Write(b)
	}
	for step := 0; step < stepsOfAWorld && w.failure == nil; step++ {
		w.step()
	}
	if w.failure != nil && len(r.Faults) == 0 {
		t.Fatal(w.failure)
	}
}

// powerCuts records worlds, and cuts the power of all their machines at once. It gives the first promise that is
// broken.
func powerCuts(t *testing.T, count int, seed int64, list ...faults.Fault) (cuts, promises int, failure error) {
	t.Helper()
	for ; cuts < count; seed++ {
		folder, random := filepath.Join(newFolder(t), "world"), rand.New(rand.NewSource(seed))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(recorded{folder, seed, list})
		command := exec.Command(os.Args[0], "-test.run", "^TestRecordedWorld$")
		command.Env = append(os.Environ(), asRecorded+"="+string(text))
		ops, err := powercut.Record(folder, command)
		if errors.Is(err, powercut.ErrNoStrace) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		disk, told := powercut.NewDisk(), []promise{}
		for _, op := range ops {
			var p promise
			if err := disk.Do(op); err != nil {
				t.Fatal(err)
			}
			if op.Kind == powercut.Tell && json.Unmarshal(op.Data, &p) == nil {
				told = append(told, p)
			}
			if len(told) == 0 || cuts >= count || random.Intn(opsOfACut) > 0 {
				continue
			}
			cuts++
			os.RemoveAll(folder)
			if err := disk.Cut(folder, random); err != nil {
				t.Fatal(err)
			}
			if err := checkPromises(folder, told); err != nil {
				return cuts, promises, fmt.Errorf("seed %d, cut %d: %w", seed, cuts, err)
			}
		}
		promises += len(told)
	}
	return cuts, promises, nil
}

// checkPromises opens what is left of all nodes.
func checkPromises(folder string, told []promise) error {
	logs := map[members.ID]*store.Store{}
	for id := members.ID(1); id <= worldSize; id++ {
		log, err := store.Open(store.Options{Directory: filepath.Join(folder, id.String()), Logger: zap.NewNop()})
		if err != nil {
			return fmt.Errorf("node %s: %w", id, err)
		}
		defer log.Close()
		logs[id] = log
	}
	for _, p := range told {
		if p.Node == 0 {
			count := 0
			for _, log := range logs {
				if hasValue(log, p.Index, p.Value) {
					count++
				}
			}
			if count <= worldSize/2 {
				return fmt.Errorf("acknowledged change %d at %d is on %d nodes", p.Value, p.Index, count)
			}
			continue
		}
		log := logs[p.Node]
		hard, _, _ := log.Memory().InitialState() // MemoryStorage never fails
		isLost := p.Vote != 0 && hard.Vote != p.Vote || p.Vote == 0 && log.LastIndex() < p.Index
		if hard.Term < p.Term || hard.Term == p.Term && isLost {
			return fmt.Errorf("promise %+v is broken: term %d, vote for %x, last entry %d", p, hard.Term, hard.Vote,
				log.LastIndex())
		}
	}
	return nil
}

// hasValue says whether a log has a change at an index, or has forgotten it.
func hasValue(log *store.Store, index, value uint64) bool {
	if index < log.FirstIndex() {
		return true
	}
	if index > log.LastIndex() {
		return false
	}
	list, err := log.Entries(index, index, 1)
	return err == nil && bytes.HasPrefix(list[0].Data, binary.LittleEndian.AppendUint64(nil, value))
}

// Fails if a power cut of all machines at once, at any moment, breaks what was told: that a change was acknowledged, to
// a service, or by one node to another that it has entries, or votes for it.
func TestPowerCutsCostNothingThatWasAcknowledged(t *testing.T) {
	count, seed := powercut.Plan(300)
	cuts, promises, err := powerCuts(t, count, seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cuts, %d promises", cuts, promises)
}
