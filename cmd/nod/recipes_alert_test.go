package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// notification is a notification of Alertmanager, version 4 of its format.
const notification = `{"version": "4", "groupKey": "{}:{alertname=\"%[1]s\"}", "status": %[2]q, "receiver": "follow-up",
	"groupLabels": {"alertname": %[1]q}, "commonLabels": {"alertname": %[1]q}, "commonAnnotations": {}, "externalURL": "",
	"alerts": [{"status": %[2]q, "labels": {"alertname": %[1]q}, "startsAt": "2026-11-21T14:30:00Z", "fingerprint": "1"}]}`

// alert sends a notification as soon as the receiver listens.
func (k *kitchen) alert(url, body string) {
	k.t.Helper()
	k.r.Eventually("the receiver takes the notification", func() bool {
		resp, err := http.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// choose answers the request about an alert as soon as it is open.
func (k *kitchen) choose(alert, choice string) {
	k.t.Helper()
	reply := bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer(choice)}}
	k.r.Eventually("the request is answered", func() bool {
		page, err := k.r.Person.List(k.t.Context(), bridge.ListFilter{State: bridge.StatePending})
		if err != nil {
			return false
		}
		for _, rec := range page.Items {
			if strings.Contains(rec.Interaction.Prompt, alert) {
				_, err := k.r.Person.Respond(k.t.Context(), rec.Interaction.ID, reply)
				return err == nil
			}
		}
		return false
	})
}

// TestRecipeAlertmanager sends notifications to the receiver. Each choice is
// carried out once.
func TestRecipeAlertmanager(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	k := newKitchen(t, map[string]string{"amtool": `echo "amtool $*" >>done`, "systemctl": `echo "systemctl $*" >>done; [ ! -e fails ]`})
	port := fmt.Sprint(redistest.FreePort(t))
	receiver := rig.ReadFile(t, filepath.Join(recipeFiles, "alertmanager/follow_up.py"))
	receiver = strings.Replace(receiver, "9099", port, 1)
	k.write("follow_up.py", receiver)
	k.write("away.py", strings.Replace(receiver, "nod = Nod()", "nod = Nod(patience=0)", 1))
	packages, err := filepath.Abs("../../deploy/clients/python/src")
	if err != nil {
		t.Fatal(err)
	}
	start := func(program string) func() {
		cmd := exec.CommandContext(t.Context(), python, "-B", program)
		log, err := os.OpenFile(filepath.Join(k.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
		cmd.Dir, cmd.Env = k.dir, append(append(k.nod(), k.env...), "PYTHONPATH="+packages)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() } // the process may have ended
	}
	send := func(name, status string) { k.alert("http://127.0.0.1:"+port, fmt.Sprintf(notification, name, status)) }
	text := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(k.dir, name))
		if err != nil {
			return ""
		}
		return string(raw)
	}
	done := func() string { return text("done") }
	stop := start("follow_up.py")
	send("Resolved", "resolved")
	var both sync.WaitGroup
	for range 8 {
		both.Go(func() { send("Slow", "firing") })
	}
	both.Wait()
	k.choose("Slow", "restart the worker")
	const restarted = "systemctl restart worker\n"
	k.r.Eventually("the worker restarts", func() bool { return done() == restarted })
	stop()
	stop = start("follow_up.py")
	defer func() { stop() }()
	send("Slow", "firing") // again, after a restart
	send("Full", "firing")
	k.choose("Full", "silence for 1h")
	const silenced = "amtool silence add alertname=Full --duration=1h --comment=by nod\n"
	k.r.Eventually("the alert is silenced", func() bool { return done() == restarted+silenced })
	page, err := k.r.Agent.List(t.Context(), bridge.ListFilter{})
	if err != nil || len(page.Items) != 2 {
		t.Errorf("%d requests, want 2: %v", len(page.Items), err)
	}
	k.write("fails", "")
	send("Broken", "firing")
	k.choose("Broken", "restart the worker")
	k.r.Eventually("the failure is reported", func() bool {
		page, err := k.r.Agent.List(t.Context(), bridge.ListFilter{Limit: 1}) // the newest
		return err == nil && len(page.Items) == 1 && page.Items[0].Completion != nil && page.Items[0].Completion.Error != ""
	})
	if n := strings.Count(done(), restarted); n != 2 {
		t.Errorf("the worker was restarted %d times, want 2", n)
	}
	stop()
	k.r.Daemons[0].Stop()
	stop = start("away.py")
	for range 2 { // each notification asks again until one has reached the daemon
		before := strings.Count(text("log"), "no answer: ")
		send("Away", "firing")
		k.r.Eventually("the receiver says that no one was asked", func() bool { return strings.Count(text("log"), "no answer: ") > before })
	}
}
