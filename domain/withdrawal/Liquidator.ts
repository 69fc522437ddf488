/**
 * Turns a liquidating withdrawal into one batch: every signed asset is sold into the chain's settlement asset within
 * the portfolio's limits, and the proceeds go to the recipient in the same user operation. All of it, or nothing: an
 * asset that cannot be sold within the limits refuses the whole. Source: shapes 2.22 (`liquidate`),
 * docs/decisions/0020-liquidation.md.
 */
import { Context, DateTime, Effect, Layer, Result, Schema } from "effect"
import * as Amount from "#domain/values/Amount.ts"
import { nativeOf, tokensOf } from "#domain/account/WithdrawalMessage.ts"
import type { Asset } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { type AssetId, chainIdOf } from "#domain/values/Caip.ts"
import { Balances, momentOf } from "#domain/chain/Balances.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { Families } from "#domain/chain/Families.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { connectorTokensOf, mayBuy } from "#domain/account/Permission.ts"
import { mayTradeOn, type Price, Prices, type PricesUnavailable } from "#domain/market/Prices.ts"
import { SwapBatches, type SimulationFailed } from "#domain/trading/SwapBatches.ts"
import { isMadeAt, priceLegs } from "#domain/trading/priceLegs.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import { fromFeeBps, whole } from "#domain/planning/SwapCost.ts"
import { Venue } from "#domain/trading/Venue.ts"
import type { PreparedAction } from "#domain/relay/Transaction.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
import { SwapSettings } from "#domain/strategy/SwapSettings.ts"
import { swapLimits } from "#domain/strategy/resolveSwap.ts"
import { shortfalls } from "#domain/withdrawal/liveBalances.ts"
import { settlementAssetOn } from "#domain/withdrawal/settlementAsset.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"

