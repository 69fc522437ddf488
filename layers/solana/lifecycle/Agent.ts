/** The agent's key: it acts for sub-accounts, and pays the fees. */
import { PublicKey } from "@solana/web3.js"
import { type Effect, Redacted } from "effect"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import type { BytesRefused } from "#layers/solana/guard/BytesRefused.ts"
import type { TransactionPlan } from "#layers/solana/swig/Plan.ts"
import { signPlanned } from "#layers/solana/guard/signPlanned.ts"

export interface Agent {
  readonly key: PublicKey
  /** Its signature over a message of the plan; bytes that are not what was planned are refused. */
  readonly sign: (message: Uint8Array, plan: TransactionPlan) => Effect.Effect<Uint8Array, BytesRefused>
}

/** An agent whose key is in this process: `seed` is its first 32 bytes. */
export const localAgent = (seed: Redacted.Redacted<Uint8Array>): Agent => ({
  key: new PublicKey(Ed25519.publicKeyOf(Redacted.value(seed))),
  sign: (message, plan) => signPlanned(seed, message, plan)
})
