/** An account of the ledger, for what reads and sets it. */
import { PublicKey } from "@solana/web3.js"

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

const accountLength = 165
/** Stands after the first 165 bytes of an account of Token-2022 that has extensions. */
const isAccount = 2

/** Whether these are the data of a token account; both programs lay out its first bytes alike. */
export const isTokenAccount = (data: Uint8Array) =>
  data.length === accountLength || (data.length > accountLength && data[accountLength] === isAccount)

export const keyAt = (data: Uint8Array, offset: number) => new PublicKey(data.slice(offset, offset + 32))
