package broker

import (
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
	inbox, wake, seal, trim, archive, swap, turn, hold                                               *redis.Script
}

// loadScripts compiles the files. Scripts that only resolve or deliver what is
// already stored must work even when Redis is out of memory. They declare that
// to a Redis that supports flags (7 and newer).
func loadScripts(flags bool) (scripts, error) {
	var failed error
	load := func(name string, allowOOM bool) *redis.Script {
		var s strings.Builder
		if flags && allowOOM {
			s.WriteString("#!lua flags=allow-oom\n")
		}
		for _, part := range []string{"base", "lib", name} {
			src, err := luaFiles.ReadFile("lua/" + part + ".lua")
			failed = errors.Join(failed, err)
			s.Write(src)
		}
		return redis.NewScript(s.String())
	}
	return scripts{
		open: load("open", false), settle: load("settle", true), expire: load("expire", true),
		mark: load("mark", true), await: load("await", true), beat: load("beat", true),
		claim: load("claim", true), release: load("release", true), lease: load("lease", true),
		audit: load("audit", true), grant: load("grant", false), stop: load("stop", true), report: load("report", false), vote: load("vote", true), inbox: load("inbox", false),
		wake: load("wake", true), seal: load("seal", true), trim: load("trim", true), archive: load("archive", true), swap: load("swap", true),
		turn: load("turn", true), hold: load("hold", true),
	}, failed
}

// keeps reports whether the result of a script must survive the loss of a
// master.
func (s scripts) keeps(script *redis.Script) bool {
	return script == s.open || script == s.settle || script == s.vote || script == s.grant || script == s.stop || script == s.inbox
}
