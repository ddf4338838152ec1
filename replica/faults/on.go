//go:build faults

package faults

// Set names the rules that are switched off. It is there with the tag `faults` only.
type Set map[Fault]bool

// Has says whether a rule is switched off.
func (s Set) Has(fault Fault) bool { return s[fault] }
