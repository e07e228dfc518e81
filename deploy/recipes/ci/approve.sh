set -e
nod approve "Deploy ${NAME:?}?" --scopes once \
  --tool deploy --where production --timeout 1h
./deploy.sh
