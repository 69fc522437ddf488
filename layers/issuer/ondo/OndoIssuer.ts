/**
 * Trades with Ondo Global Markets, by its documentation: a signed quote from its API, then one call of its contract,
 * at which the guard's runner is registered as a customer. Source: docs.ondo.finance.
 */
import { Effect, Layer } from "effect"
import { addressOf } from "#layers/evm/address.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { Issuer, IssuerRefused, type IssuerTrade, type SignedIssuerQuote } from "#domain/trading/Issuer.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { managerCall } from "#layers/issuer/ondo/managerCalls.ts"
import { type OndoRequest, OndoClient } from "#layers/issuer/ondo/OndoClient.ts"

// Amounts are counted as the manager's contract counts them: quantities and prices have 18 decimals, and a US dollar
// is a whole stablecoin. Every rounding is against the paying side.
const scaleOf = (stableDecimals: number) => 10n ** BigInt(18 - stableDecimals)

/** The most tokens whose price is at most the amount. */
export const bought = (stableRaw: bigint, stableDecimals: number, price: bigint): bigint =>
  (stableRaw * scaleOf(stableDecimals) * Decimal.one) / price

/** What the tokens cost, in raw units of the stablecoin, rounded up. */
export const costOf = (quantity: bigint, stableDecimals: number, price: bigint): bigint => {
  const scale = scaleOf(stableDecimals) * Decimal.one
  return (quantity * price + scale - 1n) / scale
}

/** What the tokens bring, in raw units of the stablecoin, rounded down. */
export const broughtBy = (quantity: bigint, stableDecimals: number, price: bigint): bigint =>
  (quantity * price) / (scaleOf(stableDecimals) * Decimal.one)

/** Decimals of the tokens on EVM chains. Source: docs.ondo.finance, "Smart Contract Reference". */
const tokenDecimals = 18
const maxStableDecimals = 18

const refuse = (reason: string) => new IssuerRefused({ reason })

export const OndoIssuer = Layer.effect(
  Issuer,
  Effect.gen(function* () {
    const client = yield* OndoClient
    const { chains } = yield* EvmConfig

    /** The side of the trade, its token, and the contract that makes it. */
    const sideOf = Effect.fnUntraced(function* ({ buy, sell }: IssuerTrade) {
      const chain = chains.find(({ chainId }) => chainId === sell.chainId)
      if (chain?.issuer === undefined) return yield* refuse(`Ondo is not traded with on chain ${sell.chainId}`)
      const { issuer } = chain
      const [pays, takes] = [addressOf(sell.assetId) === issuer.stable, addressOf(buy.assetId) === issuer.stable]
      if (pays === takes) return yield* refuse(`one of both tokens must be ${issuer.stable}, which Ondo takes and pays`)
      const [token, stable] = pays ? [buy, sell] : [sell, buy]
      if (token.decimals !== tokenDecimals || stable.decimals > maxStableDecimals) {
        return yield* refuse(`${token.symbol} has ${token.decimals} decimals; Ondo's tokens have ${tokenDecimals}`)
      }
      const side: OndoRequest["side"] = pays ? "buy" : "sell"
      const request = {
        chainId: sell.chainId,
        chain: issuer.chain,
        symbol: token.symbol,
        token: addressOf(token.assetId),
        side
      }
      return { request, issuer, stable }
    })
    type Side = Effect.Success<ReturnType<typeof sideOf>>

    /** How many tokens the amount buys: by the price of one, then by the price of so many. */
    const purchase = Effect.fnUntraced(function* ({ request, stable }: Side, amountRaw: bigint) {
      const one = yield* client.soft({ ...request, quantity: Decimal.one })
      const about = bought(amountRaw, stable.decimals, BigInt(one.price))
      if (about === 0n) return yield* refuse("the amount buys nothing")
      const price = BigInt((yield* client.soft({ ...request, quantity: about })).price)
      const most = bought(amountRaw, stable.decimals, price)
      return { price, quantity: most < about ? most : about }
    })

    const quote = Effect.fn("OndoIssuer.quote")(function* (trade: IssuerTrade) {
      const side = yield* sideOf(trade)
      if (side.request.side === "sell") {
        const price = BigInt((yield* client.soft({ ...side.request, quantity: trade.amountRaw })).price)
        return { receiveRaw: broughtBy(trade.amountRaw, side.stable.decimals, price), priceUsd: price, feeUsd: 0n }
      }
      const { price, quantity } = yield* purchase(side, trade.amountRaw)
      return { receiveRaw: quantity, priceUsd: price, feeUsd: 0n }
    })

    /** A price that rose since the unsigned one makes the purchase smaller, once. */
    const signedPurchase = Effect.fnUntraced(function* (side: Side, amountRaw: bigint) {
      const { decimals } = side.stable
      const { quantity } = yield* purchase(side, amountRaw)
      const first = yield* client.attest({ ...side.request, quantity })
      if (costOf(quantity, decimals, BigInt(first.price)) <= amountRaw) return first
      const fewer = bought(amountRaw, decimals, BigInt(first.price))
      const second = yield* client.attest({ ...side.request, quantity: fewer })
      if (costOf(fewer, decimals, BigInt(second.price)) <= amountRaw) return second
      return yield* refuse("Ondo's price rises from request to request")
    })

    const signedQuote = Effect.fn("OndoIssuer.signedQuote")(function* (trade: IssuerTrade) {
      const side = yield* sideOf(trade)
      const { request, issuer, stable } = side
      const isPurchase = request.side === "buy"
      const attestation = isPurchase
        ? yield* signedPurchase(side, trade.amountRaw)
        : yield* client.attest({ ...request, quantity: trade.amountRaw })
      const [price, quantity] = [BigInt(attestation.price), BigInt(attestation.tokenAmount)]
      const stableRaw = (isPurchase ? costOf : broughtBy)(quantity, stable.decimals, price)
      const data = managerCall({ attestation, asset: request.token, stable: issuer.stable, stableRaw })
      return {
        issuer: "ondo",
        receiveRaw: isPurchase ? quantity : stableRaw,
        priceUsd: price,
        feeUsd: 0n,
        direct: { venue: issuer.manager, data }
      } satisfies SignedIssuerQuote
    })

    return Issuer.of({ quote, signedQuote })
  })
).pipe(Layer.provide(OndoClient.layer))
