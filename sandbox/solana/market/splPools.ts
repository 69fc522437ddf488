/**
 * Pools of constant product between USDC and every other token of the world's Solana chain. A pool's reserves are the
 * token accounts of its address, and nothing else keeps them.
 */
import { AccountLayout, createTransferCheckedInstruction } from "@solana/spl-token"
import { PublicKey } from "@solana/web3.js"
import { createHash } from "node:crypto"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Ledger } from "#sandbox/solana/Ledger.ts"
import { issue, issuer, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { multiplierOf } from "#sandbox/solana/market/multiplierOf.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"

/** What each side of a pool is worth, in US dollars: a trade of 100,000 moves the price by about four percent. */
const sideUsd = 5_000_000n * Decimal.one
const feePerMille = 3n

/** The address that holds the reserves of a token's pool. Nobody has its key. */
export const poolOf = ({ mint }: SplToken): PublicKey =>
  new PublicKey(createHash("sha256").update(`ballast sandbox pool ${mint.toBase58()}`).digest())

/** Raw units that the data of a token account shows; nothing where there is no account. */
export const amountIn = (data: Uint8Array | undefined): bigint =>
  data === undefined ? 0n : AccountLayout.decode(data.subarray(0, AccountLayout.span)).amount

/** A swap through one pool. */
export interface Hop {
  readonly pool: PublicKey
  readonly from: SplToken
  readonly to: SplToken
}

/** The way from one token to another: one pool when either is USDC, else two. */
export const hopsOf = (from: SplToken, to: SplToken): ReadonlyArray<Hop> => {
  if (to === usdc) return [{ pool: poolOf(from), from, to }]
  if (from === usdc) return [{ pool: poolOf(to), from, to }]
  return [...hopsOf(from, usdc), ...hopsOf(usdc, to)]
}

/** Raw units that a hop gives for raw units taken; the product of the reserves never falls. */
export const through = (
  { from, pool, to }: Hop,
  amountRaw: bigint,
  dataOf: (account: PublicKey) => Uint8Array | undefined
): bigint => {
  const [reserveIn, reserveOut] = [from, to].map((token) => amountIn(dataOf(tokenAccount(token, pool)))) as [
    bigint,
    bigint
  ]
  const afterFee = amountRaw * (1_000n - feePerMille)
  return (afterFee * reserveOut) / (reserveIn * 1_000n + afterFee)
}

const impactDigits = 8

/**
 * How much worse the whole amount is priced than an infinitely small part of it, pools' fees left aside: a decimal
 * fraction, as the API states it.
 */
export const impactOf = (
  hops: ReadonlyArray<Hop>,
  amountRaw: bigint,
  dataOf: (account: PublicKey) => Uint8Array | undefined
): string => {
  let [kept, amount] = [1, amountRaw]
  for (const hop of hops) {
    const reserve = Number(amountIn(dataOf(tokenAccount(hop.from, hop.pool))))
    const sold = Number(amount) * (1 - Number(feePerMille) / 1_000)
    kept *= reserve / (reserve + sold)
    amount = through(hop, amount, dataOf)
  }
  return (1 - kept).toFixed(impactDigits)
}

/** Raw units of a token that are worth one side of a pool when a shown unit costs `priceUsd` (wad). */
const sideAmount = (ledger: Ledger, token: SplToken, priceUsd: bigint): bigint => {
  const shown = Decimal.fromNumber(multiplierOf(ledger, token))!
  return (sideUsd * Decimal.one * 10n ** BigInt(token.decimals)) / (priceUsd * shown)
}

const setReserve = (
  ledger: Ledger,
  pool: PublicKey,
  { amountRaw, token }: { readonly token: SplToken; readonly amountRaw: bigint }
): void => {
  const account = tokenAccount(token, pool)
  const held = amountIn(ledger.account(account)?.data)
  if (held < amountRaw) issue(ledger, pool, { token, amountRaw: amountRaw - held })
  if (held <= amountRaw) return
  const own = tokenAccount(token, issuer)
  if (ledger.account(own) === undefined) issue(ledger, issuer, { token, amountRaw: 0n })
  ledger.operate(issuer, [
    createTransferCheckedInstruction(
      account,
      token.mint,
      own,
      pool,
      held - amountRaw,
      token.decimals,
      [],
      token.program
    )
  ])
}

/** Gives a token's pool fresh reserves at a price (US dollars of a shown unit, wad): what swaps did to it is undone. */
export const movePool = (ledger: Ledger, token: SplToken, priceUsd: bigint): void => {
  const pool = poolOf(token)
  setReserve(ledger, pool, { token: usdc, amountRaw: (sideUsd * 10n ** BigInt(usdc.decimals)) / Decimal.one })
  setReserve(ledger, pool, { token, amountRaw: sideAmount(ledger, token, priceUsd) })
}

/** Makes all pools that have no reserves yet. */
export const installPools = (ledger: Ledger, priceOf: (token: SplToken) => bigint): void => {
  for (const token of splCatalog) {
    if (token !== usdc && ledger.account(tokenAccount(token, poolOf(token))) === undefined) {
      movePool(ledger, token, priceOf(token))
    }
  }
}
