/**
 * The instruction `route_v2` of Jupiter's program as the world writes and reads it: amounts, slippage and accounts in
 * the program's own layout. The steps of the route stand for the world's pools, one address and two accounts each, and
 * mean nothing to the real program.
 */
import { PublicKey, TransactionInstruction } from "@solana/web3.js"
import { tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { type Hop } from "#sandbox/solana/market/splPools.ts"

export const jupiterProgram = new PublicKey("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")

const discriminator = Buffer.from("bb64facc31c4af14", "hex")
const headLength = 34
const stepLength = 5
const fixedAccounts = 10
const accountsOfStep = 3
const wholeBps = 10_000

export interface JupiterRoute {
  readonly taker: PublicKey
  readonly hops: ReadonlyArray<Hop>
  readonly inAmount: bigint
  readonly quotedOutAmount: bigint
  readonly slippageBps: number
}

const [eventAuthority] = PublicKey.findProgramAddressSync([Buffer.from("__event_authority")], jupiterProgram)

const readOnly = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: false })
const writable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: true })

export const encodeRoute = ({ hops, inAmount, quotedOutAmount, slippageBps, taker }: JupiterRoute) => {
  const head = Buffer.alloc(headLength)
  discriminator.copy(head)
  head.writeBigUInt64LE(inAmount, 8)
  head.writeBigUInt64LE(quotedOutAmount, 16)
  head.writeUInt16LE(slippageBps, 24)
  head.writeUInt32LE(hops.length, 30)
  const steps = hops.map((_, index) => {
    const step = Buffer.alloc(stepLength)
    step.writeUInt16LE(wholeBps, 1)
    step.writeUInt8(index, 3)
    step.writeUInt8(index + 1, 4)
    return step
  })
  const [from, to] = [hops[0]!.from, hops.at(-1)!.to]
  return new TransactionInstruction({
    programId: jupiterProgram,
    keys: [
      { pubkey: taker, isSigner: true, isWritable: false },
      writable(tokenAccount(from, taker)),
      writable(tokenAccount(to, taker)),
      readOnly(from.mint),
      readOnly(to.mint),
      readOnly(from.program),
      readOnly(to.program),
      // No account of somebody else receives: Anchor writes the program itself for what is left out.
      readOnly(jupiterProgram),
      readOnly(eventAuthority),
      readOnly(jupiterProgram),
      ...hops.flatMap((hop) => [
        readOnly(hop.pool),
        writable(tokenAccount(hop.from, hop.pool)),
        writable(tokenAccount(hop.to, hop.pool))
      ])
    ],
    data: Buffer.concat([head, ...steps])
  })
}

/** What a program reads of the instruction; undefined when it is not a `route_v2` of this layout. */
export const decodeRoute = ({ data, keys }: TransactionInstruction) => {
  if (data.length < headLength || !data.subarray(0, 8).equals(discriminator)) return undefined
  const steps = data.readUInt32LE(30)
  if (data.length !== headLength + steps * stepLength) return undefined
  if (keys.length !== fixedAccounts + steps * accountsOfStep) return undefined
  return {
    inAmount: data.readBigUInt64LE(8),
    quotedOutAmount: data.readBigUInt64LE(16),
    slippageBps: data.readUInt16LE(24),
    pools: Array.from({ length: steps }, (_, step) => {
      const [pool, into, out] = keys.slice(fixedAccounts + step * accountsOfStep)
      return { pool: pool!.pubkey, into: into!.pubkey, out: out!.pubkey }
    })
  }
}