/** The assets cannot all be sold as they stand. */
class LiquidationRefused extends Schema.TaggedError<LiquidationRefused>()("LiquidationRefused", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/**
 * A withdrawal that sells first, as one batch.
 *
 * **When to use**
 *
 * Use inside the run of a liquidating withdrawal. A withdrawal without sales is prepared by `WithdrawalTransactions`.
 */
export class Liquidator extends Context.Service<
  Liquidator,
  {
    /** A simulated user operation that sells and delivers; nothing is sent. */
    readonly prepare: (
      withdrawal: StoredWithdrawal
    ) => Effect.Effect<PreparedAction, ChainUnavailable | PricesUnavailable | SimulationFailed | LiquidationRefused>
  }
>()("ballast/domain/withdrawal/Liquidator") {
  static readonly layer = Layer.effect(
    Liquidator,
    Effect.gen(function* () {
      const assets = yield* Assets
      const balances = yield* Balances
      const prices = yield* Prices
      const venue = yield* Venue
      const execution = yield* SwapBatches
      const { maxAgeMs } = yield* PriceSettings
      const swapSettings = yield* SwapSettings
      const families = yield* Families

      /** Prices that may be traded on. */
      const freshPrices = Effect.fnUntraced(function* (assetIds: ReadonlyArray<AssetId>) {
        const known = yield* prices.latest(assetIds)
        const staleBefore = (yield* DateTime.now).epochMilliseconds - maxAgeMs
        return new Map([...known].filter(([, price]) => mayTradeOn(price, staleBefore)))
      })

      /** What the account keeps of the settlement asset: all that the owner did not authorize. */
      const readKeep = Effect.fnUntraced(function* (
        withdrawal: StoredWithdrawal,
        settlement: AssetId,
        permissionId: string
      ) {
        const signed = tokensOf(withdrawal.message)
        const wanted = [settlement, ...signed.flatMap(({ assetId }) => (assetId === settlement ? [] : [assetId]))]
        const read = yield* balances.read(withdrawal.accountId, wanted, { permissionId })
        const held = new Map(read.balances.map(({ assetId, raw }) => [assetId, raw] as const))
        const missing = shortfalls(signed, held)
        if (missing.length > 0) return yield* refused(missing.join("; "))
        const settlementHeld = held.get(settlement) ?? null
        if (settlementHeld === null) return yield* refused(`${settlement} does not answer as a token`)
        const given = signed.find(({ assetId }) => assetId === settlement)
        return { keepRaw: settlementHeld - BigInt(given?.amountRaw ?? 0), madeFrom: momentOf(read) }
      })

      const priceSales = Effect.fnUntraced(function* (
        withdrawal: StoredWithdrawal,
        settlement: AssetId,
        chain: ChainAuthorization
      ) {
        const sold = tokensOf(withdrawal.message).filter(({ assetId }) => assetId !== settlement)
        if (sold.length === 0) return []
        if (!mayBuy(chain, settlement)) {
          return yield* refused(`the owner's grant does not let the agent buy ${settlement}; sign a new one`)
        }
        const ids = [settlement, ...sold.map(({ assetId }) => assetId)]
        const known = yield* assets.find(ids)
        const fresh = yield* freshPrices(ids)
        const chainId = chainIdOf(withdrawal.accountId)
        const { kept } = fromFeeBps(venue.assumedFeeBps(chainId))
        const legs = yield* Effect.forEach(sold, ({ amountRaw, assetId }) =>
          Effect.fromResult(saleOf({ assetId, raw: BigInt(amountRaw), settlement, known, fresh, kept }))
        )
        const limits = swapLimits(withdrawal.swap, swapSettings)
        const quotes = yield* venue.quote({
          chainId,
          connectorTokens: connectorTokensOf(chain),
          requests: legs,
          isMade: isMadeAt(legs, limits)
        })
        const priced = priceLegs(legs, quotes, limits)
        if (priced.skips.length > 0) {
          return yield* refused(priced.skips.map(({ reason, sell }) => `${sell}: ${reason}`).join("; "))
        }
        return priced.swaps
      })

      const prepare = Effect.fn("Liquidator.prepare")(function* (withdrawal: StoredWithdrawal) {
        const { accountId, grant, message, signature } = withdrawal
        const chainId = chainIdOf(accountId)
        const assetId = settlementAssetOn(families, chainId)
        const chain = grant.authorization.chains.find((one) => one.chainId === chainId)
        if (nativeOf(message) !== undefined) return yield* refused("the native coin is not sold")
        if (assetId === undefined || chain === undefined) {
          return yield* refused(`assets cannot be liquidated on chain ${chainId}`)
        }
        const { keepRaw, madeFrom } = yield* readKeep(withdrawal, assetId, chain.permissionId)
        const swaps = yield* priceSales(withdrawal, assetId, chain)
        // The authorization of a withdrawal runs out soon, so nothing waits for another signature here.
        return yield* execution
          .prepare({ chainId, ...grant, swaps, madeFrom, settlement: { message, signature, assetId, keepRaw } })
          .pipe(Effect.catchTag("AuthorizationRequired", ({ message }) => refused(message)))
      })

      return Liquidator.of({ prepare })
    })
  )
}

const refused = (reason: string) => new LiquidationRefused({ reason })

interface Sale {
  readonly assetId: AssetId
  readonly raw: bigint
  readonly settlement: AssetId
  readonly known: ReadonlyMap<AssetId, Asset>
  readonly fresh: ReadonlyMap<AssetId, Price>
  /** Basis points that the venue's fee leaves. */
  readonly kept: bigint
}

/** The leg that sells the whole amount, with its yield at the price feed. */
const saleOf = ({
  assetId,
  fresh,
  kept,
  known,
  raw,
  settlement
}: Sale): Result.Result<PlannedLeg, LiquidationRefused> => {
  const [from, into] = [known.get(assetId), known.get(settlement)]
  if (from === undefined || into === undefined || from.isBlocked) {
    return Result.fail(refused(`${assetId}: is blocked or not in the asset catalogue, so it cannot be sold`))
  }
  const [price, settlementPrice] = [fresh.get(assetId), fresh.get(settlement)]
  if (price === undefined || settlementPrice === undefined || settlementPrice.usd <= 0n) {
    return Result.fail(refused(`${assetId}: there is no fresh price to sell it by`))
  }
  const valueUsd = Amount.valueUsd(raw, from.decimals, price.usd)
  const expectedBuyRaw = Amount.fromUsd((valueUsd * kept) / whole, into.decimals, settlementPrice.usd)
  return Result.succeed({ sell: assetId, buy: settlement, sellAmountRaw: raw, valueUsd, expectedBuyRaw })
}
