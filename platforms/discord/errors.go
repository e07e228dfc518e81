package discord

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms"
)

// unnamedPause is the pause after a rate limit error without a wait time.
const unnamedPause = 20 * time.Second

// Errors is the table of the errors of Discord's API, by JSON code or by HTTP
// status: docs.discord.com/developers/topics/opcodes-and-status-codes.
var Errors = platforms.Table{
	{About: platforms.AboutService, Errors: []string{
		"500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout",
		"130000 API resource is currently overloaded", "40004 Send messages has been temporarily disabled",
	}},
	{About: platforms.AboutService, Errors: []string{"40333 Cloudflare is blocking your request"},
		Fix: "if this continues, find out why Discord blocks the address of the daemon"},
	{About: platforms.AboutLimit, Errors: []string{
		"429 Too Many Requests", "20028 The channel you are writing has hit the write rate limit",
		"20029 The write action you are performing on the server has hit the write rate limit",
		"40003 You are opening direct messages too fast", "40062 Service resource is being rate limited",
	}, Wait: time.Second},
	{About: platforms.AboutLimit, Errors: []string{
		"20016 This action cannot be performed due to slowmode rate limit",
		"20022 This message cannot be edited due to announcement rate limits",
		"30046 Maximum number of edits to messages older than 1 hour reached",
	}, Wait: unnamedPause},
	{About: platforms.AboutAccount, Errors: []string{
		"401 Unauthorized", "40001 Unauthorized", "50014 Invalid authentication token provided",
	}, Fix: "reset the bot's token and set DISCORD_BOT_TOKEN"},
	{About: platforms.AboutRival, Errors: []string{"40060 Interaction has already been acknowledged"},
		Fix: "find the other program that uses this token, and give it an application of its own"},
	{About: platforms.AboutNothing, Errors: []string{"160004 A thread has already been created for this message"}},
	{About: platforms.AboutSetting, Errors: []string{"50083 Tried to perform an operation on an archived thread"}},
	{About: platforms.AboutThread, Errors: []string{
		"160005 Thread is locked", "160006 Maximum number of active threads reached", "160007 Maximum number of active announcement threads reached",
	}, Fix: "unlock the thread"},
	{About: platforms.AboutDeleted, Errors: []string{"10008 Unknown Message"}},
	{About: platforms.AboutFrozen, Errors: []string{
		"50005 Cannot edit a message authored by another user", "50021 Cannot execute action on a system message",
	}},
	{About: platforms.AboutLate, Errors: []string{
		"10062 Unknown interaction", "10015 Unknown webhook", "50027 Invalid webhook token provided",
		"40094 This interaction reached the maximum number of follow-up messages",
	}},
	{About: platforms.AboutPerson, Errors: []string{
		"10007 Unknown member", "10013 Unknown user", "50007 Cannot send messages to this user",
		"50278 Cannot send messages to this user due to having no mutual guilds",
	}, Fix: "have the person join the server of the bot and allow direct messages from its members"},
	{About: platforms.AboutPermission, Errors: []string{
		"10011 Unknown role", "160002 You cannot reply without permission to read message history", "20001 Bots cannot use this endpoint",
		"20012 You are not authorized to perform this action on this application", "50003 Cannot execute action on a DM channel",
	}, Fix: "run nod doctor: it names the permission that the bot lacks"},
	{About: platforms.AboutClosed, Errors: []string{"10003 Unknown Channel", "10004 Unknown Guild"},
		Fix: "correct the ID of the channel in the config, or invite the bot to its server"},
	{About: platforms.AboutChannel, Errors: []string{
		"50001 Missing Access", "50013 You lack permissions to perform that action",
		"50008 Cannot send messages in a non-text channel", "50024 Cannot execute action on this channel type", "403 Forbidden",
	}, Fix: "run nod doctor: it names the permission that the bot lacks there"},
	{About: platforms.AboutChannel, Errors: []string{
		"200000 Message was blocked by automatic moderation", "240000 Message blocked by harmful links filter",
	}, Fix: "exempt the bot's role at Server Settings > AutoMod"},
	{About: platforms.AboutContent, Errors: []string{
		"50035 Invalid form body", "50006 Cannot send an empty message", "40005 Request entity too large",
		"50045 File uploaded exceeds the maximum size", "50046 Invalid file uploaded", "50109 The request body contains invalid JSON",
		"50016 Provided too few or too many messages to delete", "50041 Invalid API version provided", "404 Not Found", platforms.AnyOther,
	}, Fix: "report it as a bug in nod, with the log line"},
}

// rowOf returns the row of an error with a JSON code, which may be zero, and an
// HTTP status.
func rowOf(status, code int) platforms.Row {
	for _, n := range []int{code, status} {
		row := Errors.Find(func(name string) bool {
			number, _, _ := strings.Cut(name, " ")
			return n != 0 && number == strconv.Itoa(n)
		})
		if row.About != platforms.AboutContent {
			return row
		}
	}
	if status >= http.StatusInternalServerError {
		return Errors[0]
	}
	return Errors[len(Errors)-1]
}

// refusal is the body of an answer that refuses a request.
type refusal struct {
	Code       int             `json:"code"`
	Message    string          `json:"message"`
	RetryAfter float64         `json:"retry_after"` // seconds
	Global     bool            `json:"global"`
	Errors     json.RawMessage `json:"errors"`
}

// classify assigns a row of the table to a response that is not a success. A
// refusal of the token only triggers another check of the token.
func (a *api) classify(resp *http.Response, raw []byte) error {
	var r refusal
	parsed := json.Unmarshal(raw, &r) == nil
	row := rowOf(resp.StatusCode, r.Code)
	if !parsed { // Cloudflare or another proxy responded, which cannot refuse a channel or a token
		r.Message = "the answer is not JSON"
		if !slices.Contains([]int{http.StatusTooManyRequests, http.StatusRequestEntityTooLarge}, resp.StatusCode) {
			row = Errors[0]
		}
	}
	var cause error
	switch row.About {
	case platforms.AboutLimit:
		wait := time.Duration(r.RetryAfter * float64(time.Second))
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
			wait = max(wait, time.Duration(seconds)*time.Second)
		}
		if !parsed && wait == 0 {
			wait = unnamedPause
		}
		if wait = max(wait, row.Wait); wait > 0 {
			row.Wait = wait
		}
		if r.Global || !parsed || resp.Header.Get("X-RateLimit-Global") == "true" {
			cause = platforms.ErrAllChannels
		}
	case platforms.AboutAccount:
		a.health.Suspect("Discord refused the token")
	}
	text := fmt.Sprintf("HTTP %d", resp.StatusCode)
	if r.Code != 0 {
		text += " " + strconv.Itoa(r.Code)
	}
	text += " " + r.Message
	if row.About == platforms.AboutAccount {
		text = "the token is refused; check DISCORD_BOT_TOKEN (" + text + ")"
	}
	if len(r.Errors) > 0 {
		text += " " + string(r.Errors)
	}
	return row.Err(cause, "discord: %s", text)
}

// closedToUs reports whether an error means that the bot cannot write in a
// thread: the thread was deleted or locked, or a permission is missing.
func closedToUs(err error) bool {
	return platforms.Is(err, platforms.AboutThread, platforms.AboutSetting, platforms.AboutChannel, platforms.AboutClosed)
}
