//go:build !faults

package faults

// Set is empty: a program without the tag `faults` keeps every rule.
type Set struct{}

// Has says whether a rule is switched off: never.
func (Set) Has(Fault) bool { return false }

// Of is empty too.
func Of(...Fault) Set { return Set{} }

// Chosen is empty too.
func Chosen() Set { return Set{} }

// Sync does nothing.
func Sync() error { return nil }
