# Notifies the channels of the sandbox, whose address is the argument, with apprise,
# which knows no other addresses than those of the services.
import sys

import apprise
from apprise.plugins.NotifySlack import NotifySlack
from apprise.plugins.NotifyTelegram import NotifyTelegram

base = sys.argv[1]
NotifySlack.api_url = base + "/slack/api/{}"
NotifyTelegram.notify_url = base + "/telegram/bot"

notifier = apprise.Apprise()
assert notifier.add("slack://" + sys.argv[2] + "/#deploys")
assert notifier.add("tgram://" + sys.argv[3] + "/" + sys.argv[4])
sys.exit(not notifier.notify(title="Deploy 42", body="is done"))
