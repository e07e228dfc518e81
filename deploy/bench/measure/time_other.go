//go:build !linux

package measure

import "time"

// timeOf returns 0, because the processor time of another process is not
// available on this system.
func timeOf(int) time.Duration { return 0 }
