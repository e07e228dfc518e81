package telegram

import (
	"encoding/json"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// markup reads and checks reply_markup.
func markup(a arguments) (raw.Object, *failure) {
	var markup raw.Object
	if err := a.structure("reply_markup", &markup); err != nil {
		return nil, badRequest("can't parse reply keyboard markup JSON object")
	}
	if markup == nil {
		return nil, nil
	}
	if raw.Runes(raw.Str(markup, "input_field_placeholder")) > maxPlaceholder {
		return nil, badRequest("reply markup placeholder is too long")
	}
	rows, inline := markup["inline_keyboard"].([]any)
	if !inline {
		return markup, nil
	}
	total := 0
	for _, r := range rows {
		row, ok := r.([]any)
		if !ok {
			return nil, badRequest("inline keyboard rows must be arrays")
		}
		if len(row) > maxRow {
			return nil, badRequest("reply markup is too long")
		}
		total += len(row)
		for _, b := range raw.All(row) {
			if bad := checkButton(b); bad != nil {
				return nil, bad
			}
		}
	}
	encoded, err := json.Marshal(markup)
	if err != nil || total > maxButtons || len(encoded) > maxKeyboard {
		return nil, badRequest("reply markup is too long")
	}
	return markup, nil
}

func checkButton(b raw.Object) *failure {
	if raw.Str(b, "text") == "" {
		return badRequest("inline keyboard button text is empty")
	}
	data, pressable := b["callback_data"].(string)
	if pressable && (len(data) < 1 || len(data) > maxData) {
		return badRequest("BUTTON_DATA_INVALID")
	}
	if !pressable && b["url"] == nil && b["disabled"] == nil && b["copy_text"] == nil {
		return badRequest("inline keyboard button must have exactly one optional field")
	}
	switch b["style"] {
	case nil, "primary", "success", "danger", "default":
		return nil
	}
	return badRequest("invalid button style specified")
}
