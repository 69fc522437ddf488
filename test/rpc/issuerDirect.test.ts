/**
 * Trades with issuers: what a preview promises, and what of it a swap must name. Source: interface "Portfolio action
 * submit".
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Orders } from "#domain/order/Orders.ts"
import { IssuerQuotes } from "#domain/order/IssuerQuotes.ts"
import { addressOf, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { IssuerUnavailable, PortfolioNotFound, SessionInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { IssuerTerms } from "#domain/trading/Issuer.ts"
import { makeSignInApi, origin, session, SignInApi } from "#test/rpc/support/SignInApi.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { MarketPorts } from "#test/support/chains/TestChains.ts"
import { makeMarket, TestChain } from "#test/support/chains/TestMarket.ts"
import { marketPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"

const market = makeMarket(() => new Map())
market.prices.set(baseUsdc.assetId, Decimal.one)
market.prices.set(baseWeth.assetId, 2_500n * Decimal.one)

const Launcher = Layer.succeed(OperationLauncher, {
  capacity: Effect.succeed(1),
  launch: () => Effect.void,
  wake: () => Effect.void
})

const deployment = (isOffered: boolean) =>
  makeSignInApi(
    [origin],
    Orders.layer.pipe(
      Layer.provideMerge(IssuerQuotes.layer),
      Layer.provide(Layer.succeed(IssuerTerms, { isOffered, deviationBps: 100 })),
      Layer.provide([Launcher, Digest.layerWebCrypto, TestSettings, MarketPorts]),
      Layer.provide(Layer.succeed(TestChain, market))
    )
  )

interface Answer {
  readonly status: number
  readonly data: any
  readonly error: { readonly code: string; readonly message: string; readonly details?: ReadonlyArray<string> }
}

const call = Effect.fnUntraced(function* (procedure: string, token: string | undefined, input: unknown) {
  const { handle } = yield* SignInApi
  return yield* Effect.promise(async (): Promise<Answer> => {
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await handle(
      new Request(`http://api.test/v1/rpc/v2.portfolio.actions.${procedure}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...authorization },
        body: JSON.stringify({ input })
      })
    )
    const body = (await response.json()) as any
    return { status: response.status, data: body.result?.data, error: body.error }
  })
})

const assertError = (
  { error, status }: Answer,
  { contract }: { readonly contract: { readonly code: string; readonly status: number } },
  detail?: string
) => {
  assert.deepStrictEqual([status, error?.code], [contract.status, contract.code], JSON.stringify(error))
  if (detail !== undefined) assert.include(error.details?.join("\n") ?? "", detail)
}

const owner = Effect.gen(function* () {
  const { token, wallet } = yield* session()
  const portfolio = yield* Effect.provideService(
    marketPortfolio(wallet.address as EvmAddress, false),
    TestChain,
    market
  )
  return { ...portfolio, token, vault: addressOf(portfolio.accounts[0]) }
})
type Owner = Effect.Success<typeof owner>

const tradeOf = ({ vault }: Owner, changes: Record<string, unknown> = {}) => ({
  chainId: "8453",
  sellTokenAddress: addressOf(baseUsdc.assetId),
  buyTokenAddress: addressOf(baseWeth.assetId),
  sellAmount: "250000000",
  recipientAddress: vault,
  ...changes
})

const preview = (user: Owner, changes: Record<string, unknown> = {}) =>
  call("previewIssuerDirectQuote", user.token, { portfolioId: user.portfolioId, ...tradeOf(user, changes) })

const submit = (user: Owner, params: Record<string, unknown>, rest: Record<string, unknown> = {}) =>
  call("submit", user.token, {
    portfolioId: user.portfolioId,
    kind: "swap",
    params: { provider: "issuer_direct", ...tradeOf(user), ...params },
    ...rest
  })

const ordersOf = Effect.fnUntraced(function* ({ portfolioId }: Owner) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ readonly order: any }>`
    SELECT order_document AS "order" FROM orders WHERE portfolio_id = ${portfolioId}`
})

/** 250 dollars of ether at 2,500. */
const fair = "100000000000000000"
const other = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"

