/** An account as a plan has seen it: what is carried out by the plan must find it as it was. */
import { Schema } from "effect"

export const AccountMoment = Schema.Struct({
  /** Block of everything that was read. */
  blockNumber: Schema.BigIntFromString,
  /**
   * How many operations under the agent's permission the account had carried out by then; left out on a chain that does
   * not count them.
   */
  operations: Schema.optionalKey(Schema.BigIntFromString)
})
export type AccountMoment = typeof AccountMoment.Type
