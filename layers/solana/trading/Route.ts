/**
 * The two forms of a route that Jupiter builds, as its program reads them: `route_v2` runs through token accounts of
 * the taker, `shared_accounts_route_v2` through those of one of the program's authorities. In both the amounts stand
 * before the steps, and the first accounts are those whose tokens move.
 *
 * Source: the IDL that the program keeps on chain.
 */
import { PublicKey } from "@solana/web3.js"
import { ByteReader, MalformedBytes } from "#layers/solana/swig/ByteReader.ts"
import { associatedAccount } from "#layers/solana/token/programs.ts"
import type { Mint } from "#layers/solana/token/Mint.ts"

export const jupiterProgram = new PublicKey("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")

const routeV2 = "bb64facc31c4af14"
const sharedRouteV2 = "d19853937cfed8e9"
const wholeBps = 10_000n

const underJupiter = (...seeds: ReadonlyArray<Uint8Array>): PublicKey =>
  PublicKey.findProgramAddressSync([...seeds], jupiterProgram)[0]
const eventAuthority = underJupiter(new TextEncoder().encode("__event_authority"))
const authorityOf = (id: number): PublicKey => underJupiter(new TextEncoder().encode("authority"), Uint8Array.of(id))

export interface Route {
  /** The number of the program's authority that lends its accounts; null where the taker's own are used. */
  readonly sharedId: number | null
  readonly inAmount: bigint
  /** Amount below which the program refuses. */
  readonly minOutRaw: bigint
}

/** Reads the terms; what Jupiter or anybody else would keep of the trade is refused. */
export const readRoute = (data: Uint8Array): Route => {
  const reader = new ByteReader(data, "route")
  const form = Buffer.from(reader.bytes(8)).toString("hex")
  if (form !== routeV2 && form !== sharedRouteV2) {
    throw new MalformedBytes("it is neither Jupiter's route_v2 nor its shared_accounts_route_v2")
  }
  const sharedId = form === sharedRouteV2 ? reader.u8() : null
  const [inAmount, quoted] = [reader.u64(), reader.u64()]
  const slippageBps = BigInt(reader.u16())
  if (slippageBps > wholeBps) throw new MalformedBytes(`its data has a slippage of ${slippageBps} basis points`)
  if (reader.u16() !== 0 || reader.u16() !== 0) throw new MalformedBytes("its data has a fee")
  return { sharedId, inAmount, minOutRaw: (quoted * (wholeBps - slippageBps)) / wholeBps }
}

/** Whose tokens are traded. */
export interface Traded {
  readonly account: PublicKey
  readonly sell: Mint
  readonly buy: Mint
}

/** One of the first accounts of a route, and which keys may stand there; any key where none are named. */
export interface AccountPosition {
  readonly name: string
  readonly keys?: ReadonlyArray<PublicKey>
}

/** The first accounts of the route, in their order. */
export const accountPositionsOf = (
  { sharedId }: Route,
  { account, buy, sell }: Traded
): ReadonlyArray<AccountPosition> => {
  const destinationKey = associatedAccount(account, buy.mint, buy.program)
  const taker = { name: "taker", keys: [account] }
  const source = { name: "source", keys: [associatedAccount(account, sell.mint, sell.program)] }
  const destination = { name: "destination", keys: [destinationKey] }
  const tokens = [
    { name: "sold mint", keys: [sell.mint] },
    { name: "bought mint", keys: [buy.mint] },
    { name: "token program", keys: [sell.program] },
    { name: "token program", keys: [buy.program] }
  ]
  const events = [
    { name: "event authority", keys: [eventAuthority] },
    { name: "program", keys: [jupiterProgram] }
  ]
  if (sharedId !== null) {
    const authority = { name: "program authority", keys: [authorityOf(sharedId)] }
    const lent = [{ name: "program source" }, { name: "program destination" }]
    return [authority, taker, source, ...lent, destination, ...tokens, ...events]
  }
  // Anchor writes the program itself where an optional account is left out.
  const receiver = { name: "receiver", keys: [jupiterProgram, destinationKey] }
  return [taker, source, destination, ...tokens, receiver, ...events]
}
