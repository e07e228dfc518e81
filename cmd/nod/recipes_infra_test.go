package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/render"
)

// plannedResource needs no provider, and its provisioner deploys.
const plannedResource = `variable "cook" {}
resource "terraform_data" "shop" {
  input            = var.cook
  triggers_replace = var.cook
  provisioner "local-exec" { command = "./deploy.sh ${var.cook}" }
}
`

// terraformStub replaces Terraform if it is not installed. It applies only
// a plan that it has made.
const terraformStub = `case "$1 $2 $3" in
"plan -input=false -out") printf '%s' "$TF_VAR_cook" >"$4" ;;
"show -no-color "*) test -s "$3"; printf '%s\n' "terraform_data.shop will be created with $(cat "$3")" '  + new' '  - old'; printf '\140\140\140\n' ;;
"apply -input=false "*) ./deploy.sh "$(cat "$3")" ;;
init*) ;;
*) echo "unknown: $*" >&2; exit 2 ;;
esac`

// withTerraform returns a kitchen with Terraform or its stub. The state is
// in another place for each run.
func withTerraform(t *testing.T) *kitchen {
	t.Helper()
	program := terraformStub
	if path, err := exec.LookPath("terraform"); err == nil {
		program = "exec " + path + ` "$@"`
	} else {
		t.Log("terraform is not installed; using a stub")
	}
	const failing = `case "$TF_VAR_cook" in *-"$1") exit 7 ;; esac` // such as no-plan
	k := newKitchen(t, map[string]string{"terraform": failing + "\n" + program})
	k.env = append(k.env, "CHECKPOINT_DISABLE=1", "TF_CLI_ARGS_plan=-lock-timeout=1m")
	k.write("apply.sh", rig.ReadFile(t, filepath.Join(recipeFiles, "terraform/apply.sh")))
	return k
}

// apply runs the script in a folder.
func (k *kitchen) apply(folder, run string) bool {
	if err := os.MkdirAll(filepath.Join(k.dir, folder), 0o755); err != nil {
		k.t.Error(err)
	}
	k.write(folder+"/main.tf", strings.ReplaceAll(plannedResource, "./deploy.sh", "cd "+k.dir+" && ./deploy.sh"))
	env := append(k.nod(), "TF_VAR_cook="+run)
	script := "cd " + folder + " && [ -e .terraform ] || terraform init -input=false >/dev/null; [ -e deploy.sh ] || ln -s ../deploy.sh .; exec sh ../apply.sh"
	_, code := k.exec(env, "sh", "-c", script)
	return code == 0
}

// TestRecipeTerraform runs the script. The plan is on the card, and one plan
// never takes the place of another.
func TestRecipeTerraform(t *testing.T) {
	t.Parallel()
	k := withTerraform(t)
	k.serve(cooked{"terraform", "terraform_data.shop will be created", func(run string) bool { return k.apply("of-"+run, run) }})
}

// TestRecipeTerraformInOneFolder checks that two runs in one folder apply what
// was approved, that the card shows it unchanged, and that a step that fails
// leaves nothing to approve.
func TestRecipeTerraformInOneFolder(t *testing.T) {
	t.Parallel()
	k := withTerraform(t)
	for _, step := range []string{"plan", "show"} {
		if asked := k.answered(func() {
			if k.apply("failing", "no-"+step) {
				t.Errorf("it succeeds although %s fails", step)
			}
		}, bridge.DecideOnce); len(asked) != 0 || k.deployed() != nil {
			t.Errorf("%s fails: asked %d times", step, len(asked))
		}
	}
	var both sync.WaitGroup
	asked := k.answered(func() {
		k.apply("one", "first") // so that both have a state to compare with
		for _, run := range []string{"left", "right"} {
			both.Go(func() { k.apply("one", run) })
		}
		both.Wait()
	}, bridge.DecideOnce, bridge.DecideOnce, bridge.DecideDeny)
	for _, r := range asked {
		doc := render.Markdown(r.Interaction.Prompt)
		if last := doc[len(doc)-1]; last.Kind != render.Code || !strings.Contains(last.Text, "terraform_data.shop") {
			t.Errorf("the plan is not a block of code: %+v", doc)
		}
	}
	done := k.deployed()
	if len(asked) == 0 || len(done) == 0 || len(done) > 2 {
		t.Fatalf("asked %d times, deployed %q", len(asked), done)
	}
	if run := done[len(done)-1]; len(done) == 2 && !strings.Contains(asked[1].Interaction.Prompt, run) {
		t.Errorf("it applied %q after the approval of\n%s", run, asked[1].Interaction.Prompt)
	}
}
