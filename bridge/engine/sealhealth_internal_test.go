package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestSealHealth checks that a daemon that cannot store the seals of one log for a
// minute says so until it can.
func TestSealHealth(t *testing.T) {
	t.Parallel()
	au := &Audit{}
	down := func() bool { return au.Health().State == bridge.HealthDown && au.Refusals() == 1 }
	au.sealing.tried(3, errors.New("first"))
	if down() {
		t.Error("down after one failure")
	}
	au.sealing.failing[3] = failure{time.Now().Add(-unsealedFor), errors.New("first")}
	au.sealing.tried(4, nil)
	au.sealing.tried(3, errors.New("last"))
	if !down() {
		t.Errorf("after a minute: %+v", au.Health())
	}
	au.sealing.tried(3, nil)
	if down() || au.Refusals() != 0 {
		t.Errorf("sealed again: %+v", au.Health())
	}
}
