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
	part := bridge.AuditPart{Partition: 3}
	au.sealing.tried(part, errors.New("first"))
	if down() {
		t.Error("down after one failure")
	}
	au.sealing.failing[part] = failure{time.Now().Add(-unsealedFor), errors.New("first")}
	au.sealing.tried(bridge.AuditPart{Partition: 3, Linked: true}, nil)
	au.sealing.tried(part, errors.New("last"))
	if !down() {
		t.Errorf("after a minute: %+v", au.Health())
	}
	au.sealing.tried(part, nil)
	if down() || au.Refusals() != 0 {
		t.Errorf("sealed again: %+v", au.Health())
	}
}
