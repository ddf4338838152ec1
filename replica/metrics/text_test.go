package metrics

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// Fails if the text is not OpenMetrics: a scraper refuses all of a page with one wrong line.
func TestTextIsOpenMetrics(t *testing.T) {
	var histogram Histogram
	for _, duration := range []time.Duration{50 * time.Microsecond, time.Millisecond, 1100 * time.Microsecond, time.Minute} {
		histogram.Observe(duration)
	}
	var text strings.Builder
	w := NewWriter(&text)
	w.Gauge("a_bytes", "bytes", "Help.", Sample{Value: 1.5}, Sample{[]Label{{"x", "1"}, {"y", "a\"b\\c\nd"}}, -1})
	w.Counter("b", "Help.", 7)
	w.Durations("c_seconds", "Help.", &histogram)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	want := "# TYPE a_bytes gauge\n# UNIT a_bytes bytes\n# HELP a_bytes Help.\na_bytes 1.5\n" +
		"a_bytes{x=\"1\",y=\"a\\\"b\\\\c\\nd\"} -1\n" +
		"# TYPE b counter\n# HELP b Help.\nb_total 7\n" +
		"# TYPE c_seconds histogram\n# UNIT c_seconds seconds\n# HELP c_seconds Help.\n"
	for _, each := range []struct{ bound, count string }{
		{"0.0001", "1"}, {"0.00025", "1"}, {"0.0005", "1"}, {"0.001", "2"}, {"0.0025", "3"}, {"0.005", "3"},
		{"0.01", "3"}, {"0.025", "3"}, {"0.05", "3"}, {"0.1", "3"}, {"0.25", "3"}, {"0.5", "3"}, {"1", "3"},
		{"5", "3"}, {"+Inf", "4"},
	} {
		want += "c_seconds_bucket{le=\"" + each.bound + "\"} " + each.count + "\n"
	}
	want += "c_seconds_count 4\nc_seconds_sum 60.00215\n# EOF\n"
	if text.String() != want {
		t.Errorf("got\n%s\nexpected\n%s", text.String(), want)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// Fails if a page that was not written whole passes for one that was.
func TestErrorsOfTheConnectionStay(t *testing.T) {
	w := NewWriter(brokenWriter{})
	w.Counter("b", "Help.", 7)
	if err := w.End(); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}
