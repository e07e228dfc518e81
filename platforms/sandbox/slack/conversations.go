package slack

import (
	"net/http"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// conversationsAPI has the methods conversations.*.
type conversationsAPI struct{ *workspace }

func (api conversationsAPI) info(_ *http.Request, a raw.Object) raw.Object {
	c := api.channels[raw.Str(a, "channel")]
	if c == nil {
		return failure("channel_not_found")
	}
	return raw.Object{"channel": raw.Object{"id": c.ID, "name": c.Name, "is_member": true, "is_im": c.User != ""}}
}

func (api conversationsAPI) open(_ *http.Request, a raw.Object) raw.Object {
	user, _, _ := strings.Cut(raw.Str(a, "users"), ",")
	c := api.channel(user)
	if c == nil {
		return failure("user_not_found")
	}
	return raw.Object{"channel": raw.Object{"id": c.ID}}
}

func (api conversationsAPI) history(_ *http.Request, a raw.Object) raw.Object {
	c := api.channels[raw.Str(a, "channel")]
	if c == nil {
		return failure("channel_not_found")
	}
	return raw.Object{"messages": c.Newest(maxHistory), "has_more": false}
}
