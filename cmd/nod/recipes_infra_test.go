package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/cmd/nod/rig"
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
"show -no-color plan.out"|"show -no-color "*/plan.out) test -s plan.out; echo 'terraform_data.shop will be created' ;;
"apply -input=false plan.out"|"apply -input=false "*/plan.out)
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

// TestRecipeAtlantis runs the steps of the workflow as Atlantis does.
func TestRecipeAtlantis(t *testing.T) {
	t.Parallel()
	var config struct {
		Repos     []struct{ ID, Workflow string }
		Workflows struct {
			Approved struct {
				Plan  struct{ Steps []string }
				Apply struct{ Steps []struct{ Run string } }
			}
		}
	}
	recipe(t, "atlantis/repos.yaml", &config)
	approved := config.Workflows.Approved
	steps := strings.Join(approved.Plan.Steps, " ")
	if config.Repos[0].Workflow != "approved" || steps != "init plan" || len(approved.Apply.Steps) != 1 {
		t.Fatalf("the workflow is %+v", config)
	}
	k := withTerraform(t)
	k.both("terraform_data.shop will be created", func(string) bool {
		k.fresh()
		if out, code := k.exec(nil, "terraform", "plan", "-input=false", "-out", "plan.out"); code != 0 {
			t.Fatal(out)
		}
		plan := "PLANFILE=" + filepath.Join(k.dir, "plan.out")
		env := append(k.nod(), "BASE_REPO_OWNER=me", "BASE_REPO_NAME=shop", "PULL_NUM=42", plan)
		_, code := k.exec(env, "sh", "-c", approved.Apply.Steps[0].Run)
		return code == 0
	})
}

// container is a container of Kubernetes that runs nod.
type container struct {
	Name    string
	Image   string
	Command []string
	Args    []string
	Env     []struct{ Name, Value string }
	EnvFrom []struct {
		SecretRef struct{ Name string } `yaml:"secretRef"`
	} `yaml:"envFrom"`
}

// run runs the container with the arguments as they are after templating.
func (k *kitchen) run(c container, uid string) bool {
	k.t.Helper()
	if len(c.Env) != 1 || c.Env[0].Name != "NOD_URL" || len(c.EnvFrom) != 1 || c.EnvFrom[0].SecretRef.Name != "nod-agent" {
		k.t.Fatalf("the environment is %+v", c)
	}
	args := make([]string, len(c.Args))
	for n, a := range c.Args {
		if args[n] = strings.ReplaceAll(a, "{{workflow.uid}}", uid); strings.Contains(args[n], "{{") {
			k.t.Fatalf("unknown variable in %s", a)
		}
	}
	_, code := k.exec(k.nod(), "nod", args...)
	return code == 0
}

// TestRecipeArgoCD runs the job of the hook. The sync follows if it succeeds.
func TestRecipeArgoCD(t *testing.T) {
	t.Parallel()
	var job struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct {
			GenerateName string            `yaml:"generateName"`
			Annotations  map[string]string `yaml:"annotations"`
		}
		Spec struct {
			BackoffLimit *int `yaml:"backoffLimit"`
			Seconds      int  `yaml:"activeDeadlineSeconds"`
			Template     struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []container
				}
			}
		}
	}
	recipe(t, "argo-cd/approve.yaml", &job)
	s := job.Spec
	once := s.BackoffLimit != nil && *s.BackoffLimit == 0 && s.Template.Spec.RestartPolicy == "Never"
	if job.Metadata.Annotations["argocd.argoproj.io/hook"] != "PreSync" || s.Seconds <= 3600 || !once {
		t.Errorf("the job is %+v", job)
	}
	k := newKitchen(t, nil)
	k.both("Sync the shop to production?", func(string) bool {
		if !k.run(s.Template.Spec.Containers[0], "") {
			return false
		}
		_, code := k.exec(nil, "./deploy.sh")
		return code == 0
	})
}

// TestRecipeArgoWorkflows runs the steps of the workflow one after the other.
func TestRecipeArgoWorkflows(t *testing.T) {
	t.Parallel()
	type step struct{ Name, Template string }
	var flow struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct {
			GenerateName string `yaml:"generateName"`
		}
		Spec struct {
			Entrypoint string
			Templates  []struct {
				Name      string
				Steps     [][]step
				Seconds   int `yaml:"activeDeadlineSeconds"`
				Container container
			}
		}
	}
	recipe(t, "argo-workflows/workflow.yaml", &flow)
	main, approve, deploy := flow.Spec.Templates[0], flow.Spec.Templates[1], flow.Spec.Templates[2]
	want := [][]step{{{approve.Name, approve.Name}}, {{deploy.Name, deploy.Name}}}
	if main.Name != flow.Spec.Entrypoint || !slices.EqualFunc(main.Steps, want, slices.Equal[[]step]) {
		t.Fatalf("the steps are %+v", main.Steps)
	}
	if approve.Container.Command[0] != "/nod" || approve.Seconds <= 3600 {
		t.Errorf("the approval is %+v", approve)
	}
	k := newKitchen(t, nil)
	k.both("Deploy the shop to production?", func(run string) bool {
		if !k.run(approve.Container, run) {
			return false
		}
		_, code := k.exec(nil, deploy.Container.Command[0])
		return code == 0
	})
}
