package broker

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// backupVersion is the version of the format: a header, a line for each key,
// and a trailer, all in JSON.
const backupVersion = 1

const (
	backupBatch = 200      // keys read or written at a time
	backupLine  = 64 << 20 // the longest line that Restore accepts
)

type backupHeader struct {
	Format  string    `json:"format"` // nod backup
	Version int       `json:"version"`
	Prefix  string    `json:"prefix"`
	Created time.Time `json:"created"`
}

type backupKey struct {
	Key     string `json:"k"` // without the prefix
	Expires int64  `json:"x"` // ms since 1970, or 0 for never
	Dump    []byte `json:"d"` // the result of DUMP
}

type backupTrailer struct {
	Keys int    `json:"keys"`
	Sum  string `json:"sha256"` // of all lines before, in hex
}

// Daemons returns the number of daemons that are connected to the deployment
// with a prefix.
func Daemons(ctx context.Context, client redis.UniversalClient, prefix string) (int, error) {
	n := 0
	var mu sync.Mutex
	count := func(ctx context.Context, c *redis.Client) error {
		got, err := c.PubSubChannels(ctx, newKeys(prefix).wakes()).Result()
		mu.Lock()
		n += len(got)
		mu.Unlock()
		return err
	}
	var err error
	if c, ok := client.(*redis.ClusterClient); ok {
		err = c.ForEachShard(ctx, count)
	} else if c, ok := client.(*redis.Client); ok {
		err = count(ctx, c)
	}
	return n, unavailable(err)
}

// Backup writes everything that is stored under a prefix, and returns the
// number of keys. It is the state at one moment only if no daemon is running.
// Leases are left out, because their holders are not restored.
func Backup(ctx context.Context, client redis.UniversalClient, prefix string, to io.Writer) (int, error) {
	sum := sha256.New()
	buffered := bufio.NewWriter(to)
	out := json.NewEncoder(io.MultiWriter(buffered, sum))
	if err := out.Encode(backupHeader{"nod backup", backupVersion, prefix, time.Now().UTC()}); err != nil {
		return 0, err
	}
	total := 0
	var mu sync.Mutex // the masters of a Cluster are read concurrently
	scan := func(ctx context.Context, c *redis.Client) error {
		for cursor := uint64(0); ; {
			names, next, err := c.Scan(ctx, cursor, newKeys(prefix).every(), backupBatch).Result()
			if err != nil {
				return err
			}
			mu.Lock()
			n, err := dump(ctx, c, prefix, names, out)
			total += n
			mu.Unlock()
			if cursor = next; err != nil || cursor == 0 {
				return err
			}
		}
	}
	if err := eachMaster(ctx, client, scan); err != nil {
		return 0, unavailable(err)
	}
	if err := json.NewEncoder(buffered).Encode(backupTrailer{total, hex.EncodeToString(sum.Sum(nil))}); err != nil {
		return 0, err
	}
	return total, buffered.Flush()
}

func dump(ctx context.Context, c *redis.Client, prefix string, names []string, out *json.Encoder) (int, error) {
	type read struct {
		key  string
		dump *redis.StringCmd
		ttl  *redis.DurationCmd
	}
	var all []read
	now := time.Now()
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, name := range names {
			if strings.HasPrefix(name, newKeys(prefix).lease("")) {
				continue
			}
			all = append(all, read{strings.TrimPrefix(name, prefix), p.Dump(ctx, name), p.PTTL(ctx, name)})
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, err
	}
	n := 0
	for _, r := range all {
		k := backupKey{Key: r.key, Dump: []byte(r.dump.Val())}
		if len(k.Dump) == 0 {
			continue // it has expired in the meantime
		}
		if ttl := r.ttl.Val(); ttl > 0 {
			k.Expires = now.Add(ttl).UnixMilli()
		}
		if err := out.Encode(k); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Restore stores what Backup wrote, under a prefix that is not in use yet, and
// returns the number of keys. It refuses an incomplete backup before it writes
// anything.
func Restore(ctx context.Context, client redis.UniversalClient, prefix string, from io.ReadSeeker) (int, error) {
	want, err := checkBackup(from)
	if err != nil {
		return 0, err
	}
	if n, err := client.Exists(ctx, newKeys(prefix).conf()).Result(); err != nil || n > 0 {
		if err != nil {
			return 0, unavailable(err)
		}
		return 0, bridge.Errorf(bridge.CodeConflict, "prefix %q is already in use", prefix).
			WithHint("restore into an empty Redis, or under another redis.prefix")
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	lines := backupLines(from)
	lines.Scan() // the header
	done := 0
	for done < want {
		n := 0
		_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for ; n < backupBatch && done+n < want && lines.Scan(); n++ {
				var k backupKey
				if err := json.Unmarshal(lines.Bytes(), &k); err != nil {
					return err
				}
				args := []any{"RESTORE", prefix + k.Key, k.Expires, k.Dump, "REPLACE"}
				if k.Expires > 0 {
					args = append(args, "ABSTTL")
				}
				p.Do(ctx, args...)
			}
			return nil
		})
		if err != nil {
			return done, bridge.Wrap(bridge.CodeUnavailable, err, "backup restored only in part").
				WithHint("delete the keys under the prefix and retry; Redis cannot restore a backup of a newer Redis")
		}
		done += n
	}
	return done, nil
}

func backupLines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), backupLine)
	return s
}

// checkBackup reads all of a backup and returns the number of its keys.
func checkBackup(from io.Reader) (int, error) {
	broken := func(what string) error {
		return bridge.Errorf(bridge.CodeInvalid, "invalid backup: %s", what).
			WithHint("use another copy of the file; nothing was restored")
	}
	lines, sum := backupLines(from), sha256.New()
	var header backupHeader
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &header) != nil || header.Format != "nod backup" {
		return 0, broken("the header is missing")
	}
	if header.Version != backupVersion {
		return 0, bridge.Errorf(bridge.CodeInvalid, "the backup has the unknown version %d", header.Version).
			WithHint("run the version of nod that wrote it, or a newer one")
	}
	last := append([]byte(nil), lines.Bytes()...)
	n := -1
	for lines.Scan() {
		sum.Write(last)
		sum.Write([]byte("\n"))
		last = append(last[:0], lines.Bytes()...)
		n++
	}
	if err := lines.Err(); err != nil {
		return 0, broken(err.Error())
	}
	var end backupTrailer
	if n < 0 || json.Unmarshal(last, &end) != nil || end.Sum == "" {
		return 0, broken("the end is missing")
	}
	if end.Keys != n || end.Sum != hex.EncodeToString(sum.Sum(nil)) {
		return 0, broken("it was changed or truncated")
	}
	return n, nil
}
