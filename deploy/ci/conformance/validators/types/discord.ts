import type * as api from "discord-api-types/v10";

type Listed<T> = { "": T };
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
