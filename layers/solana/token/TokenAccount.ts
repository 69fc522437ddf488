/** An account that holds tokens of one mint for an owner, as both token programs keep it. */
import { type Account as Unpacked, unpackAccount } from "@solana/spl-token"
import type { PublicKey } from "@solana/web3.js"
import { Result } from "effect"
import type { Account } from "#layers/solana/rpc/Requests.ts"
import { MalformedBytes } from "#layers/solana/swig/ByteReader.ts"
import { isTokenProgram } from "#layers/solana/token/programs.ts"

export interface TokenAccount {
  readonly key: PublicKey
  readonly mint: PublicKey
  readonly owner: PublicKey
  readonly program: PublicKey
  readonly amountRaw: bigint
  /** Nothing leaves or enters until the issuer thaws it. */
  readonly isFrozen: boolean
  /** Who besides the owner may move tokens of it, or close it; null where nobody may. */
  readonly sharedWith: PublicKey | null
}

/** A delegate without an amount moves nothing; an owner who may close the account is no other. */
const sharedWith = ({ closeAuthority, delegate, delegatedAmount, owner }: Unpacked): PublicKey | null => {
  if (delegate !== null && delegatedAmount > 0n) return delegate
  return closeAuthority === null || closeAuthority.equals(owner) ? null : closeAuthority
}

/** Reads a token account; an account that is none is `MalformedBytes`. */
export const decodeTokenAccount = (
  key: PublicKey,
  { data, lamports, owner }: Account
): Result.Result<TokenAccount, MalformedBytes> =>
  Result.try({
    try: () => {
      if (!isTokenProgram(owner)) throw new MalformedBytes(`${key.toBase58()} is kept by no token program`)
      const info = { data: Buffer.from(data), executable: false, lamports: Number(lamports), owner }
      const unpacked = unpackAccount(key, info, owner)
      if (!unpacked.isInitialized) throw new MalformedBytes(`${key.toBase58()} is not initialized`)
      return {
        key,
        mint: unpacked.mint,
        owner: unpacked.owner,
        program: owner,
        amountRaw: unpacked.amount,
        isFrozen: unpacked.isFrozen,
        sharedWith: sharedWith(unpacked)
      }
    },
    catch: (error) =>
      error instanceof MalformedBytes
        ? error
        : new MalformedBytes(`${key.toBase58()} is no token account: ${String(error)}`)
  })
