package daemon

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestEmbeddedPassword checks that the embedded Redis takes no one else's
// commands.
func TestEmbeddedPassword(t *testing.T) {
	t.Parallel()
	client, stop, err := EmbeddedRedis()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	bare := redis.NewClient(&redis.Options{Addr: client.(*redis.Client).Options().Addr})
	defer bare.Close()
	if err := bare.Ping(t.Context()).Err(); err == nil {
		t.Error("it takes commands without a password")
	}
}
