import type { Redacted } from "effect"
import type { Hex } from "viem"
import { derivedSecret } from "#sandbox/process/derivedSecret.ts"

/** The key of the world's price attestor, which no other process of the service is given. */
export const attestorKey = (internalToken: Redacted.Redacted): Hex =>
  `0x${derivedSecret(internalToken)("attestor key")}`
