/** The balances of many accounts, for stand-ins of chains that know how to read one. */
import { Effect } from "effect"
import type { Balances } from "#domain/chain/Balances.ts"

export const readEach =
  (read: Balances["Service"]["read"]): Balances["Service"]["readMany"] =>
  (_, accounts) =>
    Effect.forEach(accounts, ({ account, assetIds }) => Effect.result(read(account, assetIds)))
