# The configuration of errbot: a bot in the sandbox at SANDBOX, which keeps its files
# in the current folder. It has only the plugin with the command echo, because other
# plugins call servers on the Internet.
import functools
import logging
import os

import telegram

# errbot knows no other address than that of Telegram.
telegram.Bot = functools.partial(telegram.Bot, base_url=os.environ["SANDBOX"] + "/telegram/bot")

BACKEND = "Telegram"
BOT_IDENTITY = {"token": os.environ["TOKEN"]}
BOT_ADMINS = ("7001",)
BOT_PREFIX = "/"
CORE_PLUGINS = ("Utils",)
BOT_PLUGIN_INDEXES = ()
BOT_EXTRA_PLUGIN_DIR = None
AUTOINSTALL_DEPS = False
STORAGE = "Memory"
BOT_DATA_DIR = os.getcwd()
BOT_LOG_FILE = None
BOT_LOG_LEVEL = logging.ERROR
