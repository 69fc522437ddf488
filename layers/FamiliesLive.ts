/** The terms of all families, each from its adapter: a namespace without terms does not compile. */
import { Layer } from "effect"
import { Families } from "#domain/chain/Families.ts"
import { evmTerms } from "#layers/evm/evmTerms.ts"
import { solanaTerms } from "#layers/solana/solanaTerms.ts"

export const families: Families["Service"] = { eip155: evmTerms, solana: solanaTerms }

export const FamiliesLive = Layer.succeed(Families, families)
