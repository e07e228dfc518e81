package telegram

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// Errors is the table of the errors of Telegram's methods that nod calls, with
// their codes. Telegram documents none of them. The sources are the official
// server, github.com/tdlib/telegram-bot-api, and reports.
var Errors = platforms.Table{
	{About: platforms.AboutService, Errors: []string{
		"500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout",
	}},
	{About: platforms.AboutLimit, Errors: []string{"429 Too Many Requests"}, Wait: time.Second},
	{About: platforms.AboutLimit, Errors: []string{"400 Bad Request: SLOWMODE_WAIT"}, Wait: 10 * time.Second,
		Fix: "make the bot an administrator, or turn off slow mode in the group"},
	{About: platforms.AboutFeature, Errors: []string{
		"404 Not Found: method not found", "400 Bad Request: ephemeral messages can be sent only to groups",
		"400 Bad Request: not enough rights to send ephemeral messages",
	}, Fix: "update the Bot API server that api_url names"},
	{About: platforms.AboutAccount, Errors: []string{"401 Unauthorized", "404 Not Found"}, Fix: "ask @BotFather for the bot's token"},
	{About: platforms.AboutSetting, Errors: []string{"409 Conflict: can't use getUpdates method while webhook is active"}},
	{About: platforms.AboutRival, Errors: []string{"409 Conflict: terminated by other getUpdates request", "409 Conflict"},
		Fix: "find the other program that polls with this token, and give it a bot of its own"},
	{About: platforms.AboutNothing, Errors: []string{"400 Bad Request: message is not modified"}},
	{About: platforms.AboutMoved, Errors: []string{"400 Bad Request: group chat was upgraded to a supergroup chat"},
		Fix: "replace the ID of the group in the config"},
	{About: platforms.AboutThread, Errors: []string{
		"400 Bad Request: message thread not found", "400 Bad Request: TOPIC_CLOSED", "400 Bad Request: TOPIC_DELETED",
		"400 Bad Request: TOPIC_ID_INVALID",
	}, Fix: "open the topic again, let the bot manage topics, or remove the topic from the config"},
	{About: platforms.AboutDeleted, Errors: []string{
		"400 Bad Request: message to edit not found", "400 Bad Request: message to delete not found",
		"400 Bad Request: message to be replied not found", "400 Bad Request: message not found", "400 Bad Request: MESSAGE_ID_INVALID",
	}},
	{About: platforms.AboutFrozen, Errors: []string{
		"400 Bad Request: message can't be edited", "400 Bad Request: message can't be deleted", "400 Bad Request: MESSAGE_AUTHOR_REQUIRED",
	}},
	{About: platforms.AboutLate, Errors: []string{
		"400 Bad Request: query is too old and response timeout expired or query ID is invalid", "400 Bad Request: QUERY_ID_INVALID",
	}},
	{About: platforms.AboutPerson, Errors: []string{
		"403 Forbidden: bot was blocked by the user", "403 Forbidden: user is deactivated",
		"403 Forbidden: bot can't initiate conversation with a user", "403 Forbidden: bots can't send messages to bots",
		"400 Bad Request: user not found", "400 Bad Request: member not found", "400 Bad Request: USER_ID_INVALID",
		"400 Bad Request: PARTICIPANT_ID_INVALID",
	}, Fix: "have the person click Start in a chat with the bot"},
	{About: platforms.AboutChannel, Errors: []string{
		"400 Bad Request: chat not found", "400 Bad Request: PEER_ID_INVALID", "400 Bad Request: CHANNEL_PRIVATE",
		"403 Forbidden: bot was kicked from the", "403 Forbidden: bot is not a member of the",
	}, Fix: "add the bot to the group; for a private chat, have the person click Start"},
	{About: platforms.AboutClosed, Errors: []string{
		"400 Bad Request: group is deactivated", "403 Forbidden: the group chat was deleted",
	}, Fix: "choose another group, or correct its ID if it became a supergroup"},
	{About: platforms.AboutChannel, Errors: []string{
		"400 Bad Request: not enough rights", "400 Bad Request: have no rights to send a message", "400 Bad Request: CHAT_WRITE_FORBIDDEN",
		"400 Bad Request: CHAT_RESTRICTED", "400 Bad Request: CHAT_SEND_PLAIN_FORBIDDEN", "400 Bad Request: CHAT_SEND_DOCS_FORBIDDEN",
		"400 Bad Request: CHAT_ADMIN_REQUIRED", "400 Bad Request: need administrator rights in the channel chat",
		"400 Bad Request: USER_BANNED_IN_CHANNEL", "403 Forbidden",
	}, Fix: "allow the bot to send messages and files at the group > Edit > Permissions, or make it an administrator"},
	{About: platforms.AboutContent, Errors: []string{
		"400 Bad Request: message is too long", "400 Bad Request: MESSAGE_TOO_LONG", "400 Bad Request: message text is empty",
		"400 Bad Request: can't parse entities", "400 Bad Request: BUTTON_DATA_INVALID", "400 Bad Request: reply markup is too long",
		"400 Bad Request: inline keyboard button URL", "400 Bad Request: wrong file identifier", "413 Request Entity Too Large",
		platforms.AnyOther,
	}, Fix: "report it as a bug in nod, with the log line"},
}

