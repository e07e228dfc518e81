#!/bin/sh
# Applies exactly the plan that someone approved.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
plan=$dir/plan.out
terraform plan -input=false -out "$plan"
text=$(terraform show -no-color "$plan")
fence='```'$(printf '%s\n' "$text" | grep -o '``*' | sort | tail -n 1) # longer than any in the plan
sum=$(sha256sum "$plan")
nod approve "Apply this plan? Its SHA-256 is ${sum%% *}.

$fence
$text
$fence" --scopes once --command "terraform apply -input=false $plan" --timeout 30m
echo "$sum" | sha256sum -c --quiet -
terraform apply -input=false "$plan"
