package proof

import "sync"

// receiptsKnown is the size of one generation of the cache. It is more than a
// daemon decides between two seals, which need the receipts again.
const receiptsKnown = 4096

// receiptCache remembers the complete text of receipts that this process has
// signed or verified, so that each signature is checked only once. It has two
// generations, so that it stays small.
type receiptCache struct {
	mu       sync.Mutex
	now, old map[string]string // payloads that can be compared
}

func newReceiptCache() *receiptCache { return &receiptCache{now: map[string]string{}} }

func (c *receiptCache) get(token string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	claims, ok := c.now[token]
	if !ok {
		if claims, ok = c.old[token]; ok {
			c.put(token, claims)
		}
	}
	return claims, ok
}

func (c *receiptCache) add(token, claims string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(token, claims)
}

func (c *receiptCache) put(token, claims string) {
	if len(c.now) >= receiptsKnown {
		c.old, c.now = c.now, make(map[string]string, receiptsKnown)
	}
	c.now[token] = claims
}
