package audit

import (
	"errors"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestSealHealth checks that a daemon that cannot store the seals for a minute says
// so until it can.
func TestSealHealth(t *testing.T) {
	t.Parallel()
	au := &Log{}
	down := func() bool { return au.Health().State == bridge.HealthDown }
	au.sealing.tried(errors.New("first"))
	if down() {
		t.Error("down after one failure")
	}
	au.sealing.since = time.Now().Add(-unsealedFor)
	au.sealing.tried(errors.New("last"))
	if !down() {
		t.Errorf("after a minute: %+v", au.Health())
	}
	au.sealing.tried(nil)
	if down() {
		t.Errorf("sealed again: %+v", au.Health())
	}
}
