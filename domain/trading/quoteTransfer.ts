/** Turns planned transfers into ones with a checked route and a minimum amount out, or refuses them. */
import { Effect, Option, Result } from "effect"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { bridgeTo } from "#domain/account/Permission.ts"
import type { PlannedTransfer } from "#domain/values/PlannedTrades.ts"
import type { RecordedSkip } from "#domain/values/Skip.ts"
import { dollars, SkipCode } from "#domain/values/Skip.ts"
import { Routing } from "#domain/trading/Routing.ts"
import { TransferSettings } from "#domain/trading/RoutingSettings.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"

const bps = 10_000n

type Verdict = Result.Result<OutgoingTransfer, RecordedSkip>

const refuse = (transfer: PlannedTransfer, code: SkipCode, reason: string): Verdict =>
  Result.fail({
    assetId: null,
    sell: transfer.sell,
    buy: transfer.buy,
    code,
    valueUsd: transfer.valueUsd,
    reason: `${reason}; ${dollars(transfer.valueUsd)} stay on their chain`
  })

/** The transfers when the batch yields `shortRaw` less of the bridge asset than planned: all are cut in proportion. */
export const cutBy = (transfers: ReadonlyArray<PlannedTransfer>, shortRaw: bigint): ReadonlyArray<PlannedTransfer> => {
  const planned = transfers.reduce((sum, { amountRaw }) => sum + amountRaw, 0n)
  // Transfers of nothing, which an earlier cut has left, stay what they are.
  if (shortRaw <= 0n || planned === 0n) return transfers
  const left = planned > shortRaw ? planned - shortRaw : 0n
  return transfers.map((transfer) => ({
    ...transfer,
    amountRaw: (transfer.amountRaw * left) / planned,
    expectedRaw: (transfer.expectedRaw * left) / planned,
    valueUsd: (transfer.valueUsd * left) / planned
  }))
}

/** A transfer with its route, or why there is none. */
export const makeQuoteTransfer = Effect.gen(function* () {
  const routing = yield* Routing
  const limits = yield* TransferSettings

  return Effect.fn("quoteTransfer")(function* (chain: ChainAuthorization, transfer: PlannedTransfer) {
    const { amountRaw, buy, expectedRaw, sell } = transfer
    const bridgeAddress = bridgeTo(chain, buy)
    if (bridgeAddress === undefined) {
      return refuse(transfer, SkipCode.notAuthorized, "The owner did not authorize transfers to this chain")
    }
    // What the plan expects has the usual cost taken off already.
    const minRaw = (expectedRaw * (bps - BigInt(limits.maxCostBps))) / (bps - BigInt(limits.costBps))
    if (amountRaw <= 0n || minRaw <= 0n) {
      return refuse(transfer, SkipCode.belowMinTransfer, "After slippage nothing is left to send")
    }
    return yield* routing.quote({ sell, buy, amountRaw, accountId: chain.accountId, bridgeAddress, minRaw }).pipe(
      Effect.map(
        Option.match({
          onNone: () => refuse(transfer, SkipCode.noRoute, "No provider has a route to this chain"),
          onSome: ({ expectedRaw, minRaw, tool }): Verdict =>
            Result.succeed({ sell, buy, amountRaw, minRaw, expectedRaw, bridgeAddress, tool })
        })
      ),
      Effect.catchTags({
        RouteRefused: ({ reason }) => Effect.succeed(refuse(transfer, SkipCode.transferRefused, reason)),
        RoutingUnavailable: ({ reason }) => Effect.succeed(refuse(transfer, SkipCode.routesUnavailable, reason))
      })
    )
  })
})
