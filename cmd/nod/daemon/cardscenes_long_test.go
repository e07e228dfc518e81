package daemon_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/render"
)

// abridged returns JavaScript that finds the last message or dialog of a service
// that contains a text, without the middle of its long code.
func abridged(service, text string) string {
	return fmt.Sprintf(`
		const all = [...document.querySelectorAll("#%s .messages > article, #%[1]s .modal")];
		const found = all.findLast((e) => e.textContent.includes(%q));
		if (!found?.querySelector("pre")) return found;
		const copy = found.cloneNode(true);
		const [first, ...more] = copy.querySelectorAll("pre");
		const lines = [first, ...more].flatMap((e) => e.textContent.split("\n"));
		for (const e of more) e.remove();
		if (lines.length > 20)
			lines.splice(6, lines.length - 12, "⋯ the picture leaves out the middle ⋯");
		first.textContent = lines.join("\n");
		first.classList.add("abridged");
		return copy`, service, text)
}

// longCards takes the pictures of requests whose text does not fit on a card, and
// of what opens it.
func longCards(al *album) {
	const g = "long"
	long := strings.Repeat(migration()+"\n", 3)
	script := asks("release-43", long)
	script.Prompt = "Moves the orders to the new table, month by month."
	plain := al.Ask(script)
	al.card(g, "Long script", plain)
	al.keep("telegram", g, "The file above it", fmt.Sprintf(
		"return document.querySelector(`#telegram article[data-message=%q]`).previousElementSibling", plain.On("telegram").Message))
	opened := al.Press("ana", plain.On("slack"), al.ApprovingLabel(plain.On("slack")))
	al.keep("slack", g, "What “Read and run…” opens", abridged("slack", "month"))
	al.close("slack", opened.Modal)

	hidden := asks("release-45", long)
	hidden.Route, hidden.Prompt = "private", script.Prompt
	private := al.Ask(hidden)
	al.card(g, "Private long script", private)
	for _, s := range rig.Services {
		opened := al.Press("ana", private.On(s), render.LabelReview)
		if s == "telegram" {
			drive(al.t, al.ctx, "the private chat", click(s, "nod (private)"))
		}
		al.keep(s, g, "What “Review…” opens", abridged(s, "month"))
		al.close(s, opened.Modal)
	}
	drive(al.t, al.ctx, "the group", click("telegram", "Deploys"))
	al.over(private)
	longPlanCards(al, g)

	huge, err := json.Marshal(map[string]string{"command": strings.Repeat(long, 7)})
	if err != nil {
		al.t.Fatal(err)
	}
	script.Session, script.Approval.Input = "release-46", huge
	al.card(g, "Very long script", al.Ask(script))
}

// longPlanCards takes the pictures of a plan that is too long for a card.
func longPlanCards(al *album, g string) {
	al.t.Helper()
	var steps strings.Builder
	for n := range 120 {
		fmt.Fprintf(&steps, "%d. Move the sessions of shard %d to Redis, compare both stores, and switch its reads\n", n+1, n)
	}
	plan := al.Ask(bridge.Request{Ask: bridge.Ask{
		Session: "sessions-8", Prompt: "Move the sessions to Redis", Timeout: bridge.Duration(19 * time.Hour),
		Questions: []bridge.Question{{ID: "plan", Widget: bridge.WidgetPlanReview, Plan: steps.String()}},
	}})
	al.card(g, "Long plan", plan)
	opened := al.Press("ana", plan.On("slack"), al.ApprovingLabel(plan.On("slack")))
	al.keep("slack", g, "The dialog of a long plan", abridged("slack", "shard 119"))
	al.close("slack", opened.Modal)
}
