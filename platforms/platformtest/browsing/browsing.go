// Package browsing performs the actions of a person in a browser, for tests of
// pages that redraw themselves. Each action looks up its element in the page
// when it runs. In contrast, the actions of chromedp use a copy of the page,
// and wait forever if a redraw makes that copy outdated.
package browsing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/chromedp/chromedp"
)

// Action is a step in the browser.
type Action = chromedp.Action[chromedp.Void]

// again is the time between two lookups in the page.
const again = 20 * time.Millisecond

// find returns the elements of a selector: an XPath expression if it starts
// with / or (, otherwise CSS.
const find = `((s) => {
	if (!/^[/(]/.test(s)) return [...document.querySelectorAll(s)];
	const found = document.evaluate(s, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
	return Array.from({length: found.snapshotLength}, (_, n) => found.snapshotItem(n));
})`

const visible = `((e) => e.getClientRects().length > 0 && e.checkVisibility({visibilityProperty: true}))`

// until waits until a function of the elements returns a value other than null,
// and returns that value.
func until[T any](ctx context.Context, t *chromedp.Target, selector, function string) (T, error) {
	quoted, err := json.Marshal(selector)
	if err != nil {
		return *new(T), err
	}
	js := fmt.Sprintf("((all) => (%s))(%s(%s))", function, find, quoted)
	for {
		got, err := chromedp.Evaluate[*T](js)(ctx, t)
		if got != nil {
			return *got, err
		}
		select {
		case <-ctx.Done():
			return *new(T), fmt.Errorf("%s: %w", selector, ctx.Err())
		case <-time.After(again): // also after an error, because the page may be loading
		}
	}
}

// done returns an action that waits until a function of the elements returns
// true. Before that, the function must return null.
func done(selector, function string) Action {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := until[bool](ctx, t, selector, function)
		return chromedp.Void{}, err
	}
}

// Seen waits until an element is visible.
func Seen(selector string) Action { return done(selector, "all.some("+visible+") || null") }

// Gone waits until the page has no such element.
func Gone(selector string) Action { return done(selector, "all.length === 0 || null") }

// Set waits until a field is visible, and sets its value without an event.
func Set(selector, value string) Action {
	quoted, _ := json.Marshal(value) // a string always has an encoding
	return done(selector, "((e) => e ? (e.value = "+string(quoted)+", true) : null)(all.find("+visible+"))")
}

// Click waits until an element is visible and nothing covers it, and clicks its
// center.
func Click(selector string) Action {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		at, err := until[[2]float64](ctx, t, selector, `(() => {
			const e = all.find(`+visible+`);
			if (!e) return null;
			e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
			const r = [...e.getClientRects()].find((r) => r.width && r.height);
			if (!r) return null;
			const x = r.x + r.width / 2, y = r.y + r.height / 2, top = document.elementFromPoint(x, y);
			return top && (e.contains(top) || top.contains(e)) ? [x, y] : null;
		})()`)
		if err != nil {
			return chromedp.Void{}, err
		}
		return chromedp.MouseClickXY(at[0], at[1])(ctx, t)
	}
}

// Type waits until a field is visible, moves the focus to it, and types a text
// with the keyboard.
func Type(selector, text string) Action {
	focus := done(selector, "((e) => e ? (e.focus(), true) : null)(all.find("+visible+"))")
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		if _, err := focus(ctx, t); err != nil {
			return chromedp.Void{}, err
		}
		return chromedp.KeyEvent(text)(ctx, t)
	}
}
