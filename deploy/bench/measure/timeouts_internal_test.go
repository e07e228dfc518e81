package measure

import (
	"errors"
	"testing"
	"time"
)

// TestInTime checks that a measurement is repeated with a later deadline if the
// requests were not open by then, but not endlessly.
func TestInTime(t *testing.T) {
	t.Parallel()
	var rooms []time.Duration
	attempt := func(late int) error {
		rooms = nil
		return inTime(1500, func(first time.Time) error {
			rooms = append(rooms, time.Until(first).Round(time.Second))
			if len(rooms) <= late {
				return errors.Join(errLate, nil)
			}
			return nil
		})
	}
	if err := attempt(2); err != nil || len(rooms) != 3 || rooms[2] != 5*time.Second {
		t.Errorf("%v, after %v", err, rooms)
	}
	if err := attempt(100); !errors.Is(err, errLate) || len(rooms) != 7 {
		t.Errorf("%v, after %v", err, rooms)
	}
}
