package daemon_test

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// album collects copies of what the page of the sandbox shows, by service and
// group. In the end it lays each group out on one sheet.
type album struct {
	*rig.Rig
	t   *testing.T
	ctx context.Context // of the browser
}

// albumScript copies elements with what is typed, ticked and chosen in them.
//
//go:embed testdata/album.js
var albumScript string

//go:embed testdata/album.css
var albumStyle string

// newAlbum opens the page of the sandbox as ana.
func newAlbum(t *testing.T, r *rig.Rig) *album {
	t.Helper()
	al := &album{Rig: r, t: t, ctx: browser(t)}
	drive(t, al.ctx, "open", chromedp.EmulateViewport(1280, 900), chromedp.Navigate(r.Base), browsing.Seen("#slack"),
		be("ana"), script(fmt.Sprintf("(%s)(%q)", albumScript, albumStyle)))
	return al
}

// keep copies the element that a JavaScript expression finds, once the page
// shows the current state of the sandbox.
func (al *album) keep(service, group, caption, find string) {
	al.t.Helper()
	js := fmt.Sprintf(`(() => {
  if (Number(document.body.dataset.revision) < %d) return false;
  const found = (() => { %s })();
  if (!found) return false;
  window.keepShot(%q, %q, found);
  return true;
})()`, al.Sandbox.State().Revision, find, service+"-"+group, caption)
	await.Until(al.t, fmt.Sprintf("the page shows %q on %s", caption, service), func() bool {
		kept, err := chromedp.Run(al.ctx, chromedp.Evaluate[bool](js))
		if err != nil {
			al.t.Fatalf("%s on %s: %v", caption, service, err)
		}
		return kept
	})
}

// card copies the cards of a request on all services.
func (al *album) card(group, caption string, a rig.Asked) {
	al.t.Helper()
	for _, s := range rig.Services {
		al.message(s, group, caption, a)
	}
}

// message copies the card of a request on one service.
func (al *album) message(service, group, caption string, a rig.Asked) {
	al.t.Helper()
	al.keep(service, group, caption, fmt.Sprintf("return document.querySelector(`#%s article[data-message=%q]`)", service, a.On(service).Message))
}

// says copies the last message or dialog of a service that contains a text.
func (al *album) says(service, group, caption, text string) {
	al.t.Helper()
	al.keep(service, group, caption, fmt.Sprintf(`
		const all = [...document.querySelectorAll("#%s .messages > article, #%[1]s .modal")];
		return all.findLast((e) => e.textContent.includes(%q))`, service, text))
}

// sheets writes each group as a picture, at the width of a screen and of a
// phone, there in the light and the dark theme. Those of the endings are also in
// shades of gray.
func (al *album) sheets(dir string, groups ...string) {
	al.t.Helper()
	for _, s := range rig.Services {
		for _, g := range groups {
			al.sheet(dir, s, g, "desktop", 600, 2, "")
			al.sheet(dir, s, g, "phone", 360, 2, "both")
			if g == "endings" {
				al.sheet(dir, s, g, "gray", 360, 4, "gray")
			}
		}
	}
}

func (al *album) sheet(dir, service, group, device string, width, columns int, look string) {
	al.t.Helper()
	name := service + "-" + group
	drive(al.t, al.ctx, "lay out "+name, script(fmt.Sprintf("layOut(%q, %q, %d, %d, %q)", name, service, width, columns, look)))
	al.shot(filepath.Join(dir, name+"-"+device+".png"))
}

// shot takes the picture of what is laid out.
func (al *album) shot(path string) {
	al.t.Helper()
	size := func(which string) int64 {
		n, err := chromedp.Run(al.ctx, chromedp.Evaluate[float64](`document.querySelector("#sheet").getBoundingClientRect().`+which))
		if err != nil {
			al.t.Fatal(err)
		}
		return int64(n) + 1
	}
	drive(al.t, al.ctx, "resize", chromedp.EmulateViewport(size("width"), size("height")))
	raw, err := chromedp.Run(al.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		al.t.Fatal(err)
	}
	if err := os.WriteFile(path, compact(al.t, raw), 0o644); err != nil {
		al.t.Fatal(err)
	}
}

// apart writes each copy of a group into files of its own, for people who are
// asked what they read: a picture as wide as a phone, and a text, both with a
// number and without a caption. It returns the captions by number.
func (al *album) apart(dir, group string, next *int) (captions string) {
	al.t.Helper()
	for _, s := range rig.Services {
		name := s + "-" + group
		for n := 0; ; n++ {
			layOut := fmt.Sprintf("layOut(%q, %q, 360, 1, '', %d)", name, s, n)
			caption, err := chromedp.Run(al.ctx, chromedp.Evaluate[string](layOut))
			if err != nil {
				al.t.Fatal(err)
			}
			if caption == "" {
				break
			}
			*next++
			file := filepath.Join(dir, fmt.Sprintf("%03d-%s", *next, s))
			al.shot(file + ".png")
			text, err := chromedp.Run(al.ctx, chromedp.Evaluate[string]("asText()"))
			if err == nil {
				err = os.WriteFile(file+".txt", []byte(text+"\n"), 0o644)
			}
			if err != nil {
				al.t.Fatal(err)
			}
			captions += fmt.Sprintf("%03d %s: %s\n", *next, s, caption)
		}
	}
	return captions
}

// compact reduces a picture to its 256 most frequent colors.
func compact(t *testing.T, raw []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[color.RGBA]int{} // by color, rounded
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			counts[rounded(img.At(x, y))]++
		}
	}
	var colors []color.RGBA
	for c := range counts {
		colors = append(colors, c)
	}
	slices.SortFunc(colors, func(a, b color.RGBA) int { return counts[b] - counts[a] })
	palette := color.Palette{}
	for _, c := range colors[:min(len(colors), 256)] {
		palette = append(palette, c)
	}
	small := image.NewPaletted(b, palette)
	nearest := map[color.RGBA]uint8{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := rounded(img.At(x, y))
			n, known := nearest[c]
			if !known {
				n = uint8(palette.Index(c))
				nearest[c] = n
			}
			small.SetColorIndex(x, y, n)
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// rounded returns a color with 5 bits per channel. White and black stay.
func rounded(c color.Color) color.RGBA {
	r, g, b, _ := c.RGBA()
	five := func(v uint32) uint8 { return uint8((v >> 11) * 255 / 31) }
	return color.RGBA{five(r), five(g), five(b), 255}
}
