package main

import (
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// passage is a piece of prose: a paragraph, a comment block or a string.
type passage struct {
	kind  int
	text  string
	lines []int // line of each piece
	at    []int // offset of each piece in text
}

func (p *passage) add(text string, line int) {
	if p.text != "" {
		p.text += " "
	}
	p.at, p.lines = append(p.at, len(p.text)), append(p.lines, line)
	p.text += text
}

// lineAt returns the line of the file at an offset of the text.
func (p *passage) lineAt(offset int) int {
	line := 0
	for n, at := range p.at {
		if at <= offset {
			line = p.lines[n]
		}
	}
	return line
}

// readerOf returns the function that reads the prose of a file, or nil if the
// file has none.
func readerOf(name string) func(string) []*passage {
	switch path.Ext(name) {
	case ".go":
		return readGo
	case ".md":
		return readMarkdown
	case ".lua":
		return func(s string) []*passage { return readComments(s, "--") }
	case ".sh", ".yaml", ".yml", ".service", ".py", ".toml":
		return func(s string) []*passage { return readComments(s, "#") }
	case ".js", ".mjs", ".ts", ".mts":
		return func(s string) []*passage { return readComments(s, "//") }
	}
	if path.Base(name) == "Makefile" {
		return func(s string) []*passage { return readComments(s, "#") }
	}
	return nil
}

// directive matches comments for tools, and code in comments.
var directive = regexp.MustCompile(`^//(go:|nolint|line |\t| {4,})`)

// readGo returns the comments and the strings of a Go file. Comments on
// consecutive lines are one passage.
func readGo(source string) []*passage {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), func(token.Position, string) {}, scanner.ScanComments)
	var out []*passage
	var block *passage
	last := -1
	for {
		pos, tok, text := s.Scan()
		line := file.Line(pos)
		switch tok {
		case token.EOF:
			return out
		case token.COMMENT:
			if directive.MatchString(text) {
				last = -1
				continue
			}
			text = strings.Trim(strings.TrimPrefix(text, "//"), "/* \n\t")
			if text == "" {
				last = -1
				continue
			}
			if block == nil || line != last+1 {
				block = &passage{kind: inComment}
				out = append(out, block)
			}
			block.add(strings.Join(strings.Fields(text), " "), line)
			last = line + strings.Count(text, "\n")
		case token.STRING:
			value, err := strconv.Unquote(text)
			if err == nil && strings.Contains(strings.TrimSpace(value), " ") {
				p := &passage{kind: inString}
				p.add(strings.Join(strings.Fields(value), " "), line)
				out = append(out, p)
			}
		}
	}
}

// readComments returns the comments that fill a line, in a language that
// starts them with mark.
func readComments(source, mark string) []*passage {
	var out []*passage
	var block *passage
	n := 0
	for line := range strings.Lines(source) {
		n++
		text, found := strings.CutPrefix(strings.TrimSpace(line), mark)
		text = strings.TrimSpace(text)
		if !found || text == "" || strings.HasPrefix(text, "!") {
			block = nil
			continue
		}
		if block == nil {
			block = &passage{kind: inComment}
			out = append(out, block)
		}
		block.add(text, n)
	}
	return out
}

// Parts of Markdown that are not prose, or that format it.
var (
	inlineCode = regexp.MustCompile("``[^`]*``|`[^`]*`")
	link       = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	listMark   = regexp.MustCompile(`^([-*+]|\d+\.|>|\|)\s+`)
	tableRule  = regexp.MustCompile(`^[|\s:-]+$`)
)

// readMarkdown returns headings, paragraphs, list items and table rows. It
// omits code.
func readMarkdown(source string) []*passage {
	var out []*passage
	var block *passage
	fenced := false
	n := 0
	for line := range strings.Lines(source) {
		n++
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "```") {
			fenced, block = !fenced, nil
			continue
		}
		if fenced || text == "" || strings.HasPrefix(text, "<!--") || tableRule.MatchString(text) {
			block = nil
			continue
		}
		kind, alone := inText, text[0] == '|'
		if text[0] == '#' {
			kind, alone = inHeading, true
			text = strings.TrimLeft(text, "# ")
		}
		if alone || listMark.MatchString(text) {
			block = nil
		}
		text = listMark.ReplaceAllString(text, "")
		text = inlineCode.ReplaceAllString(link.ReplaceAllString(text, "$1"), "CODE")
		if block == nil {
			block = &passage{kind: kind}
			out = append(out, block)
		}
		block.add(strings.ReplaceAll(text, "**", ""), n)
		if alone {
			block = nil
		}
	}
	return out
}
