/**
 * Jupiter's program in this world: a route over the world's pools at the reserves of the moment, refused as the program
 * refuses it when it yields less than quoted less slippage. Two routes of one transaction through the same pool both
 * meet the reserves from before it.
 */
import { createTransferCheckedInstruction } from "@solana/spl-token"
import { ProgramError, type Emulation } from "#sandbox/solana/Emulation.ts"
import { decodeRoute } from "#sandbox/solana/market/jupiterRoute.ts"
import { splTokenOf } from "#sandbox/assets/splCatalog.ts"
import { hopsOf, through } from "#sandbox/solana/market/splPools.ts"
import { tokenAccount } from "#sandbox/solana/market/issuer.ts"

const emptyRoute = new ProgramError(6_000, "Empty route")
const slippageExceeded = new ProgramError(6_001, "Slippage tolerance exceeded")
const invalidPlan = new ProgramError(6_010, "Invalid route plan")
const missingSigner = new ProgramError(3_010, "The given account did not sign")
const bps = 10_000n

export const emulateJupiter: Emulation = (instruction, context) => {
  const route = decodeRoute(instruction)
  const [taker, source, destination, fromMint, toMint] = instruction.keys
  const [from, to] = [fromMint, toMint].map((meta) => splTokenOf(meta?.pubkey.toBase58() ?? ""))
  if (route === undefined || from === undefined || to === undefined || from === to) throw invalidPlan
  if (route.pools.length === 0) throw emptyRoute
  if (!taker!.isSigner) throw missingSigner

  const hops = hopsOf(from, to)
  const isTheWay =
    hops.length === route.pools.length &&
    hops.every((hop, index) => {
      const { into, out, pool } = route.pools[index]!
      return (
        hop.pool.equals(pool) && tokenAccount(hop.from, pool).equals(into) && tokenAccount(hop.to, pool).equals(out)
      )
    })
  if (!isTheWay) throw invalidPlan

  const amounts = [route.inAmount]
  for (const hop of hops) amounts.push(through(hop, amounts.at(-1)!, context.dataOf))
  const atLeast = (route.quotedOutAmount * (bps - BigInt(route.slippageBps))) / bps
  if (amounts.at(-1)! < atLeast) throw slippageExceeded

  const stations = [
    { token: from, account: source!.pubkey, owner: taker!.pubkey },
    ...hops.map(({ pool, to: token }) => ({ token, account: tokenAccount(token, pool), owner: pool }))
  ]
  return stations.map(({ account, owner, token }, index) => {
    const next = hops[index]
    const target = next === undefined ? destination!.pubkey : tokenAccount(next.from, next.pool)
    return createTransferCheckedInstruction(
      account,
      token.mint,
      target,
      owner,
      amounts[index]!,
      token.decimals,
      [],
      token.program
    )
  })
}
