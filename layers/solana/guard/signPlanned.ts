/** The one way in which the agent's key signs: what was planned, and nothing unread. */
import { Effect, Redacted } from "effect"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import type { BytesRefused } from "#layers/solana/guard/BytesRefused.ts"
import { checkBytes } from "#layers/solana/guard/checkBytes.ts"
import type { TransactionPlan } from "#layers/solana/swig/Plan.ts"

/**
 * The agent's signature over a message of the plan.
 *
 * @param seed the first 32 bytes of the agent's key
 * @param message the bytes of a message of version 0, without signatures
 */
export const signPlanned = (
  seed: Redacted.Redacted<Uint8Array>,
  message: Uint8Array,
  plan: TransactionPlan
): Effect.Effect<Uint8Array, BytesRefused> =>
  Effect.fromResult(checkBytes(message, plan)).pipe(Effect.map(() => Ed25519.sign(Redacted.value(seed), message)))
