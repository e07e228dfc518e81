package memory

import "github.com/nodbridge/nod/broker"

// Plant stores a text under the key of a document.
func (s *Store) Plant(k broker.Key, raw string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs[k] = stored{raw: raw}
}
