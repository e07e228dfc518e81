package bridge

// Standing is the capacity in which someone acts or writes on a platform. The
// zero value is a member of the workspace or server.
type Standing string

// The standings other than that of a member.
const (
	StandingGuest       Standing = "guest"
	StandingOutsider    Standing = "outsider"    // a member of another workspace, in a shared channel
	StandingUnconfirmed Standing = "unconfirmed" // the email address is not confirmed
	StandingSeveral     Standing = "several"     // the account belongs to several people in the config
	StandingBot         Standing = "bot"         // a bot or another program
	StandingAnonymous   Standing = "anonymous"   // an account that writes as a group or a channel
	StandingForwarded   Standing = "forwarded"   // a message that was forwarded from someone else
	StandingEdited      Standing = "edited"      // an edit of an earlier message
)

// Right holds the rights of someone with a standing.
type Right struct {
	// Email means that nod may use the email address of the account to find its
	// person. An account in the config and a linked account do not need this
	// right.
	Email bool
	// Acts means that clicks, replies and commands of the account count.
	Acts bool
	// Why is the reason that nod gives to the person. It is empty for bots.
	// Bots get no reply, so two bots never answer each other endlessly.
	Why string
}

// Rights holds the rights of each standing.
var Rights = map[Standing]Right{
	"": {Email: true, Acts: true},
	StandingGuest: {Acts: true, Why: "You are a guest of this workspace, and nod does not recognize guests by their email address. " +
		"Ask your nod administrator to add your account under people in the config."},
	StandingOutsider: {Acts: true, Why: "Your account belongs to another workspace, and nod does not recognize members of another " +
		"workspace by email address. Ask your nod administrator to add your account under people in the config."},
	StandingUnconfirmed: {Acts: true, Why: "The email address of your account is not confirmed, so nod does not recognize you by it. " +
		"Confirm it, or ask your nod administrator to add your account under people in the config."},
	StandingSeveral: {Acts: true, Why: "The config lists your account for several people, or your email address for a person with another " +
		"account, so nod cannot identify you. Ask your nod administrator to correct the config."},
	StandingBot:       {},
	StandingAnonymous: {Why: "nod ignores anonymous members. Write with your own account."},
	StandingForwarded: {Why: "A forwarded message has no effect, because someone else wrote it. Write your own reply."},
	StandingEdited:    {Why: "Edits have no effect. nod keeps the original reply. To change it, write a new reply."},
}
