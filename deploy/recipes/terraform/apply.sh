#!/bin/sh
# Applies exactly the plan that someone approved.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
plan=$dir/plan.out
terraform plan -input=false -out "$plan"
text=$(terraform show -no-color "$plan")
sum=$(sha256sum "$plan")
nod approve "Apply this plan? Its SHA-256 is ${sum%% *}.

$text" --scopes once --command "terraform apply -input=false $plan" --timeout 30m
echo "$sum" | sha256sum -c --quiet -
terraform apply -input=false "$plan"
