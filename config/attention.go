package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/timespan"
)

// Defaults of Route.Mention and Route.Preview, and a value of Route.Payload.
const (
	MentionResponders = "responders"
	PreviewFull       = "full"
	PayloadPrivate    = "private"
)

// defaultRemind is the default of Route.Remind, in percent.
const defaultRemind = 75

// RemindAfter returns the time of Route.Remind: a share of the timeout in
// percent, or a duration. Both are zero if there is no reminder.
func (r Route) RemindAfter() (percent int, d time.Duration, err error) {
	switch {
	case r.Remind == "" && len(r.Escalation) == 0:
		return defaultRemind, 0, nil
	case r.Remind == "" || r.Remind == "off":
		return 0, 0, nil
	}
	if share, ok := strings.CutSuffix(r.Remind, "%"); ok {
		percent, err = strconv.Atoi(share)
		if err != nil || percent < 1 || percent > 99 {
			return 0, 0, fmt.Errorf("invalid share %q (1%% to 99%%)", r.Remind)
		}
		return percent, 0, nil
	}
	if d, err = timespan.Parse(r.Remind); err != nil || d <= 0 {
		return 0, 0, fmt.Errorf("invalid value %q (such as 75%%, 10m or off)", r.Remind)
	}
	return 0, d, nil
}
