package slack

import (
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// filesAPI has the methods files.*.
type filesAPI struct{ *workspace }

// file is an upload of the bot.
type file struct {
	id, name, title string
	size            int // that the bot announced
	complete        bool
}

// json returns the file in the format of the API. Base is the address of the
// sandbox.
func (f *file) json(base string) raw.Object {
	kind := strings.TrimPrefix(path.Ext(f.name), ".")
	if kind == "" {
		kind = "text"
	}
	link := base + "/slack/files/" + f.id
	return raw.Object{
		"id": f.id, "name": f.name, "title": f.title, "size": f.size, "user": BotUser, "filetype": kind, "mode": "hosted",
		"is_public": true, "url_private": link, "url_private_download": link, "permalink": link,
	}
}

// uploadURL reserves a file and returns where the bot sends its content.
func (api filesAPI) uploadURL(_ *http.Request, a raw.Object) raw.Object {
	name := raw.Str(a, "filename")
	n, err := strconv.Atoi(raw.Text(a["length"]))
	if name == "" || err != nil || n <= 0 {
		return missing("filename")
	}
	f := &file{id: "F0" + strconv.FormatInt(api.Next(), 10), name: name, title: name, size: n}
	api.files[f.id] = f
	return raw.Object{"upload_url": api.base() + "/slack/upload/" + f.id, "file_id": f.id}
}

// upload takes the content of a file: the body of the request, or the first
// file of a form.
func (w *workspace) upload(rw http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	w.Lock()
	f := w.files[id]
	w.Unlock()
	if f == nil {
		http.Error(rw, "not_found", http.StatusNotFound)
		return
	}
	data, err := received(r)
	if err != nil || len(data) != f.size {
		http.Error(rw, "wrong length", http.StatusBadRequest)
		return
	}
	w.uploads.Put(id, data)
	_, _ = fmt.Fprintf(rw, "OK - %d", len(data)) // the bot has gone
}

func received(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return io.ReadAll(r.Body)
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	part, err := parts.NextPart()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(part)
}

// complete shares uploaded files in a message.
func (api filesAPI) complete(r *http.Request, a raw.Object) raw.Object {
	all := raw.Objects(a, "files")
	if len(all) == 0 {
		return missing("files")
	}
	shared, answer := []any{}, []any{}
	for _, o := range all {
		f := api.files[raw.Str(o, "id")]
		if f == nil || f.complete {
			return failure("file_not_found")
		}
		if _, uploaded := api.uploads.Get(f.id); !uploaded {
			return failure("file_upload_not_complete")
		}
		f.complete = true
		if title := raw.Str(o, "title"); title != "" {
			f.title = title
		}
		shared = append(shared, f.json(api.base()))
		answer = append(answer, raw.Object{"id": f.id, "title": f.title})
	}
	if id := raw.Str(a, "channel_id"); id != "" {
		c := api.channels[id]
		if c == nil {
			return failure("channel_not_found")
		}
		m := api.message()
		m["text"], m["files"], m["upload"] = raw.Str(a, "initial_comment"), shared, true
		if blocks := raw.List(a, "blocks"); len(blocks) > 0 {
			if bad := content(a, m); bad != nil {
				return bad
			}
		}
		if bad := chatAPI(api).reply(c, a, m); bad != nil {
			return bad
		}
		c.Add(m)
		api.Touch()
	}
	return raw.Object{"files": answer}
}

func (api filesAPI) info(_ *http.Request, a raw.Object) raw.Object {
	f := api.files[raw.Str(a, "file")]
	if f == nil || !f.complete {
		return failure("file_not_found")
	}
	return raw.Object{"file": f.json(api.base())}
}

// delete deletes a file. The messages that share it lose it.
func (api filesAPI) delete(_ *http.Request, a raw.Object) raw.Object {
	id := raw.Str(a, "file")
	if api.files[id] == nil {
		return failure("file_not_found")
	}
	delete(api.files, id)
	for _, c := range api.channels {
		for _, m := range c.Messages {
			left := []any{}
			for _, f := range raw.Objects(m, "files") {
				if raw.Str(f, "id") != id {
					left = append(left, f)
				}
			}
			if m["files"] != nil {
				m["files"] = left
			}
		}
	}
	api.Touch()
	return raw.Object{}
}
