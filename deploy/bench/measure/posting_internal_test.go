package measure

import (
	"testing"
	"time"
)

// TestIdealSchedule checks the schedule that posting is compared with.
func TestIdealSchedule(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := service{name: "chat", channels: 2, calls: 1}
	s.channel, s.all = rate{2, 10 * time.Second, false}, rate{3, time.Second, false}
	var cards []card
	for k := range 8 {
		cards = append(cards, card{channel: k % 2, asked: began})
	}
	want := []time.Duration{0, 0, 0, time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second, 11 * time.Second}
	for n, c := range s.ideal(cards) {
		if got := c.took - postTime; got != want[n] {
			t.Errorf("card %d after %s, want %s", n, got, want[n])
		}
	}
	s.channel, s.all = rate{2, 4 * time.Second, true}, rate{100, time.Second, false}
	for n, c := range s.ideal(cards[:6]) {
		want := []time.Duration{0, 0, 0, 0, 2 * time.Second, 2 * time.Second}
		if got := c.took - postTime; got != want[n] {
			t.Errorf("steady: card %d after %s, want %s", n, got, want[n])
		}
	}
}