// rowOf returns the row of an error with a code and a description.
func rowOf(code int, description string) platforms.Row {
	switch { // the description does not matter
	case code >= http.StatusInternalServerError:
		code, description = http.StatusInternalServerError, "Internal Server Error"
	case code == http.StatusTooManyRequests:
		description = "Too Many Requests"
	}
	return Errors.Find(func(name string) bool {
		number, text, _ := strings.Cut(name, " ")
		if number != strconv.Itoa(code) {
			return false
		}
		if text == "Not Found" { // a token error, because the error for a missing method has a text of its own
			return description == text
		}
		return strings.HasPrefix(description, text)
	})
}

// classify assigns a row of the table to an error of the API. The token, which
// is in every URL, never appears in the error.
func (c *client) classify(ctx context.Context, chat string, a answer) error {
	row := rowOf(a.Code, a.Description)
	switch { // parameters contain more than a description, whose wording depends on the server version
	case a.Parameters.MovedTo != 0:
		row = rowOf(400, "Bad Request: group chat was upgraded to a supergroup chat")
	case a.Parameters.RetryAfter > 0:
		row = rowOf(429, "Too Many Requests").WithWait(time.Duration(a.Parameters.RetryAfter) * time.Second)
	}
	switch row.About {
	case platforms.AboutLimit:
		c.pacer(chat).Hold(ctx, chat, row.Wait)
	case platforms.AboutAccount:
		c.health.Suspect("Telegram refused the token: " + a.Description)
	case platforms.AboutMoved:
		if a.Parameters.MovedTo == 0 {
			break
		}
		return c.moved(ctx, chat, row, a.Parameters.MovedTo)
	}
	return row.Err(nil, "telegram: %s", a.Description)
}

// moved remembers the supergroup that a basic group became. The call can be
// repeated with its ID.
func (c *client) moved(ctx context.Context, chat string, row platforms.Row, id int64) error {
	if err := c.chats.learn(ctx, chat, id); err != nil {
		c.log.Error("supergroup not remembered", "error", err)
	}
	to := movedError{strconv.FormatInt(id, 10)}
	return row.Err(to, "telegram: %v", to)
}

// unreachable reports whether an error means that nod cannot write to a person,
// who must click Start first.
func unreachable(err error) bool {
	return platforms.Is(err, platforms.AboutPerson, platforms.AboutChannel, platforms.AboutClosed)
}

func retryAfter(err error) time.Duration {
	if err == nil {
		return 0
	}
	return bridge.PublicError(err).RetryAfter
}
