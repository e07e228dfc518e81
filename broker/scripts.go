package broker

import (
	"embed"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// scripts are the compiled Lua files; each file's header says what it takes.
type scripts struct {
	open, settle, expire, mark, await, beat, claim, release, lease, audit, grant, vote *redis.Script
}

// loadScripts compiles the files. Those that must work when Redis is out of
// memory, because they end what is already there, say so to a Redis that
// understands it (7 and newer).
func loadScripts(flags bool) (scripts, error) {
	lib, err := luaFiles.ReadFile("lua/lib.lua")
	if err != nil {
		return scripts{}, err
	}
	var failed error
	load := func(name string, allowOOM bool) *redis.Script {
		src, err := luaFiles.ReadFile("lua/" + name + ".lua")
		if err != nil {
			failed = err
		}
		var s strings.Builder
		if flags && allowOOM {
			s.WriteString("#!lua flags=allow-oom\n")
		}
		s.Write(lib)
		s.Write(src)
		return redis.NewScript(s.String())
	}
	return scripts{
		open: load("open", false), settle: load("settle", true), expire: load("expire", true), mark: load("mark", true), await: load("await", true), beat: load("beat", true),
		claim: load("claim", true), release: load("release", true), lease: load("lease", true),
		audit: load("audit", true), grant: load("grant", false), vote: load("vote", true),
	}, failed
}

// keeps reports whether what a script does is to outlive the loss of a master.
func (s scripts) keeps(script *redis.Script) bool {
	return script == s.open || script == s.settle || script == s.vote || script == s.grant
}
