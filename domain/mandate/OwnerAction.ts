/** What a tenant may let owners do with their portfolios by their wallets' sessions, beside what they always may. */
import { Schema } from "effect"

export const OwnerAction = Schema.Literals(["start", "stop", "rebalance"])
export type OwnerAction = typeof OwnerAction.Type
