/**
 * What the token program is made to compare after a swap, in the same transaction. A transfer from an account to itself
 * moves nothing, and fails where the account holds less than its amount; so a swap that took more, or brought less,
 * than was planned has no effect, whatever program made it.
 */
import { createTransferCheckedInstruction } from "@solana/spl-token"
import type { PublicKey, TransactionInstruction } from "@solana/web3.js"
import { Effect, Option, Result } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { decodeMint, type Mint } from "#layers/solana/token/Mint.ts"
import { associatedAccount } from "#layers/solana/token/programs.ts"
import { decodeTokenAccount } from "#layers/solana/token/TokenAccount.ts"
import { type Leg, SwapRefused, untradable } from "#layers/solana/trading/checkSwap.ts"

/** Most other tokens of the sub-account that a route may pass. */
const passedLimit = 3

/** What the account must hold at this point of the transaction; nothing where that is nothing. */
const minimumAmount = (
  account: PublicKey,
  { decimals, mint, program }: Pick<Mint, "decimals" | "mint" | "program">,
  minRaw: bigint
): ReadonlyArray<TransactionInstruction> => {
  if (minRaw <= 0n) return []
  const at = associatedAccount(account, mint, program)
  return [createTransferCheckedInstruction(at, mint, at, account, minRaw, decimals, [], program)]
}

export interface HeldBefore {
  /** Amount in the sub-account's associated accounts, once what must be wrapped is. */
  readonly sellRaw: bigint
  readonly buyRaw: bigint
}

/** Minimum amounts of the leg itself. */
export const minimumOfLeg = (
  { account, buy, minBuyRaw, sell, sellRaw }: Leg,
  held: HeldBefore
): ReadonlyArray<TransactionInstruction> => [
  ...minimumAmount(account, sell, held.sellRaw - sellRaw),
  ...minimumAmount(account, buy, held.buyRaw + minBuyRaw)
]

/**
 * Reads the minimum amount of each other token account of the sub-account that the swap may write to. All that it
 * writes is read from the chain, so an account that nobody listed is found too. One that is not the associated account
 * of its mint, or whose token is not traded, is refused.
 */
export const minimumOfPassed = Effect.fn("solana.minimumOfPassed")(function* (
  { account, buy, sell }: Leg,
  { keys }: TransactionInstruction
): Effect.fn.Return<ReadonlyArray<TransactionInstruction>, ChainUnavailable | SwapRefused, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const written = [
    ...new Map(keys.filter(({ isWritable }) => isWritable).map(({ pubkey }) => [pubkey.toBase58(), pubkey])).values()
  ]
  const traded = [sell, buy].map(({ mint, program }) => associatedAccount(account, mint, program))
  const { values } = yield* rpc.accounts(written)
  const passed = written.flatMap((key, index) => {
    const found = Option.flatMap(values[index]!, (one) => Result.getSuccess(decodeTokenAccount(key, one)))
    const isPassed = Option.isSome(found) && found.value.owner.equals(account) && !traded.some((own) => own.equals(key))
    return isPassed ? [found.value] : []
  })
  const refuse = (key: PublicKey) =>
    new SwapRefused({
      message: `Jupiter's swap is not signed: ${key.toBase58()} is the sub-account's and has no part in the trade`
    })
  const other = passed.find(
    ({ key, mint, program }, index) => index >= passedLimit || !key.equals(associatedAccount(account, mint, program))
  )
  if (other !== undefined) return yield* refuse(other.key)
  const mints = yield* rpc.accounts(passed.map(({ mint }) => mint))
  const checks = yield* Effect.forEach(passed, ({ amountRaw, key, mint }, index) => {
    const decoded = Option.flatMap(mints.values[index]!, (one) => Result.getSuccess(decodeMint(mint, one)))
    return Option.isSome(decoded) && untradable(decoded.value) === undefined
      ? Effect.succeed(minimumAmount(account, decoded.value, amountRaw))
      : Effect.fail(refuse(key))
  })
  return checks.flat()
})
