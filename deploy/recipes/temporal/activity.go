// Package approval is a Temporal activity that asks people through nod.
package approval

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/proof"
)

// Activities holds the client, such as client.New(url, token, nil).
type Activities struct{ Nod *client.Client }

// Approve asks for an approval and waits. It returns nil only if someone
// approved exactly this input. A retry of the activity, also on another worker,
// waits for the same request, because the key is the same.
func (a *Activities) Approve(ctx context.Context, prompt, tool string, input map[string]string) error {
	info := activity.GetInfo(ctx)
	raw, err := json.Marshal(input)
	if err != nil {
		return failed(err)
	}
	request := bridge.Request{Ask: bridge.Ask{
		Prompt: prompt, Session: info.WorkflowExecution.RunID, Timeout: bridge.Duration(8 * time.Hour),
		Approval: &bridge.Approval{Tool: tool, Input: raw, Scopes: []bridge.Scope{bridge.ScopeOnce}},
	}}
	rec, err := a.Nod.Open(ctx, request, info.WorkflowExecution.RunID+"/"+info.ActivityID)
	if err != nil {
		return failed(err)
	}
	id := rec.Interaction.ID
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go beat(waiting)
	if rec, err = a.Nod.Wait(ctx, id); err != nil {
		a.giveUp(ctx, id)
		return failed(err)
	}
	if rec.State != bridge.StateApproved {
		return temporal.NewNonRetryableApplicationError("not approved: "+string(rec.State), "not_approved", nil)
	}
	var anyKey *proof.JWKS // or the public keys that you trust
	return failed(anyKey.VerifyAnswer(rec, request))
}

// beat sends heartbeats. By them, the activity learns that the workflow was
// cancelled.
func beat(ctx context.Context) {
	for {
		activity.RecordHeartbeat(ctx)
		select {
		case <-time.After(10 * time.Second):
		case <-ctx.Done():
			return
		}
	}
}

// giveUp cancels the request if the workflow was cancelled. If the worker stops,
// another worker continues to wait.
func (a *Activities) giveUp(ctx context.Context, id bridge.ID) {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return
	default:
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		late, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		_, _ = a.Nod.Cancel(late, id, "the workflow was cancelled") // if this fails, the request expires
	}
}

// failed returns an error that Temporal retries only if a repeat can help.
func failed(err error) error {
	switch code := bridge.ErrorCode(err); {
	case err == nil, code == bridge.CodeUnavailable, code == bridge.CodeRateLimited, errors.Is(err, context.Canceled):
		return err
	default:
		return temporal.NewNonRetryableApplicationError(err.Error(), string(code), err)
	}
}

// Deploy is a workflow that deploys only after an approval.
func Deploy(ctx workflow.Context, version string) error {
	asking := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 9 * time.Hour, HeartbeatTimeout: time.Minute, WaitForCancellation: true,
	})
	input := map[string]string{"version": version}
	if err := workflow.ExecuteActivity(asking, "Approve", "Deploy "+version+"?", "deploy", input).Get(ctx, nil); err != nil {
		return err
	}
	running := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 10 * time.Minute})
	return workflow.ExecuteActivity(running, "Release", version).Get(ctx, nil)
}
