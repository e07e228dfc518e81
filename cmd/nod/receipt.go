package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/strictjson"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/config/files"
	"github.com/nodbridge/nod/render"
)

func receiptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "receipt",
		Short: "Verify signed receipts offline",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(receiptVerify(), receiptKeys())
	return cmd
}

func receiptVerify() *cobra.Command {
	var keysPath, requestPath, approvedPath string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify a receipt and print what it proves",
		Long: `Verify a receipt with the public keys and print what it proves. This needs no
daemon. FILE contains the receipt, or a record as printed by --json. Without
FILE, or with -, nod reads from stdin.

nod compares a record with its receipt: it recomputes the digest from the
prompt, input and questions, and every claim must match. With --request, the
receipt must also be for that request. If people approved with a passkey, nod
also verifies that their own keys signed exactly this decision.

Exit codes: 0 approved or answered, 1 denied, 6 the receipt proves nothing.`,
		Example: "  nod receipt keys > keys.json\n  nod show ID --json | nod receipt verify --keys keys.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			keys, err := caller.ReadKeys(keysPath)
			if err != nil {
				return err
			}
			r, rec, err := checkedReceipt(cmd.InOrStdin(), args, keys)
			if err != nil {
				return err
			}
			if requestPath != "" {
				if err := coversFiles(r, requestPath, approvedPath); err != nil {
					return err
				}
			}
			signed, err := keys.SignedBy(r)
			if bridge.ErrorCode(err) == bridge.CodeInvalid && keys.Passkeys == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "nod: the passkeys were not checked: %v\n", bridge.PublicError(err).Message)
			} else if err != nil {
				return err
			}
			if err := printReceipt(cmd.OutOrStdout(), r, rec, signed, asJSON); err != nil {
				return err
			}
			if r.State != bridge.StateApproved && r.State != bridge.StateAnswered {
				return cli.ExitError(1) // a script may treat 0 as an approval
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&keysPath, "keys", os.Getenv(caller.KeysEnv), "file of public keys (NOD_RECEIPT_KEYS); create it with: nod receipt keys")
	cmd.Flags().StringVar(&requestPath, "request", "", "file with the request to match, as JSON")
	cmd.Flags().StringVar(&approvedPath, "approved", "", "with --request: file with the edited input that was approved, as JSON")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the receipt as JSON")
	return cmd
}

// exactly decodes files that other programs also read. It rejects duplicate
// names and names in a different case, because other programs may read them
// differently.
var exactly = strictjson.Limits{Depth: 1000}

// printReceipt prints a verified receipt, the people who signed it with a
// passkey, and what the agent has reported since.
func printReceipt(w io.Writer, r proof.Receipt, rec bridge.Record, signed []string, asJSON bool) error {
	if asJSON {
		return printJSON(w, r)
	}
	_, err := fmt.Fprintf(w, "good: %s\n", render.Line(r.Words()))
	for _, person := range signed {
		if err == nil {
			_, err = fmt.Fprintf(w, "signed: by the passkey of %s, with user verification\n", render.Line(person))
		}
	}
	if err == nil && rec.Overruled() {
		_, err = fmt.Fprintf(w, "ran: %s, as the agent reported; this decision came too late\n", rec.Completion.Ran)
	}
	return err
}

// checkedReceipt reads and verifies a receipt, or a record with its receipt.
// For a receipt without a record, it returns an empty record.
func checkedReceipt(stdin io.Reader, args []string, keys proof.JWKS) (proof.Receipt, bridge.Record, error) {
	var rec bridge.Record
	raw, err := argumentFile(stdin, args)
	if err != nil {
		return proof.Receipt{}, rec, err
	}
	if text := bytes.TrimSpace(raw); !bytes.HasPrefix(text, []byte("{")) {
		r, err := keys.VerifyReceipt(string(text))
		return r, rec, err
	}
	if err := exactly.Decode(raw, &rec); err != nil {
		return proof.Receipt{}, rec, bridge.Wrap(bridge.CodeForbidden, err, "ambiguous record")
	}
	if !rec.State.Final() {
		return proof.Receipt{}, rec, bridge.Errorf(bridge.CodeInvalid, "the record has no receipt, because its request is still pending")
	}
	r, err := keys.VerifyRecord(rec)
	return r, rec, err
}

// argumentFile reads the file in the arguments, or stdin.
func argumentFile(stdin io.Reader, args []string) ([]byte, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.ReadAll(stdin)
	}
	raw, err := files.Read(args[0], caller.MaxInput)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "cannot read the file")
	}
	return raw, nil
}

func coversFiles(r proof.Receipt, requestPath, approvedPath string) error {
	raw, err := files.Read(requestPath, caller.MaxInput)
	if err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "--request")
	}
	var req bridge.Request
	if err := exactly.DecodeKnown(raw, &req); err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "--request: %s", requestPath)
	}
	var approved []byte
	if approvedPath != "" {
		if approved, err = files.Read(approvedPath, caller.MaxInput); err != nil {
			return bridge.Wrap(bridge.CodeInvalid, err, "--approved")
		}
	}
	return r.Covers(req, approved)
}

func receiptKeys() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Print the public keys of the daemon and of people",
		Long: `Print the public keys with which receipts and seals can be verified offline.
With a token in NOD_TOKEN, the output also contains the passkeys of people.`,
		Args: cobra.NoArgs,
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, _ []string) error {
			keys, err := cl.Keys(cmd.Context())
			if err != nil {
				return err
			}
			if keys.Passkeys, err = cl.PasskeyKeys(cmd.Context()); err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), keys)
		}),
	}
	c.urlFlag(cmd)
	return cmd
}
