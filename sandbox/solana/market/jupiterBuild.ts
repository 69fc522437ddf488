/**
 * What Jupiter answers to `GET /swap/v2/build`, in the documented shape, out of the world's own pools. Which of its
 * forms a route has is Jupiter's choice, and nothing that a caller may rely on.
 */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createSyncNativeInstruction,
  NATIVE_MINT
} from "@solana/spl-token"
import { ComputeBudgetProgram, type PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js"
import * as Base58 from "#domain/values/Base58.ts"
import type { Ledger } from "#sandbox/solana/Ledger.ts"
import { tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { encodeRoute, type RouteForm } from "#sandbox/solana/market/jupiterRoute.ts"
import { routeTable, routeTableAddresses } from "#sandbox/solana/market/installMarket.ts"
import type { SplToken } from "#sandbox/assets/splCatalog.ts"
import { type Hop, hopsOf, impactOf, through } from "#sandbox/solana/market/splPools.ts"

const bps = 10_000n

export interface BuildQuery {
  readonly from: SplToken
  readonly to: SplToken
  readonly amount: bigint
  readonly taker: PublicKey
  readonly slippageBps: number
  /** SOL is paid and received as lamports, as the API does where it is not asked otherwise. */
  readonly wrapAndUnwrapSol: boolean
}

const wire = ({ data, keys, programId }: TransactionInstruction) => ({
  programId: programId.toBase58(),
  accounts: keys.map(({ isSigner, isWritable, pubkey }) => ({ pubkey: pubkey.toBase58(), isSigner, isWritable })),
  data: data.toString("base64")
})

const isSol = ({ mint }: SplToken): boolean => mint.equals(NATIVE_MINT)

/** The accounts that the taker needs: its destination, and those between hops where the program lends none. */
const opened = ({ hops, taker }: { readonly hops: ReadonlyArray<Hop>; readonly taker: PublicKey }, form: RouteForm) =>
  (form === "sharedAccounts" ? hops.slice(-1) : hops).map(({ to }) =>
    createAssociatedTokenAccountIdempotentInstruction(taker, tokenAccount(to, taker), taker, to.mint, to.program)
  )

const setupOf = ({ amount, from, taker, wrapAndUnwrapSol }: BuildQuery, hops: ReadonlyArray<Hop>, form: RouteForm) => {
  const open = opened({ hops, taker }, form)
  if (!wrapAndUnwrapSol || !isSol(from)) return open
  const account = tokenAccount(from, taker)
  return [
    createAssociatedTokenAccountIdempotentInstruction(taker, account, taker, from.mint, from.program),
    SystemProgram.transfer({ fromPubkey: taker, toPubkey: account, lamports: amount }),
    createSyncNativeInstruction(account),
    ...open
  ]
}

const cleanupOf = ({ from, taker, to, wrapAndUnwrapSol }: BuildQuery) => {
  const wrapped = [from, to].find(isSol)
  if (!wrapAndUnwrapSol || wrapped === undefined) return null
  return wire(createCloseAccountInstruction(tokenAccount(wrapped, taker), taker, taker))
}

/** The answer; undefined when the pools give nothing for the amount. */
export const buildSwap = (ledger: Ledger, query: BuildQuery, form: RouteForm) => {
  const { amount, from, slippageBps, taker, to } = query
  const hops = hopsOf(from, to)
  const dataOf = (key: PublicKey) => ledger.account(key)?.data
  const amounts = [amount]
  for (const hop of hops) amounts.push(through(hop, amounts.at(-1)!, dataOf))
  const out = amounts.at(-1)!
  if (out === 0n) return undefined
  const { blockhash, lastValidBlockHeight } = ledger.blockhashes.latest
  const addresses = routeTableAddresses.map((key) => key.toBase58())
  return {
    inputMint: from.mint.toBase58(),
    outputMint: to.mint.toBase58(),
    inAmount: amount.toString(),
    outAmount: out.toString(),
    otherAmountThreshold: ((out * (bps - BigInt(slippageBps))) / bps).toString(),
    swapMode: "ExactIn",
    slippageBps,
    priceImpactPct: impactOf(hops, amount, dataOf),
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
    setupInstructions: setupOf(query, hops, form).map(wire),
    swapInstruction: wire(encodeRoute({ form, taker, hops, inAmount: amount, quotedOutAmount: out, slippageBps })),
    cleanupInstruction: cleanupOf(query),
    otherInstructions: [],
    tipInstruction: null,
    addressesByLookupTableAddress:
      ledger.account(routeTable) === undefined ? {} : { [routeTable.toBase58()]: addresses },
    blockhashWithMetadata: {
      blockhash: [...Base58.decode(blockhash)!],
      lastValidBlockHeight: Number(lastValidBlockHeight)
    }
  }
}
