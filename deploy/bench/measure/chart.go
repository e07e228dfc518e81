package measure

import (
	"bytes"
	"fmt"
	"html"
	"math"
)

// Dimensions of the chart, in pixels.
const (
	chartWidth = 900
	chartLabel = 460
	chartRow   = 22
)

// Chart draws the ratio of each row relative to its goal. A bar that reaches
// the line meets the goal. The scale is logarithmic, from a tenth of the goal
// to ten times the goal. A row without a goal has its ratio and no bar. A row
// during which the machine was busy has a pale bar.
func Chart(results []Result) []byte {
	var b bytes.Buffer
	height := chartRow*len(results) + 40
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`, chartWidth, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`)
	var ratios bytes.Buffer // drawn over the line of the goals
	room := float64(chartWidth - chartLabel - 60)
	at := func(share float64) float64 { // from a tenth of the goal to ten times the goal
		return chartLabel + room*(min(max(math.Log10(share), -1), 1)+1)/2
	}
	for n, r := range results {
		share, color, text := 0.0, "#9e9e9e", figure(r.Ratio)
		switch {
		case r.Skipped != "":
			text = "skipped"
		case r.Goal == 0:
			text += ", no goal"
		case r.OK:
			color = "#2e7d32"
		default:
			color = "#c62828"
		}
		if r.Goal > 0 && r.Skipped == "" {
			share = r.Ratio / r.Goal
			if r.Most {
				share = r.Goal / max(r.Ratio, 1e-9)
			}
		}
		opacity := 1.0
		if r.Busy {
			opacity = 0.5
		}
		y, end := chartRow*n+20, max(at(share)-chartLabel, 3)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, chartLabel-8, y+12, html.EscapeString(short(r.Name+" / "+r.Against, 76)))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.0f" height="%d" fill="%s" fill-opacity="%g"><title>%.2f, goal %g</title></rect>`,
			chartLabel, y, end, chartRow-6, color, opacity, r.Ratio, r.Goal)
		fmt.Fprintf(&ratios, `<text x="%.0f" y="%d" stroke="white" stroke-width="4" paint-order="stroke">%s</text>`, chartLabel+end+6, y+12, text)
	}
	fmt.Fprintf(&b, `<line x1="%[1]f" x2="%[1]f" y1="10" y2="%[2]d" stroke="black"/><text x="%[1]f" y="%[3]d" text-anchor="middle">goal</text>`, at(1), height-20, height-6)
	b.Write(ratios.Bytes())
	b.WriteString(`</svg>`)
	return b.Bytes()
}

func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
