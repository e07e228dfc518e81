package telegram

import (
	"maps"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

func (api messagesAPI) sendDocument(a arguments) (any, *failure) {
	return api.post(a, func(m raw.Object) *failure { return api.setDocument(m, a, "document") })
}

// setDocument sets the file in a parameter, and the caption, on a message.
func (api messagesAPI) setDocument(m raw.Object, a arguments, key string) *failure {
	document, bad := api.document(a, key)
	if bad != nil {
		return bad
	}
	if bad := api.compose(m, a, "caption", maxCaption); bad != nil {
		return bad
	}
	if !a.strip {
		m["document"] = document
	}
	return nil
}

// document returns the file in a parameter: an upload, which may be in a field
// with another name, or a file that the server already has.
func (api messagesAPI) document(a arguments, key string) (raw.Object, *failure) {
	named := a.text(key)
	field, attached := strings.CutPrefix(named, "attach://")
	if !attached {
		field = key
	}
	f, uploaded := a.files[field]
	switch {
	case !uploaded && named == "" || !uploaded && attached:
		return nil, badRequest("there is no document in the request")
	case !uploaded:
		if known := api.documents[named]; known != nil {
			return raw.Copy(known), nil
		}
		return nil, badRequest("wrong file identifier/HTTP URL specified")
	case len(f.data) == 0:
		return nil, badRequest("file must be non-empty")
	}
	if a.truncate {
		f.data = f.data[:len(f.data)/2]
	}
	id := "F" + strconv.FormatInt(api.Next(), 10)
	api.files.Put(id, f.data)
	api.documents[id] = raw.Object{
		"file_id": id, "file_unique_id": id, "file_name": f.name, "file_size": len(f.data), "url": "/telegram/files/" + id,
	}
	return raw.Copy(api.documents[id]), nil
}

// rewriteMedia replaces the file and the caption of a message. A text message
// becomes a document.
func (api messagesAPI) rewriteMedia(m raw.Object, a arguments) *failure {
	var media raw.Object
	if err := a.structure("media", &media); err != nil || media == nil {
		return badRequest("can't parse input media JSON object")
	}
	if kind := raw.Str(media, "type"); kind != "document" {
		return badRequest("can't parse InputMedia: type %q is unsupported", kind)
	}
	inner := a
	inner.values = maps.Clone(media)
	for _, key := range []string{"text", "entities", "detected_mentions", "preview", "caption", "caption_entities", "document"} {
		delete(m, key)
	}
	return api.setDocument(m, inner, "media")
}
