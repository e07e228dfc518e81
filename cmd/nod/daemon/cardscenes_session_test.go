package daemon_test

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/render"
)

// sessionCards pictures the message of a session while it works, while it waits for
// people, after a stop, and after its end.
func sessionCards(al *album) {
	const g = "sessions"
	report := func(r bridge.SessionReport) {
		al.t.Helper()
		r.Route = "shown"
		if _, err := al.Agent.Report(al.Ctx, "login", r); err != nil {
			al.t.Fatal(err)
		}
	}
	picture := func(caption, words string) {
		for _, s := range rig.Services {
			al.says(s, g, caption, words)
		}
	}
	request := func(command string) rig.Asked {
		req := asks("login", command)
		req.Route = "shown"
		return al.Ask(req)
	}
	report(bridge.SessionReport{
		State: bridge.SessionWorking, Title: "Fix the login", Host: "laptop", Folder: "~/shop", Branch: "main", Step: "Bash: make test",
	})
	picture("The session works", "is working")
	first := request("make deploy")
	al.Approve("ana", first.On("slack"))
	first.End()
	second := request(deletePod)
	al.Press("bo", second.On("slack"), render.LabelDeny)
	second.End()
	third := request("make migrate")
	picture("The session waits for people", "Run make migrate? · Open request")
	al.Press("ana", third.On("slack"), render.LabelDeny)
	third.End()
	if _, err := al.Person.StopSession(al.Ctx, "deploy-bot", "login"); err != nil {
		al.t.Fatal(err)
	}
	picture("The session is stopped", "was stopped by ana")
	if _, err := al.Person.ResumeSession(al.Ctx, "deploy-bot", "login"); err != nil {
		al.t.Fatal(err)
	}
	report(bridge.SessionReport{State: bridge.SessionFinished, Last: "The login works again. All 212 tests pass."})
	picture("The session has ended", "has finished")
}
