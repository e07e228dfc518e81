package broker

import (
	"context"
	"embed"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// scripts holds the compiled Lua files. The header of each file lists its keys
// and arguments.
type scripts struct {
	open, settle, expire, mark, await, beat, claim, release, lease, audit, grant, stop, report, vote *redis.Script
	inbox, wake, seal, trim, archive, swap, turn, hold, probe, rights                                *redis.Script
}

// loadScripts loads each script with load. Scripts that only resolve or deliver
// what is already stored must work even when Redis is out of memory.
func loadScripts(load func(name string, allowOOM bool) *redis.Script) scripts {
	return scripts{
		open: load("open", false), settle: load("settle", true), expire: load("expire", true),
		mark: load("mark", true), await: load("await", true), beat: load("beat", true),
		claim: load("claim", true), release: load("release", true), lease: load("lease", true),
		audit: load("audit", true), grant: load("grant", false), stop: load("stop", true), report: load("report", false), vote: load("vote", true), inbox: load("inbox", false),
		wake: load("wake", true), seal: load("seal", true), trim: load("trim", true), archive: load("archive", true), swap: load("swap", true),
		turn: load("turn", true), hold: load("hold", true), probe: load("probe", false), rights: load("probe", true),
	}
}

// compile returns the scripts for a Redis with or without flags of scripts.
func compile(flags bool) (scripts, error) {
	var failed error
	s := loadScripts(func(name string, allowOOM bool) *redis.Script {
		text, err := source(name)
		failed = errors.Join(failed, err)
		if flags && allowOOM {
			text = allowsOOM + text
		}
		return redis.NewScript(text)
	})
	return s, failed
}

// allowsOOM is the first line of a script that runs when Redis is out of memory.
// Redis 7 and newer understand it.
const allowsOOM = "#!lua flags=allow-oom\n"

// source returns the text of a script, with what every script begins with.
func source(name string) (string, error) {
	var s strings.Builder
	for _, part := range []string{"base", "lib", name} {
		src, err := luaFiles.ReadFile("lua/" + part + ".lua")
		if err != nil {
			return "", err
		}
		s.Write(src)
	}
	return s.String(), nil
}

// scriptFlags reports whether Redis understands flags of scripts. It tries one,
// because INFO, which has the version, may be forbidden.
func scriptFlags(ctx context.Context, c redis.UniversalClient) (bool, error) {
	err := c.Eval(ctx, allowsOOM+"return 1", nil).Err()
	if err != nil && strings.Contains(err.Error(), "compiling") {
		return false, nil
	}
	return err == nil, err
}

// keeps reports whether the result of a script must survive the loss of a
// master.
func (s scripts) keeps(script *redis.Script) bool {
	return script == s.open || script == s.settle || script == s.vote || script == s.grant || script == s.stop || script == s.inbox
}
