package telegram

// parseMarkdown reads parse_mode MarkdownV2.
func parseMarkdown(string) (string, []any, *failure) {
	return "", nil, badRequest("this parse_mode is not emulated by the sandbox")
}
