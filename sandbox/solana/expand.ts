/** A transaction with instructions of emulated programs, as instructions that the virtual machine knows. */
import type { PublicKey, TransactionInstruction } from "@solana/web3.js"
import { swigProgram } from "#layers/solana/swig/addresses.ts"
import { type Emulation, type ProgramContext, ProgramError } from "#sandbox/solana/Emulation.ts"

/**
 * Lamports that an account must have when the transaction ends, and the instruction that fails with the code
 * otherwise.
 */
export interface RequiredLamports {
  readonly account: PublicKey
  readonly atLeast: bigint
  readonly code: number
  readonly origin: number
}

interface Expanded {
  readonly instructions: ReadonlyArray<TransactionInstruction>
  /** Index of the transaction's instruction from which each of them came. */
  readonly origins: ReadonlyArray<number>
  readonly staged: ReadonlyMap<string, Uint8Array>
  /** Lamports that accounts of emulated programs pay at the end. */
  readonly paid: ReadonlyArray<{ readonly from: PublicKey; readonly to: PublicKey; readonly lamports: bigint }>
  readonly required: ReadonlyArray<RequiredLamports>
  /** Where an emulated program refused. The instructions are then those before it. */
  readonly refused?: { readonly index: number; readonly error: ProgramError }
}

/** Programs call no deeper than this. */
const deepestCall = 5
const callTooDeep = 30

/** Expands all instructions in order, up to the first that an emulated program refuses. */
export const expand = (
  transaction: ReadonlyArray<TransactionInstruction>,
  emulations: ReadonlyMap<string, Emulation>,
  chain: Pick<ProgramContext, "slot" | "payer" | "dataOf" | "lamportsOf" | "ownerOf" | "rentOf">
): Expanded => {
  const instructions: Array<TransactionInstruction> = []
  const origins: Array<number> = []
  const staged = new Map<string, Uint8Array>()
  const required: Array<RequiredLamports> = []
  const paid: Array<Expanded["paid"][number]> = []

  const contextOf = (origin: number, depth: number): ProgramContext => ({
    ...chain,
    depth,
    pay: (from, to, lamports) => void paid.push({ from, to, lamports }),
    ownerOf: (account) => (staged.has(account.toBase58()) ? swigProgram : chain.ownerOf(account)),
    dataOf: (account) => staged.get(account.toBase58()) ?? chain.dataOf(account),
    stage: (account, data) => void staged.set(account.toBase58(), data),
    requireLamports: (account, atLeast, code) => void required.push({ account, atLeast, code, origin }),
    call: (instruction) => expandOne(instruction, origin, depth + 1)
  })
  const expandOne = (
    instruction: TransactionInstruction,
    origin: number,
    depth: number
  ): ReadonlyArray<TransactionInstruction> => {
    const emulation = emulations.get(instruction.programId.toBase58())
    if (emulation === undefined) return [instruction]
    if (depth >= deepestCall) throw new ProgramError(callTooDeep, "calls are nested too deeply")
    return emulation(instruction, contextOf(origin, depth))
  }

  for (const [index, instruction] of transaction.entries()) {
    try {
      for (const one of expandOne(instruction, index, 0)) {
        instructions.push(one)
        origins.push(index)
      }
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error
      return { instructions, origins, staged: new Map(), paid: [], required: [], refused: { index, error } }
    }
  }
  return { instructions, origins, staged, paid, required }
}
