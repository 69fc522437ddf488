/**
 * Balances that hold what the service knows: a reading as of a block before the account's last recorded change is
 * refused, from whatever chain it comes, or is marked as old where that is asked for.
 */
import { Effect, Layer, Result } from "effect"
import type { AccountId, AssetId, ChainId } from "#domain/values/Caip.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import { type AccountBalances, type AccountRequest, Balances, type ReadingTerms } from "#domain/chain/Balances.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { LastChanges } from "#domain/chain/LastChanges.ts"

const reasonOf = (block: bigint, changedAt: bigint): string =>
  `its node is at block ${block}, before block ${changedAt}, in which the account is known to have changed; nothing is read from it until it has that`

const later = (one: bigint | undefined, other: bigint | undefined): bigint | undefined =>
  one === undefined || (other !== undefined && other > one) ? other : one

/** Takes the reading when it is new enough; an adapter may have refused it before. */
const checked = (
  chainId: ChainId,
  reading: AccountBalances,
  { notBefore, takesOld }: ReadingTerms
): Result.Result<AccountBalances, ChainUnavailable> => {
  if (notBefore === undefined || reading.blockNumber >= notBefore) return Result.succeed(reading)
  const reason = reasonOf(reading.blockNumber, notBefore)
  return takesOld === true
    ? Result.succeed({ ...reading, oldBecause: reason })
    : Result.fail(new ChainUnavailable({ chainId, reason, isBehind: true }))
}

/** Takes `Balances` as the chains have them. */
export const CurrentBalances = Layer.effect(
  Balances,
  Effect.gen(function* () {
    const balances = yield* Balances
    const changes = yield* LastChanges

    const termsAt = (terms: ReadingTerms, changedAt: bigint | undefined): ReadingTerms => {
      const notBefore = later(terms.notBefore, changedAt)
      return notBefore === undefined ? terms : { ...terms, notBefore }
    }

    const read = Effect.fnUntraced(function* (
      account: AccountId,
      assetIds: ReadonlyArray<AssetId>,
      asked: ReadingTerms = {}
    ) {
      const terms = termsAt(asked, (yield* changes.of([account])).get(account))
      const reading = yield* balances.read(account, assetIds, terms)
      return yield* Effect.fromResult(checked(chainIdOf(account), reading, terms))
    })

    const readMany = Effect.fnUntraced(function* (chainId: ChainId, accounts: ReadonlyArray<AccountRequest>) {
      const known = yield* changes.of(accounts.map(({ account }) => account))
      const requests = accounts.map((request) => ({ ...request, ...termsAt(request, known.get(request.account)) }))
      const results = yield* balances.readMany(chainId, requests)
      return results.map((result, index) =>
        Result.flatMap(result, (reading) => checked(chainId, reading, requests[index]!))
      )
    })

    return Balances.of({ read, readMany })
  })
)
