package core

import (
	"fmt"
	"slices"
)

// Account is the account of a member on one service.
type Account struct {
	Key  string // name of the member in the control API
	Name string
	ID   string
}

// Base is the common part of an emulator: its name, the hub, the members and
// their groups, and the conversations. The lock of the hub guards the groups
// and the conversations.
type Base struct {
	*Hub
	Members []Account
	Chats   map[string]*Chat
	name    string
	groups  map[string][]string // keys of members
}

// NewBase returns the base of the emulator of a service.
func NewBase(h *Hub, name string, members []Account) *Base {
	return &Base{Hub: h, Members: members, Chats: map[string]*Chat{}, name: name, groups: map[string][]string{}}
}

// Name returns the name of the service.
func (b *Base) Name() string { return b.name }

// Member returns the member with a key.
func (b *Base) Member(key string) (Account, error) {
	for _, m := range b.Members {
		if m.Key == key {
			return m, nil
		}
	}
	return Account{}, fmt.Errorf("there is no member %q", key)
}

// ByID returns the member with an ID on the service, and reports whether it
// exists.
func (b *Base) ByID(id string) (Account, bool) {
	for _, m := range b.Members {
		if m.ID == id {
			return m, true
		}
	}
	return Account{}, false
}

// SetGroup sets the members of a group of the service.
func (b *Base) SetGroup(group string, members ...string) {
	b.Lock()
	defer b.Unlock()
	b.groups[group] = members
}

// InGroup returns the members of a group, and reports whether SetGroup has set
// them. The caller holds the lock.
func (b *Base) InGroup(group string) ([]Account, bool) {
	keys, known := b.groups[group]
	var out []Account
	for _, m := range b.Members {
		if slices.Contains(keys, m.Key) {
			out = append(out, m)
		}
	}
	return out, known
}

// GroupsOf returns the groups of a member. The caller holds the lock.
func (b *Base) GroupsOf(m Account) []string {
	out := []string{}
	for group, keys := range b.groups {
		if slices.Contains(keys, m.Key) {
			out = append(out, group)
		}
	}
	return out
}

// CannotDo returns the error for an action that the service does not support.
func (b *Base) CannotDo(do string) error { return fmt.Errorf("%s: cannot %q", b.name, do) }

// Errorf returns an error that names the service.
func (b *Base) Errorf(format string, args ...any) error {
	return fmt.Errorf(b.name+": "+format, args...)
}
