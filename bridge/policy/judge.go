package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Readings of a part of an action, in the output of Explain.
const (
	readPlain  = "plain line"
	readParsed = "not a plain line"
	readWithin = "started by another command"
	readPieces = "piece of a line that is not plain"
	readText   = "text of the line"
)

const noAllow = "no allow rule and no grant by rule applies: "

// hit is a rule that decides on a part of an action.
type hit struct {
	rule *compiled // nil if no rule matches and people are asked
	// doubt means that the rule may apply to the part in another spelling. In
	// that case, people are asked even if the rule denies.
	doubt bool
	// covered means that a grant by the rule would cover the part.
	covered bool
}

// evaluation is one pass over an action.
type evaluation struct {
	p     *Policy
	in    *input
	hits  []hit
	steps []Step
	moved bool // a part runs in a location other than the stated one
}

// Judge implements bridge.Policy.
func (p *Policy) Judge(a bridge.Act) bridge.Ruling {
	if len(p.rules) == 0 && a.Gate == "" {
		return bridge.Ruling{Effect: bridge.EffectAsk}
	}
	r, _ := p.Explain(a)
	return r
}

// Explain returns the ruling of Judge, and the result of each rule for each
// part in each reading.
func (p *Policy) Explain(a bridge.Act) (bridge.Ruling, []Step) {
	j := p.evaluate(a)
	out := p.join(j.hits, j.moved)
	if a.Gate != "" && !out.Demands() {
		if gate, ok := selecting(a.Gate, j.in); ok {
			out = bridge.Ruling{Effect: bridge.EffectAsk, Rule: gate}
		}
	}
	return out, j.steps
}

// evaluate evaluates each part of an action.
func (p *Policy) evaluate(a bridge.Act) *evaluation {
	j := &evaluation{p: p, in: read(a)}
	for _, doubt := range j.in.doubts {
		j.steps = append(j.steps, Step{Why: noAllow + doubt})
	}
	if len(j.in.lines) == 0 {
		j.walk(part{}, Step{}, false)
	}
	for _, l := range j.in.lines {
		if l.err == nil {
			j.plain(l)
		} else {
			j.opaque(l)
		}
	}
	return j
}

// walk finds the first rule that matches a part. This rule decides on the part.
// It returns the index of the rule, or the number of rules if none matches.
// Without a match, people are asked, unless known reports that other rules
// already ask them.
func (j *evaluation) walk(p part, step Step, known bool) int {
	for n := range j.p.rules {
		c := &j.p.rules[n]
		covered, doubt := false, false
		step.Rule = c.Name
		if c.allows() {
			step.Why, covered = c.covers(j.in, p)
			step.Matched = covered
		} else {
			step.Why, step.Matched, doubt = j.concerns(c, p)
			if step.Matched && c.grantsByRule() {
				_, covered = c.covers(j.in, p)
			}
		}
		h := hit{c, doubt, covered}
		if step.Matched {
			step.Why += "; effect: " + string(h.effect())
		}
		j.steps = append(j.steps, step)
		if step.Matched {
			j.hits = append(j.hits, h)
			return n
		}
	}
	step.Rule, step.Matched, step.Why = "", true, "no rule matches; effect: ask"
	if !known {
		j.steps = append(j.steps, step)
		j.hits = append(j.hits, hit{})
	}
	return len(j.p.rules)
}

// concerns reports whether an ask or deny rule may apply to a part, and whether
// it applies only in another spelling.
func (j *evaluation) concerns(c *compiled, p part) (why string, matched, doubt bool) {
	if why, matched = c.about(j.in, p, func(w wordPattern) bool { return w.about(p.words) }); matched {
		return why, true, false
	}
	if _, matched = c.about(j.in, p, func(w wordPattern) bool { return w.re == nil && w.split == nil && w.target.is(p.words) }); matched {
		return "may match in another spelling", true, true
	}
	return why, false, false
}

