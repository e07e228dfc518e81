// Checks every Discord message and modal with the builders of discord.js, which
// validate lengths, counts, styles and combinations.
import {
  ActionRowBuilder,
  ChannelSelectMenuBuilder,
  FileUploadBuilder,
  LabelBuilder,
  MentionableSelectMenuBuilder,
  ModalBuilder,
  RoleSelectMenuBuilder,
  StringSelectMenuBuilder,
  StringSelectMenuOptionBuilder,
  TextDisplayBuilder,
  TextInputBuilder,
  UserSelectMenuBuilder,
  createComponentBuilder,
} from "@discordjs/builders";
import { AllowedMentionsTypes, ComponentType, MessageFlags } from "discord-api-types/v10";

// describe returns the reason of a builder's error with its place.
function describe(err) {
  if (Array.isArray(err.errors)) return err.errors.map(([path, e]) => `${String(path)}: ${describe(e)}`).join("; ");
  return [
    err.message,
    err.given === undefined ? "" : `given ${JSON.stringify(err.given)}`,
    err.expected ? `expected ${[err.expected].flat().join(", ")}` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

function attempt(complain, where, build) {
  try {
    build();
  } catch (err) {
    complain(`${where}: ${describe(err)}`);
  }
}

// setters returns a builder after each field of a component has passed the
// setter that validates it. Fields without a setter stay unchecked.
function setters(builder, c) {
  for (const [field, value] of Object.entries(c)) {
    const name = field === "url" ? "setURL" : `set${field.replace(/(^|_)(\w)/g, (_, gap, letter) => letter.toUpperCase())}`;
    if (nested.includes(field) || value === null || typeof builder[name] !== "function") continue;
    try {
      builder[name](value);
    } catch (err) {
      throw new Error(`${field}: ${describe(err)}`, { cause: err });
    }
  }
  if (c.options && builder instanceof StringSelectMenuBuilder)
    builder.setOptions(c.options.map((o) => setters(new StringSelectMenuOptionBuilder(), o)));
  return builder;
}

const nested = ["type", "id", "components", "component", "accessory", "media", "file", "items", "options"];

// component checks a component of a message, and those within it.
function component(c, where, complain) {
  attempt(complain, where, () => setters(createComponentBuilder({ type: c.type }), c));
  attempt(complain, where, () => createComponentBuilder(c).toJSON());
  (c.components ?? []).forEach((child, n) => component(child, `${where}.components[${n}]`, complain));
  if (c.accessory) component(c.accessory, `${where}.accessory`, complain);
}

// fields are the builders of the inputs of a modal, and the methods that put
// them into a label.
const fields = {
  [ComponentType.TextInput]: [TextInputBuilder, "setTextInputComponent"],
  [ComponentType.StringSelect]: [StringSelectMenuBuilder, "setStringSelectMenuComponent"],
  [ComponentType.UserSelect]: [UserSelectMenuBuilder, "setUserSelectMenuComponent"],
  [ComponentType.RoleSelect]: [RoleSelectMenuBuilder, "setRoleSelectMenuComponent"],
  [ComponentType.MentionableSelect]: [MentionableSelectMenuBuilder, "setMentionableSelectMenuComponent"],
  [ComponentType.ChannelSelect]: [ChannelSelectMenuBuilder, "setChannelSelectMenuComponent"],
  [ComponentType.FileUpload]: [FileUploadBuilder, "setFileUploadComponent"],
};

function modal(data, complain) {
  attempt(complain, "modal", () => {
    const m = new ModalBuilder().setTitle(data.title).setCustomId(data.custom_id);
    for (const c of data.components ?? []) {
      if (c.type === ComponentType.TextDisplay) m.addTextDisplayComponents(setters(new TextDisplayBuilder(), c));
      else if (c.type === ComponentType.Label) m.addLabelComponents(label(c));
      else m.addComponents(new ActionRowBuilder().addComponents(c.components.map((i) => setters(new TextInputBuilder(), i))));
    }
    m.toJSON();
  });
}

function label(c) {
  const [Builder, set] = fields[c.component.type] ?? [];
  if (!Builder) return new LabelBuilder(c); // of a newer kind, which the builders do not check
  return setters(new LabelBuilder(), c)[set](setters(new Builder(), c.component));
}

// every returns a component and all within it.
const every = (list) => (list ?? []).flatMap((c) => [c, ...every(c.components), ...every(c.accessory ? [c.accessory] : [])]);

// total checks the rules that hold for a whole message.
function total(m, complain) {
  const all = every(m.components),
    known = Object.values(MessageFlags)
      .filter((f) => typeof f === "number")
      .reduce((a, f) => a | f, 0);
  const v2 = ((m.flags ?? 0) & MessageFlags.IsComponentsV2) !== 0;
  if (((m.flags ?? 0) & ~known) !== 0) complain(`flags: ${m.flags} has unknown bits`);
  if (v2 && all.length > 40) complain(`components: ${all.length} are more than 40`);
  if (!v2 && (m.components ?? []).length > 5) complain("components: more than 5 rows");
  if (v2 && [...all.map((c) => c.content ?? "").join("")].length > 4000)
    complain("components: more than 4000 characters of text");
  if (v2 && (m.content || (m.embeds ?? []).length > 0 || m.poll)) complain("components: next to content, embeds or a poll");
  if (!v2 && [...(m.content ?? "")].length > 2000) complain("content: more than 2000 characters");
  const ids = all.map((c) => c.custom_id).filter(Boolean);
  if (new Set(ids).size !== ids.length) complain("components: custom_id is not unique");
  const parse = m.allowed_mentions?.parse ?? [];
  if (parse.some((p) => !Object.values(AllowedMentionsTypes).includes(p))) complain(`allowed_mentions: unknown kind in ${parse}`);
}

// check returns the numbers of exchanges and the complaints.
export function check(exchanges) {
  const complaints = [];
  let checked = 0;
  for (const x of exchanges) {
    if (x.service !== "discord" || x.kind !== "call" || !/messages|callback|webhooks/.test(x.method)) continue;
    const body = x.method.endsWith("/callback") ? x.payload.data : x.payload;
    if (!body) continue;
    checked++;
    const complain = (rule) => complaints.push({ exchange: x, side: "bot", value: body, rule });
    if (x.payload.type === 9) {
      modal(body, complain);
      continue;
    }
    (body.components ?? []).forEach((c, n) => component(c, `components[${n}]`, complain));
    total(body, complain);
  }
  return { checked: { discord: checked }, complaints };
}
