/**
 * Jupiter's program in this world: a route over the world's pools at the reserves of the moment, refused as the program
 * refuses it when it yields less than quoted less slippage. Two routes of one transaction through the same pool both
 * meet the reserves from before it.
 */
import { createTransferCheckedInstruction } from "@solana/spl-token"
import type { PublicKey } from "@solana/web3.js"
import { ProgramError, type Emulation } from "#sandbox/solana/Emulation.ts"
import { decodeRoute, sharedAuthority } from "#sandbox/solana/market/jupiterRoute.ts"
import { type SplToken, splTokenOf } from "#sandbox/assets/splCatalog.ts"
import { hopsOf, through } from "#sandbox/solana/market/splPools.ts"
import { tokenAccount } from "#sandbox/solana/market/issuer.ts"

const emptyRoute = new ProgramError(6_000, "Empty route")
const slippageExceeded = new ProgramError(6_001, "Slippage tolerance exceeded")
const invalidPlan = new ProgramError(6_010, "Invalid route plan")
const missingSigner = new ProgramError(3_010, "The given account did not sign")
const constraintSeeds = new ProgramError(2_006, "A seeds constraint was violated")
const bps = 10_000n

interface Transfer {
  readonly token: SplToken
  readonly amount: bigint
  readonly from: PublicKey
  readonly to: PublicKey
  readonly owner: PublicKey
}

const transfer = ({ amount, from, owner, to, token: { decimals, mint, program } }: Transfer) =>
  createTransferCheckedInstruction(from, mint, to, owner, amount, decimals, [], program)

export const emulateJupiter: Emulation = (instruction, context) => {
  const route = decodeRoute(instruction)
  if (route === undefined) throw invalidPlan
  const { destination, fromMint, inAmount, quotedOutAmount, shared, slippageBps, source, steps, taker, toMint } = route
  const [from, to] = [fromMint, toMint].map((mint) => splTokenOf(mint.toBase58()))
  if (from === undefined || to === undefined || from === to) throw invalidPlan
  if (steps.length === 0) throw emptyRoute
  if (!taker.isSigner) throw missingSigner
  if (shared !== undefined && !shared.authority.equals(sharedAuthority)) throw constraintSeeds

  const hops = hopsOf(from, to)
  const isTheWay =
    hops.length === steps.length &&
    hops.every((hop, index) => {
      const { into, out, pool } = steps[index]!
      return (
        hop.pool.equals(pool) && tokenAccount(hop.from, pool).equals(into) && tokenAccount(hop.to, pool).equals(out)
      )
    })
  if (!isTheWay) throw invalidPlan

  const amounts = [inAmount]
  for (const hop of hops) amounts.push(through(hop, amounts.at(-1)!, context.dataOf))
  const outAmount = amounts.at(-1)!
  if (outAmount < (quotedOutAmount * (bps - BigInt(slippageBps))) / bps) throw slippageExceeded

  const owner = shared?.authority ?? taker.pubkey
  const traded: ReadonlyArray<Transfer> = hops.flatMap((hop, index) => {
    const { into, out, pool, receiver } = steps[index]!
    const station = index === 0 ? (shared?.source ?? source) : steps[index - 1]!.receiver
    return [
      { token: hop.from, amount: amounts[index]!, from: station, to: into, owner },
      { token: hop.to, amount: amounts[index + 1]!, from: out, to: receiver, owner: pool }
    ]
  })
  if (shared === undefined) return traded.map(transfer)
  return [
    { token: from, amount: inAmount, from: source, to: shared.source, owner: taker.pubkey },
    ...traded,
    { token: to, amount: outAmount, from: shared.destination, to: destination, owner }
  ].map(transfer)
}
