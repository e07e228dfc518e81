package passkey

import "time"

// Listed is a key of a person in the form that the API and the console show.
type Listed struct {
	Person       string    `json:"person"`
	ID           string    `json:"id"` // base64url
	Label        string    `json:"label,omitempty"`
	Created      time.Time `json:"created"`
	Used         time.Time `json:"used,omitzero"`    // zero if never used
	Revoked      time.Time `json:"revoked,omitzero"` // zero if valid
	Synchronized bool      `json:"synchronized"`     // the key is copied between devices
}

// List returns keys in the form that the API and the console show.
func List(creds []Credential) []Listed {
	out := []Listed{}
	for _, c := range creds {
		out = append(out, Listed{
			Person: c.Person, ID: c.Name(), Label: c.Label, Created: c.Created, Used: c.Used, Revoked: c.Revoked,
			Synchronized: c.BackedUp,
		})
	}
	return out
}
