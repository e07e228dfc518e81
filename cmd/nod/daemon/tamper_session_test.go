package daemon_test

import (
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/rooms/session"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

func stopScene(x rig.Intruder) scene {
	req, another := inSession(), inSession()
	stop := func(req bridge.Request) string {
		opensOne(x, req, "")
		return x.Made("stop", func() {
			_, err := x.Person.StopSession(x.Ctx, "tester", req.Session)
			must(x, err)
		})
	}
	return scene{
		id: stop(req), other: x.Stored("stop", stop(another)), forge: [2]string{req.Session, "elsewhere"},
		next: func() {
			_, err := x.Person.ResumeSession(x.Ctx, "tester", req.Session)
			must(x, err)
		},
		says: func() string {
			rec, err := x.Agent.Open(x.Ctx, req, "")
			return outcomeOf(err, string(rec.State))
		},
	}
}

func reportScene(x rig.Intruder) scene {
	reports := session.NewReports(x.Daemons[0].Documents())
	session := samples.Session()
	report := func(session, title string) string {
		_, err := x.Agent.Report(x.Ctx, session, bridge.SessionReport{State: bridge.SessionWorking, Title: title})
		must(x, err)
		return "tester\x00" + session
	}
	return scene{
		id: report(session, "Fix it"), other: x.Stored("report", report(session+"-other", "Drop it")), forge: [2]string{"Fix it", "Drop it"},
		next: func() { report(session, "Test it") },
		says: func() string {
			s, _, err := reports.Reported(x.Ctx, "tester", session)
			return outcomeOf(err, s.Title)
		},
	}
}

// steered writes a message to a session, and returns the ID of the document of a kind
// that it brings about.
func steered(x rig.Intruder, kind, session, text string) string {
	x.T.Helper()
	req := samples.Approval()
	req.Session = session
	opensOne(x, req, "")
	return x.Made(kind, func() {
		_, err := x.Person.Steer(x.Ctx, "tester", session, text)
		must(x, err)
	})
}

// taken returns the messages that the agent takes, and acknowledges.
func taken(x rig.Intruder, session string) string {
	x.T.Helper()
	all, err := x.Agent.TakeMessages(x.Ctx, session, client.Taking{Reader: "r"})
	must(x, err)
	var texts []string
	for _, m := range all {
		texts = append(texts, m.Steering.Text)
		must(x, x.Agent.Acknowledge(x.Ctx, session, m.ID))
	}
	return strings.Join(texts, ", ")
}

func inboxScene(x rig.Intruder) scene {
	session := samples.Session()
	id := steered(x, "inbox", session, "first")
	return scene{
		id: id, other: x.Stored("inbox", steered(x, "inbox", session+"-other", "rm -rf /")), forge: [2]string{`"last":"2`, `"last":"9`},
		next: func() { taken(x, session) }, says: func() string { return taken(x, session) },
	}
}

func messageScene(x rig.Intruder) scene {
	session := samples.Session()
	id := steered(x, "message", session, "first")
	return scene{
		id: id, other: x.Stored("message", steered(x, "message", session+"-other", "rm -rf /")), forge: [2]string{"first", "rm -rf /"},
		next: func() {
			_, err := x.Agent.TakeMessages(x.Ctx, session, client.Taking{Reader: "r"})
			must(x, err)
		},
		says: func() string { return taken(x, session) },
	}
}
