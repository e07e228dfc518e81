package webhook

import "testing"

// TestSign checks the signature against the published example of the Standard
// Webhooks libraries.
func TestSign(t *testing.T) {
	t.Parallel()
	h, err := NewHook(HookOptions{Name: "x", URL: "https://example.com", Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	got := h.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}