// plain evaluates each command of a plain line, the commands that it starts,
// and then the text of the line.
func (j *evaluation) plain(l *line) {
	if inner := l.launched(); inner != nil && j.launch(l, inner) {
		return
	}
	last := -1
	p := part{line: l}
	for n, call := range l.calls {
		p.words = call.words
		step := Step{Command: quote(call.words), Reading: readPlain}
		nth := j.walk(p, step, false)
		last = max(last, nth)
		if nth < len(j.p.rules) && !j.p.rules[nth].allows() {
			nth = len(j.p.rules) // only an allow rule that names every word is an exception
		}
		if starts(call.words) {
			j.within(p, nth)
		}
		if n == 0 && l.program == "" && call.words[0] == "cd" {
			p = j.in.move(p, call.words[1])
			j.moved = p.to == "" || p.to != j.in.Where
		}
	}
	// A regular expression may match several commands together, or quotes.
	// Rules after the one that decides on each command are skipped.
	for n := range min(last, len(j.p.rules)) {
		j.text(&j.p.rules[n], part{line: l}, readText, wordPattern.aboutLine)
	}
}

// move returns a part that runs after a cd.
func (in *input) move(p part, target string) part {
	p.moved, p.base = true, target
	if clean, bad := cleanPath(target, ""); bad == "" && path.IsAbs(target) {
		p.to = clean
	}
	return p
}

// within evaluates the commands that a command may start. Rules that ask about
// or deny a command thus apply even after sudo.
func (j *evaluation) within(p part, rules int) {
	for _, words := range within(p.words) {
		inner := part{line: p.line, words: words, moved: p.moved, to: p.to}
		for n := range rules {
			c := &j.p.rules[n]
			if c.allows() {
				if _, ok := c.covers(j.in, inner); ok {
					break
				}
				continue
			}
			if j.text(c, inner, readWithin, func(w wordPattern, _ *line) bool { return w.about(words) }) {
				break
			}
		}
	}
}

// opaque evaluates a line that is not plain. It uses the first rule for each
// command in the line, and every rule that matches any reading of the line.
func (j *evaluation) opaque(l *line) {
	found, code := l.all(), l.code()
	j.steps = append(j.steps, Step{Command: l.raw, Reading: readParsed, Why: noAllow + l.err.Error()})
	before := len(j.hits)
	for _, words := range found.outer {
		j.walk(part{line: l, words: words}, Step{Command: quote(words), Reading: readParsed}, j.startsKnown(l, words))
	}
	for n := range j.p.rules {
		c := &j.p.rules[n]
		if c.allows() || len(c.command) == 0 {
			continue
		}
		for _, words := range found.found {
			if j.text(c, part{line: l, words: words}, readPieces, func(w wordPattern, _ *line) bool { return w.about(words) }) {
				break
			}
		}
		j.text(c, part{line: l}, readText, func(w wordPattern, _ *line) bool {
			return w.aboutText(code) || w.loose.MatchString(code) || w.loose.MatchString(stripped(code))
		})
	}
	if len(j.hits) == before {
		j.hits = append(j.hits, hit{})
	}
}

// startsKnown reports whether rules match the commands that a command starts,
// and no rule matches the command itself.
func (j *evaluation) startsKnown(l *line, words []string) bool {
	inner := within(words)
	for n := range j.p.rules {
		c := &j.p.rules[n]
		if c.allows() || len(c.command) == 0 {
			continue
		}
		if _, ok := c.about(j.in, part{line: l, words: words}, func(w wordPattern) bool { return w.about(words) }); ok {
			return false
		}
		for _, w := range inner {
			if _, ok := c.about(j.in, part{line: l, words: w}, func(p wordPattern) bool { return p.about(w) }); ok {
				return true
			}
		}
	}
	return false
}

// text adds a hit if match returns true for a command pattern of an ask or deny
// rule.
func (j *evaluation) text(c *compiled, p part, reading string, match func(wordPattern, *line) bool) bool {
	if c.allows() || len(c.command) == 0 {
		return false
	}
	_, ok := c.about(j.in, p, func(w wordPattern) bool { return match(w, p.line) })
	if !ok {
		return false
	}
	step := Step{Command: p.line.raw, Reading: reading, Rule: c.Name, Matched: true, Why: "matches; effect: " + string(c.Then)}
	if p.words != nil {
		step.Command = quote(p.words)
	}
	j.steps = append(j.steps, step)
	j.hits = append(j.hits, hit{rule: c})
	return true
}

// aboutLine reports whether a regular expression matches a line, with or
// without its quotes.
func (p wordPattern) aboutLine(l *line) bool { return p.aboutText(l.raw) }

func (p wordPattern) aboutText(text string) bool {
	texts := []string{text, strings.TrimSpace(text), stripped(text)}
	return p.re != nil && slices.ContainsFunc(texts, p.loose.MatchString)
}
