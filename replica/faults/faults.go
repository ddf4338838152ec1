// Package faults switches single rules of the replica off, in tests.
//
// A test that audits a rule has to fail without it. With the build tag `faults` a Set names the rules that
// do not hold; without it a Set is empty, Has is constantly false, and the compiler leaves the branches out.
package faults

// Fault is one rule that can be switched off.
type Fault int

// The rules, by what happens without them.
const (
	// NoMark opens a log that ends before what it had.
	NoMark Fault = iota + 1
	// KeepsFallingTerms keeps entries that were overwritten, and come back behind a snapshot (etcd#22442).
	KeepsFallingTerms
	// KeepsVoidEntries keeps the entries that an installed snapshot has replaced.
	KeepsVoidEntries
	// TakesOlderSnapshots begins a log behind another snapshot than its newest one.
	TakesOlderSnapshots
	// NoSizeLimit writes entries that can never be read again (etcd#14025).
	NoSizeLimit
	// ReleasesUnsynced goes on before what was saved is on the disk.
	ReleasesUnsynced
	// StopsInInstall ends an install when the log has it, and memory and mark have not: a kill at its worst.
	StopsInInstall
	// NoIndexFence appends proposals whose number is not the next one.
	NoIndexFence
	// NoTermFence appends proposals of another term.
	NoTermFence
	// NoSessionFence appends proposals of a session that was ended.
	NoSessionFence
	// EarlyRole says that the node leads before the entries up to there are delivered.
	EarlyRole
	// EarlyCommitted says COMMITTED of entries that only this node has.
	EarlyCommitted
	// TrimsUnderCopies forgets entries that a copy on its way needs.
	TrimsUnderCopies
	// ReturnsIDs gives a removed node's number away again.
	ReturnsIDs
)
