package redis

import (
	"context"
	"embed"
	"errors"
	"strings"

	rdb "github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// scripts holds the compiled Lua files. The header of each file lists its keys
// and arguments.
type scripts struct{ do, urgent, claim, release, probe, rights *rdb.Script }

// loadScripts loads each script with load. Scripts that only resolve or deliver
// stored requests must work even when Redis is out of memory.
func loadScripts(load func(allowOOM bool, parts ...string) *rdb.Script) scripts {
	return scripts{
		do: load(false, "job", "do"), urgent: load(true, "job", "do"), claim: load(true, "job", "claim"), release: load(true, "job", "release"),
		probe: load(false, "probe"), rights: load(true, "probe"),
	}
}

// compile returns the scripts for a Redis that supports script flags, or for
// one that does not.
func compile(flags bool) (scripts, error) {
	var failed error
	s := loadScripts(func(allowOOM bool, parts ...string) *rdb.Script {
		text, err := source(parts)
		failed = errors.Join(failed, err)
		if flags && allowOOM {
			text = allowsOOM + text
		}
		return rdb.NewScript(text)
	})
	return s, failed
}

// allowsOOM is the first line of a script that runs when Redis is out of
// memory. Redis 7 and later understand it.
const allowsOOM = "#!lua flags=allow-oom\n"

// source returns the text of a script with the common first part.
func source(parts []string) (string, error) {
	var s strings.Builder
	for _, part := range append([]string{"base"}, parts...) {
		src, err := luaFiles.ReadFile("lua/" + part + ".lua")
		if err != nil {
			return "", err
		}
		s.Write(src)
	}
	return s.String(), nil
}

// scriptFlags reports whether Redis understands script flags. It tries a script
// with flags, because INFO, which returns the version, may be forbidden.
func scriptFlags(ctx context.Context, c rdb.UniversalClient) (bool, error) {
	err := c.Eval(ctx, allowsOOM+"return 1", nil).Err()
	if err != nil && strings.Contains(err.Error(), "compiling") {
		return false, nil
	}
	return err == nil, err
}
