package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/render"
)

func auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Export and verify the audit log",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(auditExport(), auditVerify())
	return cmd
}

func auditExport() *cobra.Command {
	var c connection
	var format string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the audit log as JSON lines with seals, or as CSV",
		Long: `Print the audit log. NOD_TOKEN must be the token of a person with auditor: true
in the daemon's config. CSV is for spreadsheets; only JSON lines can be verified
later.`,
		Example: "  nod audit export > audit.jsonl\n  nod audit export --format csv > audit.csv",
		Args:    cobra.NoArgs,
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, _ []string) error {
			if format == "jsonl" {
				return cl.Audit(cmd.Context(), cmd.OutOrStdout())
			}
			var log bytes.Buffer
			if err := cl.Audit(cmd.Context(), &log); err != nil {
				return err
			}
			return auditCSV(cmd.OutOrStdout(), &log)
		}),
	}
	c.urlFlag(cmd)
	cli.ChoiceVar(cmd.Flags(), &format, "format", "jsonl", "format: jsonl or csv", "jsonl", "csv")
	return cmd
}

// auditCSV writes the entries for spreadsheets. No cell starts like a formula.
func auditCSV(w io.Writer, r io.Reader) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"entry", "time", "type", "id", "agent", "session", "state", "by", "platform", "reason", "data"}); err != nil {
		return err
	}
	lines := bufio.NewReader(r)
	for {
		raw, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		var l proof.AuditLine
		if err := json.Unmarshal(raw, &l); err != nil {
			return bridge.Wrap(bridge.CodeInternal, err, "audit log")
		}
		if !l.IsEntry() {
			continue
		}
		var d struct {
			Actor  bridge.Actor
			By     json.RawMessage
			Reason string
			Why    string
		}
		_ = json.Unmarshal(l.Data, &d) // entries without these fields leave them empty
		row := []string{
			l.Entry, time.UnixMilli(l.Timestamp).UTC().Format(time.RFC3339Nano), string(l.Type), string(l.ID),
			l.Agent, l.Session, string(l.State), d.Actor.Display(), d.Actor.Platform, d.Reason + d.Why, string(l.Data),
		}
		for n := range row {
			row[n] = cell(row[n])
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// cell quotes untrusted text that a spreadsheet would read as a formula.
func cell(s string) string {
	if s != "" && bytes.ContainsRune([]byte("=+-@\t\r"), rune(s[0])) {
		return "'" + s
	}
	return s
}

func auditVerify() *cobra.Command {
	var c connection
	var keysPath string
	var receipts []string
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify an exported audit log",
		Long: `Verify an exported audit log. Without FILE, verify the log of the daemon. The
checks: no entry was removed, changed or reordered, the seals are signed with
the public keys, and with --receipt the log has the entry of the receipt.

Keep a copy of the public keys away from the daemon and pass it with --keys:
whoever controls the daemon can replace its own keys. Exit code 6 means that the
log was tampered with.`,
		Example: "  nod audit verify audit.jsonl --keys keys.json\n  nod audit verify audit.jsonl --keys keys.json --receipt deploy.receipt",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			log, keys, err := auditInput(cmd, &c, args, keysPath)
			if err != nil {
				return err
			}
			var have []proof.Receipt
			for _, path := range receipts {
				r, _, err := checkedReceipt(cmd.InOrStdin(), []string{path}, keys)
				if err != nil {
					return err
				}
				have = append(have, r)
			}
			report, err := proof.VerifyAudit(bytes.NewReader(log), keys, have...)
			if err != nil {
				return err
			}
			return printReport(cmd, c.json, report)
		},
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&keysPath, "keys", os.Getenv(caller.KeysEnv), "file of public keys (NOD_RECEIPT_KEYS; default: those of the daemon)")
	cmd.Flags().StringSliceVar(&receipts, "receipt", nil, "file of a receipt, or of a record that has one, to find in the log")
	return cmd
}

// auditInput returns the log and the keys to verify it with.
func auditInput(cmd *cobra.Command, c *connection, args []string, keysPath string) (log []byte, keys proof.JWKS, err error) {
	var fetched bytes.Buffer
	if len(args) > 0 {
		log, err = argumentFile(cmd.InOrStdin(), args)
	}
	if err != nil || len(args) > 0 && keysPath != "" {
		if err == nil {
			keys, err = caller.ReadKeys(keysPath)
		}
		return log, keys, err
	}
	cl, err := c.client()
	if err != nil {
		return nil, keys, err
	}
	if len(args) == 0 {
		if err := cl.Audit(cmd.Context(), &fetched); err != nil {
			return nil, keys, err
		}
		log = fetched.Bytes()
	}
	if keysPath != "" {
		keys, err = caller.ReadKeys(keysPath)
	} else {
		keys, err = cl.Keys(cmd.Context())
	}
	return log, keys, err
}

func printReport(cmd *cobra.Command, asJSON bool, r proof.AuditReport) error {
	if asJSON {
		if err := printJSON(cmd.OutOrStdout(), r); err != nil {
			return err
		}
	} else {
		for _, p := range r.Problems {
			fmt.Fprintln(cmd.OutOrStdout(), render.Line(p))
		}
		fmt.Fprintf(cmd.OutOrStdout(), "entries: %d, seals: %d, not sealed yet: %d\n", r.Entries, r.Seals, r.Unsealed)
		if r.Uncounted {
			fmt.Fprintln(cmd.OutOrStdout(), "Redis is older than version 7 and did not count the entries, so entries that were deleted before they were sealed are not detected")
		}
	}
	if len(r.Problems) > 0 {
		return bridge.Errorf(bridge.CodeForbidden, "the audit log was tampered with (problems: %d)", len(r.Problems))
	}
	return nil
}
