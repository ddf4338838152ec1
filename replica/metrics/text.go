package metrics

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// ContentType is that of OpenMetrics.
const ContentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// Writer writes metrics as OpenMetrics. Errors stay until End.
type Writer struct {
	to  io.Writer
	err error
}

// NewWriter writes to a connection.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

func (w *Writer) line(format string, values ...interface{}) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.to, format+"\n", values...)
	}
}

// Label is a name and a value of a sample.
type Label struct{ Name, Value string }

// Sample is one value of a metric.
type Sample struct {
	Labels []Label
	Value  float64
}

func (w *Writer) begin(name, kind, unit, help string) {
	w.line("# TYPE %s %s", name, kind)
	if unit != "" {
		w.line("# UNIT %s %s", name, unit)
	}
	w.line("# HELP %s %s", name, help)
}

// Gauge writes a metric that rises and falls.
func (w *Writer) Gauge(name, unit, help string, samples ...Sample) {
	w.begin(name, "gauge", unit, help)
	for _, sample := range samples {
		w.line("%s%s %s", name, labels(sample.Labels), number(sample.Value))
	}
}

// Counter writes a metric that only rises; its name has no `_total`.
func (w *Writer) Counter(name, help string, value uint64) {
	w.begin(name, "counter", "", help)
	w.line("%s_total %d", name, value)
}

// Durations writes a histogram of seconds.
func (w *Writer) Durations(name, help string, histogram *Histogram) {
	w.begin(name, "histogram", "seconds", help)
	count := uint64(0)
	for i := range histogram.counts {
		bound := "+Inf"
		if i < len(bounds) {
			bound = number(bounds[i].Seconds())
		}
		count += histogram.counts[i].Load()
		w.line("%s_bucket{le=\"%s\"} %d", name, bound, count)
	}
	w.line("%s_count %d", name, count)
	w.line("%s_sum %s", name, number(time.Duration(histogram.sum.Load()).Seconds()))
}

// End ends the text, and says whether all of it was written.
func (w *Writer) End() error {
	w.line("# EOF")
	return w.err
}

func number(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func labels(list []Label) string {
	if len(list) == 0 {
		return ""
	}
	parts := make([]string, len(list))
	for i, label := range list {
		parts[i] = label.Name + `="` + labelEscapes.Replace(label.Value) + `"`
	}
	return "{" + strings.Join(parts, ",") + "}"
}
