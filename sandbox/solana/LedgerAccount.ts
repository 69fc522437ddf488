/** An account of the ledger, for what reads and sets it. */
import type { PublicKey } from "@solana/web3.js"

export interface LedgerAccount {
  readonly key: PublicKey | string
  readonly lamports: bigint
  /** The program that owns it, in base58. */
  readonly owner: string
  readonly data: Uint8Array
  readonly executable: boolean
}

const systemProgram = "11111111111111111111111111111111"

/** One that is not there yet. */
export const emptyAccount = (key: PublicKey | string): LedgerAccount => ({
  key,
  lamports: 0n,
  owner: systemProgram,
  data: new Uint8Array(),
  executable: false
})
