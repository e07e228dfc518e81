package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// State is everything people see, for the page and for tests.
type State struct {
	Revision int64         `json:"revision"`
	Members  []Member      `json:"members"`
	Slack    SlackState    `json:"slack"`
	Discord  DiscordState  `json:"discord"`
	Telegram TelegramState `json:"telegram"`
}

// SlackState is what the workspace shows.
type SlackState struct {
	Connections int         `json:"connections"`
	Channels    []ChatState `json:"channels"`
	Views       []ViewState `json:"views"`
}

// DiscordState is what the guild shows.
type DiscordState struct {
	Connections int         `json:"connections"`
	Channels    []ChatState `json:"channels"`
	Modals      []ViewState `json:"modals"`
	NoEmbeds    []string    `json:"no_embeds"` // users whose client shows no embeds
}

// TelegramState is what the chats show.
type TelegramState struct {
	Polling bool        `json:"polling"`
	Handed  int         `json:"handed"` // updates given out so far, repeats included
	Chats   []ChatState `json:"chats"`
}

// ChatState is one channel or chat. Messages are as the service's API has
// them.
type ChatState struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	User     string         `json:"user,omitempty"`   // of a direct message
	Parent   string         `json:"parent,omitempty"` // of a thread
	Messages []object       `json:"messages"`
	Private  []PrivateState `json:"private,omitempty"`
}

// PrivateState is a message that one user sees.
type PrivateState struct {
	User    string `json:"user"`
	Message object `json:"message"`
}

// ViewState is an open modal.
type ViewState struct {
	ID     string            `json:"id"`
	User   string            `json:"user"`
	View   object            `json:"view"`
	Errors map[string]string `json:"errors,omitempty"`
}

// State returns a copy of what people see.
func (s *Sandbox) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{
		Revision: s.revision, Members: slices.Clone(s.members),
		Slack: s.slack.state(), Discord: s.discord.state(), Telegram: s.telegram.state(),
	}
}

func copies(messages []object) []object {
	out := make([]object, len(messages))
	for n, m := range messages {
		out[n] = cloneObject(m)
	}
	return out
}

func byID(a, b ChatState) int { return strings.Compare(a.ID, b.ID) }

func (w *slackWorld) state() SlackState {
	st := SlackState{Connections: len(w.sockets), Channels: []ChatState{}, Views: []ViewState{}}
	for _, c := range w.channels {
		cs := ChatState{ID: c.ID, Name: c.Name, User: c.User, Messages: copies(c.Messages)}
		for _, p := range c.Private {
			cs.Private = append(cs.Private, PrivateState{p.User, cloneObject(p.Message)})
		}
		st.Channels = append(st.Channels, cs)
	}
	slices.SortFunc(st.Channels, byID)
	for _, v := range w.views {
		st.Views = append(st.Views, ViewState{v.ID, v.User, cloneObject(v.View), v.Errors})
	}
	return st
}

func (w *discordWorld) state() DiscordState {
	st := DiscordState{Connections: len(w.connected()), Channels: []ChatState{}, Modals: []ViewState{}, NoEmbeds: slices.Sorted(maps.Keys(w.noEmbeds))}
	for _, c := range w.channels {
		cs := ChatState{ID: c.ID, Name: c.Name, User: c.User, Parent: c.Parent, Messages: copies(c.Messages)}
		for _, p := range c.Private {
			cs.Private = append(cs.Private, PrivateState{p.User, cloneObject(p.Message)})
		}
		st.Channels = append(st.Channels, cs)
	}
	slices.SortFunc(st.Channels, byID)
	for _, m := range w.modals {
		st.Modals = append(st.Modals, ViewState{ID: m.ID, User: m.User, View: cloneObject(m.Data)})
	}
	return st
}

func (w *telegramWorld) state() TelegramState {
	st := TelegramState{Polling: w.pollers > 0 || w.webhook != "", Handed: w.handed, Chats: []ChatState{}}
	for _, c := range w.chats {
		cs := ChatState{ID: fmt.Sprint(c.ID), Name: c.Title, Messages: copies(c.Messages)}
		if c.User != 0 {
			cs.User = fmt.Sprint(c.User)
		}
		st.Chats = append(st.Chats, cs)
	}
	slices.SortFunc(st.Chats, byID)
	return st
}

// Disconnect ends the connections of a service as the service itself does.
// Code is the close code of Discord's gateway; 0 asks to reconnect.
func (s *Sandbox) Disconnect(service string, code int) error {
	switch service {
	case "slack":
		s.slack.disconnect(s.ctx, "refresh_requested")
	case "discord":
		s.discord.disconnect(s.ctx, code)
	default:
		return fmt.Errorf("%s has no connections to end", service)
	}
	return nil
}

func (s *Sandbox) controlRoutes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /control/state", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, s.State()) })
	m.HandleFunc("GET /control/stream", s.stream)
	m.HandleFunc("POST /control/act", func(w http.ResponseWriter, r *http.Request) {
		var a Action
		if !decode(w, r, &a) {
			return
		}
		reaction, err := s.Act(r.Context(), a)
		if err != nil {
			writeJSON(w, http.StatusUnprocessableEntity, object{"error": err.Error()})
			return
		}
		writeJSON(w, 200, reaction)
	})
	m.HandleFunc("POST /control/faults", func(w http.ResponseWriter, r *http.Request) {
		var f Fault
		if decode(w, r, &f) {
			s.AddFault(f)
			writeJSON(w, 200, object{"ok": true})
		}
	})
	m.HandleFunc("DELETE /control/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFaults()
		writeJSON(w, 200, object{"ok": true})
	})
	m.HandleFunc("POST /control/disconnect", func(w http.ResponseWriter, r *http.Request) {
		var d struct {
			Service string `json:"service"`
			Code    int    `json:"code"`
		}
		if !decode(w, r, &d) {
			return
		}
		if err := s.Disconnect(d.Service, d.Code); err != nil {
			writeJSON(w, http.StatusUnprocessableEntity, object{"error": err.Error()})
			return
		}
		writeJSON(w, 200, object{"ok": true})
	})
	// Pages of other origins must not act here.
	return http.NewCrossOriginProtection().Handler(m)
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		writeJSON(w, http.StatusBadRequest, object{"error": err.Error()})
		return false
	}
	return true
}

// stream sends the state as server-sent events, at most about 20 a second.
func (s *Sandbox) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	rc := http.NewResponseController(w)
	for {
		s.mu.Lock()
		ch := s.changed
		s.mu.Unlock()
		raw, err := json.Marshal(s.State())
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", raw); err != nil || rc.Flush() != nil {
			return
		}
		select {
		case <-ch:
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
		if !sleep(r.Context(), 50*time.Millisecond) {
			return
		}
	}
}
