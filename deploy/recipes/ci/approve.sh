# Fails unless someone approves. RUN must differ in each attempt of the job.
nod approve "Deploy ${NAME:?}?" \
  --tool deploy --where production --timeout 1h \
  --session "${RUN:?}" --key "deploy-$RUN"
