package discord

import (
	"fmt"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// applicationsAPI has the routes of the application and of its bot user.
type applicationsAPI struct{ *guild }

func (api applicationsAPI) me(*call) (int, any, *failure) { return 200, botJSON(), nil }

func (api applicationsAPI) application(c *call) (int, any, *failure) {
	var endpoint any
	if c.endpoint {
		endpoint = "https://elsewhere.example.com/interactions"
	} else if api.opts.URL != "" {
		endpoint = api.opts.URL
	}
	return 200, raw.Object{
		"interactions_endpoint_url": endpoint, "id": Application, "name": "nod", "flags": 0,
		"verify_key": fmt.Sprintf("%x", api.publicKey()), "bot": botJSON(), "description": "", "icon": nil, "summary": "",
		"bot_public": false, "bot_require_code_grant": false, "team": nil, "flags_new": "0",
		"owner": userJSON(api.Members[0]), "rpc_origins": []any{}, "redirect_uris": []any{}, "hook": true, "tags": []any{},
		"approximate_guild_count": 1, "approximate_user_install_count": 0,
	}, nil
}
