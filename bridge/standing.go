package bridge

// Standing says in which capacity someone acts or writes on a platform. The zero
// value is a member of the workspace or server.
type Standing string

// The standings other than that of a member.
const (
	StandingGuest       Standing = "guest"
	StandingOutsider    Standing = "outsider"    // of another workspace, in a channel that both share
	StandingUnconfirmed Standing = "unconfirmed" // the email address is not confirmed
	StandingSeveral     Standing = "several"     // the config says that the account belongs to several people
	StandingBot         Standing = "bot"         // or another program
	StandingAnonymous   Standing = "anonymous"   // as a group or a channel
	StandingForwarded   Standing = "forwarded"   // a message that someone else wrote
	StandingEdited      Standing = "edited"      // a message that was sent before
)

// Right holds the rights of someone with a standing.
type Right struct {
	// Email means that the email address of the account can show which person it
	// belongs to. An account in the config and a linked one need none.
	Email bool
	// Acts means that clicks, replies and commands count as those of the account.
	Acts bool
	// Why is the reason for the person. It is empty for bots, which get no reply, so
	// that two of them never talk without an end.
	Why string
}

// Rights has the rights of each standing.
var Rights = map[Standing]Right{
	"": {Email: true, Acts: true},
	StandingGuest: {Acts: true, Why: "You are a guest of this workspace, and nod does not recognize guests by their email address. " +
		"Ask your nod administrator to add your account under people in the config."},
	StandingOutsider: {Acts: true, Why: "Your account belongs to another workspace, and nod recognizes no one from another " +
		"workspace by email address. Ask your nod administrator to add your account under people in the config."},
	StandingUnconfirmed: {Acts: true, Why: "The email address of your account is not confirmed, so nod does not recognize you by it. " +
		"Confirm it, or ask your nod administrator to add your account under people in the config."},
	StandingSeveral: {Acts: true, Why: "Your account belongs to several people in the config, or its email address to a person with another " +
		"account, so nod recognizes no one by it. Ask your nod administrator to correct the config."},
	StandingBot:       {},
	StandingAnonymous: {Why: "nod takes nothing from anonymous members. Write as yourself."},
	StandingForwarded: {Why: "A forwarded message has no effect, because someone else wrote it. Write your own reply."},
	StandingEdited:    {Why: "An edit changes nothing. nod keeps what you sent first. To change it, write a new reply."},
}
