/**
 * The tag by which a transaction is found on the chain when no record of it is left: an address that is a hash of what
 * the transaction carries out. The instruction that limits compute units has it among its accounts, where no program
 * reads it, and nodes list transactions by every address that they name. It takes 33 bytes and no compute units.
 *
 * Source: gill.site, "Reference Keys", by which payments of Solana Pay are found.
 */
import { sha256 } from "@noble/hashes/sha2"
import { PublicKey } from "@solana/web3.js"
import { DateTime } from "effect"
import { stringToBytes } from "viem"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { madeAt, type OperationId } from "#domain/values/Ids.ts"
import { authorizationSeconds } from "#domain/withdrawal/WithdrawalAuthorizations.ts"

export interface TransactionTag {
  readonly address: PublicKey
  /** Nothing that is older has it. */
  readonly since: DateTime.Utc
}

const hashOf = (text: string): PublicKey => new PublicKey(sha256(stringToBytes(text)))

/** Tag of what trades for an operation: all its transactions have it. */
export const tagOfOperation = (operationId: OperationId): TransactionTag => ({
  address: hashOf(operationId),
  since: madeAt(operationId)
})

/** Tag of what includes an owner's authorization, whichever operation it is for. */
export const tagOfWithdrawal = ({ expiresAt, nonce, portfolioId }: WithdrawalMessage): TransactionTag => ({
  address: hashOf(`${portfolioId} ${nonce}`),
  since: DateTime.makeUnsafe((expiresAt - authorizationSeconds) * 1_000)
})
