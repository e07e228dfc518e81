#!/bin/sh
# Applies exactly the plan that someone approved.
set -eu
terraform plan -input=false -out plan.out
nod run --timeout 30m --prompt "Apply this plan?

$(terraform show -no-color plan.out)" -- terraform apply -input=false plan.out
