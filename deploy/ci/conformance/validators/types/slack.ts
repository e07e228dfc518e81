import type { HomeView, KnownBlock, ModalView, SlackEvent } from "@slack/types";
import type * as web from "@slack/web-api";
import type {
  BlockAction,
  RespondArguments as Respond,
  SlashCommand,
  ViewResponseAction,
  ViewSubmitAction,
} from "@slack/bolt";

// The generated types of answers merge all blocks into one.
type Posted<T extends { message?: object }> = Omit<T, "message"> & {
  message: Omit<NonNullable<T["message"]>, "blocks"> & { blocks?: KnownBlock[] };
};
type Viewed<T extends { view?: object }> = Omit<T, "view"> & {
  view: Omit<NonNullable<T["view"]>, "blocks"> & { blocks?: KnownBlock[] };
};
// The clients accept any object with a type as a block. Known blocks have known fields only.
type Strict<T> = T & { blocks?: KnownBlock[] };
type StrictView<T> = T & { view: ModalView | HomeView };
type RespondArguments = Strict<Respond>;
type EventCallback = {
  type: "event_callback";
  team_id: string;
  api_app_id: string;
  event_id: string;
  event_time: number;
  event: SlackEvent;
};
// Frozen is the type that a literal must fit: read-only, with optional fields for
// those that may be undefined, and with the values of enums.
type Frozen<T> = T extends string
  ? `${T}`
  : T extends readonly (infer U)[]
    ? readonly Frozen<U>[]
    : T extends object
      ? Fields<T>
      : T;
type Fields<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: Frozen<T[K]> } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Frozen<T[K]>;
};
