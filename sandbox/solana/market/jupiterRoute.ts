/**
 * The instructions `route_v2` and `shared_accounts_route_v2` of Jupiter's program as the world writes and reads them:
 * amounts, slippage and fixed accounts in the program's own layouts. The steps of the route stand for the world's pools
 * and mean nothing to the real program.
 *
 * Source: the IDL that the program keeps on chain.
 */
import { PublicKey, TransactionInstruction } from "@solana/web3.js"
import { tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { type Hop } from "#sandbox/solana/market/splPools.ts"

export const jupiterProgram = new PublicKey("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")

/**
 * Forms of an answer: through accounts of the taker, the same with the destination named once more where the receiver
 * stands, and through accounts of the program.
 */
export const routeForms = ["ownAccounts", "namedReceiver", "sharedAccounts"] as const
export type RouteForm = (typeof routeForms)[number]

const routeV2 = Buffer.from("bb64facc31c4af14", "hex")
const sharedRouteV2 = Buffer.from("d19853937cfed8e9", "hex")
const stepLength = 5
const accountsOfStep = 4
const wholeBps = 10_000

/** Id of the one of the program's authorities whose accounts the sandbox has. */
const sharedId = 3
const underJupiter = (...seeds: ReadonlyArray<Uint8Array>) =>
  PublicKey.findProgramAddressSync([...seeds], jupiterProgram)[0]
/** Owner of the accounts through which shared routes run. */
export const sharedAuthority = underJupiter(Buffer.from("authority"), Uint8Array.of(sharedId))
export const eventAuthority = underJupiter(Buffer.from("__event_authority"))

export interface JupiterRoute {
  readonly form: RouteForm
  readonly taker: PublicKey
  readonly hops: ReadonlyArray<Hop>
  readonly inAmount: bigint
  readonly quotedOutAmount: bigint
  readonly slippageBps: number
}

const readOnly = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: false })
const writable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: true })
const signer = (pubkey: PublicKey) => ({ pubkey, isSigner: true, isWritable: false })

const dataOf = ({ form, hops, inAmount, quotedOutAmount, slippageBps }: JupiterRoute) => {
  const start = form === "sharedAccounts" ? Buffer.concat([sharedRouteV2, Uint8Array.of(sharedId)]) : routeV2
  const terms = Buffer.alloc(26)
  terms.writeBigUInt64LE(inAmount, 0)
  terms.writeBigUInt64LE(quotedOutAmount, 8)
  terms.writeUInt16LE(slippageBps, 16)
  terms.writeUInt32LE(hops.length, 22)
  const steps = hops.map((_, index) => {
    const step = Buffer.alloc(stepLength)
    step.writeUInt16LE(wholeBps, 1)
    step.writeUInt8(index, 3)
    step.writeUInt8(index + 1, 4)
    return step
  })
  return Buffer.concat([start, terms, ...steps])
}

const fixedAccounts = ({ form, hops, taker }: JupiterRoute) => {
  const [from, to] = [hops[0]!.from, hops.at(-1)!.to]
  const [source, destination] = [tokenAccount(from, taker), tokenAccount(to, taker)].map(writable)
  const tokens = [from.mint, to.mint, from.program, to.program].map(readOnly)
  const events = [eventAuthority, jupiterProgram].map(readOnly)
  if (form === "sharedAccounts") {
    const shared = [from, to].map((token) => writable(tokenAccount(token, sharedAuthority)))
    return [readOnly(sharedAuthority), signer(taker), source!, ...shared, destination!, ...tokens, ...events]
  }
  // Anchor writes the program itself for an account that is left out.
  const receiver = form === "namedReceiver" ? destination! : readOnly(jupiterProgram)
  return [signer(taker), source!, destination!, ...tokens, receiver, ...events]
}

export const encodeRoute = (route: JupiterRoute) => {
  const holder = route.form === "sharedAccounts" ? sharedAuthority : route.taker
  return new TransactionInstruction({
    programId: jupiterProgram,
    keys: [
      ...fixedAccounts(route),
      ...route.hops.flatMap((hop) => [
        readOnly(hop.pool),
        writable(tokenAccount(hop.from, hop.pool)),
        writable(tokenAccount(hop.to, hop.pool)),
        writable(tokenAccount(hop.to, holder))
      ])
    ],
    data: dataOf(route)
  })
}

/** What a program reads of the instruction; undefined when it is none of these layouts. */
export const decodeRoute = ({ data, keys }: TransactionInstruction) => {
  const isShared = data.subarray(0, 8).equals(sharedRouteV2)
  if (!isShared && !data.subarray(0, 8).equals(routeV2)) return undefined
  const terms = data.subarray(isShared ? 9 : 8)
  const fixed = isShared ? 12 : 10
  if (terms.length < 26 || (isShared && data[8] !== sharedId)) return undefined
  const steps = terms.readUInt32LE(22)
  if (terms.length !== 26 + steps * stepLength || keys.length !== fixed + steps * accountsOfStep) return undefined
  const at = (index: number) => keys[index]!.pubkey
  return {
    taker: keys[isShared ? 1 : 0]!,
    source: at(isShared ? 2 : 1),
    destination: at(isShared ? 5 : 2),
    fromMint: at(isShared ? 6 : 3),
    toMint: at(isShared ? 7 : 4),
    shared: isShared ? { authority: at(0), source: at(3), destination: at(4) } : undefined,
    inAmount: terms.readBigUInt64LE(0),
    quotedOutAmount: terms.readBigUInt64LE(8),
    slippageBps: terms.readUInt16LE(16),
    steps: Array.from({ length: steps }, (_, step) => {
      const [pool, into, out, receiver] = keys.slice(fixed + step * accountsOfStep)
      return { pool: pool!.pubkey, into: into!.pubkey, out: out!.pubkey, receiver: receiver!.pubkey }
    })
  }
}
