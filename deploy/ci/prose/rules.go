package main

import "regexp"

// The kinds of text that a rule reads.
const (
	inComment = 1 << iota // a comment in source code
	inString              // a string literal of several words
	inText                // running text of a document
	inHeading             // a heading of a document
	anywhere  = inComment | inString | inText | inHeading
)

// rule is one wording that the writing guide rejects. A match of pattern is
// reported unless except matches the same text with some context on both sides.
type rule struct {
	name    string
	kinds   int
	pattern *regexp.Regexp
	except  *regexp.Regexp // nil means no exception
	fix     string
}

func banned(name, pattern, except, fix string) rule {
	return bannedIn(anywhere, name, pattern, except, fix)
}

func bannedIn(kinds int, name, pattern, except, fix string) rule {
	r := rule{name: name, kinds: kinds, pattern: regexp.MustCompile(pattern), fix: fix}
	if except != "" {
		r.except = regexp.MustCompile(except)
	}
	return r
}

// rules are checked in this order.
var rules = []rule{
	// Spelling and grammar.
	banned("cannot", `\b[Cc]an not\b`, `can not only`, "cannot"),
	banned("forever", `\bfor ever\b`, "", "forever, indefinitely"),
	banned("british", `\b([Ll]icence|[Cc]olour|[Bb]ehaviour|[Ff]avour|[Hh]onour|[Rr]ecognis|[Aa]uthoris|[Oo]rganis|[Ss]ummaris|[Nn]ormalis|[Ii]nitialis|[Ss]erialis|[Cc]atalogue|[Pp]rogramme\b|[Aa]cknowledgement|[Ll]abelled\b)`, "", "American spelling"),
	banned("email", `\b[Ee]-mail`, "", "email"),
	banned("timeout", `\b[Tt]ime-outs?\b`, "", "timeout (noun), time out (verb)"),
	banned("setup", `\bset-up\b|\bstart-up\b`, "", "setup, startup"),
	banned("no-longer", `\b(not|never|nothing|nobody|none|no|without|n't)\b[^.;:!?]{0,60}\bany more\b`, `any more [a-z]+s\b`, "no longer"),
	banned("duplicate", `\b(is|are|was) there( already)? twice\b|\bis twice (in|there)\b`, "", "duplicate; is listed more than once"),
	// Literal translations.
	banned("anew", `\banew\b`, "", "again"),
	banned("besides", `\b[Bb]esides\b`, "", "in addition to, also, other than"),
	banned("beside", `\b[Bb]eside\b`, "", "next to, alongside, compared with"),
	banned("mend", `\b[Mm]end(s|ed|ing)?\b`, "", "fix"),
	banned("wanted", `\b(is|are|was|were) (not )?wanted\b`, "", "is required, is expected"),
	banned("is-no", `\b(is|are|was|were) no [a-z]+`, `(?i)\bthere (is|are|was|were) no|no (longer|more|one|such|different|better|worse|less|doubt|need|way|other|\w+er than)\b`, "is not a"),
	banned("of-the-moment", `\bof (the moment|now|then)\b`, `of (the moment|now|then) (when|that|of)`, "current, at that time"),
	banned("but-for", `\bbut for\b`, "", "except for"),
	banned("so-long", `\b(wait|hold|held|waits|kept|back|lasts?|pauses?|for|cards?|message|it) so long\b`, `so long (as|that|ago)`, "this long"),
	banned("so-many", `\bso (many|much|often)\b`, `only so|so (many|much|often),? (as|that|of|more|less|so)\b`, "this many"),
	banned("else-than", `\b(nothing|something|anything) else than\b`, "", "only, other than"),
	banned("or-else", `[,;] else [a-z]`, `else if\b`, "otherwise"),
	banned("away", `\b(is|was|are|were|be|been) away\b`, "", "unreachable, unavailable"),
	banned("stands", `\b(stands?|stood|standing) (at|in|on|beside|behind|between|above|below|before|under|next|here|side by side|alone|there|still)\b`, "", "is, is listed, appears"),
	banned("as-it-stands", `\bas (it|they) stands?\b`, "", "verbatim, unchanged"),
	banned("whole", `\b(not|delivered|shown|posted|read|seen|kept) whole\b|, whole\b`, "", "in full, complete, intact"),
	banned("dear", `\b(is|are) dear\b`, "", "expensive"),
	banned("pause", `\bwithout a pause\b`, "", "without downtime"),
	banned("meanwhile", `\bmeanwhile[.;)|,]|\bmeanwhile$`, "", "in the meantime, or leave it out"),
	banned("by-itself", `\bby (itself|themselves)\b`, "", "automatically, on its own"),
	banned("come-again", `\b(comes?|came) again\b`, "", "is redelivered, returns, repeats"),
	banned("just-now", `\bjust now\b`, "", "right now, currently"),
	banned("faster", `\b(who|somebody else|chat|nobody|someone|process|daemon|program of the bot) (was|is|were) faster\b`, "", "answered first"),
	banned("came-of", `\bwhat (came|comes|has come|became|becomes|has become) of\b`, "", "the result of, the outcome of"),
	banned("way-of", `\b[Tt]he ways? of (a|an|each) (click|request|answer|card)\b`, "", "the path of"),
	bannedIn(inComment, "as-people", `\bas people (see|read|know) (it|them)\b`, "", "in the form that people see"),
	banned("for-good", `\b[Ff]or good\b`, "", "permanently, in production"),
	banned("taken-apart", `\b(taken?|takes|taking) apart\b`, "", "parsed"),
	banned("disturb", `\bdisturb(s|ed|ing)?\b`, "", "notify, interrupt, ask"),
	banned("in-words", `\bin words\b`, "", "in plain language, as text"),
	banned("all-the-same", `\ball the same\b`, "", "anyway, even so"),
	banned("also-when", `, also (when|after|if|while|in|by)\b`, "", "even when, including"),
	banned("foreign", `\b[Ff]oreign (text|Markdown|names?|input|words?|string)`, "", "untrusted"),
	banned("put-off", `\bput off\b`, "", "deferred, postponed"),
	banned("counts-for-nothing", `\bcounts? for nothing\b`, "", "is ignored, has no effect"),
	banned("told-so", `\b(is|are|was|were|be|been) told so\b`, "", "is notified"),
	banned("good", `\bis as it should be\b|\bconfig is good\b`, "", "is valid, is up to date"),
	banned("nothing-of", `\b(nothing|anything|something) of (it|them|what|a)\b`, "", "none of it, no part of"),
	banned("moment", `\b(longer|more) than a moment\b|\bin the very moment\b`, "", "immediately, or give the duration"),
	banned("will-do", `\bwill do[.,;:]`, "", "is enough, works"),
	banned("begins-to", `\bbegins? to [a-z]+`, "", "starts to, or the plain verb"),
	banned("some-few", `\b([Ss]ome|the last) (seconds|minutes|hours)\b`, "", "a few, the last few"),
	banned("where-it-is", `\bwhere (it|they) (is|are)( there)?[.;,)]|\bif it is there\b`, "", "if it exists, if present"),
	banned("as-it-is", `\bas (it is|they are)[ ]*[.,;:)|]|\bas (it is|they are)$`, "", "unchanged, verbatim"),
	// One term for one concept: see the glossary.
	banned("click", `\b(an?|the|each|every|one|your|this|that|early|later|last|first|second|forged) press(es)?\b|\b[Pp]ress(es|ed|ing)? (a|the|it|this|that|again|something|one|buttons?|twice)\b|\bpresse[sd]\b|\b[Pp]ressing\b`, `(?i)press release|press (a |the |any )?(key|enter|return|tab|space|ctrl|esc|\?|y\b)`, "click"),
	banned("pending", `\b[Ww](hat|ho) waits?\b|\b(waits|waiting) for (you|somebody|who)\b`, "", "pending requests, waiting callers"),
	banned("redact", `\b[Vv]eil(s|ed|er|ing)?\b`, "", "redact"),
	banned("standing-yes", `\byeses\b|\bstanding yes\b`, "", "grant (a standing approval)"),
	banned("typed-word", `\btyped word\b|\bword (that|which) has to be typed\b`, "", "typed confirmation"),
	banned("owner", `\bhumans? behind\b`, "", "owner of the agent, requester"),
	banned("may-approve", `\bmay say yes\b|\bsays? (yes|no) to\b`, "", "may approve"),
	banned("judge", `\bjudge[sd]\b`, "", "evaluate (a policy)"),
	banned("door", `\bdoor(s|way)?\b`, "", "entry point, endpoint"),
	banned("own-means", `\bown means\b`, "", "own tools"),
	banned("invite", `\b[Ll]et the bot in(to)?\b`, "", "invite the bot"),
	banned("private-note", `\bprivate notes?\b`, "", "ephemeral reply"),
	// Sentence shape.
	bannedIn(inComment, "pronoun-first", `^(it|its|they) [a-z]`, "", "name the noun: the request has closed, the messages of the round show …"),
	banned("replace-by", `\b[Rr]eplac(e|es|ing) [^.,;:()]{1,60} by `, "", "replace … with"),
	banned("another-than", `\banother [a-z]+ than\b`, "", "a … other than, a different … from"),
	banned("in-the-way-of", `\bin the way of (a|an|the)\b`, `get|getting|stand|stands`, "as a … does"),
	bannedIn(inComment, "headless-object", `^[A-Za-z]\w* (returns?|holds?|has|says?|names?|describes?|stores?|records?|keeps?|shows?|reads?|lists?|adds?|contains?|writes?|prints?) what\b`, "", "name the object: returns the text that …, holds the values that …"),
	banned("of-which", `\bof (which|whom)\b`, `(?i)\b(each|one|two|all|some|any|both|none|either|neither|most|many|several) of (which|whom)\b`, "whose …, with a …, or two sentences"),
	bannedIn(inComment, "headless-definition", `^[A-Za-z]\w* (is|are|was|were) (what|who|whom|whose|where|how|when|why) `, `(what|where|how) to `, "start with a noun: X is the …, X holds …, X reports …"),
	banned("headless-subject", `(^|[.;] )(Who|Whom|Whoever|Whatever) [a-z]+ [^.;|?]*([.;|]|$)`, "", "name the subject: a caller that …, an approver who …"),
	banned("tells-that", `\b(tells? (that|whether|if)|says (whether|if))\b`, "", "reports whether, means that"),
	bannedIn(inComment, "zero-value", `(^|[;,:.(] )(empty|nil|0|zero|none|left out|below 0|unset): \w`, "", "If empty, …; A nil X means …; Zero means no limit."),
	bannedIn(inHeading, "heading", `^(What|Who|Whom|Is|Are|Why|Where|When)\b|\?$|^How (much|many|long|it)\b`, "", "a noun phrase or an imperative that people search for"),
}
