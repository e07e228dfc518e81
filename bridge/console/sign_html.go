package console

import (
	_ "embed"
	"html/template"
	"strings"
	"time"
)

//go:embed sign.html
var signFrame string

// page returns the page as HTML with every text escaped. It does not use a
// template, because templates call methods by their names, so the linker would
// have to keep all methods of nod.
func (v signView) page() string {
	title, script, content := "Sign: "+v.Headline, `<script type="module" src="/console/sign.js"></script>`, v.card()
	if v.Done != "" {
		title, script = "Signed", ""
		content = "<h1>Signed</h1>\n" + tag("p", ` id="done" role="status"`, v.Done+" You can close this page.")
	}
	if v.Problem != "" {
		title, script = "Nothing to sign", ""
		content = "<h1>Nothing to sign</h1>\n" + tag("p", ` id="problem"`, v.Problem)
		if v.Hint != "" {
			content += tag("p", ` class="soft"`, v.Hint)
		}
	}
	return strings.NewReplacer("{title}", template.HTMLEscapeString(title), "{script}", script, "{main}", content).Replace(signFrame)
}

// tag returns an element with a text.
func tag(name, attributes, text string) string {
	return "<" + name + attributes + ">" + template.HTMLEscapeString(text) + "</" + name + ">\n"
}

// card returns the request, the decision that the person signs, and the form.
func (v signView) card() string {
	var b strings.Builder
	write := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
		}
	}
	write(`<article class="card sign" aria-labelledby="headline">`, "\n", `<h1 id="headline">`, v.Head, "</h1>\n",
		tag("p", ` class="soft"`, v.From), `<div class="content">`, v.Body, "</div>\n")
	if v.Changed != "" {
		write(tag("h2", "", "With your change"), `<div class="content">`, v.Changed, "</div>\n")
	}
	for _, n := range v.Notes {
		write(tag("p", ` class="soft"`, n))
	}
	write(tag("h2", "", "Your signature"), `<dl class="signed">`, "\n<dt>Decision</dt>", tag("dd", ` id="decision"`, v.Decision))
	if len(v.Covers) > 0 {
		write("<dt>Covers</dt>")
	}
	for _, c := range v.Covers {
		write(tag("dd", "", c))
	}
	write("<dt>Person</dt>", tag("dd", "", v.Person),
		"<dt>Code</dt><dd>", tag("strong", ` id="code"`, v.Code), tag("span", ` class="soft"`, "The card shows the same code."), "</dd>\n",
		"<dt>Link ends</dt><dd>", tag("time", ` datetime="`+v.Expires.Format(time.RFC3339)+`"`, v.Expires.Format("15:04:05 UTC")), "</dd>\n</dl>\n",
		"<details><summary>Digest and ID</summary>", `<dl class="signed">`, "\n<dt>Digest</dt><dd>", tag("code", ` translate="no"`, v.Digest),
		"</dd>\n<dt>Request</dt><dd>", tag("code", ` translate="no"`, string(v.Request)), "</dd>\n</dl></details>\n",
		v.form(), `<p id="problem" class="problem" role="alert" hidden></p>`, "\n", `<p id="done" role="status" tabindex="-1" hidden></p>`, "\n",
		tag("p", ` class="soft"`, "Close this page if you do not want to approve. To deny, use the card."), "</article>\n",
		tag("noscript", "", "This page needs JavaScript to use your passkey."))
	return b.String()
}

// form returns the form that sends the proof.
func (v signView) form() string {
	out := `<form id="sign" data-options="` + template.HTMLEscapeString(v.Options) + `">` + "\n"
	if v.Options != "" {
		out += `<div class="buttons"><button type="submit" class="good" id="passkey">Sign with a passkey</button></div>` + "\n"
	}
	return out + "</form>\n"
}
