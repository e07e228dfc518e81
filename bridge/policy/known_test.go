package policy

var knownHostile = []string{"ls"}
