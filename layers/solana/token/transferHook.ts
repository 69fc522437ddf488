/**
 * Accounts that the issuer's program of a mint wants with each transfer. The program keeps the list on chain, and some
 * of its entries follow from other accounts, so that the list is read anew for each transfer.
 */
import { addExtraAccountMetasForExecute } from "@solana/spl-token"
import type { Connection, PublicKey, TransactionInstruction } from "@solana/web3.js"
import { Effect, Option } from "effect"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { solanaChainId } from "#domain/values/Caip.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import type { Mint } from "#layers/solana/token/Mint.ts"

interface HookedTransfer {
  readonly token: Mint
  readonly source: PublicKey
  readonly destination: PublicKey
  readonly owner: PublicKey
  readonly amount: bigint
}

/** Adds to a transfer what the mint's program wants; a transfer of another mint stays as it is. */
export const withHookAccounts = Effect.fnUntraced(function* (
  transfer: TransactionInstruction,
  { amount, destination, owner, source, token }: HookedTransfer
): Effect.fn.Return<TransactionInstruction, ChainUnavailable, SolanaRpc> {
  const { hookProgram, mint } = token
  if (hookProgram === null) return transfer
  const context = yield* Effect.context<SolanaRpc>()
  const accountOf = (key: PublicKey) =>
    Effect.gen(function* () {
      const { values } = yield* (yield* SolanaRpc).accounts([key])
      return Option.match(values[0]!, {
        onNone: () => null,
        onSome: ({ data, lamports, owner }) => ({
          data: Buffer.from(data),
          executable: false,
          lamports: Number(lamports),
          owner
        })
      })
    }).pipe(Effect.runPromiseWith(context))
  // The package asks for one account at a time, and for nothing else.
  const reader = { getAccountInfo: accountOf } as unknown as Connection
  const program = hookProgram
  yield* Effect.tryPromise({
    try: () => addExtraAccountMetasForExecute(reader, transfer, program, source, mint, destination, owner, amount),
    catch: (error) =>
      new ChainUnavailable({
        chainId: solanaChainId,
        reason: `the accounts that ${program.toBase58()} wants with a transfer cannot be read: ${String(error)}`
      })
  })
  return transfer
})
