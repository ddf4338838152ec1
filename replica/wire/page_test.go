package wire

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// row is a kind of frame in the tables of the page: number, name, fields, tail.
var row = regexp.MustCompile(`(?m)^\| (\d+) \| ([A-Z_]+) \| ([^|]*)\| ([^|]*)\|$`)

// Fails if docs/REPLICA.md, from which the service's side is written, has another socket than this one.
func TestPageHasTheKinds(t *testing.T) {
	page, err := os.ReadFile("../../docs/REPLICA.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, cells := range row.FindAllStringSubmatch(string(page), -1) {
		number, _ := strconv.Atoi(cells[1])
		layout := layouts[byte(number)]
		count := 0
		if fields := strings.TrimSpace(regexp.MustCompile(`, or 0 for any|microseconds of `).ReplaceAllString(cells[3], "")); fields != "" {
			count = strings.Count(fields, ",") + 1
		}
		if layout.name != cells[2] || layout.fields != count {
			t.Errorf("the page has %s with %d fields as %s; here it is %q with %d", cells[2], count, cells[1],
				layout.name, layout.fields)
		}
		if hasTail := strings.TrimSpace(cells[4]) != ""; hasTail != (layout.mostTail > 0) {
			t.Errorf("the page has a tail of %s: %v; here it has at most %d bytes", cells[2], hasTail, layout.mostTail)
		}
		found[cells[2]] = true
	}
	for _, layout := range layouts {
		if layout.name != "" && !found[layout.name] {
			t.Errorf("the page lacks %s", layout.name)
		}
	}
}
