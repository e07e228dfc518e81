package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// plannedResource needs no provider, and its provisioner deploys.
const plannedResource = `resource "terraform_data" "shop" {
  input = "v2"
  provisioner "local-exec" { command = "./deploy.sh" }
}
`

// terraformStub replaces Terraform if it is not installed. It applies only
// a plan that it has made.
const terraformStub = `case "$*" in
"plan -input=false -out plan.out") echo planned >plan.out ;;
"show -no-color plan.out") test -s plan.out; echo 'terraform_data.shop will be created' ;;
"apply -input=false plan.out")
  test "$(cat plan.out)" = planned; rm plan.out; ./deploy.sh ;;
init*) ;;
*) echo "unknown: $*" >&2; exit 2 ;;
esac`

// withTerraform returns a kitchen with a configuration, and with Terraform or its
// stub.
func withTerraform(t *testing.T) *kitchen {
	t.Helper()
	stubs := map[string]string{}
	if _, err := exec.LookPath("terraform"); err != nil {
		t.Log("terraform is not installed; using a stub")
		stubs["terraform"] = terraformStub
	}
	k := newKitchen(t, stubs)
	k.env = append(k.env, "CHECKPOINT_DISABLE=1")
	k.write("main.tf", plannedResource)
	if out, code := k.exec(nil, "terraform", "init", "-input=false"); code != 0 {
		t.Fatal(out)
	}
	return k
}

// fresh forgets what Terraform has applied.
func (k *kitchen) fresh() {
	for _, name := range []string{"terraform.tfstate", "terraform.tfstate.backup", "plan.out"} {
		if err := os.Remove(filepath.Join(k.dir, name)); err != nil && !os.IsNotExist(err) {
			k.t.Fatal(err)
		}
	}
}

// TestRecipeTerraform runs the script. The plan is on the card.
func TestRecipeTerraform(t *testing.T) {
	t.Parallel()
	k := withTerraform(t)
	k.write("apply.sh", rig.ReadFile(t, filepath.Join(recipeFiles, "terraform/apply.sh")))
	k.both("terraform_data.shop will be created", func(string) bool {
		k.fresh()
		_, code := k.exec(k.nod(), "sh", "apply.sh")
		return code == 0
	})
}
