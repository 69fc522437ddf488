/** What Jupiter answers to `GET /swap/v2/build`, in the documented shape, out of the world's own pools. */
import { createAssociatedTokenAccountIdempotentInstruction } from "@solana/spl-token"
import { ComputeBudgetProgram, type PublicKey, type TransactionInstruction } from "@solana/web3.js"
import * as Base58 from "#domain/values/Base58.ts"
import type { Ledger } from "#sandbox/solana/Ledger.ts"
import { tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { encodeRoute } from "#sandbox/solana/market/jupiterRoute.ts"
import type { SplToken } from "#sandbox/assets/splCatalog.ts"
import { hopsOf, through } from "#sandbox/solana/market/splPools.ts"

const bps = 10_000n

export interface BuildQuery {
  readonly from: SplToken
  readonly to: SplToken
  readonly amount: bigint
  readonly taker: PublicKey
  readonly slippageBps: number
}

const wire = ({ data, keys, programId }: TransactionInstruction) => ({
  programId: programId.toBase58(),
  accounts: keys.map(({ isSigner, isWritable, pubkey }) => ({ pubkey: pubkey.toBase58(), isSigner, isWritable })),
  data: data.toString("base64")
})

/** The answer; undefined when the pools give nothing for the amount. */
export const buildSwap = (ledger: Ledger, { amount, from, slippageBps, taker, to }: BuildQuery) => {
  const hops = hopsOf(from, to)
  const amounts = [amount]
  for (const hop of hops) amounts.push(through(hop, amounts.at(-1)!, (key) => ledger.account(key)?.data))
  const out = amounts.at(-1)!
  if (out === 0n) return undefined
  const { blockhash, lastValidBlockHeight } = ledger.blockhashes.latest
  return {
    inputMint: from.mint.toBase58(),
    outputMint: to.mint.toBase58(),
    inAmount: amount.toString(),
    outAmount: out.toString(),
    otherAmountThreshold: ((out * (bps - BigInt(slippageBps))) / bps).toString(),
    swapMode: "ExactIn",
    slippageBps,
    routePlan: hops.map((hop, index) => ({
      swapInfo: {
        ammKey: hop.pool.toBase58(),
        label: "Sandbox",
        inputMint: hop.from.mint.toBase58(),
        outputMint: hop.to.mint.toBase58(),
        inAmount: amounts[index]!.toString(),
        outAmount: amounts[index + 1]!.toString()
      },
      percent: 100,
      bps: 10_000
    })),
    computeBudgetInstructions: [wire(ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10_000 }))],
    setupInstructions: [
      wire(
        createAssociatedTokenAccountIdempotentInstruction(taker, tokenAccount(to, taker), taker, to.mint, to.program)
      )
    ],
    swapInstruction: wire(encodeRoute({ taker, hops, inAmount: amount, quotedOutAmount: out, slippageBps })),
    cleanupInstruction: null,
    otherInstructions: [],
    tipInstruction: null,
    addressesByLookupTableAddress: {},
    blockhashWithMetadata: {
      blockhash: [...Base58.decode(blockhash)!],
      lastValidBlockHeight: Number(lastValidBlockHeight)
    }
  }
}
