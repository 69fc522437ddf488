/** The service's agent on the world's Solana chain. */
import { Keypair } from "@solana/web3.js"
import type { Redacted } from "effect"
import { derivedSecret } from "#sandbox/process/derivedSecret.ts"

export const solanaAgent = (internalToken: Redacted.Redacted): Keypair =>
  Keypair.fromSeed(Uint8Array.from(Buffer.from(derivedSecret(internalToken)("solana agent"), "hex")))