layer(deployment(true), { excludeTestServices: true })("trades with issuers", (it) => {
  it.effect("a burst of one swap that names its preview's amount makes one operation of kind swap", () =>
    Effect.gen(function* () {
      const user = yield* owner
      const previewed = yield* preview(user)
      assert.strictEqual(previewed.status, 200, JSON.stringify(previewed.error))
      assert.deepInclude(previewed.data, {
        chainId: "8453",
        sellAmount: "250000000",
        estimatedReceiveAmount: fair,
        priceUsd: "2500.000000000000000000",
        feeUsd: "0.000000"
      })
      assert.match(previewed.data.quoteId, /^iq_/u)
      const answers = yield* Effect.forEach(
        Array.from({ length: 30 }),
        () => submit(user, { expectedReceiveAmount: fair }, { requestId: "burst" }),
        { concurrency: "unbounded" }
      )
      const [first] = answers
      assert.strictEqual(first!.status, 200, JSON.stringify(first!.error))
      for (const answer of answers) assert.deepStrictEqual(answer.data, first!.data)
      const orders = yield* ordersOf(user)
      assert.lengthOf(orders, 1)
      assert.deepInclude(orders[0]!.order, { amountRaw: "250000000", issuer: { expectedRaw: fair } })
      assert.strictEqual(market.issuer.words, 0, "nothing is signed before a run needs it")
    })
  )

  it.effect("a swap without an amount, or with one that no preview of it promised, is refused and stores nothing", () =>
    Effect.gen(function* () {
      const [user, neighbour] = [yield* owner, yield* owner]
      const field = "params.expectedReceiveAmount"
      assertError(yield* submit(user, {}), ValidationFailed, `${field}: is missing`)
      assertError(yield* submit(user, { expectedReceiveAmount: fair }), ValidationFailed, `${field}: no preview`)
      assert.strictEqual((yield* preview(user)).status, 200)
      assert.strictEqual((yield* preview(neighbour, { sellAmount: "500000000" })).status, 200)
      const near = "100000000000000001"
      for (const params of [
        { expectedReceiveAmount: near },
        { expectedReceiveAmount: fair, sellAmount: "500000000" },
        { expectedReceiveAmount: `${2n * BigInt(fair)}`, sellAmount: "500000000" }
      ]) {
        assertError(yield* submit(user, params), ValidationFailed, `${field}: no preview`)
      }
      const { advance } = yield* SignInApi
      advance(120_001)
      assertError(yield* submit(user, { expectedReceiveAmount: fair }), ValidationFailed, `${field}: no preview`)
      assert.lengthOf(yield* ordersOf(user), 0)
    })
  )

  it.effect("a price further from the feed, or from what was promised, than the deviation guard is refused", () =>
    Effect.gen(function* () {
      const user = yield* owner
      for (const advantageBps of [-150n, 150n]) {
        market.issuer.advantageBps = advantageBps
        assertError(yield* preview(user), ValidationFailed, "more than 100 basis points from the")
      }
      market.issuer.advantageBps = 80n
      const promised = (yield* preview(user)).data.estimatedReceiveAmount
      market.issuer.advantageBps = -80n
      assertError(
        yield* submit(user, { expectedReceiveAmount: promised }),
        ValidationFailed,
        "more than 100 basis points away"
      )
      market.issuer.advantageBps = 0n
      const within = yield* submit(user, { expectedReceiveAmount: promised })
      assert.strictEqual(within.status, 200, JSON.stringify(within.error))
    }).pipe(Effect.ensuring(Effect.sync(() => void (market.issuer.advantageBps = 0n))))
  )

  it.effect(
    "an issuer or a price feed that gives no answer is 503, and an issuer that refuses is 400 with its words",
    () =>
      Effect.gen(function* () {
        const user = yield* owner
        assert.strictEqual((yield* preview(user)).status, 200)
        market.issuer.isDown = true
        assertError(yield* preview(user), IssuerUnavailable)
        assertError(yield* submit(user, { expectedReceiveAmount: fair }), IssuerUnavailable)
        market.issuer.isDown = false
        market.arePricesKnown = false
        assertError(yield* preview(user), IssuerUnavailable)
        market.arePricesKnown = true
        market.issuer.refusal = "the market is closed"
        assertError(yield* preview(user), ValidationFailed, "params.buyTokenAddress: the market is closed")
        market.issuer.refusal = undefined
        assert.lengthOf(yield* ordersOf(user), 0)
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            market.issuer.isDown = false
            market.issuer.refusal = undefined
            market.arePricesKnown = true
          })
        )
      )
  )

  it.effect("the recipient is the portfolio's account, the owner the caller, and every field is read", () =>
    Effect.gen(function* () {
      const [user, stranger] = [yield* owner, yield* owner]
      for (const ask of [
        (changes: Record<string, unknown>) => preview(user, changes),
        (changes: Record<string, unknown>) => submit(user, { expectedReceiveAmount: fair, ...changes })
      ]) {
        assertError(yield* ask({ recipientAddress: other }), ValidationFailed, "params.recipientAddress: must be")
        assertError(yield* ask({ chainId: "1" }), ValidationFailed, "params.chainId: the portfolio has no account")
        const same = { buyTokenAddress: addressOf(baseUsdc.assetId) }
        assertError(yield* ask(same), ValidationFailed, "params.buyTokenAddress: must be another")
        for (const [name, value] of [
          ["sellAmount", "-1"],
          ["sellAmount", 5],
          ["sellTokenAddress", "0x12"],
          ["chainId", "base"]
        ] as const) {
          assertError(yield* ask({ [name]: value }), ValidationFailed, name)
        }
      }
      assertError(yield* preview(user, { buyTokenAddress: other }), ValidationFailed, "not in the asset catalogue")
      const foreign = { portfolioId: user.portfolioId, ...tradeOf(user) }
      assertError(yield* call("previewIssuerDirectQuote", stranger.token, foreign), PortfolioNotFound)
      assertError(yield* call("previewIssuerDirectQuote", undefined, foreign), SessionInvalid)
      assertError(yield* submit(user, { expectedReceiveAmount: "0" }), ValidationFailed, "expectedReceiveAmount")
      assertError(yield* submit(user, { provider: "somebody" }), ValidationFailed, "params")
      // Nobody who names an issuer gets another kind of swap, whatever else the request has.
      const mixed = yield* submit(user, { expectedReceiveAmount: undefined, route: {} })
      assertError(mixed, ValidationFailed, "params.route: is not a field here")
      const unquoted = yield* submit(user, { expectedReceiveAmount: undefined })
      assertError(unquoted, ValidationFailed, "params.expectedReceiveAmount: is missing")
    })
  )

  it.effect("at most twenty previews of a portfolio are kept, the latest", () =>
    Effect.gen(function* () {
      const user = yield* owner
      const { advance } = yield* SignInApi
      yield* Effect.forEach(Array.from({ length: 23 }), (_, index) =>
        Effect.andThen(
          Effect.sync(() => advance(1)),
          preview(user, { sellAmount: `${250_000_000 + index}` })
        )
      )
      const sql = yield* SqlClient.SqlClient
      const kept = yield* sql<{ readonly amount: string }>`
        SELECT amount_raw::text AS amount FROM issuer_quotes WHERE portfolio_id = ${user.portfolioId}
        ORDER BY amount_raw`
      assert.lengthOf(kept, 20)
      assert.strictEqual(kept[0]!.amount, "250000003")
    })
  )
})

layer(deployment(false), { excludeTestServices: true })("a deployment that does not trade with issuers", (it) => {
  it.effect("refuses previews and swaps that name one", () =>
    Effect.gen(function* () {
      const user = yield* owner
      assertError(yield* preview(user), ValidationFailed, "params.provider: issuer_direct is not offered here")
      assertError(
        yield* submit(user, { expectedReceiveAmount: fair }),
        ValidationFailed,
        "params.provider: issuer_direct is not offered here"
      )
    })
  )
})
