package console

import (
	"testing"

	"github.com/nodbridge/nod/render"
)

// TestHTML checks that each block becomes its element, and that no text becomes
// markup.
func TestHTML(t *testing.T) {
	t.Parallel()
	const evil = `<b a="1">&`
	const safe = `&lt;b a=&#34;1&#34;&gt;&amp;`
	spans := func(s render.Span) []render.Block {
		return []render.Block{{Kind: render.Paragraph, Spans: []render.Span{s}}}
	}
	for name, x := range map[string]struct {
		doc  []render.Block
		want string
	}{
		"paragraph": {[]render.Block{render.Para(evil + "\nb")}, "<p>" + safe + "<br>b</p>"},
		"heading":   {[]render.Block{{Kind: render.Heading, Spans: []render.Span{{Text: evil}}}}, `<p class="heading">` + safe + "</p>"},
		"code":      {[]render.Block{{Kind: render.Code, Text: evil + "\n", Lang: evil}}, `<pre tabindex="0" translate="no"><code>` + safe + "\n</code></pre>"},
		"diff": {[]render.Block{{Kind: render.Code, Text: " a\n-<b>\n+c", Lang: "diff"}}, `<pre tabindex="0" translate="no"><code> a
<span class="del">-&lt;b&gt;
</span><span class="add">+c</span></code></pre>`},
		"bullets": {[]render.Block{{Kind: render.List, Items: [][]render.Block{{render.Para("a")}, {render.Para("b")}}}}, "<ul><li><p>a</p></li><li><p>b</p></li></ul>"},
		"numbers": {[]render.Block{{Kind: render.List, Start: 3, Items: [][]render.Block{{render.Para("c")}}}}, `<ol start="3"><li><p>c</p></li></ol>`},
		"quote":   {[]render.Block{{Kind: render.Quote, Inner: []render.Block{render.Para("q")}}, {Kind: render.Rule}}, "<blockquote><p>q</p></blockquote><hr>"},
		"styles":  {spans(render.Span{Text: "x", Bold: true, Italic: true, Strike: true, Code: true}), `<p><strong><em><s><code translate="no">x</code></s></em></strong></p>`},
		"link": {spans(render.Span{Text: "https://a.example/?x=\"", URL: "https://a.example/?x=\""}),
			`<p><a rel="noreferrer noopener nofollow" target="_blank" href="https://a.example/?x=&#34;">https://a.example/?x=&#34;</a></p>`},
		"script": {spans(render.Span{Text: "x", URL: "javascript:alert(1)"}), "<p>x</p>"},
	} {
		if got := html(x.doc); got != x.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, x.want)
		}
	}
}

// TestSignatures checks that a value that is signed for one purpose is not
// valid for another.
func TestSignatures(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	text, err := sign(key, "session", "x")
	if err != nil {
		t.Fatal(err)
	}
	var v string
	if !verify(key, "session", text, &v) || v != "x" {
		t.Errorf("a signed value reads %q", v)
	}
	if verify(key, "login", text, &v) || verify([]byte("other"), "session", text, &v) || verify(key, "session", text+"=", &v) {
		t.Error("a value for another purpose, of another key or in another form is valid")
	}
	if _, err := sign(key, "session", make(chan int)); err == nil {
		t.Error("a channel was signed")
	}
}
