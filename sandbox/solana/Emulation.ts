/**
 * Programs of which this world has no code. An instruction of theirs becomes the instructions that the real program
 * would call,
 * with the program's own addresses as signers, and all of a transaction's run as one in the virtual machine.
 */
import type { PublicKey, TransactionInstruction } from "@solana/web3.js"

/** A program's own error number, as it shows in `{"Custom": number}`. */
export class ProgramError extends Error {
  override readonly name = "ProgramError"
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** The chain as a program sees it in the middle of a transaction. */
export interface ProgramContext {
  readonly slot: bigint
  readonly payer: PublicKey
  /** How many programs stand between the transaction and this one: 0 where it is called by no program. */
  readonly depth: number
  /** An account's data; what this transaction has staged first. */
  readonly dataOf: (account: PublicKey) => Uint8Array | undefined
  readonly lamportsOf: (account: PublicKey) => bigint
  /** The program that owns an account; an account that is not there is the system program's. */
  readonly ownerOf: (account: PublicKey) => PublicKey
  readonly rentOf: (bytes: number) => bigint
  /** Data that an account of the program has when the whole transaction succeeds. */
  readonly stage: (account: PublicKey, data: Uint8Array) => void
  /** Gives an account of the program lamports of another one of its accounts when the whole transaction succeeds. */
  readonly pay: (from: PublicKey, to: PublicKey, lamports: bigint) => void
  /** Lamports that an account must have at the end, else the number is the transaction's error. */
  readonly requireLamports: (account: PublicKey, atLeast: bigint, code: number) => void
  /** What another program's instruction becomes. */
  readonly call: (instruction: TransactionInstruction) => ReadonlyArray<TransactionInstruction>
}

/** What an instruction of the program becomes; throws a `ProgramError` where the program would refuse. */
export type Emulation = (
  instruction: TransactionInstruction,
  context: ProgramContext
) => ReadonlyArray<TransactionInstruction>
