# A bot made with discord.py: sends a message with a button, edits it, and answers a
# click. The argument is the address of the sandbox. It prints what happens, one
# JSON value a line.
import json
import sys
import urllib.request

import discord
import yarl

base = sys.argv[1]
discord.http.Route.BASE = base + "/discord/api/v10"
with urllib.request.urlopen(discord.http.Route.BASE + "/gateway") as answer:
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(json.load(answer)["url"])


def says(**what):
    print(json.dumps(what), flush=True)


class Buttons(discord.ui.View):
    def __init__(self):
        super().__init__(timeout=None)

    @discord.ui.button(label="Yes", custom_id="yes")
    async def yes(self, interaction, button):
        await interaction.response.edit_message(content="yes by " + interaction.user.name, view=None)
        await interaction.followup.send("thanks", ephemeral=True)


class Bot(discord.Client):
    async def on_ready(self):
        channel = await self.fetch_channel(100000000000000002)
        sent = await channel.send("hello", view=Buttons())
        edited = await sent.edit(content="hello again")
        kept = await channel.send("a file", file=discord.File(sys.argv[0], filename="plan.py"))
        says(user=self.user.name, message=str(sent.id), content=edited.content, file=kept.attachments[0].filename)
        try:
            await channel.send("x" * 2001)
        except discord.HTTPException as e:
            says(code=e.code)


Bot(intents=discord.Intents(guilds=True)).run("sandbox-discord-token", log_handler=None)
