package core

import (
	"net/http"
	"sync"
)

// Files holds the uploads of bots by ID and serves them as text.
type Files struct{ data sync.Map }

// Put stores a file.
func (f *Files) Put(id string, data []byte) { f.data.Store(id, data) }

// Get returns a file, and reports whether it exists.
func (f *Files) Get(id string) ([]byte, bool) {
	v, ok := f.data.Load(id)
	data, _ := v.([]byte)
	return data, ok
}

// ServeHTTP serves the file whose ID is the path value id.
func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, ok := f.Get(r.PathValue("id"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(data) // the client may have disconnected
}
